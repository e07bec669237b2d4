"""What a file of a side is, as it lies on disk: for telling which code a run loaded."""

from __future__ import annotations

import hashlib
import os

from showcause.records import Side
from showcause.trees.composite import Trees

__all__ = ["disk_digest"]

_HOPS = 8


def disk_digest(trees: Trees, side: Side, path: str, folder: str, *, is_export: bool = False) -> str:
    """SHA-256 of the content of `path` on `side`, after checkout conversion; "" if absent there.

    `folder` is the side's layer, or its export. A symbolic link stands for the file it leads to in
    the same side; one that leads outside the checkout is "".
    """
    for _ in range(_HOPS):
        place = os.path.join(folder, path)
        if not is_export and path not in trees.differing(side):
            place = os.path.join(trees.repo.top, path)
        if not os.path.islink(place):
            return _digest(place)
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(place)))
        if os.path.isabs(path):
            path = os.path.relpath(path, trees.repo.top)
        if path.split(os.sep)[0] == os.pardir:
            return ""
    return ""


def _digest(place: str) -> str:
    if not os.path.isfile(place):  # absent, a folder, or a whiteout of the layer
        return ""
    try:
        with open(place, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:  # the checkout moves: the review will see it
        return ""

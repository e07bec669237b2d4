"""Byte code that was compiled from another side's source.

A cache entry is valid for a time and a size of its source. Two sides of a review can share both, and
then the one runs the other's code; so every entry of a touched module is hidden.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable

from showcause import git
from showcause.trees.composite import Trees

__all__ = ["is_bytecode", "stale_bytecode"]

_CACHE = "__pycache__"
_COMPILED = (".pyc", ".pyo")


def is_bytecode(name: str) -> bool:
    """Whether a directory entry of this name holds nothing but byte code."""
    return name == _CACHE or name.endswith(_COMPILED)


def stale_bytecode(trees: Trees, touched: Iterable[str]) -> set[str]:
    """The byte code in the checkout that belongs to the `touched` modules and to no tree."""
    modules: dict[str, set[str]] = {}
    for path in touched:
        folder, name = posixpath.split(path)
        if name.endswith(".py"):
            modules.setdefault(folder, set()).add(name.removesuffix(".py"))
    cached: set[str] = set()
    legacy: set[str] = set()
    for folder, stems in modules.items():
        cached |= _cached(trees.repo.top, folder, stems)
        beside = {posixpath.join(folder, stem + end) for stem in stems for end in _COMPILED}
        legacy |= {path for path in beside if os.path.lexists(os.path.join(trees.repo.top, path))}
    if legacy:
        legacy -= {file.path for file in git.files(trees.repo, trees.worktree, sorted(legacy))}
    return cached | legacy


def _cached(top: str, folder: str, stems: set[str]) -> set[str]:
    """Entries are `STEM.TAG.pyc`, and pytest's own `STEM.TAG-pytest-VERSION.pyc`."""
    place = posixpath.join(folder, _CACHE)
    try:
        names = os.listdir(os.path.join(top, place))
    except (FileNotFoundError, NotADirectoryError):
        return set()
    return {
        posixpath.join(place, name)
        for name in names
        if name.endswith(_COMPILED) and any(name.startswith(f"{stem}.") for stem in stems)
    }

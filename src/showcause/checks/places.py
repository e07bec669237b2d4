"""Where each side of a review lies on disk, and how a run gets to see it.

An overlay over the checkout, at the checkout's own path, is the rule. Where none can be made (a mount
below the checkout, a file system that refuses) each side is a whole copy; a sandbox with a mount
namespace still shows it at the checkout's own path, the others run it where it is.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

from showcause.records import NotChecked, Record, Side
from showcause.sandbox import Sandbox
from showcause.sandbox.mounts import mounts_below
from showcause.trees import Export, Trees, export, make_layer

__all__ = ["Place", "Places"]

_LAST_LEVEL_WITH_MOUNTS = 2


class Place(Record, frozen=True, kw_only=True):
    """One side on disk. `root` is where a run sees it; `layers` and `readable` as in `Confinement`."""

    folder: str
    root: str
    layers: tuple[str, ...]
    is_copy: bool
    readable: tuple[str, ...] = ()


class Places:
    """The places of one review, each made once, on demand, from any thread."""

    def __init__(self, trees: Trees, sandbox: Sandbox, folder: str) -> None:
        self._trees = trees
        self._folder = folder
        self._mounts = sandbox.report.level <= _LAST_LEVEL_WITH_MOUNTS
        self._lock = threading.Lock()
        self._made: dict[Side, Place] = {}
        self._first: Export | None = None
        self._notes: dict[str, NotChecked] = {}
        self.why_copying = "" if sandbox.report.tree == "overlay" else "this sandbox makes no overlays"
        below = mounts_below(trees.repo.top) if not self.why_copying else ()
        if below:
            self.why_copying = f"something is mounted below the checkout: {below[0]}"

    @property
    def is_copying(self) -> bool:
        return bool(self.why_copying)

    @property
    def not_checked(self) -> tuple[NotChecked, ...]:
        """What making copies left out."""
        return tuple(self._notes.values())

    def without_overlay(self, why: str) -> bool:
        """Make copies from now on. False if that was so already: then nothing is gained by another try."""
        with self._lock:
            if self.why_copying:
                return self.why_copying == why
            self.why_copying = why
            self._made.clear()
            return True

    def of(self, side: Side) -> Place:
        """The place of a side. Raises EnvironmentFault if it cannot be made."""
        with self._lock:
            if side not in self._made:
                self._made[side] = self._copy(side) if self.is_copying else self._overlay(side)
            return self._made[side]

    def _overlay(self, side: Side) -> Place:
        top = self._trees.repo.top
        layer = make_layer(self._trees, side, os.path.join(self._folder, f"layer-{side.value}"))
        return Place(folder=layer.folder, root=top, layers=(layer.folder, top), is_copy=False)

    def _copy(self, side: Side) -> Place:
        top = self._trees.repo.top
        made = export(self._trees, side, os.path.join(self._folder, f"copy-{side.value}"), like=self._first)
        self._first = self._first or made
        self._notes |= {note.what: note for note in made.not_checked}
        if not self._mounts:
            return Place(folder=made.folder, root=made.folder, layers=(made.folder,), is_copy=True)
        shown = _mount_points(top, made.folder, made.linked)
        readable = (*shown, *mounts_below(top))
        return Place(folder=made.folder, root=top, layers=(made.folder,), is_copy=True, readable=readable)


def _mount_points(top: str, folder: str, linked: Sequence[str]) -> tuple[str, ...]:
    """Put something to mount on where the copy links into the checkout: seen at the checkout's own
    path, such a link would lead to itself."""
    shown = []
    for path in linked:
        source, place = os.path.join(top, path), os.path.join(folder, path)
        if os.path.islink(place) and os.path.exists(source):
            os.unlink(place)
            if os.path.isdir(source):
                os.mkdir(place)
            else:
                open(place, "wb").close()
            shown.append(source)
    return tuple(shown)

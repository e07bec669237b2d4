"""Where each side of a review lies on disk, and how a run gets to see it.

An overlay over the checkout, at the checkout's own path, is the rule. Where none can be made (a mount
below the checkout, a file system that refuses) each side is a whole copy; a sandbox with a mount
namespace still shows it at the checkout's own path, the others run it where it is.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

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
        self._trees, self._sandbox = trees, sandbox
        self._folder = folder
        self._lock = threading.RLock()
        self._made: dict[Side, Place] = {}
        self._first: Export | None = None
        self._lent = 0
        self._notes: dict[str, NotChecked] = {}
        self._why_copying: str | None = None  # not known before the sandbox is

    @property
    def why_copying(self) -> str:
        """Empty where overlays are used."""
        with self._lock:
            if self._why_copying is None:
                self._why_copying = self._without_a_try()
            return self._why_copying

    def _without_a_try(self) -> str:
        if self._sandbox.report.tree != "overlay":
            return "this sandbox makes no overlays"
        below = mounts_below(self._trees.repo.top)
        return f"something is mounted below the checkout: {below[0]}" if below else ""

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
            self._why_copying = why
            self._made.clear()
            return True

    def of(self, side: Side) -> Place:
        """The place of a side. Raises EnvironmentFault if it cannot be made."""
        with self._lock:
            if side not in self._made:
                self._made[side] = self._copy(side) if self.is_copying else self._overlay(side)
            return self._made[side]

    def put_on_top(self, side: Side, layer: str) -> None:
        """One more layer over a side, and over what else has its sources: what a build wrote."""
        alike = {Side.BASE: Side.BASE_HEAD, Side.HEAD: Side.HEAD_HEAD}
        for one in (side, alike[side]):
            place = self.of(one)
            with self._lock:
                self._made[one] = msgspec.structs.replace(place, layers=(layer, *place.layers))

    @contextmanager
    def lent(self, side: Side) -> Iterator[Place]:
        """The place of a side for one run: nobody else sees what is written there.

        An overlay has a layer of its own in each run. Of a copy another one is made, and is gone afterwards;
        the first copies share their files, so nothing may write into them.
        """
        place = self.of(side)
        if not place.is_copy:
            yield place
            return
        with self._lock:
            self._lent += 1
            folder = os.path.join(self._folder, f"lent-{self._lent}")
        shutil.copytree(place.folder, folder, symlinks=True)
        root = folder if place.root == place.folder else place.root
        try:
            yield msgspec.structs.replace(place, folder=folder, root=root, layers=(folder,))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _overlay(self, side: Side) -> Place:
        top = self._trees.repo.top
        layer = make_layer(self._trees, side, os.path.join(self._folder, f"layer-{side.value}"))
        return Place(folder=layer.folder, root=top, layers=(layer.folder, top), is_copy=False)

    def _copy(self, side: Side) -> Place:
        top = self._trees.repo.top
        made = export(self._trees, side, os.path.join(self._folder, f"copy-{side.value}"), like=self._first)
        self._first = self._first or made
        self._notes |= {note.what: note for note in made.not_checked}
        shown = tuple(os.path.join(top, path) for path in made.linked)
        shown = tuple(path for path in shown if os.path.exists(path))
        if self._sandbox.report.level > _LAST_LEVEL_WITH_MOUNTS:
            root = made.folder
        else:
            root = top
            _make_mount_points(top, made.folder, shown)
            shown += mounts_below(top)
        return Place(folder=made.folder, root=root, layers=(made.folder,), is_copy=True, readable=shown)


def _make_mount_points(top: str, folder: str, shown: Sequence[str]) -> None:
    """Put something to mount on where the copy links into the checkout: seen at the checkout's own
    path, such a link would lead to itself. A copy made from another one lacks its empty folders."""
    for source in shown:
        place = os.path.join(folder, os.path.relpath(source, top))
        if os.path.islink(place):
            os.unlink(place)
        if os.path.isdir(source):
            os.makedirs(place, exist_ok=True)
        elif not os.path.exists(place):
            os.makedirs(os.path.dirname(place), exist_ok=True)
            open(place, "wb").close()

"""The middle layer of an overlay: just the files in which a side differs from the checkout on disk.

Deletions are whiteouts (character devices 0:0, which ordinary users may make since Linux 5.8).
Directories are never opaque: ignored content below them (environments, built extensions) stays.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterable, Set

from showcause import git
from showcause.canon import printable
from showcause.errors import EnvironmentFault, UsageError
from showcause.git import Entry
from showcause.records import Record, Side
from showcause.trees.bytecode import is_bytecode, stale_bytecode
from showcause.trees.composite import GITLINK, Trees, above

__all__ = ["LAYER_MTIME", "Layer", "attributes_for", "make_layer"]

# Seconds since 1970; 2037-11-30. No byte-code cache was written from a source of that time, and build
# tools take every file of a layer for newer than the products they find (an early time would make them
# keep the other side's object files). Still below 2^31, which old file systems clamp to.
LAYER_MTIME = 2_143_152_000


class Layer(Record, frozen=True, kw_only=True):
    """A layer on disk. `written` and `whiteouts` are repository-relative paths."""

    side: Side
    folder: str
    written: frozenset[str]
    whiteouts: frozenset[str]


def make_layer(trees: Trees, side: Side, folder: str) -> Layer:
    """Make the layer of `side` in `folder`, which must be new or empty and outside the checkout.

    Raises UsageError if it is not, EnvironmentFault where whiteouts cannot be made, GitFault if git
    cannot write the files.
    """
    _prepare(trees, folder)
    differing = trees.differing(side)
    written = {path: entry for path, entry in differing.items() if entry and entry.mode != GITLINK}
    gone = {path for path, entry in differing.items() if entry is None and not _is_link(trees.disk[path])}
    git.write_files(trees.repo, folder, attributes_for(trees, side, written) | written, written)
    whiteouts = _Whiteouts(trees.repo.top, written.keys(), gone).paths()
    # Of every touched module, also where this side is what lies on disk: an edit that keeps size and
    # second leaves the other side's byte code there, and it would be valid.
    whiteouts |= _outside(stale_bytecode(trees, trees.disk), whiteouts, written.keys())
    for path in sorted(whiteouts):
        _white_out(folder, path)
    _settle(folder, trees.repo.top)
    return Layer(side=side, folder=folder, written=frozenset(written), whiteouts=frozenset(whiteouts))


def attributes_for(trees: Trees, side: Side, paths: Iterable[str]) -> dict[str, Entry]:
    """The `.gitattributes` entries of `side` that bear on `paths`."""
    folders = {folder for path in paths for folder in above(path)} | {""}
    names = {posixpath.join(folder, ".gitattributes") for folder in folders}
    known = trees.sides[side]
    found = {name: entry for name in names if (entry := known.get(name))}
    untouched = [name for name in names - known.keys() if os.path.lexists(os.path.join(trees.repo.top, name))]
    if untouched:
        held = git.files(trees.repo, trees.worktree, sorted(untouched))
        found |= {file.path: Entry(mode=file.mode, oid=file.oid) for file in held}
    return found


def _prepare(trees: Trees, folder: str) -> None:
    top = os.path.realpath(trees.repo.top)
    if os.path.commonpath([top, os.path.realpath(folder)]) == top:
        raise UsageError(f"{printable(folder)} lies in the checkout: layers must not")
    os.makedirs(folder, exist_ok=True)
    if os.listdir(folder):
        raise UsageError(f"{printable(folder)} is not empty")


def _is_link(entry: Entry | None) -> bool:
    return entry is not None and entry.mode == GITLINK


class _Whiteouts:
    """Which paths to white out so that `gone` is gone, as few as possible."""

    def __init__(self, top: str, written: Set[str], gone: Set[str]) -> None:
        self._top = top
        self._gone = gone
        self._written = written
        self._holding = {folder for path in written for folder in above(path)}
        self._emptied: dict[str, bool] = {}

    def paths(self) -> set[str]:
        return {self._highest(path) for path in self._gone if not self._is_covered(path)}

    def _is_covered(self, path: str) -> bool:
        """A written file hides a directory of its name, a written directory hides a file."""
        return path in self._holding or any(folder in self._written for folder in above(path))

    def _highest(self, path: str) -> str:
        for folder in above(path):
            if not self._is_emptied(folder):
                break
            path = folder
        return path

    def _is_emptied(self, folder: str) -> bool:
        """Whether nothing stays in `folder` but byte code: it goes whole, lest it be importable."""
        if folder in self._holding:
            return False
        if folder not in self._emptied:
            with os.scandir(os.path.join(self._top, folder)) as entries:
                paths = ((entry, posixpath.join(folder, entry.name)) for entry in entries)
                self._emptied[folder] = all(self._goes(entry, path) for entry, path in paths)
        return self._emptied[folder]

    def _goes(self, entry: os.DirEntry[str], path: str) -> bool:
        if is_bytecode(entry.name):
            return True
        if entry.is_dir(follow_symlinks=False):
            return self._is_emptied(path)
        return path in self._gone


def _outside(paths: Iterable[str], whiteouts: Set[str], written: Set[str]) -> set[str]:
    """Those of `paths` that no whiteout or written file above hides already."""
    return {
        path for path in paths if not any(folder in whiteouts or folder in written for folder in above(path))
    }


def _white_out(folder: str, path: str) -> None:
    place = os.path.join(folder, path)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    try:
        os.mknod(place, stat.S_IFCHR, os.makedev(0, 0))
    except OSError as error:
        raise EnvironmentFault(
            f"no whiteouts in {printable(folder)}: {error.strerror}", cure="Linux 5.8 or later is needed"
        ) from error


def _settle(folder: str, top: str) -> None:
    """Times of files, and directories with the modes they have in the checkout."""
    for place, _, names in os.walk(folder):
        for name in names:
            os.utime(os.path.join(place, name), (LAYER_MTIME, LAYER_MTIME), follow_symlinks=False)
        original = os.path.normpath(os.path.join(top, os.path.relpath(place, folder)))
        with_mode = os.lstat(original).st_mode if os.path.lexists(original) else 0
        os.chmod(place, stat.S_IMODE(with_mode) if stat.S_ISDIR(with_mode) else 0o755)

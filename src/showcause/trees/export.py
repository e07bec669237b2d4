"""The fallback without overlays: a whole copy of a side, and a second one by hard links."""

from __future__ import annotations

import os
from collections.abc import Set
from enum import StrEnum

from showcause import git
from showcause.canon import printable
from showcause.errors import UsageError
from showcause.records import NotChecked, Record, Side
from showcause.trees.bytecode import is_bytecode
from showcause.trees.composite import GITLINK, Trees
from showcause.trees.layer import attributes_for

__all__ = ["Export", "Way", "export"]

# Caches of tools are neither code nor environment; linked, they would be written to in the checkout.
_NOT_LINKED = frozenset(
    {".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".coverage", ".tox", ".nox", "htmlcov"}
)


class Way(StrEnum):
    """How an exported tree was made."""

    COPY = "copy"
    HARD_LINKS = "hard_links"  # shares files with the first: neither may be written in place


class Export(Record, frozen=True, kw_only=True):
    """A side as a folder of its own. `linked` are ignored paths that are symbolic links to the
    checkout's: whoever writes through them writes to the user's files."""

    side: Side
    folder: str
    way: Way
    linked: tuple[str, ...]
    not_checked: tuple[NotChecked, ...]


def export(trees: Trees, side: Side, folder: str, *, like: Export | None = None) -> Export:
    """Write `side` below `folder`, which must be new or empty; by hard links to `like` where given.

    Submodules are empty folders. Raises UsageError if `folder` is not empty, GitFault as git does.
    """
    os.makedirs(folder, exist_ok=True)
    if os.listdir(folder):
        raise UsageError(f"{printable(folder)} is not empty")
    if like is not None:
        _by_hard_links(trees, side, folder, like)
        linked, way = like.linked, Way.HARD_LINKS
    else:
        git.write_tree_files(trees.repo, folder, trees.patch.base_tree, trees.from_base(side))
        linked, way = _link_ignored(trees, folder), Way.COPY
    why = "submodules are empty in a copied tree"
    notes = tuple(
        NotChecked(what=path, why=why, caps=True)
        for path, entry in trees.sides[side].items()
        if entry and entry.mode == GITLINK
    )
    return Export(side=side, folder=folder, way=way, linked=linked, not_checked=notes)


def _by_hard_links(trees: Trees, side: Side, folder: str, like: Export) -> None:
    old, new = trees.sides[like.side], trees.sides[side]
    touched = {path for path in new if new[path] != old[path]}
    _mirror(like.folder, folder, touched)
    wanted = {path: entry for path in touched if (entry := new[path]) and entry.mode != GITLINK}
    git.write_files(trees.repo, folder, attributes_for(trees, side, wanted) | wanted, wanted)


def _mirror(source: str, target: str, leave_out: Set[str]) -> None:
    """The same directories and symbolic links, hard links to the same files; no empty directory more."""
    for place, folders, names in os.walk(source):
        there = os.path.relpath(place, source)
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        for name in (*names, *links):
            path = os.path.normpath(os.path.join(there, name))
            if path not in leave_out:
                _link(os.path.join(place, name), os.path.join(target, path))


def _link(source: str, target: str) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.islink(source):
        os.symlink(os.readlink(source), target)
    else:
        os.link(source, target)


def _link_ignored(trees: Trees, folder: str) -> tuple[str, ...]:
    linked = []
    for path in git.ignored(trees.repo, trees.repo.index):
        name, place = os.path.basename(path), os.path.join(folder, path)
        if name in _NOT_LINKED or is_bytecode(name) or os.path.lexists(place):
            continue
        if os.path.isdir(os.path.dirname(place)):
            os.symlink(os.path.join(trees.repo.top, path), place)
            linked.append(path)
    return tuple(linked)

"""What each side of a review holds, as differences from what lies on disk in the checkout."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping

from showcause import git
from showcause.canon import digest_record
from showcause.git import Entry, Repo
from showcause.patch import raw_changes
from showcause.records import ChangeKind, NotChecked, Patch, Record, Side
from showcause.trees.surface import SurfaceKind, maybe_test_directories, surface_kind, test_directories

__all__ = ["GITLINK", "Entries", "Trees", "above", "as_on_disk", "make_trees"]

GITLINK = "160000"
IGNORED = Entry(mode="", oid="")  # a file on disk that git ignores: equal to what no tree holds
Entries = Mapping[str, Entry | None]


class Trees(Record, frozen=True, kw_only=True):
    """The sides of one review. In all mappings None means that the path is absent.

    `disk` and `base` hold every path at which checkout, base and head may differ. `sides` are the
    contents of each side at these paths. `surface` says what each path of the patch is to the tests.
    """

    repo: Repo
    worktree: str
    patch: Patch
    disk: dict[str, Entry | None]
    base: dict[str, Entry | None]
    sides: dict[Side, dict[str, Entry | None]]
    surface: dict[str, SurfaceKind]

    def differing(self, side: Side) -> Entries:
        """Where `side` differs from the checkout on disk: what a layer must hold."""
        return {path: entry for path, entry in self.sides[side].items() if entry != self.disk[path]}

    def from_base(self, side: Side) -> Entries:
        """Where `side` differs from the base tree; removals first, as an index wants them."""
        changed = {path: entry for path, entry in self.sides[side].items() if entry != self.base[path]}
        return dict(sorted(changed.items(), key=lambda item: item[1] is not None))

    def composite_id(self, side: Side) -> str:
        """A stable name of the content of `side`: the tree id where it is exactly base or head."""
        if not self.from_base(side):
            return self.patch.base_tree
        if self.sides[side] == self.sides[Side.HEAD_HEAD]:
            return self.patch.head_tree
        entries = [
            [path, entry.mode if entry else "", entry.oid if entry else ""]
            for path, entry in sorted(self.from_base(side).items())
        ]
        return digest_record({"base": self.patch.base_tree, "entries": entries})

    @property
    def not_checked(self) -> tuple[NotChecked, ...]:
        """Submodules that the patch moves: their content stays as it lies on disk on every side."""
        why = "the patch moves this submodule; its content is the checkout's on both sides"
        links = [change for change in self.patch.changes if change.kind is ChangeKind.GITLINK]
        return tuple(NotChecked(what=change.path, why=why, caps=True) for change in links)


def make_trees(repo: Repo, *, worktree: str, patch: Patch) -> Trees:
    """The sides of `patch`, for a checkout whose snapshot is the tree `worktree`.

    One git process if the checkout is neither base nor head, one more if the patch touches a
    directory of which only base tells whether it holds tests.
    """
    before, after = _both_ends(patch)
    disk, base = _disk_and_base(repo, worktree, patch, before, after)
    head = base | after
    kinds = _surface(repo, patch.base_tree, after)
    inner = {path for path, kind in kinds.items() if kind is not SurfaceKind.NONE}
    sides = {
        Side.BASE: base,
        Side.HEAD_HEAD: head,
        Side.HEAD: _mixed(source=head, surface=base, inner=inner),
        Side.BASE_HEAD: _mixed(source=base, surface=head, inner=inner),
    }
    return Trees(repo=repo, worktree=worktree, patch=patch, disk=disk, base=base, sides=sides, surface=kinds)


def above(path: str) -> Iterator[str]:
    """The directories above `path`, innermost first, less the top."""
    folder = posixpath.dirname(path)
    while folder:
        yield folder
        folder = posixpath.dirname(folder)


def _both_ends(patch: Patch) -> tuple[dict[str, Entry | None], dict[str, Entry | None]]:
    """What every touched path holds in base and in head. The source of a copy is not touched."""
    before: dict[str, Entry | None] = {}
    after: dict[str, Entry | None] = {}
    for change in patch.changes:
        new, old = _entry(change.new_mode, change.new_oid), _entry(change.old_mode, change.old_oid)
        after[change.path] = new
        before[change.path] = None if change.old_path else old
        if change.kind is ChangeKind.RENAMED:
            before[change.old_path] = old
            after.setdefault(change.old_path, None)
    return before, after


def _entry(mode: str, oid: str) -> Entry | None:
    return Entry(mode=mode, oid=oid) if oid.strip("0") else None


def _disk_and_base(
    repo: Repo, worktree: str, patch: Patch, before: Entries, after: Entries
) -> tuple[dict[str, Entry | None], dict[str, Entry | None]]:
    base = dict(before)
    if worktree == patch.head_tree:
        disk = dict(after)
    else:
        disk = dict(before)
        for change in raw_changes(git.diff_raw(repo, worktree, patch.base_tree)):
            disk[change.path] = _entry(change.old_mode, change.old_oid)
            base[change.path] = _entry(change.new_mode, change.new_oid)
    return {path: as_on_disk(repo.top, path, entry) for path, entry in disk.items()}, base


def as_on_disk(top: str, path: str, entry: Entry | None) -> Entry | None:
    """A sparse checkout lacks files that the tree has; an ignored file may lie where the tree has none."""
    place = os.path.join(top, path)
    # What lies beyond a symbolic link is another place's file.
    is_here = os.path.lexists(place) and not any(os.path.islink(os.path.join(top, up)) for up in above(path))
    if entry and not is_here:
        return None
    if entry is None and is_here and (os.path.islink(place) or not os.path.isdir(place)):
        return IGNORED
    return entry


def _surface(repo: Repo, base_tree: str, paths: Entries) -> dict[str, SurfaceKind]:
    asked = maybe_test_directories(paths)
    held = (
        git.files(repo, base_tree, [f"{name}/" for name in sorted(asked)], recursive=False) if asked else ()
    )
    test_dirs = test_directories(file.path for file in held)
    return {path: surface_kind(path, test_dirs) for path in paths}


def _mixed(*, source: Entries, surface: Entries, inner: set[str]) -> dict[str, Entry | None]:
    """Sources of one tree with the surface of another.

    Where one has a file and the other a directory of that name, the file wins: a side is a possible
    checkout, and the same one each time.
    """
    mixed = {path: surface[path] if path in inner else entry for path, entry in source.items()}
    held = {path for path, entry in mixed.items() if entry}
    return {
        path: None if any(folder in held for folder in above(path)) else entry
        for path, entry in mixed.items()
    }

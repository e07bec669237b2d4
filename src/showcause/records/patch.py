"""Nouns of intake: what changed."""

from __future__ import annotations

from enum import StrEnum

from showcause.records.base import Record

__all__ = ["ChangeKind", "FileChange", "Patch"]


class ChangeKind(StrEnum):
    """What happened to one path. `binary` is a modified file that is not text."""

    ADDED = "added"
    DELETED = "deleted"
    MODIFIED = "modified"
    RENAMED = "renamed"
    COPIED = "copied"
    MODE = "mode"
    SYMLINK = "symlink"
    GITLINK = "gitlink"
    BINARY = "binary"


class FileChange(Record, frozen=True, kw_only=True):
    """One changed path. Modes are git's octal text; an object id of all zeros means absent."""

    path: str
    old_path: str
    kind: ChangeKind
    old_mode: str
    new_mode: str
    old_oid: str
    new_oid: str
    added_lines: int
    deleted_lines: int
    is_binary: bool


class Patch(Record, frozen=True, kw_only=True):
    """The difference base -> head as bytes, with the inventory of every changed path."""

    data: bytes
    digest: str
    base_tree: str
    head_tree: str
    changes: tuple[FileChange, ...]

    @property
    def is_empty(self) -> bool:
        return not self.changes

    @property
    def paths(self) -> frozenset[str]:
        """Every path that differs between base and head, old names of renames included."""
        gone = {change.old_path for change in self.changes if change.kind is ChangeKind.RENAMED}
        return frozenset({change.path for change in self.changes} | gone)

"""Where the lines of a file went: the hunks of the patch as maps between base's and head's lines. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from showcause.records import ChangeKind, FileChange, Patch, Record

__all__ = ["LineMap", "Run", "line_maps"]

_SECTION = b"diff --git "
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_WHOLE = 1 << 60


class Run(Record, frozen=True, kw_only=True):
    """`length` lines that are the same on both sides, from these line numbers on."""

    base: int
    head: int
    length: int


class LineMap(Record, frozen=True, kw_only=True):
    """One file of head: its name in base ("" where it has none) and the runs of lines both have."""

    old_path: str
    runs: tuple[Run, ...]

    def to_base(self, line: int) -> int | None:
        """Where a line of head stands in base, None for a line that the patch adds."""
        return next((r.base + line - r.head for r in self.runs if 0 <= line - r.head < r.length), None)

    def to_head(self, line: int) -> int | None:
        """Where a line of base stands in head, None for a line that the patch removes."""
        return next((r.head + line - r.base for r in self.runs if 0 <= line - r.base < r.length), None)


def untouched(path: str) -> LineMap:
    """The map of a file that the patch leaves alone."""
    return LineMap(old_path=path, runs=(Run(base=1, head=1, length=_WHOLE),))


def line_maps(patch: Patch) -> dict[str, LineMap]:
    """A map for each path that head has of the patch. A file that is added has no line of base."""
    maps = {}
    for change, section in zip(patch.changes, _sections(patch.changes, patch.data), strict=True):
        if change.kind is ChangeKind.DELETED:
            continue
        if change.kind is ChangeKind.ADDED or not change.old_oid.strip("0"):
            maps[change.path] = LineMap(old_path="", runs=())
        else:
            maps[change.path] = LineMap(old_path=change.old_path or change.path, runs=tuple(_runs(section)))
    return maps


def _sections(changes: Sequence[FileChange], data: bytes) -> Iterator[bytes]:
    """The patch text of each change; one whose type changed is a deletion and an addition in git's words."""
    starts = [0] if data.startswith(_SECTION) else []
    at = data.find(b"\n" + _SECTION)
    while at >= 0:
        starts.append(at + 1)
        at = data.find(b"\n" + _SECTION, at + 1)
    bounds = iter([*starts, len(data)])
    start = next(bounds)
    for change in changes:
        end = next(bounds)
        if _is_of_another_type(change):
            end = next(bounds)
        yield data[start:end]
        start = end


def _is_of_another_type(change: FileChange) -> bool:
    both = change.old_oid.strip("0") and change.new_oid.strip("0")
    return bool(both) and change.old_mode[:3] != change.new_mode[:3]


def _runs(section: bytes) -> Iterator[Run]:
    """What stands between the changed lines: context and all that no hunk shows."""
    base = head = 1
    lines = section.split(b"\n")
    at = 0
    while at < len(lines):
        found = _HUNK.match(lines[at])
        at += 1
        if found is None:
            continue
        old, old_many, new, new_many = (int(part) if part is not None else 1 for part in found.groups())
        # an empty side is told as the line before it
        old, new = old + (old_many == 0), new + (new_many == 0)
        if old > base:
            yield Run(base=base, head=head, length=old - base)
        base, head = old, new
        while at < len(lines) and (old_many > 0 or new_many > 0):
            mark = lines[at][:1]
            at += 1
            if mark == b"-":
                base, old_many = base + 1, old_many - 1
            elif mark == b"+":
                head, new_many = head + 1, new_many - 1
            elif mark in (b" ", b""):
                yield Run(base=base, head=head, length=1)
                base, head, old_many, new_many = base + 1, head + 1, old_many - 1, new_many - 1
    yield Run(base=base, head=head, length=_WHOLE)

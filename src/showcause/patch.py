"""Diff bytes to records, and repairs of diffs that were handed in. Pure: no input, no output."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from showcause.canon import digest, printable
from showcause.records import ChangeKind, FileChange, NotChecked, Patch, Record

__all__ = ["Normalised", "RawChange", "normalise", "parse", "raw_changes"]

_GITLINK, _SYMLINK = "160000", "120000"
_SECTION = b"diff --git "
_STUB = re.compile(rb"^Binary files (.+) and (.+) differ\r?$")
# What may stand between a section's first line and its stub.
_HEADER = re.compile(
    rb"^(old mode|new mode|new file|deleted file|index|similarity|rename|copy|dissimilarity) "
)


class RawChange(Record, frozen=True, kw_only=True):
    """One raw record of git: `status` is its letter, `old_path` is empty unless renamed or copied."""

    status: str
    path: str
    old_path: str
    old_mode: str
    new_mode: str
    old_oid: str
    new_oid: str


class Normalised(Record, frozen=True, kw_only=True):
    """A handed-in diff after repairs, each named; `not_checked` are changes it only mentions."""

    data: bytes
    repairs: tuple[str, ...]
    not_checked: tuple[NotChecked, ...]


# ------------------------------------------------------------------ what git said


def raw_changes(data: bytes) -> tuple[RawChange, ...]:
    """The raw records at the start of `data` (`git diff-tree -z --raw`)."""
    return _raw(data)[0]


def parse(data: bytes, *, base_tree: str, head_tree: str) -> Patch:
    """The patch in the output of `git diff-tree -z --raw --numstat -p` (empty: no difference).

    The digest is that of the patch text alone. Line counts come from git, and from the text where an
    attribute made git call a text file binary.
    """
    raw, at = _raw(data)
    counts, at = _numstat(data, at)
    text = data[at:]
    sections = _sections_of(raw, text)
    changes = tuple(
        _change(change, counts.get(change.path), section)
        for change, section in zip(raw, sections, strict=True)
    )
    return Patch(data=text, digest=digest(text), base_tree=base_tree, head_tree=head_tree, changes=changes)


def _raw(data: bytes) -> tuple[tuple[RawChange, ...], int]:
    """The records, and where they end."""
    changes = []
    at = 0
    while data.startswith(b":", at):
        meta, at = _field(data, at)
        old_mode, new_mode, old_oid, new_oid, status = meta[1:].decode().split()
        path, at = _field(data, at)
        old_path = b""
        if status[0] in "RC":
            old_path, (path, at) = path, _field(data, at)
        changes.append(
            RawChange(
                status=status[0],
                path=os.fsdecode(path),
                old_path=os.fsdecode(old_path),
                old_mode=old_mode,
                new_mode=new_mode,
                old_oid=old_oid,
                new_oid=new_oid,
            )
        )
    return tuple(changes), at


def _numstat(data: bytes, at: int) -> tuple[dict[str, tuple[int, int] | None], int]:
    """Added and deleted lines by (new) path, None for what git calls binary; and where the patch starts."""
    counts: dict[str, tuple[int, int] | None] = {}
    while at < len(data) and data[at] != 0:
        record, at = _field(data, at)
        added, deleted, path = record.split(b"\t", 2)
        if not path:  # a rename: old and new name follow
            _, at = _field(data, at)
            path, at = _field(data, at)
        counts[os.fsdecode(path)] = None if added == b"-" else (int(added), int(deleted))
    return counts, min(at + 1, len(data))


def _field(data: bytes, at: int) -> tuple[bytes, int]:
    end = data.index(b"\0", at)
    return data[at:end], end + 1


def _sections_of(raw: tuple[RawChange, ...], text: bytes) -> Iterator[bytes]:
    """The patch text of each change, in order; a change of type is a deletion and an addition.

    Every line of content starts with a space, plus or minus, so the mark is never content.
    """
    starts = [0] if text.startswith(_SECTION) else []
    at = text.find(b"\n" + _SECTION)
    while at >= 0:
        starts.append(at + 1)
        at = text.find(b"\n" + _SECTION, at + 1)
    bounds = iter([*starts, len(text)])
    start = next(bounds)
    for change in raw:
        end = next(bounds)
        if change.status == "T":
            end = next(bounds)
        yield text[start:end]
        start = end


def _change(raw: RawChange, counts: tuple[int, int] | None, section: bytes) -> FileChange:
    is_binary = counts is None and b"\0" in section
    added, deleted = counts or _count(section)
    return FileChange(
        path=raw.path,
        old_path=raw.old_path,
        kind=_kind(raw, is_binary),
        old_mode=raw.old_mode,
        new_mode=raw.new_mode,
        old_oid=raw.old_oid,
        new_oid=raw.new_oid,
        added_lines=0 if is_binary else added,
        deleted_lines=0 if is_binary else deleted,
        is_binary=is_binary,
    )


def _count(section: bytes) -> tuple[int, int]:
    _, _, body = section.partition(b"\n@@ ")
    lines = body.split(b"\n")[1:]  # the first is the rest of the hunk's header
    return sum(line[:1] == b"+" for line in lines), sum(line[:1] == b"-" for line in lines)


def _kind(raw: RawChange, is_binary: bool) -> ChangeKind:
    """One word per change; whether a symlink or gitlink came or went is in its object ids."""
    modes = (raw.old_mode, raw.new_mode)
    by_status = {
        "R": ChangeKind.RENAMED,
        "C": ChangeKind.COPIED,
        "A": ChangeKind.ADDED,
        "D": ChangeKind.DELETED,
    }
    if _GITLINK in modes:
        return ChangeKind.GITLINK
    if _SYMLINK in modes and raw.status not in "RC":
        return ChangeKind.SYMLINK
    if raw.status in by_status:
        return by_status[raw.status]
    if raw.old_oid == raw.new_oid:
        return ChangeKind.MODE
    return ChangeKind.BINARY if is_binary else ChangeKind.MODIFIED


# ------------------------------------------------------------------ what people hand in


def normalise(data: bytes) -> Normalised:
    """Repair what can be repaired without guessing; the end is never stripped.

    Blank lines at the start go, a last line break that is missing comes back, and changes of binary
    files that the diff only mentions are dropped and named.
    """
    repairs = []
    body = data.lstrip(b"\r\n")
    if not body.strip():
        return Normalised(data=data, repairs=(), not_checked=())
    if len(body) != len(data):
        repairs.append("blank lines at the start dropped")
    if not body.endswith(b"\n"):
        body += b"\n"
        repairs.append("missing last line break added")
    body, stubs = _without_stubs(body)
    not_checked = tuple(
        NotChecked(what=name, why="binary change that the diff mentions without its content", caps=True)
        for name in stubs
    )
    repairs += [f"binary change without content dropped: {printable(name)}" for name in stubs]
    return Normalised(data=body, repairs=tuple(repairs), not_checked=not_checked)


def _without_stubs(data: bytes) -> tuple[bytes, tuple[str, ...]]:
    if b"Binary files " not in data:
        return data, ()
    kept: list[bytes] = []
    names = []
    for line in data.split(b"\n"):
        stub = _STUB.match(line)
        if stub is None:
            kept.append(line)
            continue
        names.append(_stub_name(stub.group(1), stub.group(2)))
        _drop_header(kept)
    return b"\n".join(kept), tuple(names)


def _drop_header(kept: list[bytes]) -> None:
    """Take back the header lines of the section that turned out to be a stub."""
    header = len(kept)
    while header and _HEADER.match(kept[header - 1]):
        header -= 1
    if header and kept[header - 1].startswith(_SECTION):
        del kept[header - 1 :]


def _stub_name(old: bytes, new: bytes) -> str:
    side, prefix = (old, b"a/") if new == b"/dev/null" else (new, b"b/")
    return os.fsdecode(side.removeprefix(prefix))

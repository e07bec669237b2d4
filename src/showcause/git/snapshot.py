"""The work tree and the index as trees, by private copies of the user's index.

The copy keeps the modification time of its source: git compares it with the times of files to find
those that changed within the index's own second. A copy that was brought up to date is kept, so the
next snapshot only reads what changed; it holds for one state of the user's index and is dropped
when that changes (what is tracked is the user's to say).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from contextlib import suppress
from glob import escape, glob

import msgspec

from showcause import process
from showcause.canon import printable
from showcause.errors import GitFault, UsageError
from showcause.git.call import Repo, call, complaint, finish, scratch
from showcause.git.config import lfs_storage
from showcause.git.links import Links, look_at_links
from showcause.git.write import Entry, index_lines
from showcause.records import NotChecked, Record

__all__ = ["Snapshot", "snapshot", "staged"]

_GITLINK = b"160000"
_NO_COMMIT = re.compile(rb"^error: '(.*?)/?' does not have a commit checked out$", re.MULTILINE)
_UNMERGED = re.compile(rb"^(?:error: )?(.*): unmerged \(", re.MULTILINE)
_A_DAY_S = 86_400
_EMBEDDED = b"warning: adding embedded git repository"


class Snapshot(Record, frozen=True, kw_only=True):
    """The work tree as a tree: tracked and untracked, not ignored, content.

    `unhidden` are paths that assume-unchanged or skip-worktree would have hidden from git although
    they lie on disk; `absent` counts paths that a sparse checkout left out (the tree has them).
    """

    tree: str
    not_checked: tuple[NotChecked, ...]
    unhidden: tuple[str, ...]
    absent: int


class _Known(Record, frozen=True, kw_only=True):
    """What a look at the index told; kept beside the private index."""

    links: dict[str, str]
    nested: tuple[str, ...] = ()
    unhidden: tuple[str, ...] = ()
    absent: int = 0


def snapshot(repo: Repo, name: str = "worktree") -> Snapshot:
    """The tree of the work tree as it is now. `name` tells apart the private indexes that are kept.

    Nested repositories are left out, submodules stand at their checked-out commit; both kinds are in
    `not_checked` where their content differs from what the tree says.

    Raises UsageError on unmerged paths, GitFault if a file cannot be read.
    """
    kept = os.path.join(repo.private, f"index-{name}-{_stamp(repo.index)}")
    with scratch(repo) as index:
        known = _reuse(kept, index) or _fresh(repo, index)
        links = look_at_links(repo, known.links, known.nested)
        nested = _bring_up_to_date(repo, index, links, known)
        known = msgspec.structs.replace(known, nested=nested)
        tree = call(repo, "write-tree", index=index).decode().strip()
        _keep(repo, name, index, kept, known)
    notes = [*links.not_checked, *(_nested_note(path) for path in nested)]
    return Snapshot(tree=tree, not_checked=tuple(notes), unhidden=known.unhidden, absent=known.absent)


def staged(repo: Repo) -> str:
    """The tree of the index as it is now. Raises UsageError on unmerged paths."""
    with scratch(repo) as index:
        if not _copy_index(repo.index, index):
            call(repo, "read-tree", "HEAD", index=index)
        written = finish(repo, "write-tree", index=index)
        if written.exit_status == 0:
            return written.stdout.kept.decode().strip()
    unmerged = _UNMERGED.search(written.stderr.kept)
    if unmerged:
        raise _unmerged(os.fsdecode(unmerged.group(1)))
    raise GitFault(f"git write-tree: {complaint(written.stderr.kept)}")


# ------------------------------------------------------------------ bringing an index up to date


def _bring_up_to_date(repo: Repo, index: str, links: Links, known: _Known) -> tuple[str, ...]:
    """`add -A` less all repositories inside; returns the nested ones."""
    nested = {path for path in links.left_out if path not in known.links}
    while True:
        added = _add(repo, index, {*links.left_out, *nested})
        without_commit = {os.fsdecode(path) for path in _NO_COMMIT.findall(added.stderr.kept)} - nested
        nested |= without_commit
        if added.exit_status == 0:
            break
        if not without_commit:
            raise GitFault(f"git add: {complaint(added.stderr.kept)}")
    changes: dict[str, Entry | None] = {
        path: Entry(mode="160000", oid=commit) for path, commit in links.moved.items()
    }
    if _EMBEDDED in added.stderr.kept:
        found = _look(repo, index).links.keys() - known.links.keys()
        nested |= found
        changes |= dict.fromkeys(found)
    if changes:
        lines = index_lines(changes, "0" * len(repo.head_tree))
        call(repo, "update-index", "-z", "--index-info", stdin=lines, index=index, work_tree=repo.top)
    return tuple(sorted(nested))


def _add(repo: Repo, index: str, left_out: set[str]) -> process.Finished:
    options: tuple[str, ...] = ("add", "-A")
    stdin = b""
    if left_out:
        options += ("--pathspec-from-file=-", "--pathspec-file-nul")
        paths = [".", *(f":(top,exclude,literal){path}" for path in sorted(left_out))]
        stdin = b"".join(os.fsencode(path) + b"\0" for path in paths)
    extra = lfs_storage(repo.settings, os.path.join(repo.private, "lfs"))
    return finish(repo, *options, stdin=stdin, index=index, work_tree=repo.top, settings=extra)


def _nested_note(path: str) -> NotChecked:
    return NotChecked(what=path, why="nested repository: its content is in no tree of this one", caps=True)


def _unmerged(path: str) -> UsageError:
    return UsageError(f"unmerged path {printable(path)!r}: finish the merge first")


# ------------------------------------------------------------------ where the private index comes from


def _stamp(index: str) -> str:
    """Which state of the user's index a copy belongs to: its times and its closing checksum."""
    try:
        with open(index, "rb") as file:
            facts = os.fstat(file.fileno())
            file.seek(max(0, facts.st_size - 32))
            told = f"{facts.st_size} {facts.st_mtime_ns} {facts.st_ino} {file.read().hex()}"
    except FileNotFoundError:
        told = "absent"
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _copy_index(source: str, target: str) -> bool:
    """Copy with the modification time (see the top of this file). False if there is no source."""
    try:
        with open(source, "rb") as read, open(target, "wb") as write:
            facts = os.fstat(read.fileno())
            shutil.copyfileobj(read, write, 1 << 20)
    except FileNotFoundError:
        with suppress(FileNotFoundError):
            os.unlink(target)
        return False
    os.utime(target, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    return True


def _fresh(repo: Repo, index: str) -> _Known:
    """A copy of the user's index in which nothing that lies on disk is hidden."""
    if not _copy_index(repo.index, index):
        call(repo, "read-tree", "HEAD", index=index, work_tree=repo.top)
    known = _look(repo, index)
    names = b"".join(os.fsencode(path) + b"\0" for path in known.unhidden)
    for flag in ("--no-assume-unchanged", "--no-skip-worktree") if names else ():
        call(repo, "update-index", flag, "-z", "--stdin", stdin=names, index=index, work_tree=repo.top)
    return known


def _look(repo: Repo, index: str) -> _Known:
    """Submodules, hidden paths, and a refusal of unmerged ones; all else in the index is plain."""
    listing = call(repo, "ls-files", "-z", "-s", "-v", index=index, work_tree=repo.top)
    links: dict[str, str] = {}
    hidden: list[str] = []
    for line in listing.split(b"\0")[:-1]:
        meta, _, name = line.partition(b"\t")
        tag, mode, oid, stage = meta.split(b" ")
        if stage != b"0":
            raise _unmerged(os.fsdecode(name))
        if mode == _GITLINK:
            links[os.fsdecode(name)] = oid.decode()
        elif tag != b"H":
            hidden.append(os.fsdecode(name))
    # Absent and skipped is a sparse checkout's way to say unchanged; absent and assumed unchanged is gone.
    present = [path for path in hidden if os.path.lexists(os.path.join(repo.top, path))]
    return _Known(links=links, unhidden=tuple(present), absent=len(hidden) - len(present))


def _reuse(kept: str, index: str) -> _Known | None:
    try:
        with open(f"{kept}.json", "rb") as file:
            known = msgspec.json.decode(file.read(), type=_KnownText).known()
    except (FileNotFoundError, msgspec.MsgspecError):
        return None
    return known if _copy_index(kept, index) else None


def _keep(repo: Repo, name: str, index: str, kept: str, known: _Known) -> None:
    """Move the index into place, its note first: a reader that finds the note alone starts afresh."""
    folder = os.path.dirname(index)
    note = os.path.join(folder, "note")
    with open(note, "wb") as file:
        file.write(msgspec.json.encode(_KnownText.of(known)))
    os.replace(note, f"{kept}.json")
    os.replace(index, kept)
    _sweep(repo, name, kept)


def _sweep(repo: Repo, name: str, kept: str) -> None:
    """Remove the indexes that `kept` replaces, and what killed processes left a day or more ago."""
    replaced = [
        old
        for old in glob(os.path.join(escape(repo.private), f"index-{escape(name)}-{'[0-9a-f]' * 16}*"))
        if not old.startswith(kept)
    ]
    for old in replaced:
        with suppress(FileNotFoundError):
            os.unlink(old)
    # what git was writing when it was stopped; looked for seldom, since it means 257 folders
    for part in glob(os.path.join(escape(repo.private_objects), "*", "tmp_*")) if replaced else ():
        with suppress(FileNotFoundError):
            if os.stat(part).st_mtime < os.stat(kept).st_mtime - _A_DAY_S:
                os.unlink(part)
    for work in glob(os.path.join(escape(repo.private), "work-*")):
        with suppress(FileNotFoundError):
            if os.stat(work).st_mtime < os.stat(kept).st_mtime - _A_DAY_S:
                shutil.rmtree(work, ignore_errors=True)


class _KnownText(Record, frozen=True, kw_only=True):
    """`_Known` for a JSON file: paths as hexadecimal bytes, since JSON text cannot hold all of them."""

    links: dict[str, str]
    nested: list[str]
    unhidden: list[str]
    absent: int

    @classmethod
    def of(cls, known: _Known) -> _KnownText:
        return cls(
            links={_hex(path): oid for path, oid in known.links.items()},
            nested=[_hex(path) for path in known.nested],
            unhidden=[_hex(path) for path in known.unhidden],
            absent=known.absent,
        )

    def known(self) -> _Known:
        return _Known(
            links={_text(path): oid for path, oid in self.links.items()},
            nested=tuple(_text(path) for path in self.nested),
            unhidden=tuple(_text(path) for path in self.unhidden),
            absent=self.absent,
        )


def _hex(path: str) -> str:
    return os.fsencode(path).hex()


def _text(path: str) -> str:
    return os.fsdecode(bytes.fromhex(path))

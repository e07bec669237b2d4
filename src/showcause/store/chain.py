"""Whether a chain of receipts is what was written, and what that cannot show.

Changed, removed, reordered and foreign receipts show. Without a key or a pinned head nobody can tell
that the end of a chain was removed, or that all of it was written anew: `ChainReport.limits` says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from showcause.errors import UsageError
from showcause.receipt import GENESIS, VERSION, Entry, digest_of, signature_of
from showcause.records import Record

__all__ = ["ChainReport", "Problem", "ProblemKind", "check", "verify"]


class ProblemKind(StrEnum):
    """What is wrong with one receipt of a chain."""

    CHANGED = "changed"  # its digest is not that of its content
    REMOVED = "removed"  # the receipt it was chained to is gone, or was replaced
    REORDERED = "reordered"  # the receipt it was chained to stands elsewhere
    FOREIGN_VERSION = "foreign_version"  # cannot be checked by this showcause
    BAD_SIGNATURE = "bad_signature"  # not signed by the given key
    UNSIGNED = "unsigned"  # no signed receipt follows, and it is not signed itself
    HEAD_MISSING = "head_missing"  # the pinned head is not in the chain


class Problem(Record, frozen=True, kw_only=True):
    """One problem. `position` counts from 1; 0 means the chain as a whole."""

    kind: ProblemKind
    position: int
    id: str
    text: str


class ChainReport(Record, frozen=True, kw_only=True):
    """What a chain showed. `head` is the last digest, to be pinned; `limits` is what stays unseen."""

    count: int
    head: str
    problems: tuple[Problem, ...]
    limits: tuple[str, ...]

    @property
    def is_valid(self) -> bool:
        return not self.problems


def check(entry: Entry, *, position: int = 0) -> Problem | None:
    """Whether an entry is what its digest says; links are not looked at."""
    if entry.version != VERSION:
        text = f"version {entry.version!r} is unknown here, its content was not checked"
        return _problem(ProblemKind.FOREIGN_VERSION, position, entry, text)
    try:
        computed = digest_of(entry)
    except UnicodeEncodeError:  # we never wrote such text
        computed = ""
    if computed == entry.digest:
        return None
    return _problem(ProblemKind.CHANGED, position, entry, "its content is not what was written")


def verify(entries: Iterable[Entry], *, head: str = "", key: bytes = b"") -> ChainReport:
    """Read a chain from its first receipt to its last.

    `head` (a whole digest) must be in the chain; receipts after it are fine. With `key` every
    signature is checked; a signature covers all receipts before it as well.
    Raises UsageError if `head` is not a digest.
    """
    if head and not re.fullmatch(r"[0-9a-f]{64}", head):
        raise UsageError("a head is pinned by its whole digest: 64 hexadecimal digits")
    walk = _Walk(key)
    for entry in entries:
        walk.take(entry)
    return walk.report(head)


def _problem(kind: ProblemKind, position: int, entry: Entry, text: str) -> Problem:
    return Problem(kind=kind, position=position, id=entry.id, text=text)


class _Walk:
    """State of one walk along a chain."""

    def __init__(self, key: bytes) -> None:
        self.key = key
        self.count = 0
        self.last = GENESIS
        self.digests = {GENESIS}
        self.problems: list[Problem] = []
        self.breaks: list[tuple[int, Entry]] = []
        self.unsigned: list[tuple[int, Entry]] = []  # since the last good signature

    def take(self, entry: Entry) -> None:
        self.count += 1
        problem = check(entry, position=self.count)
        if problem:
            self.problems.append(problem)
        if entry.previous != self.last:
            self.breaks.append((self.count, entry))
        if self.key:
            self._look_at_signature(entry, readable=problem is None)
        self.digests.add(entry.digest)
        self.last = entry.digest

    def _look_at_signature(self, entry: Entry, *, readable: bool) -> None:
        self.unsigned.append((self.count, entry))
        if not readable or not entry.signature:
            return
        if signature_of(entry, self.key) == entry.signature:  # no secret: who can ask has the file
            self.unsigned.clear()
            return
        text = "it was signed with another key, or forged"
        self.problems.append(_problem(ProblemKind.BAD_SIGNATURE, self.count, entry, text))

    def report(self, head: str) -> ChainReport:
        problems = [*self.problems, *map(self._break, self.breaks)]
        for position, entry in self.unsigned:
            text = "no valid signature covers it"
            problems.append(_problem(ProblemKind.UNSIGNED, position, entry, text))
        problems.sort(key=lambda problem: problem.position)
        if head and head not in self.digests:
            text = "the pinned head is not in the chain: its end was removed, or all was written anew"
            problems.append(Problem(kind=ProblemKind.HEAD_MISSING, position=0, id="", text=text))
        last = self.last if self.count else GENESIS
        return ChainReport(count=self.count, head=last, problems=tuple(problems), limits=self._limits(head))

    def _break(self, found: tuple[int, Entry]) -> Problem:
        position, entry = found
        if entry.previous in self.digests:
            text = "it does not stand behind the receipt it was chained to"
            return _problem(ProblemKind.REORDERED, position, entry, text)
        text = "the receipt before it was removed or replaced"
        return _problem(ProblemKind.REMOVED, position, entry, text)

    def _limits(self, head: str) -> tuple[str, ...]:
        if not head:
            limits = ["cannot show whether receipts were removed from the end (pin it: --head DIGEST)"]
            if not self.key:
                limits.append("cannot show whether all of it was written anew (pin the end, or sign)")
            return tuple(limits)
        if head == self.last:
            return ()
        return ("cannot show whether receipts after the pinned one were removed or written anew",)

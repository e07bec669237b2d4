"""What an adapter is: how one CLI is called at its strictest, and how its output is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from showcause.contract.deliver import Parcel
from showcause.contract.reading import Fault, Reading
from showcause.errors import UsageError
from showcause.records import Record
from showcause.records.contract import ReviewerKind, ReviewerSpec, Role

__all__ = [
    "Adapter",
    "Composed",
    "Conversation",
    "Forbidden",
    "Job",
    "Limits",
    "Misbehaving",
    "has_run",
    "no_repository",
]


class Job(Record, frozen=True, kw_only=True):
    """One thing to be done. `home` is the CLI's own home, `repository` "" where it may read none.

    `key` is the value of the variable that the settings name, "" without one; it goes into the environment
    and nowhere else.
    """

    spec: ReviewerSpec
    role: Role
    parcel: Parcel
    program: tuple[str, ...]
    home: str
    folder: str
    repository: str
    key: str


class Conversation(Protocol):
    """The rest of the input, where it depends on what the CLI answers: see `process.Talk`."""

    @property
    def total(self) -> int:
        """Bytes that belong to a whole input: what was said so far, and what is still to be said."""
        ...

    def __call__(self, data: bytes) -> bytes | None: ...


class Composed(Record, frozen=True, kw_only=True):
    """What an adapter wants started. `files`: path below the CLI's home -> content. `in_argv`: the packet
    is a word of the command line, since this CLI reads no standard input."""

    argv: tuple[str, ...]
    stdin: bytes
    env: dict[str, str]
    files: dict[str, bytes] = {}
    in_argv: bool = False
    talk: Conversation | None = None


class Forbidden(Record, frozen=True, kw_only=True):
    """Flags that give the CLI powers, and why; with `values` (a regular expression, searched) only values
    of that kind do."""

    flags: tuple[str, ...]
    why: str
    values: str = ""


class Misbehaving(Record, frozen=True, kw_only=True):
    """Versions that are refused. `pattern` is a regular expression for the whole version."""

    pattern: str
    why: str


class Limits(Record, frozen=True, kw_only=True):
    """What a CLI takes: characters and bytes of one packet, tokens where no window is named."""

    characters: int = 4_000_000
    size: int = 8_000_000
    context_tokens: int = 100_000


class Adapter(Protocol):
    """One kind of reviewer. All of it is pure: it composes and it reads, it starts nothing."""

    @property
    def kind(self) -> ReviewerKind: ...

    @property
    def program(self) -> str:
        """The usual name on PATH."""
        ...

    @property
    def forbidden(self) -> tuple[Forbidden, ...]: ...

    @property
    def required(self) -> tuple[tuple[str, ...], ...]:
        """Words that must stand in the command line, each tuple as a run."""
        ...

    @property
    def misbehaving(self) -> tuple[Misbehaving, ...]: ...

    @property
    def limits(self) -> Limits: ...

    def compose(self, job: Job) -> Composed:
        """The strictest command line that still reviews. Raises UsageError for a spec it cannot serve."""
        ...

    def read(self, out: bytes, err: bytes, sent: str) -> Reading:
        """What the output says. Never raises, whatever the bytes are. `sent` is the text it was given."""
        ...

    def status(self, exit_status: int, err: bytes) -> Fault | None:
        """The provider's fault that a non-zero exit status means; None: it is a crash."""
        ...

    def speak(self, answer: str, model: str) -> bytes:
        """A shortest valid output with this answer, for stand-ins of the boundary scan."""
        ...


def has_run(argv: Sequence[str], words: Sequence[str]) -> bool:
    """Whether the words stand in the command line one after another."""
    size = len(words)
    return any(tuple(argv[at : at + size]) == tuple(words) for at in range(len(argv) - size + 1))


def no_repository(job: Job) -> None:
    """For CLIs that have no way of reading which is none of writing too. Raises UsageError."""
    if job.repository:
        raise UsageError(
            f"[reviewers.{job.spec.name}] repository: a {job.spec.kind.value} reviewer gets no tools, and "
            "cannot read the repository; leave it out"
        )

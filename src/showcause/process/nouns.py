"""What is started, what is kept of its output, and how it ended."""

from __future__ import annotations

from enum import StrEnum

import msgspec

__all__ = ["Command", "Finished", "How", "Reap", "Stream"]


class Reap(StrEnum):
    """How the tree of processes below a command is brought to its end."""

    GROUP = "group"  # trusted tools that do not daemonise (git): new session, killpg
    NAMESPACE = "namespace"  # argv starts bwrap with its own pid namespace: killing its init kills all
    SUBREAPER = "subreaper"  # no namespace to be had: a small reaper process stands above the command


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """What to start. `limit_s` is required; `keep_bytes` is kept of head and of tail of each stream,
    None keeps everything (trusted tools only)."""

    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str]
    limit_s: float
    stdin: bytes = b""
    keep_bytes: int | None = 65536
    reap: Reap = Reap.GROUP
    pass_fds: tuple[int, ...] = ()


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of one output stream; `total_bytes` counts all that was drained."""

    head: bytes
    tail: bytes
    total_bytes: int

    @property
    def is_whole(self) -> bool:
        return len(self.head) + len(self.tail) == self.total_bytes

    @property
    def kept(self) -> bytes:
        return self.head + self.tail


class How(StrEnum):
    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    SPAWN_FAILED = "spawn_failed"


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """How a command ended. `exit_status` is set only for `exited`; `leaked` counts processes of its
    tree that were still there after it was over (always 0, or the machine is not as promised).
    `stdin_accepted` counts the bytes that the command's pipe took, read or not."""

    argv: tuple[str, ...]
    how: How
    exit_status: int | None
    signal: int | None
    stdout: Stream
    stderr: Stream
    stdin_accepted: int
    wall_s: float
    leaked: int
    why: str = ""

"""Whether the process that announced a review still lives.

A pid alone says nothing: it is used again, after a boot all are, and it means another process in
another pid namespace. Where nothing can be known, a day of silence counts as death.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from showcause.records import Record

__all__ = ["Process", "is_dead", "this_process"]

_SILENCE_S = 86_400.0


class Process(Record, frozen=True, kw_only=True):
    """One process of one boot of one machine. Empty text: not known on this system."""

    pid: int
    start: str
    boot: str
    pid_namespace: str
    host: str


def this_process() -> Process:
    """The calling process."""
    return Process(
        pid=os.getpid(),
        start=_start(os.getpid()) or "",
        boot=_read("/proc/sys/kernel/random/boot_id"),
        pid_namespace=_link("/proc/self/ns/pid"),
        host=os.uname().nodename,
    )


def is_dead(process: Process, since: str) -> bool:
    """Whether a process, seen alive at the time `since`, is gone for sure, or silent for too long."""
    here = this_process()
    if process.boot != here.boot:
        return process.host == here.host or _is_old(since)
    if process.pid_namespace != here.pid_namespace:
        return _is_old(since)
    if not here.start:  # no /proc
        return not _answers(process.pid)
    return _start(process.pid) != process.start


def _start(pid: int) -> str | None:
    """When a process started, in ticks since boot; None if it is gone, or only waits to be reaped."""
    stat = _read(f"/proc/{pid}/stat")
    fields = stat.rpartition(")")[2].split()  # the name before may hold blanks and brackets
    if len(fields) < 20 or fields[0] in "ZX":
        return None
    return fields[19]


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _is_old(since: str) -> bool:
    try:
        then = datetime.fromisoformat(since)
    except ValueError:
        return True
    return (datetime.now(UTC) - then).total_seconds() > _SILENCE_S


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _link(path: str) -> str:
    try:
        return str(Path(path).readlink())
    except OSError:
        return ""

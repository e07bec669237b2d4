"""Who of a tree is still there: by group, and by a marker in the environment."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["KILL_GRACE_S", "MARKER", "in_group", "kill_naming", "sweep", "wait_for"]

MARKER = "SHOWCAUSE_RUN"  # in the environment of trees that no namespace holds: tells whose they are
KILL_GRACE_S = 10.0  # a killed process that is still there after this is counted as leaked


def wait_for(fd: int, wait_s: float) -> bool:
    """Whether the descriptor became readable in time; a pidfd does when its process is dead."""
    with selectors.DefaultSelector() as selector:
        selector.register(fd, selectors.EVENT_READ)
        return bool(selector.select(wait_s))


def _group_exists(pgid: int) -> bool:
    try:
        os.killpg(pgid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return sys.platform == "linux"  # elsewhere this is said of a group of zombies
    return True


def _processes() -> Iterator[tuple[int, Path]]:
    for entry in Path("/proc").glob("[0-9]*"):
        yield int(entry.name), entry


def in_group(pgid: int) -> int:
    """How many living processes are in the group; zombies that nobody reaps do not count."""
    if not _group_exists(pgid):
        return 0
    if not Path("/proc/self/stat").exists():
        return 1
    count = 0
    for _, entry in _processes():
        with contextlib.suppress(OSError):
            state, _, group = (entry / "stat").read_text("latin-1").rpartition(")")[2].split()[:3]
            count += int(group) == pgid and state not in "ZX"
    return count


def sweep(marker: str) -> int:
    """Kill all that carry the marker in their environment; how many are left after the grace."""
    needle = f"{MARKER}={marker}".encode()
    return _kill_all("environ", lambda words: needle in words)


def kill_naming(folder: str) -> int:
    """Kill all whose command line names `folder`, a working folder of a review that is gone.

    A bubblewrap whose parent is killed in the moment between its two processes waits for ever; only its
    command line tells whose it was.
    """
    needle = os.fsencode(folder)
    return _kill_all("cmdline", lambda words: any(needle in word for word in words))


def _kill_all(file: str, is_meant: Callable[[list[bytes]], bool]) -> int:
    until = time.monotonic() + KILL_GRACE_S
    while True:
        found = 0
        for pid, entry in _processes():
            with contextlib.suppress(OSError):
                if pid != os.getpid() and is_meant((entry / file).read_bytes().split(b"\0")):
                    found += 1
                    os.kill(pid, signal.SIGKILL)
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.002)

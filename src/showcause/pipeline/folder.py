"""A throw-away folder for one review; those of processes that are gone are swept at the next start."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from showcause.process import kill_naming

__all__ = ["working_folder"]

_NAME = re.compile(r"showcause-(\d+)-\w+")


@contextmanager
def working_folder(outside: str) -> Iterator[str]:
    """A new private folder that does not lie below `outside`, removed at the end with all in it."""
    parent = _parent(outside)
    _sweep(parent)
    folder = tempfile.mkdtemp(prefix=f"showcause-{os.getpid()}-", dir=parent)
    try:
        yield folder
    finally:
        _remove(folder)


def _parent(outside: str) -> str:
    top = os.path.realpath(outside)
    for candidate in (tempfile.gettempdir(), "/var/tmp", "/dev/shm"):
        place = os.path.realpath(candidate)
        if os.access(place, os.W_OK) and os.path.commonpath([place, top]) != top:
            return place
    return tempfile.gettempdir()


def _sweep(parent: str) -> None:
    """Several may sweep at once: what another took is gone, and that is all that is wanted."""
    for entry in os.scandir(parent):
        found = _NAME.fullmatch(entry.name)
        if not found or _lives(int(found[1])):
            continue
        with suppress(OSError):
            if entry.stat(follow_symlinks=False).st_uid == os.getuid():
                kill_naming(entry.path)
                _remove(entry.path)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _remove(folder: str) -> None:
    """Remove all; folders that a run made unreadable are opened first."""
    for place, names, _ in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with suppress(OSError):
                if not os.path.islink(path) and os.lstat(path).st_mode & 0o700 != 0o700:
                    os.chmod(path, 0o700)
    shutil.rmtree(folder, ignore_errors=True)

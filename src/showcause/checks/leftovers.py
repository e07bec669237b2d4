"""What a confined run leaves behind, read with care: the run's code may have put anything in its place."""

from __future__ import annotations

import os
import stat

from showcause.process import Finished
from showcause.records import Record

__all__ = ["Asked", "read_regular"]

_MOST_BYTES = 64 << 20


class Asked(Record, frozen=True, kw_only=True):
    """A script of `runners/inside` that is over, and the bytes of its event file."""

    finished: Finished
    events: bytes


def read_regular(path: str) -> bytes:
    """The start of the file there; nothing if there is none, or something that is none (a link, a pipe)."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with open(descriptor, "rb") as file:
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return file.read(_MOST_BYTES) if is_file else b""

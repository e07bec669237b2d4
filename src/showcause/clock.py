"""The only door to time: what o'clock it is, and how long is left."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import msgspec

__all__ = ["Deadline", "now_text"]


def now_text() -> str:
    """The present time as RFC 3339 text with microseconds, in UTC."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class Deadline(msgspec.Struct, frozen=True, kw_only=True):
    """A fixed moment on the monotonic clock, in seconds. Inner deadlines never lie after outer ones."""

    at_s: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """The moment `seconds` from now; `seconds` must be positive and finite."""
        if not 0 < seconds < float("inf"):
            raise ValueError(f"a limit must be positive and finite, not {seconds!r} s")
        return cls(at_s=time.monotonic() + seconds)

    @property
    def left_s(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at_s - time.monotonic())

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self.at_s

    def within(self, seconds: float) -> Deadline:
        """The earlier of this deadline and `seconds` from now: limits nest."""
        return Deadline(at_s=min(self.at_s, time.monotonic() + seconds))

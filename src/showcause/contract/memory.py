"""A journal in memory, for scans and probes: what they try has no place in anybody's store."""

from __future__ import annotations

import os

from showcause.clock import now_text
from showcause.records.contract import AttemptAbout, AttemptRecord, AttemptStarted, Pool, Spent

__all__ = ["MemoryJournal"]


class MemoryJournal:
    """See `AttemptJournal`. `rows` are (what, id, record or None) in the order in which they came."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, AttemptRecord | None]] = []

    def spent(self, pool: Pool, turn: str) -> Spent:
        """Nothing counts here."""
        return Spent(turn=0, hour=0, limited_until="")

    def start_attempt(self, about: AttemptAbout) -> AttemptStarted:
        started = AttemptStarted(id=os.urandom(6).hex(), started=now_text(), about=about)
        self.rows.append(("started", started.id, None))
        return started

    def finish_attempt(self, started: AttemptStarted, record: AttemptRecord) -> str:
        if any(what == "finished" and id == started.id for what, id, _ in self.rows):
            raise ValueError(f"attempt {started.id} was finished before")
        self.rows.append(("finished", started.id, record))
        return started.id

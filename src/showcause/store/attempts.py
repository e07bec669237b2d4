"""Attempts in the store: announced before anything is spawned, ended by a receipt of the same chain."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from showcause.canon import canonical_json
from showcause.clock import now_text
from showcause.errors import StoreFault, UsageError
from showcause.receipt import VERSION, Entry, Kind, new_id
from showcause.records import ChatUsage, Record
from showcause.records.contract import (
    AttemptAbout,
    AttemptEnd,
    AttemptRecord,
    AttemptStarted,
    ModelsTold,
    Phase,
    Pool,
    Spent,
    Timing,
    WhyNot,
)
from showcause.store.chain import check
from showcause.store.liveness import Process, is_dead, this_process
from showcause.store.sqlite import SqliteStore

__all__ = ["AttemptReceipt", "Attempts", "open_attempts"]

_STARTED = "id, started, pid, process_start, boot, pid_namespace, host, about"
_ENTRY = "version, id, kind, created, settled, previous, signature, digest, body"


class AttemptReceipt(Record, frozen=True, kw_only=True):
    """The durable record of an attempt."""

    id: str
    created: str
    digest: str
    body: AttemptRecord


class Attempts:
    """See `AttemptJournal`. Attempts whose process is gone are ended when this is opened."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self.interrupt_dead()

    def start_attempt(self, about: AttemptAbout) -> AttemptStarted:
        started = AttemptStarted(id=new_id(), started=now_text(), about=about)
        process = this_process()
        with self._store._write():
            self._store._db.execute(
                f"INSERT INTO attempts_started ({_STARTED}, pool, turn)"  # noqa: S608
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    started.id, started.started, process.pid, process.start, process.boot,
                    process.pid_namespace, process.host, canonical_json(about).decode(),
                    _pool(about.pool), about.ids.turn,
                ),
            )  # fmt: skip
        return started

    def finish_attempt(self, started: AttemptStarted, record: AttemptRecord) -> str:
        """Should the attempt have been taken for dead meanwhile, its receipt gets a new id, and the
        interrupted one stays."""
        with self._store._write():
            taken = self._store._one("SELECT ended FROM receipts WHERE id = ?", started.id)
            if taken and taken[0] != AttemptEnd.INTERRUPTED.value:
                raise ValueError(f"attempt {started.id} was finished before")
            id = new_id() if taken else started.id
            self._append(id, started.id, record)
        return id

    def interrupt_dead(self) -> tuple[str, ...]:
        """Give each announced attempt whose process is gone a receipt that says `interrupted`."""
        if not any(_is_gone(process, one) for one, process in self._open()):
            return ()
        with self._store._write():  # looked at again: another process may have closed them
            gone = [one for one, process in self._open() if _is_gone(process, one)]
            for one in gone:
                self._append(one.id, one.id, _interrupted(one))
        return tuple(one.id for one in gone)

    def get(self, prefix: str) -> AttemptReceipt:
        """The attempt whose id starts so. Raises UsageError if there is none, or more than one."""
        if not re.fullmatch(r"[0-9a-f]{1,12}", prefix):
            raise UsageError(f"no attempt {prefix!r}: an id is made of up to 12 hexadecimal digits")
        rows = self._store._all(
            f"SELECT {_ENTRY} FROM receipts WHERE id >= ? AND id < ? AND kind = 'attempt' LIMIT 2",  # noqa: S608
            prefix,
            prefix + "g",
        )
        if len(rows) != 1:
            raise UsageError(f"{'more than one' if rows else 'no'} attempt starts with {prefix}")
        return _receipt(rows[0])

    def page(self, limit: int = 50, offset: int = 0) -> tuple[AttemptReceipt, ...]:
        """Attempts, the newest first."""
        rows = self._store._all(
            f"SELECT {_ENTRY} FROM receipts WHERE kind = 'attempt'"  # noqa: S608
            " ORDER BY seq DESC LIMIT ? OFFSET ?",
            limit,
            offset,
        )
        return tuple(map(_receipt, rows))

    def spent(self, pool: Pool, turn: str) -> Spent:
        """What was started for this turn, and from this pool."""
        hour = (datetime.now(UTC) - timedelta(hours=1)).isoformat(timespec="microseconds")
        where = "FROM attempts_started WHERE spawned IS NOT 0"
        of_turn = self._store._one(f"SELECT count(*) {where} AND turn = ?", turn)
        of_pool = self._store._one(
            f"SELECT count(*) {where} AND pool = ? AND started >= ?",
            _pool(pool),
            hour,
        )
        limited = self._store._one(
            "SELECT max(limited_until) FROM attempts_started WHERE pool = ? AND limited_until > ?",
            _pool(pool),
            now_text(),
        )
        return Spent(
            turn=int(of_turn[0]) if of_turn else 0,
            hour=int(of_pool[0]) if of_pool else 0,
            limited_until=str(limited[0] or "") if limited else "",
        )

    def _append(self, id: str, started_id: str, record: AttemptRecord) -> None:
        entry = self._store._chain(id, record, "", Kind.ATTEMPT)
        until = None
        if record.retry_after_s:
            later = datetime.now(UTC) + timedelta(seconds=record.retry_after_s)
            until = later.isoformat(timespec="microseconds")
        self._store._db.execute(
            "UPDATE attempts_started SET closed = ?, ended = ?, spawned = ?, limited_until = ? WHERE id = ?",
            (entry.created, record.ended.value, record.launched is not None, until, started_id),
        )

    def _open(self) -> list[tuple[AttemptStarted, Process]]:
        rows = self._store._all(
            f"SELECT {_STARTED} FROM attempts_started WHERE closed IS NULL ORDER BY started"  # noqa: S608
        )
        return [found for row in rows if (found := _opened(row)) is not None]


def open_attempts(path: Path, *, key: bytes = b"") -> Attempts:
    """The attempts of the store at `path`. Raises StoreFault if it cannot be used."""
    return Attempts(SqliteStore(path, key=key))


def _pool(pool: Pool) -> str:
    return f"{pool.provider}/{pool.account}"


def _opened(row: tuple[Any, ...]) -> tuple[AttemptStarted, Process] | None:
    id, started, pid, start, boot, namespace, host, about = row
    process = Process(pid=pid, start=start, boot=boot, pid_namespace=namespace, host=host)
    try:
        known = msgspec.json.decode(about, type=AttemptAbout)
    except (ValueError, msgspec.MsgspecError):
        return None  # another shape: whoever wrote it will close it
    return AttemptStarted(id=id, started=started, about=known), process


def _is_gone(process: Process, started: AttemptStarted) -> bool:
    return is_dead(process, started.started)


def _receipt(row: tuple[Any, ...]) -> AttemptReceipt:
    entry = Entry(**{name: str(value) for name, value in zip(_ENTRY.split(", "), row, strict=True)})
    problem = check(entry)
    if problem is not None or entry.version != VERSION:
        raise StoreFault(
            f"attempt {entry.id} does not hold: {problem.text if problem else entry.version}",
            cure="`showcause verify` shows all that was changed",
        )
    try:
        body = msgspec.json.decode(entry.body, type=AttemptRecord)
    except (ValueError, msgspec.MsgspecError) as error:
        raise StoreFault(f"attempt {entry.id} cannot be read: {error}", cure="upgrade showcause") from error
    return AttemptReceipt(id=entry.id, created=entry.created, digest=entry.digest, body=body)


def _interrupted(started: AttemptStarted) -> AttemptRecord:
    """The record of an attempt whose process is gone: all that is known is what it was about."""
    about = started.about
    return AttemptRecord(
        ended=AttemptEnd.INTERRUPTED,
        why="the process that made the attempt was gone before it ended",
        exit_status=130,
        fault=None,
        retry_after_s=None,
        role=about.role,
        reviewer=about.reviewer,
        kind=about.kind,
        ids=about.ids,
        primary_pool=about.primary_pool,
        pool=about.pool,
        launched=None,
        timing=Timing(
            started=started.started, ended=now_text(), wall_s=0.0, deadline_s=about.deadline_s,
            deadline_passed=False, cancelled=False, phase=Phase.BEFORE,
        ),
        delivery=None,
        output=None,
        models=ModelsTold(asked="", main="undisclosed", reported=()),
        tools=(),
        usage=ChatUsage(),
        tree_before="",
        tree_after="",
        critique=None,
        answer="",
        settings=about.settings,
        sources=about.sources,
        why_not=(WhyNot.NOT_COMPLETED, WhyNot.FIELD_MISSING),
    )  # fmt: skip

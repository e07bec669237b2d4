"""The store in one SQLite file. Threads may share it; after a fork it must be opened again."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from showcause.canon import canonical_json, digest_record, printable
from showcause.clock import now_text
from showcause.errors import StoreFault, UsageError
from showcause.receipt import GENESIS, Entry, Kind, Receipt, ending, new_id, open_entry, seal
from showcause.records import Calibration, Ended, Record, ReviewRecord, RunReport
from showcause.store import About, BaseKey, Judged, Judgement, Row, Started
from showcause.store.chain import check
from showcause.store.connection import connect, transaction
from showcause.store.faults import faults
from showcause.store.liveness import Process, is_dead, this_process

__all__ = ["SqliteStore"]

_ENTRY = "version, id, kind, created, settled, previous, signature, digest, body"
_ROW = "seq, id, kind, created, ended, verdict, exit_status, base_tree, head_tree, causes, why"
_BATCH = 100
_CACHE_ROWS = 200


class SqliteStore:
    """See `showcause.store.Store`."""

    def __init__(
        self, path: Path, *, key: bytes = b"", busy_s: float = 30.0, cancel: threading.Event | None = None
    ) -> None:
        self._path = path.absolute()
        self._key, self._busy_s, self._cancel = key, busy_s, cancel
        self._lock = threading.RLock()
        self._db, self.note = connect(self._path, busy_s=busy_s)
        try:
            self.interrupt_dead()
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        with self._lock, faults(self._path):
            self._db.close()

    # -------------------------------------------------------------- reviews

    def start_review(self, about: About) -> Started:
        self.interrupt_dead()
        process = this_process()
        started = Started(id=new_id(), started=now_text(), process=process, about=about)
        with self._write():
            self._db.execute(
                "INSERT INTO reviews_started"
                " (id, started, pid, process_start, boot, pid_namespace, host, about)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    started.id,
                    started.started,
                    process.pid,
                    process.start,
                    process.boot,
                    process.pid_namespace,
                    process.host,
                    canonical_json(about).decode(),
                ),
            )
        return started

    def finish_review(self, started: Started, record: ReviewRecord, settled_key: str = "") -> Receipt:
        with self._write():
            taken = self._one("SELECT ended FROM receipts WHERE id = ?", started.id)
            if taken and taken[0] != Ended.INTERRUPTED.value:
                raise ValueError(f"review {started.id} was finished before")
            id = new_id() if taken else started.id
            return self._append(id, started.id, record, settled_key)

    def interrupt_dead(self) -> tuple[Receipt, ...]:
        if not any(map(_is_gone, self._open_reviews())):
            return ()
        with self._write():  # looked at again: another process may have closed them
            gone = [started for started in self._open_reviews() if _is_gone(started)]
            return tuple(self._append(one.id, one.id, _interrupted(one), "") for one in gone)

    def _open_reviews(self) -> list[Started]:
        rows = self._all(
            "SELECT id, started, pid, process_start, boot, pid_namespace, host, about"
            " FROM reviews_started WHERE closed IS NULL ORDER BY started"
        )
        return [_started(row) for row in rows]

    def _append(self, id: str, started_id: str, record: ReviewRecord, settled: str) -> Receipt:
        """Append to the chain and close the announcement, inside the caller's transaction."""
        entry = self._chain(id, record, settled, Kind.REVIEW)
        self._db.execute("UPDATE reviews_started SET closed = ? WHERE id = ?", (entry.created, started_id))
        return open_entry(entry)

    def _chain(self, id: str, record: Record, settled: str, kind: Kind) -> Entry:
        """Append to the chain, inside the caller's transaction."""
        last = self._one("SELECT digest FROM receipts ORDER BY seq DESC LIMIT 1")
        previous = str(last[0]) if last else GENESIS
        created = now_text()
        entry = seal(
            record, id=id, previous=previous, created=created, settled=settled, key=self._key, kind=kind
        )
        values = [getattr(entry, name) for name in _ENTRY.split(", ")]
        marks = ", ".join("?" * len(values))
        self._db.execute(f"INSERT INTO receipts ({_ENTRY}) VALUES ({marks})", values)  # noqa: S608
        return entry

    # -------------------------------------------------------------- reading receipts

    def find_settled(self, key: str) -> Receipt | None:
        if not key:
            return None
        row = self._one(
            f"SELECT {_ENTRY} FROM receipts"  # noqa: S608
            " WHERE settled = ? AND settled <> '' ORDER BY seq DESC LIMIT 1",
            key,
        )
        if row is None or check(_entry(row)) is not None:
            return None
        try:
            return open_entry(_entry(row))
        except StoreFault:  # of a shape that is not read any more: the review is simply done again
            return None

    def get(self, prefix: str) -> Receipt:
        entry = self._find(prefix)
        problem = check(entry)
        if problem is not None:
            raise StoreFault(
                f"receipt {entry.id} does not hold: {problem.text}",
                cure="`showcause verify` shows all that was changed; review again",
            )
        return open_entry(entry)

    def latest(self) -> Receipt | None:
        row = self._one("SELECT id FROM receipts WHERE kind = 'review' ORDER BY seq DESC LIMIT 1")
        return self.get(row[0]) if row else None

    def page(self, limit: int = 50, offset: int = 0) -> tuple[Row, ...]:
        if limit < 0 or offset < 0:
            raise UsageError("a page needs a limit and an offset that are not negative")
        rows = self._all(
            # The inner query walks a narrow index; reading whole rows to skip them would be slow.
            f"SELECT {_ROW} FROM receipts WHERE seq IN"  # noqa: S608
            " (SELECT seq FROM receipts INDEXED BY receipts_reviews WHERE kind = 'review'"
            " ORDER BY seq DESC LIMIT ? OFFSET ?)"
            " ORDER BY seq DESC",
            limit,
            offset,
        )
        return tuple(map(_row, rows))

    def count(self) -> int:
        row = self._one("SELECT count(*) FROM receipts WHERE kind = 'review'")
        return int(row[0]) if row else 0

    def entries(self) -> Iterator[Entry]:
        last = 0
        while True:  # in batches: others may append meanwhile
            rows = self._all(
                f"SELECT {_ENTRY}, seq FROM receipts WHERE seq > ? ORDER BY seq LIMIT ?",  # noqa: S608
                last,
                _BATCH,
            )
            yield from map(_entry, rows)
            if not rows:
                return
            last = rows[-1][-1]

    def _find(self, prefix: str) -> Entry:
        if not re.fullmatch(r"[0-9a-f]{1,12}", prefix):
            raise UsageError(f"no receipt {prefix!r}: an id is made of up to 12 hexadecimal digits")
        rows = self._all(
            "SELECT id FROM receipts WHERE id >= ? AND id < ? AND kind = 'review' ORDER BY id LIMIT 4",
            prefix,
            prefix + "g",
        )
        if not rows:
            raise UsageError(f"no receipt starts with {prefix}; `showcause list` shows them")
        if len(rows) > 1:
            ids = ", ".join(row[0] for row in rows[:3]) + (", ..." if len(rows) > 3 else "")
            raise UsageError(f"more than one receipt starts with {prefix}: {ids}")
        row = self._one(f"SELECT {_ENTRY} FROM receipts WHERE id = ?", rows[0][0])  # noqa: S608
        assert row is not None  # noqa: S101 (receipts are never deleted)
        return _entry(row)

    # -------------------------------------------------------------- what makes the next review faster

    def cache_get(self, key: BaseKey) -> tuple[RunReport, ...] | None:
        row = self._one("SELECT reports FROM base_outcomes WHERE key = ?", digest_record(key))
        return _decode_reports(row[0]) if row else None

    def cache_put(self, key: BaseKey, reports: tuple[RunReport, ...]) -> None:
        text = _encode_reports(reports)
        values = (digest_record(key), key.tree, key.check, key.version, key.environment, now_text(), text)
        with self._write():
            self._db.execute("INSERT OR REPLACE INTO base_outcomes VALUES (?, ?, ?, ?, ?, ?, ?)", values)
            self._db.execute(
                "DELETE FROM base_outcomes WHERE key IN"
                " (SELECT key FROM base_outcomes ORDER BY created DESC LIMIT -1 OFFSET ?)",
                (_CACHE_ROWS,),
            )

    def durations_get(self) -> dict[str, float]:
        return {
            _unescaped(path): seconds for path, seconds in self._all("SELECT path, seconds FROM durations")
        }

    def durations_put(self, seconds: Mapping[str, float]) -> None:
        rows = [(_escaped(path), float(value)) for path, value in seconds.items()]
        with self._write():
            self._db.executemany(
                "INSERT INTO durations VALUES (?, ?)"
                " ON CONFLICT (path) DO UPDATE SET seconds = excluded.seconds",
                rows,
            )

    # -------------------------------------------------------------- what turned out

    def judge(self, prefix: str, judged: Judged, note: str = "") -> Judgement:
        receipt = self._find(prefix).id
        judgement = Judgement(receipt=receipt, judged=judged, note=printable(note), recorded=now_text())
        with self._write():
            self._db.execute(
                "INSERT INTO outcomes (receipt, judged, note, recorded) VALUES (?, ?, ?, ?)",
                (receipt, judged.value, judgement.note, judgement.recorded),
            )
        return judgement

    def judgements(self) -> tuple[Judgement, ...]:
        rows = self._all("SELECT receipt, judged, note, recorded FROM outcomes ORDER BY seq")
        return tuple(
            Judgement(receipt=receipt, judged=Judged(judged), note=note, recorded=recorded)
            for receipt, judged, note, recorded in rows
        )

    def calibration_put(self, key: str, calibration: Calibration) -> None:
        body = canonical_json(calibration).decode()
        with self._write():
            self._db.execute(
                "INSERT INTO calibrations (key, created, body) VALUES (?, ?, ?)",
                (key, calibration.created, body),
            )

    def calibration_get(self, key: str) -> Calibration | None:
        row = self._one("SELECT body FROM calibrations WHERE key = ? ORDER BY seq DESC LIMIT 1", key)
        return msgspec.json.decode(row[0], type=Calibration) if row else None

    # -------------------------------------------------------------- SQL

    @contextlib.contextmanager
    def _write(self) -> Iterator[None]:
        begun = transaction(self._db, busy_s=self._busy_s, cancel=self._cancel)
        with self._lock, faults(self._path), begun:
            yield

    def _all(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock, faults(self._path):
            return self._db.execute(sql, values).fetchall()

    def _one(self, sql: str, *values: object) -> tuple[Any, ...] | None:
        rows = self._all(sql, *values)
        return rows[0] if rows else None


# ------------------------------------------------------------------ rows <-> records


def _entry(row: tuple[Any, ...]) -> Entry:
    return Entry(**{name: str(value) for name, value in zip(_ENTRY.split(", "), row, strict=False)})


def _row(row: tuple[Any, ...]) -> Row:
    values = dict(zip(_ROW.split(", "), row, strict=True))
    try:
        return msgspec.convert(values, Row)
    except msgspec.ValidationError as error:
        raise StoreFault(
            f"receipt {values['id']} cannot be listed: {error}",
            cure="run `showcause verify`: it was changed, or written by a newer showcause",
        ) from error


def _started(row: tuple[Any, ...]) -> Started:
    id, started, pid, start, boot, pid_namespace, host, about = row
    process = Process(pid=pid, start=start, boot=boot, pid_namespace=pid_namespace, host=host)
    try:
        known = msgspec.json.decode(about, type=About)
    except (ValueError, msgspec.MsgspecError):  # another shape: what it was about is lost, not that it was
        known = About()
    return Started(id=id, started=started, process=process, about=known)


def _is_gone(started: Started) -> bool:
    return is_dead(started.process, started.started)


def _interrupted(started: Started) -> ReviewRecord:
    """The record of a review whose process is gone: all that is known is what it was about."""
    about = started.about
    return ReviewRecord(
        verdict=None,
        ended=Ended.INTERRUPTED,
        why="the process that ran the review was gone before it ended",
        exit_status=ending(Ended.INTERRUPTED, None).exit_status,
        decided_by=None,
        causes=(),
        evidence=(),
        checks=(),
        tampering=(),
        not_checked=(),
        changes=(),
        bound_to=about.bound_to,
        sandbox=None,
        issue=about.issue,
        settings=about.settings,
        environment=about.environment,
        started=started.started,
        wall_s=0.0,
    )


def _encode_reports(reports: tuple[RunReport, ...]) -> str:
    """ASCII text, because a path that is not UTF-8 must come back exactly as it went in."""
    import json

    return json.dumps(msgspec.to_builtins(reports), allow_nan=False)


def _decode_reports(text: str) -> tuple[RunReport, ...] | None:
    """None where another showcause wrote another shape: as if nothing had been kept."""
    import json

    try:
        return msgspec.convert(json.loads(text), tuple[RunReport, ...])
    except (ValueError, msgspec.ValidationError):
        return None


def _escaped(path: str) -> str:
    """JSON text, for the same reason."""
    import json

    return json.dumps(path)


def _unescaped(text: str) -> str:
    import json

    return str(json.loads(text))

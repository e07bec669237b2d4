"""Opening a SQLite file: private, durable, with the schema of this version.

WAL where it works, else the DELETE journal; synchronous FULL, so that what was said to be kept
survives a power cut. Many processes may open at the same time: whoever gets the write lock first
makes the schema, the others find it made.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from showcause.clock import Deadline
from showcause.errors import Cancelled, StoreFault
from showcause.store.faults import faults, is_busy, os_fault
from showcause.store.folder import make_private

__all__ = ["SCHEMA_VERSION", "connect", "transaction"]

SCHEMA_VERSION = 3  # number of the last file in schema/
_SCHEMA = Path(__file__).with_name("schema")
_APPLICATION = 0x73686F77
_WAIT_MS = 100  # SQLite waits deaf to signals: in short turns they are heard between


def connect(path: Path, *, busy_s: float) -> tuple[sqlite3.Connection, str]:
    """A connection to the store at `path`, made if missing, and a note about it for the user.

    Raises StoreFault if it cannot be opened, is no store of ours, or comes from a newer showcause.
    """
    _make_file(path)
    with faults(path):
        db = sqlite3.connect(path, timeout=busy_s, isolation_level=None, check_same_thread=False)
        try:
            # Text that is not UTF-8 was not written by us; `verify` shall see it, not trip over it.
            db.text_factory = _decode
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("BEGIN")  # one view: another process may be making the schema right now
            found = _version(db, path)
            db.execute("COMMIT")
            note = _journal(db, Deadline.after(busy_s))
            db.execute("PRAGMA synchronous = FULL")
            if found < SCHEMA_VERSION:
                _migrate(db, path, busy_s)
        except BaseException:
            db.close()
            raise
    return db, note


@contextlib.contextmanager
def transaction(
    db: sqlite3.Connection, *, busy_s: float, cancel: threading.Event | None = None
) -> Iterator[None]:
    """One write, whole or absent. Takes the write lock at once, so what it reads holds until the end.

    Waits up to `busy_s` for others that write. Raises Cancelled if `cancel` is set while it waits.
    """
    _take_lock(db, busy_s, cancel)
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # SQLite has rolled back by itself where it had to
            db.execute("ROLLBACK")
        raise


def _take_lock(db: sqlite3.Connection, busy_s: float, cancel: threading.Event | None) -> None:
    deadline = Deadline.after(busy_s)
    db.execute(f"PRAGMA busy_timeout = {_WAIT_MS:d}")
    try:
        while True:
            try:
                db.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if not is_busy(error) or deadline.passed:
                    raise
            else:
                return
            if cancel is not None and cancel.is_set():
                raise Cancelled("interrupted")
    finally:
        db.execute(f"PRAGMA busy_timeout = {int(busy_s * 1000):d}")


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _make_file(path: Path) -> None:
    """SQLite gives its own files the mode of the database, so the mode is set before it is there."""
    try:
        make_private(path.parent)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise os_fault(path, error) from error


def _version(db: sqlite3.Connection, path: Path) -> int:
    """Number of the last migration that was applied; 0 for an empty file. Needs a transaction."""
    tables = int(db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    application = int(db.execute("PRAGMA application_id").fetchone()[0])
    if application != _APPLICATION and (version or application or tables):
        raise StoreFault(f"{path} is a database of something else", cure="name another file in [store] url")
    if version > SCHEMA_VERSION:
        raise StoreFault(
            f"the store {path} was made by a newer showcause (schema {version}, here {SCHEMA_VERSION})",
            cure="upgrade showcause, or name another file in [store] url",
        )
    return version


def _journal(db: sqlite3.Connection, deadline: Deadline) -> str:
    """Switch to WAL, once per file; a note where it is refused (network file systems)."""
    if _mode(db, "PRAGMA journal_mode") == "wal":
        return ""
    while True:
        try:
            if _mode(db, "PRAGMA journal_mode = WAL") == "wal":
                return ""
            break
        except sqlite3.OperationalError as error:
            # SQLite does not wait here by itself: two that switch would wait for each other.
            if not is_busy(error):
                break
            if deadline.passed:
                raise
            time.sleep(min(0.02, deadline.left_s))
    _mode(db, "PRAGMA journal_mode = DELETE")
    return "the file system of the store refuses WAL: reviews at the same time wait for one another"


def _mode(db: sqlite3.Connection, pragma: str) -> str:
    return str(db.execute(pragma).fetchone()[0]).lower()


def _migrate(db: sqlite3.Connection, path: Path, busy_s: float) -> None:
    """Apply what is missing in one transaction."""
    with transaction(db, busy_s=busy_s):
        for number in range(_version(db, path) + 1, SCHEMA_VERSION + 1):  # read again: under the lock
            for statement in _statements((_SCHEMA / f"{number:04}.sql").read_text(encoding="utf-8")):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {number:d}")


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one (`executescript` would commit before it starts)."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""

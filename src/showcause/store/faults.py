"""What SQLite's errors mean to the user, by table."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from showcause.errors import StoreFault

__all__ = ["faults", "is_busy", "os_fault"]

# Primary result code -> what it means, what helps. {path} and {folder} are filled in.
_MEANING = {
    sqlite3.SQLITE_BUSY: (
        "is locked by another process",
        "wait for the other showcause; `fuser {path}` names it",
    ),
    sqlite3.SQLITE_LOCKED: ("is locked", "wait for the other showcause; `fuser {path}` names it"),
    sqlite3.SQLITE_FULL: ("has no space left", "free some space on the disk that holds {folder}"),
    sqlite3.SQLITE_READONLY: ("cannot be written", "make {folder} writable, or set [store] url elsewhere"),
    sqlite3.SQLITE_PERM: ("cannot be written", "make {folder} writable, or set [store] url elsewhere"),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "make {folder} writable, or set [store] url elsewhere"),
    sqlite3.SQLITE_IOERR: (
        "cannot be read or written",
        "look at space, quota and health of the disk of {folder}",
    ),
    sqlite3.SQLITE_NOTADB: ("is not a store", "move {path} away; the next start makes a new one"),
    sqlite3.SQLITE_CORRUPT: (
        "is damaged",
        "move {path} away (`sqlite3 {path} .recover` may save receipts); the next start makes a new one",
    ),
}


@contextlib.contextmanager
def faults(path: Path) -> Iterator[None]:
    """Raise StoreFault for what the table knows; anything else is our bug and passes."""
    try:
        yield
    except sqlite3.Error as error:
        meaning = _MEANING.get(_primary(error))
        if meaning is None:
            raise
        what, cure = meaning
        raise StoreFault(
            f"the store {path} {what} ({error})", cure=cure.format(path=path, folder=path.parent)
        ) from error


def is_busy(error: sqlite3.Error) -> bool:
    return _primary(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def os_fault(path: Path, error: OSError) -> StoreFault:
    """The fault for a store whose folder or file cannot be made."""
    return StoreFault(
        f"the store {path} cannot be made ({error.strerror})",
        cure=f"make {path.parent} writable, or set [store] url elsewhere",
    )


def _primary(error: sqlite3.Error) -> int:
    """The primary code; the upper bits of an extended one say more than we need."""
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else -1

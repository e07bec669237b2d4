"""Which folder the store may use."""

from __future__ import annotations

import os
from pathlib import Path

from showcause.errors import StoreFault
from showcause.records import Record

__all__ = ["STORE_FILE", "Folder", "choose_folder"]

STORE_FILE = "store.sqlite3"


class Folder(Record, frozen=True, kw_only=True):
    """The folder to use. `note` is a line for the user where it is not the preferred one."""

    path: Path
    note: str

    @property
    def store(self) -> Path:
        return self.path / STORE_FILE


def choose_folder(preferred: Path, fallback: Path) -> Folder:
    """`preferred` if it can be written, which is found by doing; else `fallback`, with a note.

    Makes the folder, for its owner alone. Raises StoreFault if neither can be written.
    """
    refused = _try(preferred)
    if not refused:
        return Folder(path=preferred, note="")
    also = _try(fallback)
    if also:
        raise StoreFault(
            f"receipts can be kept neither in {preferred} ({refused}) nor in {fallback} ({also})",
            cure=f"make one of them writable, or set [store] url: {fallback}",
        )
    return Folder(
        path=fallback, note=f"{preferred} cannot be written ({refused}); receipts are kept in {fallback}"
    )


def _try(folder: Path) -> str:
    """Why a folder cannot hold a store; empty if it can."""
    try:
        make_private(folder)
        attempt = folder / f".try-{os.getpid()}"
        attempt.touch(mode=0o600)
        attempt.unlink()
        file = folder / STORE_FILE
        if file.exists() and not os.access(file, os.R_OK | os.W_OK):
            return "the store there is read-only"
    except OSError as error:
        return error.strerror or type(error).__name__
    return ""


def make_private(folder: Path) -> None:
    """Make a folder that only its owner may enter; its parents are made as usual. Raises OSError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)

"""The store keeps receipts, and what makes the next review faster. SQL is written only below here.

`open_store` gives a `Store` for a URL or a path. All that goes in and comes out is a record.
Whatever is wrong with the store is a StoreFault with a cure of one line; a write is whole or absent.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from showcause.errors import UsageError
from showcause.receipt import Entry, Kind, Receipt
from showcause.records import BoundTo, Calibration, Ended, Record, ReviewRecord, RunReport, Verdict
from showcause.store.folder import Folder, choose_folder
from showcause.store.liveness import Process

__all__ = [
    "About",
    "BaseKey",
    "Folder",
    "Judged",
    "Judgement",
    "Row",
    "Started",
    "Store",
    "choose_folder",
    "open_store",
]


class About(Record, frozen=True, kw_only=True):
    """What a review is about, as far as it is known when it starts."""

    bound_to: BoundTo = BoundTo(base_tree="", head_tree="", patch="", policy="")
    issue: str = ""
    settings: str = ""
    environment: str = ""


class Started(Record, frozen=True, kw_only=True):
    """A review that was announced. `id` is the id that its receipt will have."""

    id: str
    started: str
    process: Process
    about: About


class Row(Record, frozen=True, kw_only=True):
    """One receipt in a listing. `why` is cut to 300 characters; `causes` counts them."""

    seq: int
    id: str
    kind: Kind
    created: str
    ended: Ended
    verdict: Verdict | None
    exit_status: int
    base_tree: str
    head_tree: str
    causes: int
    why: str


class BaseKey(Record, frozen=True, kw_only=True):
    """What outcomes of base hold for: tree, check and its version, environment digest."""

    tree: str
    check: str
    version: str
    environment: str


class Judged(StrEnum):
    RIGHT = "right"
    WRONG = "wrong"


class Judgement(Record, frozen=True, kw_only=True):
    """What turned out about the verdict of a receipt."""

    receipt: str
    judged: Judged
    note: str
    recorded: str


class Store(Protocol):
    """Where receipts are kept. All methods raise StoreFault if the store fails.

    `note` is a line for the user about how the store works here, or empty.
    """

    note: str

    def start_review(self, about: About) -> Started:
        """Announce a review before its work. Interrupts dead ones first."""
        ...

    def finish_review(self, started: Started, record: ReviewRecord, settled_key: str = "") -> Receipt:
        """Append the receipt of an announced review to the chain and close the announcement.

        With a `settled_key` the receipt answers for equal reviews. Should the review have been taken
        for dead meanwhile, its receipt gets a new id, and the interrupted one stays.
        Raises ValueError on NaN, or if the review was finished before.
        """
        ...

    def interrupt_dead(self) -> tuple[Receipt, ...]:
        """Give each announced review whose process is gone a receipt that says `interrupted`."""
        ...

    def find_settled(self, key: str) -> Receipt | None:
        """The latest receipt under this key. One that was tampered with does not answer."""
        ...

    def get(self, prefix: str) -> Receipt:
        """The receipt whose id starts so. Raises UsageError if there is none, or more than one."""
        ...

    def latest(self) -> Receipt | None:
        """The last receipt of the chain."""
        ...

    def page(self, limit: int = 50, offset: int = 0) -> tuple[Row, ...]:
        """Receipts, the newest first, without reading their bodies."""
        ...

    def count(self) -> int:
        """How many receipts there are."""
        ...

    def entries(self) -> Iterator[Entry]:
        """All receipts as they are stored, the first of the chain first (for `chain.verify`)."""
        ...

    def cache_get(self, key: BaseKey) -> tuple[RunReport, ...] | None:
        """Outcomes of base exactly as they were put in (surrogates included), or None."""
        ...

    def cache_put(self, key: BaseKey, reports: tuple[RunReport, ...]) -> None:
        """Keep outcomes of base; the oldest of very many are dropped."""
        ...

    def durations_get(self) -> dict[str, float]:
        """Test file -> seconds it took last time."""
        ...

    def durations_put(self, seconds: Mapping[str, float]) -> None:
        """Note how long test files took; others stay as they are."""
        ...

    def judge(self, prefix: str, judged: Judged, note: str = "") -> Judgement:
        """Note what turned out about a receipt. Raises UsageError as `get` does."""
        ...

    def judgements(self) -> tuple[Judgement, ...]:
        """All that was noted, in order; the last one for a receipt holds."""
        ...

    def calibration_put(self, key: str, calibration: Calibration) -> None:
        """Keep what a reviewer showed; it holds under `key` until a later one."""
        ...

    def calibration_get(self, key: str) -> Calibration | None:
        """The latest one under this key."""
        ...

    def close(self) -> None: ...


def open_store(
    url_or_path: str | Path, *, key: bytes = b"", busy_s: float = 30.0, cancel: threading.Event | None = None
) -> Store:
    """The store at a path, or at `sqlite:////absolute/path`; made if it is not there yet.

    key     signs what is appended (see `receipt.read_key`); empty: not signed
    busy_s  how long to wait for other processes
    cancel  ends such a wait with Cancelled

    Raises UsageError for a URL that makes no sense, StoreFault if the store cannot be used.
    """
    text = str(url_or_path)
    if "://" not in text:
        return _open_sqlite(Path(text), key, busy_s, cancel)
    scheme = text.partition("://")[0]
    opener = _OPENERS.get(scheme)
    if opener is None:
        known = ", ".join(f"{name}://" for name in _OPENERS)
        raise UsageError(f"no store for {scheme}:// in this showcause; there is: {known}")
    return opener(text, key, busy_s, cancel)


def _open_sqlite_url(url: str, key: bytes, busy_s: float, cancel: threading.Event | None) -> Store:
    from urllib.parse import unquote, urlsplit

    parts = urlsplit(url)
    path = unquote(parts.path)
    if parts.netloc or not path.startswith("//"):
        # As elsewhere three slashes begin a relative path, which would mean another file per folder.
        raise UsageError(
            f"{url}: an absolute path is needed, with four slashes: sqlite:////var/lib/x.sqlite3"
        )
    return _open_sqlite(Path(path[1:]), key, busy_s, cancel)


def _open_sqlite(path: Path, key: bytes, busy_s: float, cancel: threading.Event | None) -> Store:
    from showcause.store.sqlite import SqliteStore

    return SqliteStore(path, key=key, busy_s=busy_s, cancel=cancel)


_Opener = Callable[[str, bytes, float, threading.Event | None], Store]
_OPENERS: dict[str, _Opener] = {"sqlite": _open_sqlite_url}

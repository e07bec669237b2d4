"""What several commands share: progress, cancellation, overrides, colour."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from showcause.errors import UsageError

if TYPE_CHECKING:
    from showcause.store import Store

__all__ = ["cancellation", "opened_store", "overrides_of", "progress", "tell", "wants_colour"]


def progress() -> Callable[[str], None]:
    """Where progress goes: standard error if a terminal is there, nowhere otherwise."""
    if not sys.stderr.isatty():
        return lambda _line: None

    def say(line: str) -> None:
        tell(line, " ...")

    return say


def tell(line: str, after: str = "") -> None:
    """A line for people, beside the output."""
    from showcause.report.words import visible

    print(f"showcause: {visible(line)}{after}", file=sys.stderr, flush=True)


@contextmanager
def cancellation() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set. Running processes end and the receipt says `interrupted`;
    a second signal ends at once."""
    cancel = threading.Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def on_signal(number: int, _frame: FrameType | None) -> None:
        if cancel.is_set():
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        cancel.set()

    for number in before:
        signal.signal(number, on_signal)
    try:
        yield cancel
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def overrides_of(pairs: tuple[str, ...]) -> dict[str, object]:
    """`KEY=VALUE` settings of the command line; a value is TOML, or plain text where it is no TOML."""
    found: dict[str, object] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--set wants KEY=VALUE, not {pair!r}")
        found[key.strip()] = _value(text.strip())
    return found


def _value(text: str) -> object:
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def wants_colour() -> bool:
    """Colour on a terminal, unless NO_COLOR is set or the terminal is dumb."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@contextmanager
def opened_store(directory: str) -> Iterator[Store]:
    """The store of the repository at `directory`."""
    from showcause import git
    from showcause.pipeline import store_of

    store = store_of(git.open_repo(directory))
    try:
        yield store
    finally:
        store.close()

"""The event file: bytes -> typed events. Pure.

Lines are JSON objects, one write each. A last line without its end was cut by the death of the process
and is ignored; any other line that cannot be read means that someone else wrote to the file.
"""

from __future__ import annotations

import json

import msgspec

__all__ = [
    "Begin",
    "Changed",
    "CollectError",
    "CollectSkip",
    "Collected",
    "Controls",
    "End",
    "Event",
    "Fault",
    "Finish",
    "Importing",
    "LoadedEvent",
    "LoadedFact",
    "Log",
    "NotRun",
    "Phase",
    "Raised",
    "Selected",
    "Start",
    "read_events",
]


class Raised(msgspec.Struct, frozen=True):
    """An exception as the process that saw it described it. Places are relative to the root if inside."""

    type: str
    mro: tuple[str, ...]
    message: str
    frames: tuple[tuple[str, int, str], ...] = ()
    name: str = ""
    owner: str = ""  # file that defines the module, class or function which lacks the name
    defined: str = ""  # file that defines the exception's type
    filename: str = ""
    bare: bool = False  # the file's name was given without a folder
    errno: int | None = None
    syntax: tuple[str, int] | None = None
    chain: tuple[tuple[str, ...], ...] = ()
    group: tuple[Raised, ...] = ()


class Event(msgspec.Struct, frozen=True, tag_field="ev"):
    """One line of the file."""


class Start(Event, frozen=True, tag="start"):
    """The runner was found; what comes before this line is the interpreter's own trouble."""

    runner: str
    runner_version: str
    python: str
    prefix: str
    pid: int


class Importing(Event, frozen=True, tag="importing"):
    """A test file is about to be imported."""

    id: str


class Collected(Event, frozen=True, tag="collected"):
    """All ids that are to run, each with its description (first docstring line, "" if none)."""

    ids: tuple[tuple[str, str], ...]


class Selected(Event, frozen=True, tag="selected"):
    """What each selected entry became: a dotted name, "" if there is no such module."""

    names: tuple[tuple[str, str], ...]


class Controls(Event, frozen=True, tag="controls"):
    """The ids of the controls: must fail, must pass."""

    ids: tuple[str, ...]


class CollectError(Event, frozen=True, tag="collect_error"):
    """A file, module or class (or `id` of a group) of which no test can run."""

    id: str
    exc: Raised | None
    when: str = "collect"


class CollectSkip(Event, frozen=True, tag="collect_skip"):
    """A file, module or class that skipped itself."""

    id: str
    exc: Raised | None


class Begin(Event, frozen=True, tag="begin"):
    """A test starts."""

    id: str


class Phase(Event, frozen=True, tag="phase"):
    """One phase of a test ended. `exc` is what was raised, whatever `outcome` says of it."""

    id: str
    when: str
    outcome: str
    exc: Raised | None = None
    xfail: bool = False
    text: str = ""
    dur: float = 0.0


class Changed(Event, frozen=True, tag="changed"):
    """A hook changed the outcome of a phase after it was told."""

    id: str
    when: str
    outcome: str


class Finish(Event, frozen=True, tag="finish"):
    """A test is over, torn down included."""

    id: str


class NotRun(Event, frozen=True, tag="not_run"):
    """A test was not started, on purpose."""

    id: str
    why: str


class Fault(Event, frozen=True, tag="fault"):
    """Trouble of the runner. Kinds: runner (cannot start), conftest, internal."""

    kind: str
    text: str
    exc: Raised | None


class LoadedFact(msgspec.Struct, frozen=True):
    """A module that was loaded for, or in place of, a touched path."""

    path: str
    module: str
    file: str
    place: str
    sha256: str
    same: bool
    code: str
    loader: str
    parent: bool = False


class LoadedEvent(Event, frozen=True, tag="loaded"):
    """All modules loaded for touched paths."""

    items: tuple[LoadedFact, ...]


class End(Event, frozen=True, tag="end"):
    """The last line; `exit` is the status with which the process is about to end."""

    exit: int


_Any = (
    Start | Importing | Selected | Collected | Controls | CollectError | CollectSkip | Begin | Phase
    | Changed | Finish | NotRun | Fault | LoadedEvent | End
)  # fmt: skip


class Log(msgspec.Struct, frozen=True):
    """The events in order, and how many lines were not ours."""

    events: tuple[_Any, ...]
    foreign: int

    @property
    def end(self) -> End | None:
        """The end event, if it is there once and last."""
        last = self.events[-1] if self.events else None
        once = sum(isinstance(event, End) for event in self.events) == 1
        return last if isinstance(last, End) and once else None


def read_events(data: bytes) -> Log:
    """Read an event file. Never raises."""
    events, foreign = [], 0
    decoder = msgspec.json.Decoder(_Any)
    for line in data.split(b"\n")[:-1]:
        try:
            events.append(_read(line, decoder))
        except (ValueError, RecursionError):
            foreign += 1
    return Log(tuple(events), foreign)


def _read(line: bytes, decoder: msgspec.json.Decoder[_Any]) -> _Any:
    """One event. An id may hold lone surrogates, which msgspec refuses: the slow way reads those."""
    try:
        event = decoder.decode(line)
    except msgspec.DecodeError:
        event = msgspec.convert(json.loads(line), _Any)
    return event

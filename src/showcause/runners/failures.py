"""What an exception means: described exception + phase -> Failure. Pure.

The rules are DESIGN 7, "What counts as behavioural". Three kinds are behavioural: an assertion; an
exception raised by the repository's source (or by what that source called); a name, attribute, module or
parameter that the repository's own code lacks, whoever asked for it.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import PurePosixPath

import msgspec

from showcause.records import Failure, FailureKind, Origin, Outcome
from showcause.runners.events import Raised

__all__ = ["BEHAVIOURAL", "Places", "is_test_path", "judge", "outcome_of"]

BEHAVIOURAL = frozenset({FailureKind.ASSERTION, FailureKind.EXCEPTION, FailureKind.MISSING_NAME})

_FOREIGN_FOLDERS = frozenset({"site-packages", "dist-packages", "node_modules", ".tox", ".nox", ".eggs"})
_SETUP = frozenset({"setUp", "asyncSetUp", "setUpTestData", "setUpClass", "setUpModule"})
_TEARDOWN = frozenset({"tearDown", "asyncTearDown", "tearDownClass", "tearDownModule"})
_OVERTIME = "showcause_overtime.Overtime"
_NETWORK = frozenset(
    {
        "socket.gaierror",
        "socket.herror",
        "builtins.ConnectionError",
        "urllib.error.URLError",
        "requests.exceptions.ConnectionError",
        "requests.exceptions.Timeout",
        "urllib3.exceptions.NewConnectionError",
        "urllib3.exceptions.ConnectTimeoutError",
        "urllib3.exceptions.MaxRetryError",
        "httpx.TransportError",
        "aiohttp.client_exceptions.ClientConnectionError",
    }
)
_NETWORK_ERRNO = frozenset({100, 101, 110, 111, 112, 113})  # Linux: ENETDOWN ... EHOSTUNREACH
_NETWORK_FILES = ("/socket.py", "/ssl.py", "/http/client.py", "/urllib/request.py")
_ASSERTIONS = frozenset({"builtins.AssertionError", "builtins.Failed", "_pytest.outcomes.Failed"})


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """Tells whose a file is. Paths are relative to the root if inside it, else absolute.

    surface   known files of the test surface
    prefix    the interpreter's prefix, relative to root if it is below it (an in-tree environment), or ""
    temp      folders that the run itself fills (absolute): a file missing there is nobody's environment
    """

    surface: frozenset[str]
    prefix: str = ""
    temp: tuple[str, ...] = ("/tmp", "/var/tmp")

    def origin(self, path: str) -> Origin:
        """Source, test, or outside of the repository."""
        if not path or path.startswith(("/", "<")) or (self.prefix and path.startswith(self.prefix + "/")):
            return Origin.OUTSIDE
        parts = path.split("/")
        if path in self.surface:
            return Origin.TEST
        if any(part in _FOREIGN_FOLDERS for part in parts):
            return Origin.OUTSIDE
        return Origin.TEST if is_test_path(path) else Origin.SOURCE


def is_test_path(path: str) -> bool:
    """Whether a path looks like test code by the names that Python projects use."""
    *folders, name = path.split("/")
    if name == "conftest.py" or name in ("tests.py", "test.py"):
        return True
    if name.startswith("test_") or name.endswith("_test.py"):
        return True
    return "tests" in (*folders, name) or (bool(folders) and folders[0] == "test")


def outcome_of(failure: Failure, when: str) -> Outcome:
    """`failed` for behaviour seen in the body of a test; all else is `error`."""
    if failure.kind is FailureKind.TIMEOUT:
        return Outcome.TIMEOUT
    return Outcome.FAILED if when == "call" and failure.kind in BEHAVIOURAL else Outcome.ERROR


def judge(raised: Raised, when: str, places: Places) -> Failure:
    """Judge an exception. `when` is setup, call, teardown or collect."""
    raising, origin = _who(raised, places)
    kind, origin = _kind(raised, when, places, origin)
    shown = raised.syntax or raising
    return Failure(
        kind=kind,
        exception=raised.type,
        message=raised.message,
        frame=f"{shown[0]}:{shown[1]}" if shown else "",
        origin=origin,
    )


def _who(raised: Raised, places: Places) -> tuple[tuple[str, int] | None, Origin]:
    """The raising frame, and whose doing it is: the innermost frame below the root decides."""
    if not raised.frames:
        return None, Origin.NONE
    last = raised.frames[-1]
    for path, line, _ in reversed(raised.frames):
        origin = places.origin(path)
        if origin is not Origin.OUTSIDE:
            return (path, line), origin
    return (last[0], last[1]), Origin.OUTSIDE


def _kind(raised: Raised, when: str, places: Places, origin: Origin) -> tuple[FailureKind, Origin]:
    if special := _special(raised, places):
        return special, origin
    phase = _phase(raised, when, places)
    if phase == "setup":
        return FailureKind.SETUP, origin
    if phase == "teardown":
        return FailureKind.TEARDOWN, origin
    if raised.group:
        return _of_group(raised.group, when, places, origin)
    if (raised.syntax is not None and phase == "collect") or "builtins.SyntaxError" in raised.mro:
        return _of_syntax(raised, places, phase, origin)
    kind, origin = _of_body(raised, places, origin)
    if phase == "collect" and (origin is Origin.TEST or kind is FailureKind.ASSERTION):
        kind = kind if kind is FailureKind.MISSING_NAME else FailureKind.COLLECTION
    return kind, origin


def _phase(raised: Raised, when: str, places: Places) -> str:
    """The phase; `setUp` and `tearDown` of a TestCase run within the body and are told by their frame."""
    if when != "call" or not raised.frames:
        return when
    outermost = next((name for path, _, name in raised.frames if places.origin(path) is Origin.TEST), "")
    if outermost in _SETUP:
        return "setup"
    return "teardown" if outermost in _TEARDOWN else when


def _special(raised: Raised, places: Places) -> FailureKind | None:
    """Kinds that say nothing about behaviour wherever they arise."""
    if "builtins.SystemExit" in raised.mro or "_pytest.outcomes.Exit" in raised.mro:
        return FailureKind.EXIT
    if any("builtins.MemoryError" in mro for mro in (raised.mro, *raised.chain)):
        return FailureKind.MEMORY
    if any(_OVERTIME in mro for mro in (raised.mro, *raised.chain)):
        return FailureKind.TIMEOUT
    if raised.type == "Failed" and raised.message.startswith(("Timeout >", "Timeout (>")):
        return FailureKind.TIMEOUT
    if _is_network(raised, places):
        return FailureKind.NETWORK
    if _is_missing_file(raised, places):
        return FailureKind.MISSING_FILE
    return None


def _is_network(raised: Raised, places: Places) -> bool:
    own = places.origin(raised.defined) is Origin.SOURCE
    if not own and _NETWORK.intersection(raised.mro):
        return True
    if (
        any(_NETWORK.intersection(mro) for mro in raised.chain)
        and "builtins.AssertionError" not in raised.mro
    ):
        return True
    if "builtins.OSError" not in raised.mro:
        return False
    last = raised.frames[-1][0] if raised.frames else ""
    timed_out = "builtins.TimeoutError" in raised.mro and last.endswith(_NETWORK_FILES)
    return raised.errno in _NETWORK_ERRNO or timed_out


def _is_missing_file(raised: Raised, places: Places) -> bool:
    """A file or program outside of the tree that is not there, or that may not be used."""
    if not {"builtins.FileNotFoundError", "builtins.PermissionError"}.intersection(raised.mro):
        return False
    last = raised.frames[-1][0] if raised.frames else ""
    if raised.bare and last.endswith("/subprocess.py"):
        return True  # a program that is not on PATH
    path = PurePosixPath(raised.filename)
    return path.is_absolute() and not any(path.is_relative_to(folder) for folder in places.temp)


def _of_syntax(raised: Raised, places: Places, phase: str, origin: Origin) -> tuple[FailureKind, Origin]:
    where = places.origin(raised.syntax[0]) if raised.syntax else origin
    if where is Origin.SOURCE:
        return FailureKind.EXCEPTION, where
    return (FailureKind.COLLECTION if phase == "collect" else FailureKind.EXCEPTION), where


def _of_body(raised: Raised, places: Places, origin: Origin) -> tuple[FailureKind, Origin]:
    if _ASSERTIONS.intersection(raised.mro):
        return FailureKind.ASSERTION, origin
    owned = bool(raised.owner) and places.origin(raised.owner) is Origin.SOURCE
    if "builtins.ModuleNotFoundError" in raised.mro and not owned:
        # A module that is not installed. Asked for by the source it is the environment's fault, as far
        # as anyone can tell from here.
        return (
            (FailureKind.TEST_ERROR, origin)
            if origin is Origin.TEST
            else (FailureKind.UNKNOWN, Origin.OUTSIDE)
        )
    if origin is Origin.SOURCE:
        return FailureKind.EXCEPTION, origin
    if owned:
        return FailureKind.MISSING_NAME, origin
    if origin is Origin.TEST:
        missing = {"builtins.ImportError", "builtins.NameError"}.intersection(raised.mro)
        return (FailureKind.TEST_ERROR if missing else FailureKind.EXCEPTION), origin
    return FailureKind.UNKNOWN, origin


def _of_group(
    group: Collection[Raised], when: str, places: Places, origin: Origin
) -> tuple[FailureKind, Origin]:
    """A group is what its members agree on; where they do not, nothing is claimed."""
    members = [judge(each, when, places) for each in group]
    kinds = {member.kind for member in members}
    if kinds <= BEHAVIOURAL:
        return members[0].kind, members[0].origin
    return (kinds.pop() if len(kinds) == 1 else FailureKind.UNKNOWN), origin

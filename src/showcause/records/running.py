"""Nouns of one run on one side, and of its confinement."""

from __future__ import annotations

from enum import StrEnum

from showcause.records.base import Record

__all__ = [
    "Enforced",
    "Enforcement",
    "Failure",
    "FailureKind",
    "Loaded",
    "LoadedState",
    "Origin",
    "Outcome",
    "RunReport",
    "RunState",
    "SandboxReport",
    "Side",
    "TestResult",
]


class Side(StrEnum):
    """Which sources and which test surface a run sees (source/surface)."""

    BASE = "base"  # base sources, base surface
    HEAD = "head"  # head sources, base surface
    HEAD_HEAD = "head_head"  # head as handed in
    BASE_HEAD = "base_head"  # base sources, the author's surface


class Outcome(StrEnum):
    """How one item ended on one side."""

    PASSED = "passed"
    FAILED = "failed"  # an assertion, or an exception raised by the code under test
    ERROR = "error"  # set-up, collection, fixture, import: not the behaviour
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    SKIPPED = "skipped"
    NOT_RUN = "not_run"
    MIXED = "mixed"  # its runs on this side disagree: see `Item.runs`


class FailureKind(StrEnum):
    """Why an item did not pass (facts: thirty pytest cases). The first two are behavioural."""

    ASSERTION = "assertion"
    EXCEPTION = "exception"  # raised in the repository's own source
    MISSING_NAME = "missing_name"  # a name, attribute or keyword of the repository's own code
    TEST_ERROR = "test_error"  # name or import error in the test's own frame; fault of the test
    COLLECTION = "collection"
    SETUP = "setup"
    TEARDOWN = "teardown"
    NETWORK = "network"
    MISSING_FILE = "missing_file"
    MEMORY = "memory"
    EXIT = "exit"  # the code asked the interpreter to stop
    CRASH = "crash"
    TIMEOUT = "timeout"
    UNKNOWN = "unknown"


class Origin(StrEnum):
    """Whose frame raised."""

    SOURCE = "source"
    TEST = "test"
    OUTSIDE = "outside"
    NONE = "none"


class Failure(Record, frozen=True, kw_only=True):
    """How one item failed. `frame` is `path:line` of the raising frame, repository-relative if inside."""

    kind: FailureKind
    exception: str = ""
    message: str = ""
    frame: str = ""
    origin: Origin = Origin.NONE

    @property
    def is_behavioural(self) -> bool:
        """The repository's own code did or lacked something; an exception must be raised in its source."""
        match self.kind:
            case FailureKind.ASSERTION | FailureKind.MISSING_NAME:
                return True
            case FailureKind.EXCEPTION:
                return self.origin is Origin.SOURCE
            case _:
                return False


class TestResult(Record, frozen=True, kw_only=True):
    """One item's end in one run. `told_by` names the event that told it."""

    __test__ = False  # not a test class

    id: str
    outcome: Outcome
    told_by: str
    failure: Failure | None = None
    duration_s: float = 0.0


class LoadedState(StrEnum):
    """Whether a loaded module is the one of the tree under test."""

    MATCHES = "matches"
    OUTSIDE = "outside"  # the module came from another place than the mounted tree
    OTHER_CONTENT = "other_content"  # right place, other bytes
    NOT_LOADED = "not_loaded"  # touched by the patch, never imported in this run


class Loaded(Record, frozen=True, kw_only=True):
    """What a run loaded for one path that the patch touches."""

    path: str
    module: str
    file: str
    sha256: str
    state: LoadedState


class RunState(StrEnum):
    """Whether a run's report may be believed."""

    COMPLETE = "complete"
    ENVIRONMENT = "environment"  # could not start, or loaded other code than the tree's
    TAMPERED = "tampered"  # controls wrong, or an exit status the controls do not imply
    CRASHED = "crashed"  # ended before its end event
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


class RunReport(Record, frozen=True, kw_only=True):
    """One run of one runner on one side. Counts in = counts out: every asked id has a result.

    `unstarted` is what the repository's own code raised so that no test could start. Alone it is the
    environment's as well as anyone's; where the other side runs whole it is this side's.
    """

    side: Side
    state: RunState
    why: str
    results: tuple[TestResult, ...]
    loaded: tuple[Loaded, ...]
    argv: tuple[str, ...]
    exit_status: int | None
    signal: int | None
    wall_s: float
    leaked: int
    output_tail: str
    unstarted: Failure | None = None


class Enforcement(StrEnum):
    ENFORCED = "enforced"
    PARTIAL = "partial"
    NONE = "none"


class Enforced(Record, frozen=True, kw_only=True):
    """One property of the sandbox, as found by doing."""

    state: Enforcement
    why: str


class SandboxReport(Record, frozen=True, kw_only=True):
    """What really confined the runs of a review. `level` is 1 (best) to 4 (none): see DESIGN of docs."""

    level: int
    tree: str  # "overlay" or "copy": which way trees were made
    tree_why: str = ""  # why copies were made
    fs: Enforced
    net: Enforced
    pid: Enforced
    memory: Enforced
    processes: Enforced

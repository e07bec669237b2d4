"""The nouns. Every noun is a frozen record; records alone cross module borders.

Outcomes are closed enums and absence has a name: nothing here has a default verdict.
Paths are repository-relative text as `os.fsdecode` gives it (undecodable bytes are surrogates);
`showcause.canon.printable` turns them into text for people. Times are seconds, sizes bytes.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

__all__ = [
    "Attribution",
    "BoundTo",
    "Cause",
    "ChangeKind",
    "CheckResult",
    "Decision",
    "Ended",
    "Enforced",
    "Enforcement",
    "Evidence",
    "EvidenceKind",
    "Failure",
    "FailureKind",
    "FileChange",
    "Item",
    "ItemRun",
    "Loaded",
    "LoadedState",
    "NotChecked",
    "Origin",
    "Outcome",
    "Patch",
    "Policy",
    "RegressionRule",
    "ReviewRecord",
    "Rule",
    "RunReport",
    "RunState",
    "SandboxReport",
    "Side",
    "Stage",
    "Tampering",
    "TestResult",
    "Verdict",
]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all nouns: immutable, keyword-only, comparable by value."""


# ------------------------------------------------------------------ the patch


class ChangeKind(StrEnum):
    """What happened to one path. `binary` is a modified file that is not text."""

    ADDED = "added"
    DELETED = "deleted"
    MODIFIED = "modified"
    RENAMED = "renamed"
    COPIED = "copied"
    MODE = "mode"
    SYMLINK = "symlink"
    GITLINK = "gitlink"
    BINARY = "binary"


class FileChange(Record):
    """One changed path. Modes are git's octal text; an object id of all zeros means absent."""

    path: str
    old_path: str
    kind: ChangeKind
    old_mode: str
    new_mode: str
    old_oid: str
    new_oid: str
    added_lines: int
    deleted_lines: int
    is_binary: bool


class Patch(Record):
    """The difference base -> head as bytes, with the inventory of every changed path."""

    data: bytes
    digest: str
    base_tree: str
    head_tree: str
    changes: tuple[FileChange, ...]

    @property
    def is_empty(self) -> bool:
        return not self.changes

    @property
    def paths(self) -> frozenset[str]:
        """Every path that differs between base and head, old names of renames included."""
        return frozenset(
            path for change in self.changes for path in (change.path, change.old_path) if path
        )


# ------------------------------------------------------------------ running something


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

    @property
    def is_behavioural(self) -> bool:
        return self in (FailureKind.ASSERTION, FailureKind.EXCEPTION, FailureKind.MISSING_NAME)


class Origin(StrEnum):
    """Whose frame raised."""

    SOURCE = "source"
    TEST = "test"
    OUTSIDE = "outside"
    NONE = "none"


class Failure(Record):
    """How one item failed. `frame` is `path:line` of the raising frame, repository-relative if inside."""

    kind: FailureKind
    exception: str = ""
    message: str = ""
    frame: str = ""
    origin: Origin = Origin.NONE


class TestResult(Record):
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


class Loaded(Record):
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


class RunReport(Record):
    """One run of one runner on one side. Counts in = counts out: every asked id has a result."""

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


# ------------------------------------------------------------------ comparing two sides


class Attribution(StrEnum):
    """Whose doing the difference between base and head is."""

    UNCHANGED = "unchanged"  # the same, and nothing is wrong
    PATCH_CAUSED = "patch_caused"
    PRE_EXISTING = "pre_existing"  # wrong on base already
    ENVIRONMENT = "environment"
    FLAKY = "flaky"
    UNATTRIBUTED = "unattributed"


class ItemRun(Record):
    """One run of one item."""

    side: Side
    outcome: Outcome
    told_by: str
    failure: Failure | None = None
    duration_s: float = 0.0


class Item(Record):
    """One item on both sides. `base` and `head` sum up `runs`; they are `mixed` where runs disagree."""

    id: str
    base: Outcome
    head: Outcome
    attribution: Attribution
    runs: tuple[ItemRun, ...]
    contested: bool = False
    self_hosted: bool = False
    note: str = ""


class Stage(StrEnum):
    CHANGE = "change"
    STATIC = "static"
    EXECUTION = "execution"
    OFFICIAL = "official"
    PROBES = "probes"
    REVIEWER = "reviewer"


class CheckResult(Record):
    """What one check told. `state` is the worst of its runs; only `complete` ones may decide."""

    id: str
    stage: Stage
    version: str
    state: RunState
    why: str
    items: tuple[Item, ...]
    loaded: tuple[Loaded, ...] = ()
    argv: tuple[str, ...] = ()
    wall_s: float = 0.0
    leaked: int = 0


class NotChecked(Record):
    """Something left out, and why. `caps` means the verdict can be no better than `uncertain`."""

    what: str
    why: str
    caps: bool = False


class Tampering(Record):
    """An edit of the patch to what judges it."""

    path: str
    what: str


# ------------------------------------------------------------------ deciding


class Verdict(StrEnum):
    ACCEPT = "accept"
    REJECT = "reject"
    UNCERTAIN = "uncertain"


class Ended(StrEnum):
    """How a review ended."""

    DECIDED = "decided"
    UNDECIDED = "undecided"
    NOTHING_TO_REVIEW = "nothing_to_review"
    UNAPPLIABLE = "unappliable"
    MOVED = "moved"
    INTERRUPTED = "interrupted"
    ENVIRONMENT = "environment"


class Rule(StrEnum):
    """Stable names of what can reject."""

    NO_CHANGE = "no_change"
    STATIC = "static"
    IMPORT_ERROR = "import_error"
    REGRESSION = "regression"
    PROBE = "probe"
    OFFICIAL_SUITE = "official_suite"
    REVIEWER = "reviewer"


class RegressionRule(StrEnum):
    """What a patch-caused regression may do (`[gate] regression`)."""

    CORROBORATED = "corroborated"
    REJECT = "reject"
    EVIDENCE = "evidence"


class Policy(Record):
    """What the gate may decide on (`[gate]`)."""

    name: str = "default"
    regression: RegressionRule = RegressionRule.CORROBORATED


class Cause(Record):
    """A finding that licenses a rejection. `reproduce` is an argv list that shows it again."""

    rule: Rule
    stage: Stage
    item: str
    message: str
    path: str
    line: int | None
    base: str
    head: str
    reproduce: tuple[str, ...]


class EvidenceKind(StrEnum):
    TESTIMONY = "testimony"
    STRUCTURED = "structured"
    GROUNDED = "grounded"


class Evidence(Record):
    """One thing that was seen. `id` is stable: a digest of rule, path and normalised text."""

    id: str
    kind: EvidenceKind
    state: str
    text: str
    stage: Stage
    items: tuple[str, ...] = ()


class Decision(Record):
    """What the gate says. `verdict` is None for undecided: the gate has no other default."""

    verdict: Verdict | None
    decided_by: Stage | None
    causes: tuple[Cause, ...]
    evidence: tuple[Evidence, ...]


# ------------------------------------------------------------------ confinement


class Enforcement(StrEnum):
    ENFORCED = "enforced"
    PARTIAL = "partial"
    NONE = "none"


class Enforced(Record):
    """One property of the sandbox, as found by doing."""

    state: Enforcement
    why: str


class SandboxReport(Record):
    """What really confined the runs of a review. `level` is 1 (best) to 4 (none): see DESIGN of docs."""

    level: int
    tree: str  # "overlay" or "copy": which way trees were made
    fs: Enforced
    net: Enforced
    pid: Enforced
    memory: Enforced
    processes: Enforced


# ------------------------------------------------------------------ the whole review


class BoundTo(Record):
    """What a verdict holds for. One byte changes: no verdict."""

    base_tree: str
    head_tree: str
    patch: str
    policy: str


class ReviewRecord(Record):
    """Everything one review found; the body of its receipt."""

    verdict: Verdict | None
    ended: Ended
    why: str
    exit_status: int
    decided_by: Stage | None
    causes: tuple[Cause, ...]
    evidence: tuple[Evidence, ...]
    checks: tuple[CheckResult, ...]
    tampering: tuple[Tampering, ...]
    not_checked: tuple[NotChecked, ...]
    changes: tuple[FileChange, ...]
    bound_to: BoundTo
    sandbox: SandboxReport | None
    issue: str
    settings: str
    environment: str
    started: str
    wall_s: float

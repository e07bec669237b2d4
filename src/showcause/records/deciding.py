"""Nouns of the comparison of two sides, of the decision, and of the whole review."""

from __future__ import annotations

from enum import StrEnum

from showcause.records.base import Record
from showcause.records.running import Failure, Loaded, Outcome, RunState, Side

__all__ = [
    "Attribution",
    "BoundTo",
    "Cause",
    "CheckResult",
    "Decision",
    "Ended",
    "Evidence",
    "EvidenceKind",
    "Item",
    "ItemRun",
    "NotChecked",
    "Policy",
    "PolicyName",
    "RegressionRule",
    "Rule",
    "Stage",
    "Tampering",
    "Verdict",
    "WitnessRule",
]


class Attribution(StrEnum):
    """Whose doing the difference between base and head is."""

    UNCHANGED = "unchanged"  # the same, and nothing is wrong
    PATCH_CAUSED = "patch_caused"
    PRE_EXISTING = "pre_existing"  # wrong on base already
    ENVIRONMENT = "environment"
    FLAKY = "flaky"
    UNATTRIBUTED = "unattributed"


class ItemRun(Record, frozen=True, kw_only=True):
    """One run of one item."""

    side: Side
    outcome: Outcome
    told_by: str
    failure: Failure | None = None
    duration_s: float = 0.0


class Item(Record, frozen=True, kw_only=True):
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


class CheckResult(Record, frozen=True, kw_only=True):
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


class NotChecked(Record, frozen=True, kw_only=True):
    """Something left out, and why. `caps` means the verdict can be no better than `uncertain`."""

    what: str
    why: str
    caps: bool = False


class Tampering(Record, frozen=True, kw_only=True):
    """An edit of the patch to what judges it."""

    path: str
    what: str


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
    GUARD = "guard"
    OFFICIAL_SUITE = "official_suite"
    REVIEWER = "reviewer"


class RegressionRule(StrEnum):
    """What a patch-caused regression may do (`[gate] regression`)."""

    CORROBORATED = "corroborated"
    REJECT = "reject"
    EVIDENCE = "evidence"


class PolicyName(StrEnum):
    """How probes decide (`[gate] policy`)."""

    DEFAULT = "default"  # the agreement of several
    NOTE = "note"  # any single qualified failure rejects
    PAPER = "paper"  # the same, and passes accept: in the bench only


class WitnessRule(StrEnum):
    """What a reviewer's rejection needs (`[gate] witness`)."""

    REQUIRED = "required"  # a test that shows it
    OPTIONAL = "optional"  # the ballot alone, from a reviewer that has the power


class Policy(Record, frozen=True, kw_only=True):
    """What the gate may decide on (`[gate]`).

    Probes reject if at least `probe_min` qualified ones, `probe_share` (0 to 1) of all that qualified,
    fail, and those come from at least `probe_generators` writers.
    """

    name: PolicyName = PolicyName.DEFAULT
    regression: RegressionRule = RegressionRule.CORROBORATED
    probe_share: float = 0.75
    probe_min: int = 2
    probe_generators: int = 1
    witness: WitnessRule = WitnessRule.REQUIRED
    min_precision: float | None = None


class Cause(Record, frozen=True, kw_only=True):
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


class Evidence(Record, frozen=True, kw_only=True):
    """One thing that was seen. `id` is stable: a digest of rule, path and normalised text."""

    id: str
    kind: EvidenceKind
    state: str
    text: str
    stage: Stage
    items: tuple[str, ...] = ()


class Decision(Record, frozen=True, kw_only=True):
    """What the gate says. `verdict` is None for undecided: the gate has no other default."""

    verdict: Verdict | None
    decided_by: Stage | None
    causes: tuple[Cause, ...]
    evidence: tuple[Evidence, ...]


class BoundTo(Record, frozen=True, kw_only=True):
    """What a verdict holds for. One byte changes: no verdict."""

    base_tree: str
    head_tree: str
    patch: str
    policy: str

"""Nouns of the reviewer's stage: what a reviewer is given, what it answers, what its answers come to."""

from __future__ import annotations

from enum import StrEnum

from showcause.records.base import Record
from showcause.records.chat import ChatFailureKind, ChatUsage
from showcause.records.deciding import EvidenceKind, NotChecked, Stage, Verdict
from showcause.records.patch import ChangeKind
from showcause.records.probing import ProbeResult

__all__ = [
    "AtVotes",
    "AuditClass",
    "Ballot",
    "Cite",
    "CodeExcerpt",
    "Conclusion",
    "Exhibit",
    "ExhibitState",
    "Finding",
    "FindingAudit",
    "ManifestEntry",
    "Packet",
    "PacketForm",
    "Part",
    "Powers",
    "Reason",
    "ReviewStage",
    "Sent",
    "Vote",
    "VoteAudit",
    "VoteFault",
    "Witness",
]


# ------------------------------------------------------------------ the packet


class PacketForm(StrEnum):
    """What goes into a packet beside the issue. The two `grounded` forms are upper bounds: bench only."""

    PATCH = "patch"
    TRACE = "trace"  # the patch and the agent's whole record of its work
    CASCADE = "cascade"  # the patch and what the checks saw
    TURN = "turn"  # instruction and final answer of one turn, and its patch if it has one
    GROUNDED_CLEAN = "grounded-clean"  # states and counts of the official suite
    GROUNDED_ORACLE = "grounded-oracle"  # its ids and what they printed

    @property
    def is_upper_bound(self) -> bool:
        """No deployed reviewer could have this: it shows the official suite."""
        return self in (PacketForm.GROUNDED_CLEAN, PacketForm.GROUNDED_ORACLE)


class Sent(StrEnum):
    WHOLE = "whole"
    PARTIAL = "partial"
    NOT_SENT = "not_sent"


class ManifestEntry(Record, frozen=True, kw_only=True):
    """One path of the inventory: how much of its part of the patch is in the packet.

    Bytes are those of the patch, before anything was decoded or masked; sent and unsent bytes of all
    entries add up to the patch. `lossy` counts bytes that are not UTF-8 and are shown as `\\xNN`.
    """

    path: str
    kind: ChangeKind
    sent: Sent
    why: str
    sent_bytes: int
    unsent_bytes: int
    lossy: int = 0


class Part(Record, frozen=True, kw_only=True):
    """Anything else that was to be sent: the issue, a trace, one piece of evidence. Bytes of UTF-8 text."""

    what: str
    sent: Sent
    why: str
    sent_bytes: int
    unsent_bytes: int


class ExhibitState(StrEnum):
    """What a piece of evidence in a packet says happened."""

    FAILED = "failed"  # on head, by the patch
    PASSED = "passed"
    SKIPPED = "skipped"  # newly, since the patch
    TAMPERED = "tampered"
    SAID = "said"  # somebody says so
    NOTED = "noted"  # seen; neither a pass nor a failure
    PRE_EXISTING = "pre_existing"
    ENVIRONMENT = "environment"
    FLAKY = "flaky"
    UNATTRIBUTED = "unattributed"
    ERROR = "error"  # the check itself did not work

    @property
    def is_not_caused(self) -> bool:
        """Trouble that nobody showed to be the patch's doing."""
        return self in _NOT_CAUSED


_NOT_CAUSED = frozenset(
    {
        ExhibitState.PRE_EXISTING,
        ExhibitState.ENVIRONMENT,
        ExhibitState.FLAKY,
        ExhibitState.UNATTRIBUTED,
        ExhibitState.ERROR,
    }
)


class Exhibit(Record, frozen=True, kw_only=True):
    """One piece of evidence in a packet. `id` is `ev-N`, or `nc-N` for what the patch did not cause.

    `source` is the id of the evidence it was made from, "" where it sums up a check. `text` is as shown.
    """

    id: str
    source: str
    kind: EvidenceKind
    state: ExhibitState
    stage: Stage
    text: str
    sent: bool


class CodeExcerpt(Record, frozen=True, kw_only=True):
    """Code around the patch, from base."""

    path: str
    text: str


class Packet(Record, frozen=True, kw_only=True):
    """Exactly what a reviewer is given (`text`), and the account of it.

    id        digest of the text but for the lines that carry the id
    nonce     stands in the last line only; an answer repeats it
    manifest  every path of the patch's inventory, once
    parts     everything else that was to be sent, once
    exhibits  evidence with ids, sent or not; those that the patch did not cause included
    withheld  what was left out on purpose, and why (never a cut)
    masked    how often a known secret was replaced
    tokens    estimate for `text`; `budget` is what it was allowed
    """

    id: str
    form: PacketForm
    nonce: str
    base_tree: str
    head_tree: str
    patch: str
    manifest: tuple[ManifestEntry, ...]
    parts: tuple[Part, ...]
    exhibits: tuple[Exhibit, ...]
    withheld: tuple[NotChecked, ...]
    masked: int
    tokens: int
    budget: int
    text: str

    @property
    def is_complete(self) -> bool:
        """All of the patch, the issue and the evidence is in it."""
        return not self.missing

    @property
    def missing(self) -> tuple[str, ...]:
        """What is not in it whole, each with how much was sent."""
        cut = [(one.path, one.sent) for one in self.manifest] + [(one.what, one.sent) for one in self.parts]
        return tuple(f"{what} ({_SENT[sent]})" for what, sent in cut if sent is not Sent.WHOLE)


_SENT = {Sent.WHOLE: "whole", Sent.PARTIAL: "in part", Sent.NOT_SENT: "not sent"}


# ------------------------------------------------------------------ one vote


class Cite(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a reviewer points at. `state` is what it says of it; `quote` its words, if it quotes any."""

    id: str
    state: str
    quote: str = ""


class Reason(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    text: str
    cites: tuple[Cite, ...]


class Finding(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fault that a reviewer names. Without place, trigger or wrong result it is a note."""

    place: str = ""
    trigger: str = ""
    wrong: str = ""
    cites: tuple[str, ...] = ()
    text: str = ""
    severity: str = ""


class VoteFault(StrEnum):
    """Why an answer is no vote."""

    CHAT_FAILURE = "chat_failure"
    STOPPED = "stopped"  # cut for length, filtered, or ended in another way than of its own accord
    EMPTY = "empty"
    TOO_LARGE = "too_large"
    NO_OBJECT = "no_object"
    TWO_OBJECTS = "two_objects"
    NOT_JSON = "not_json"
    MISSING_FIELD = "missing_field"
    WRONG_SHAPE = "wrong_shape"
    UNKNOWN_DECISION = "unknown_decision"
    WRONG_PACKET = "wrong_packet"
    WRONG_NONCE = "wrong_nonce"


class Vote(Record, frozen=True, kw_only=True):
    """One answer of a reviewer. Exactly one of `decision` and `fault` is None.

    `chat_failure` says what kind of failure a `chat_failure` was. `raw_digest` is the SHA-256 of the
    answer's text as it came, "" where none came. `request` is the digest of what was asked.
    """

    number: int
    decision: Verdict | None
    fault: VoteFault | None
    why: str
    reasons: tuple[Reason, ...]
    findings: tuple[Finding, ...]
    raw_digest: str
    request: str
    asked_model: str
    reported_model: str
    usage: ChatUsage
    latency_s: float
    chat_failure: ChatFailureKind | None = None
    response_id: str = ""

    @property
    def is_valid(self) -> bool:
        return self.decision is not None


# ------------------------------------------------------------------ votes together


class AtVotes(Record, frozen=True, kw_only=True):
    """What `votes` of the recorded votes, drawn without putting back, would have decided: shares of 1."""

    votes: int
    accept: float
    reject: float
    uncertain: float


class Ballot(Record, frozen=True, kw_only=True):
    """All votes on one packet. `decision` is the majority over all of them, else `uncertain`."""

    packet: str
    asked: int
    votes: tuple[Vote, ...]
    decision: Verdict
    why: str


class AuditClass(StrEnum):
    CONSISTENT = "consistent"
    CONTRADICTS_EVIDENCE = "contradicts_evidence"
    SELECTIVE = "selective"
    MISQUOTES = "misquotes"
    ACCEPTS_ON_PASS = "accepts_on_pass"  # noqa: S105 - no password
    DECIDES_ON_ENVIRONMENT = "decides_on_environment"
    CITES_UNKNOWN = "cites_unknown"
    ASKS_MANUAL = "asks_manual"

    @property
    def takes_the_vote(self) -> bool:
        """Whether a vote of this class counts for nothing (law 8)."""
        return self in (
            AuditClass.CONTRADICTS_EVIDENCE,
            AuditClass.MISQUOTES,
            AuditClass.ACCEPTS_ON_PASS,
        )


class FindingAudit(Record, frozen=True, kw_only=True):
    """Whether a finding may move the decision. `id` is the same on every run over the same words."""

    id: str
    grounded: bool
    why: str


class VoteAudit(Record, frozen=True, kw_only=True):
    """What a look at one vote beside the packet showed. `why` has a line for each class but consistent.

    An invalid vote has no class: it said nothing that could be looked at.
    """

    number: int
    classes: tuple[AuditClass, ...]
    why: tuple[str, ...]
    findings: tuple[FindingAudit, ...]
    counts: bool


class Powers(Record, frozen=True, kw_only=True):
    """What a reviewer may decide, as its calibration and the policy say."""

    accept: bool
    reject: bool


class Conclusion(Record, frozen=True, kw_only=True):
    """What a ballot comes to. `verdict` None: the reviewer gave no vote that could be read."""

    verdict: Verdict | None
    why: str


# ------------------------------------------------------------------ the whole stage


class Witness(Record, frozen=True, kw_only=True):
    """The test that a reviewer was asked for, to show one of its findings.

    `result` is None where none came; `why` then says why, and otherwise what the test showed.
    """

    finding: str
    request: str
    result: ProbeResult | None
    holds: bool
    why: str


class ReviewStage(Record, frozen=True, kw_only=True):
    """What a reviewer was given, what it answered, and what that came to.

    `instructions` is the digest of what it was told beside the packet; `calibration` says on what its
    powers rest.
    """

    reviewer: str
    model: str
    instructions: str
    packet: Packet
    ballot: Ballot
    audits: tuple[VoteAudit, ...]
    powers: Powers
    calibration: str
    witnesses: tuple[Witness, ...]
    conclusion: Conclusion

"""Nouns of the review contract: who may review whom, one attempt from its start to its typed end.

An attempt is one launch of one reviewer (or of a primary). Its record is the body of its receipt; whether
it counts is computed from its fields, never stored as somebody's opinion. No field has a default that
could be read as a complete review.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Protocol

import msgspec

from showcause.records.base import Record
from showcause.records.chat import ChatUsage
from showcause.records.reviewer import ReviewerKind, ReviewerSpec
from showcause.records.running import SandboxReport
from showcause.records.voting import Finding

__all__ = [
    "Allowance",
    "AttemptAbout",
    "AttemptEnd",
    "AttemptJournal",
    "AttemptRecord",
    "AttemptStarted",
    "Critique",
    "CritiqueOutcome",
    "Delivery",
    "Echo",
    "Launched",
    "ModelSeen",
    "ModelsTold",
    "OutputTaken",
    "Phase",
    "Pool",
    "ProviderFaultKind",
    "ReviewerKind",
    "ReviewerSpec",
    "Role",
    "Spent",
    "Timing",
    "ToolAttempt",
    "ToolState",
    "TurnIds",
    "WhyNot",
]


# ------------------------------------------------------------------ who


class Role(StrEnum):
    PRIMARY = "primary"
    REVIEWER = "reviewer"
    ALLOCATOR = "allocator"  # advice from metadata only; never suppresses a review
    JUDGE = "judge"


class Pool(Record, frozen=True, kw_only=True):
    """What an agent draws on. `provider` is a family or "unknown"; `account` "" is unknown."""

    provider: str
    account: str
    told: str


class WhyNot(StrEnum):
    """Why an attempt does not count. The first seven are known before anything is spawned."""

    SAME_PROVIDER = "same_provider"
    SAME_ACCOUNT = "same_account"
    PRIMARY_PROVIDER_UNKNOWN = "primary_provider_unknown"
    REVIEWER_PROVIDER_UNKNOWN = "reviewer_provider_unknown"
    PRIMARY_ACCOUNT_UNKNOWN = "primary_account_unknown"
    REVIEWER_ACCOUNT_UNKNOWN = "reviewer_account_unknown"
    PROVIDER_CONTRADICTED = "provider_contradicted"  # the pool names another provider than the model
    NOT_COMPLETED = "not_completed"
    ARGV_NOT_AUDITED = "argv_not_audited"
    EXIT_STATUS = "exit_status"
    LATE = "late"
    CANCELLED = "cancelled"
    PROCESSES_LEFT = "processes_left"
    INPUT_INCOMPLETE = "input_incomplete"
    RECEIPT_NOT_SHOWN = "receipt_not_shown"  # codes or end nonce did not come back
    OUTPUT_CUT = "output_cut"
    NO_CRITIQUE = "no_critique"
    OTHER_MODEL = "other_model"
    TREE_CHANGED = "tree_changed"
    FIELD_MISSING = "field_missing"


# ------------------------------------------------------------------ how an attempt ends


class AttemptEnd(StrEnum):
    """How an attempt ended. There is no other end, and exactly one of them is a completed review."""

    COMPLETED = "completed"
    # nothing was spawned
    SAME_POOL = "same_pool"
    UNKNOWN_POOL = "unknown_pool"
    UNSAFE_ARGV = "unsafe_argv"
    REFUSED_VERSION = "refused_version"  # known to misbehave
    INPUT_TOO_LARGE = "input_too_large"
    PRIMARY_INCOMPLETE = "primary_incomplete"
    BUDGET_SPENT = "budget_spent"
    SPAWN_FAILED = "spawn_failed"
    # spawned
    INPUT_DELIVERY_FAILED = "input_delivery_failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    PROCESS_CRASH = "process_crash"
    EMPTY_RESPONSE = "empty_response"
    MALFORMED_OUTPUT = "malformed_output"
    OUTPUT_TRUNCATED = "output_truncated"
    PROVIDER_FAULT = "provider_fault"
    MODEL_MISMATCH = "model_mismatch"
    MUTATED = "mutated"  # the repository is no longer what it was
    LEFT_PROCESSES = "left_processes"
    # not told by the attempt itself
    INTERRUPTED = "interrupted"  # our process was gone before the end; found at the next start
    FAULT = "fault"  # an error of our own


class ProviderFaultKind(StrEnum):
    AUTH = "auth"
    RATE_LIMIT = "rate_limit"
    SPENT = "spent"
    SERVER = "server"
    BAD_REQUEST = "bad_request"  # unknown model, prompt too long for it
    LIMIT = "limit"  # of turns or money, set by us or by the CLI
    UNREACHABLE = "unreachable"
    REFUSED = "refused"  # the model declines
    OTHER = "other"


class Phase(StrEnum):
    """What an attempt was doing when it was stopped."""

    BEFORE = "before"
    WRITING = "writing"
    READING = "reading"
    COUNTING = "counting"  # after reaping, before the verdict counts


# ------------------------------------------------------------------ what is kept of one


class TurnIds(Record, frozen=True, kw_only=True):
    """Which turn this is about. `candidate` is the digest of the final answer, `task` of the instruction."""

    task: str
    candidate: str
    conversation: str
    turn: str


class Launched(Record, frozen=True, kw_only=True):
    """What was really started. Digests are SHA-256; "" where there was nothing to take one of.

    argv        the reviewer's own command line as it was spawned, secrets masked
    spawned     digest of the whole command line that was spawned, confinement included
    audited     what was spawned ends in what was audited, and the audit found nothing unsafe
    program     real path of the program; `program_digest` of its first file, `version` as it says itself
    environment names of the variables it was given
    network     what was allowed; `confined` says what of the confinement is enforced
    readable    what it may read beside its own program
    """

    argv: tuple[str, ...]
    argv_digest: str
    spawned: str
    audited: bool
    program: str
    program_digest: str
    version: str
    environment: tuple[str, ...]
    network: str
    confined: SandboxReport | None
    readable: tuple[str, ...]
    exit_status: int | None
    signal: int | None
    errno: int | None
    left: int


class Timing(Record, frozen=True, kw_only=True):
    """Times of one attempt. `started` and `ended` are RFC 3339 text; seconds else."""

    started: str
    ended: str
    wall_s: float
    deadline_s: float
    deadline_passed: bool
    cancelled: bool
    phase: Phase


class Echo(StrEnum):
    """What the CLI sent back of its input."""

    NOT_OFFERED = "not_offered"
    EQUAL = "equal"
    DIFFERENT = "different"
    MISSING = "missing"


class Delivery(Record, frozen=True, kw_only=True):
    """How the input went over. Bytes that a pipe took were not thereby read: the codes and the end nonce,
    which stand all through the packet, show that a model had it before it."""

    packet: str
    total_bytes: int
    accepted_bytes: int
    echo: Echo
    codes: int
    codes_back: int
    nonce_back: bool
    digest: str

    @property
    def is_whole(self) -> bool:
        """All bytes and the end of the input were taken, and nothing else came back."""
        return self.accepted_bytes == self.total_bytes and self.echo in (Echo.NOT_OFFERED, Echo.EQUAL)

    @property
    def is_received(self) -> bool:
        return self.codes_back == self.codes and self.nonce_back


class OutputTaken(Record, frozen=True, kw_only=True):
    """What came out. `budget_bytes` is what is read for an answer; more than that is `output_truncated`."""

    stdout_bytes: int
    stderr_bytes: int
    budget_bytes: int
    stdout_digest: str
    stderr_digest: str
    answer_digest: str
    stderr_tail: str

    @property
    def is_whole(self) -> bool:
        return self.stdout_bytes <= self.budget_bytes


class ModelSeen(Record, frozen=True, kw_only=True):
    """One model id that the CLI reported. `where` names the field, `fragment` is the digest of its line.

    `served` tells an id that came with the answer from one that merely repeats what was asked for.
    """

    id: str
    where: str
    fragment: str
    served: bool


class ModelsTold(Record, frozen=True, kw_only=True):
    """Asked for, and told. `main` is the one that wrote the answer, or "undisclosed"."""

    asked: str
    main: str
    reported: tuple[ModelSeen, ...]


class ToolState(StrEnum):
    DONE = "done"
    REFUSED = "refused"
    UNKNOWN = "unknown"  # asked for; what came of it was not told


class ToolAttempt(Record, frozen=True, kw_only=True):
    """A tool that the model asked for. `why` is the beginning of what was answered to a refused one."""

    name: str
    state: ToolState
    why: str = ""


class CritiqueOutcome(StrEnum):
    FINDINGS = "findings"
    NO_FINDING = "no_finding"


class Critique(Record, frozen=True, kw_only=True):
    """What a reviewer says of a turn: advice, never accept or reject."""

    outcome: CritiqueOutcome
    findings: tuple[Finding, ...]


class AttemptRecord(Record, frozen=True, kw_only=True):
    """Everything about one attempt; the body of its receipt.

    `ended`, `exit_status`, `why` bear the names that listings know. `launched`, `delivery`, `output` are
    None where the attempt did not get so far. `why_not` is computed from all other fields. `answer` is
    kept for a primary only: a reviewer's is its critique, its words are known by their digest.
    """

    ended: AttemptEnd
    why: str
    exit_status: int
    fault: ProviderFaultKind | None
    retry_after_s: float | None
    role: Role
    reviewer: str
    kind: ReviewerKind
    ids: TurnIds
    primary_pool: Pool
    pool: Pool
    launched: Launched | None
    timing: Timing
    delivery: Delivery | None
    output: OutputTaken | None
    models: ModelsTold
    tools: tuple[ToolAttempt, ...]
    usage: ChatUsage
    tree_before: str
    tree_after: str
    critique: Critique | None
    answer: str
    settings: str
    sources: str
    notes: tuple[str, ...] = ()
    why_not: tuple[WhyNot, ...] = ()

    @property
    def is_eligible(self) -> bool:
        return not self.why_not


# ------------------------------------------------------------------ where it is kept


class AttemptAbout(Record, frozen=True, kw_only=True):
    """What an attempt is about, as far as it is known before it is launched."""

    role: Role
    reviewer: str
    kind: ReviewerKind
    ids: TurnIds
    primary_pool: Pool
    pool: Pool
    deadline_s: float
    settings: str
    sources: str


class AttemptStarted(Record, frozen=True, kw_only=True):
    """An attempt that was announced. `id` is the id that its receipt will have."""

    id: str
    started: str
    about: AttemptAbout


class Spent(Record, frozen=True, kw_only=True):
    """What was started for a turn, and from a pool within the last hour. `limited_until` is RFC 3339 text,
    "" where the provider did not ask to be left alone or that time is over."""

    turn: int
    hour: int
    limited_until: str


class Allowance(Record, frozen=True, kw_only=True):
    """How many attempts may be started for one turn, and from one pool in an hour."""

    per_turn: Annotated[int, msgspec.Meta(gt=0)] = 3
    per_hour: Annotated[int, msgspec.Meta(gt=0)] = 60


class AttemptJournal(Protocol):
    """Where attempts are kept: the STARTED row before the spawn, one terminal row after it."""

    def spent(self, pool: Pool, turn: str) -> Spent:
        """What was started already. Raises StoreFault."""
        ...

    def start_attempt(self, about: AttemptAbout) -> AttemptStarted:
        """Commit that an attempt begins. Raises StoreFault."""
        ...

    def finish_attempt(self, started: AttemptStarted, record: AttemptRecord) -> str:
        """Append its receipt and give its id. Raises StoreFault; ValueError if it was finished before."""
        ...

"""The noun of a whole review."""

from __future__ import annotations

from showcause.records.base import Record
from showcause.records.deciding import (
    BoundTo,
    Cause,
    CheckResult,
    Ended,
    Evidence,
    NotChecked,
    Stage,
    Tampering,
    Verdict,
)
from showcause.records.patch import FileChange
from showcause.records.probing import ProbeResult, Written
from showcause.records.running import SandboxReport
from showcause.records.voting import ReviewStage

__all__ = ["ReviewRecord"]


class ReviewRecord(Record, frozen=True, kw_only=True):
    """Everything one review found; the body of its receipt.

    `overrides` are the settings of the command line as JSON texts, `official` the digest of the official
    suite: with the trees they are what it takes to run a cause again. `asked` is the text of
    the issue, kept where generated tests were run. `written` says what each writer of
    probes was asked and gave; `review` is None where no reviewer was asked.
    """

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
    overrides: dict[str, str] = {}
    official: str = ""
    asked: str = ""
    probes: tuple[ProbeResult, ...] = ()
    written: tuple[Written, ...] = ()
    review: ReviewStage | None = None

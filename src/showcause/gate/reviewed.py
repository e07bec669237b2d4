"""What a reviewer's conclusion comes to, with its causes. Pure; the reviewer itself is unknown here."""

from __future__ import annotations

import msgspec

from showcause.gate.causes import numbered
from showcause.gate.probing import probe_cause
from showcause.records import Cause, Decision, ReviewStage, Rule, Stage, Verdict

__all__ = ["decide_reviewed"]


def decide_reviewed(undecided: Decision, review: ReviewStage, *, review_id: str) -> Decision:
    """What the checks left open, decided by a reviewer if it came to a verdict.

    A rejection shows its cause: each witness that holds, or, where the policy asks for none, the ballot.
    Raises ValueError for a decision of the checks: that is never sent to a model (law 7).
    """
    if undecided.verdict is not None:
        raise ValueError("the checks have decided: there is nothing for a reviewer to decide")
    match review.conclusion.verdict:
        case None | Verdict.UNCERTAIN:
            return undecided
        case Verdict.ACCEPT:
            return msgspec.structs.replace(undecided, verdict=Verdict.ACCEPT, decided_by=Stage.REVIEWER)
        case Verdict.REJECT:
            causes = numbered(_witnessed(review) or [_ballot(review)], review_id)
            return msgspec.structs.replace(
                undecided, verdict=Verdict.REJECT, decided_by=Stage.REVIEWER, causes=causes
            )


def _witnessed(review: ReviewStage) -> list[Cause]:
    held = (one.result for one in review.witnesses if one.holds and one.result is not None)
    return [probe_cause(result, Rule.REVIEWER, Stage.REVIEWER, " (reviewer)") for result in held]


def _ballot(review: ReviewStage) -> Cause:
    said = next((f.wrong or f.text for v in review.ballot.votes for f in v.findings), "no finding is named")
    return Cause(
        rule=Rule.REVIEWER,
        stage=Stage.REVIEWER,
        item=review.packet.id,
        message=f"reviewer {review.reviewer} rejects, and no test shows it: {said}",
        path="",
        line=None,
        base="",
        head=review.conclusion.why,
        reproduce=(),
    )

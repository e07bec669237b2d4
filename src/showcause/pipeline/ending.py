"""How a review ends, in words: what caps it, what an undecided one must not hide, whether it is settled."""

from __future__ import annotations

import msgspec

from showcause.attribution import BAD
from showcause.evidence import SUITE
from showcause.pipeline.cascade import Cascade
from showcause.pipeline.examine import settled, untestable
from showcause.records import Attribution, CheckResult, Decision, Ended, NotChecked, Verdict

__all__ = ["ending_of", "is_settled", "unseen"]


def ending_of(done: Cascade, left_out: tuple[NotChecked, ...]) -> tuple[Decision, Ended, str]:
    """The decision as it stands at last, how the review ended, and why. `left_out` is intake's."""
    found = done.findings
    told = (*found.evidence, *done.decision.evidence)
    decision = msgspec.structs.replace(done.decision, evidence=told)
    decision, ended, why = _capped(decision, (*left_out, *found.not_checked))
    if decision.verdict is not None:
        return decision, ended, why
    if trouble := untestable(found.checks):
        return decision, Ended.ENVIRONMENT, trouble
    return decision, ended, why or _of_reviewer(done) or _broken_in_words(found.checks)


def unseen(not_checked: tuple[NotChecked, ...]) -> str:
    """What caps the verdict, in words; "" where nothing does."""
    caps = [note.what for note in not_checked if note.caps]
    more = f" and {len(caps) - 3} more" if len(caps) > 3 else ""
    return f"not everything was seen: {', '.join(caps[:3])}{more}" if caps else ""


def is_settled(done: Cascade) -> bool:
    """Whether a second look could not tell more: all ran whole, and every model that was asked answered."""
    asked = all(not said.why for said in done.written)
    votes = done.review.ballot.votes if done.review else ()
    return settled(done.findings.checks) and asked and all(vote.is_valid for vote in votes)


def _of_reviewer(done: Cascade) -> str:
    return f"reviewer {done.review.reviewer}: {done.review.conclusion.why}" if done.review else ""


def _capped(decision: Decision, not_checked: tuple[NotChecked, ...]) -> tuple[Decision, Ended, str]:
    """Incomplete input caps the outcome at uncertain; a rejection has its cause all the same."""
    lacking = unseen(not_checked)
    if decision.verdict is not Verdict.REJECT and lacking:
        passed = "all that ran passed, but " if decision.verdict else ""
        capped = msgspec.structs.replace(decision, verdict=None, decided_by=None)
        return capped, Ended.UNDECIDED, f"{passed}{lacking}"
    return decision, Ended.DECIDED if decision.verdict else Ended.UNDECIDED, ""


def _broken_in_words(checks: tuple[CheckResult, ...]) -> str:
    """What an undecided review must not hide in its evidence: base tests that fail since the patch."""

    items = [item for check in checks if check.id == SUITE for item in check.items]
    broken = [i for i in items if i.attribution is Attribution.PATCH_CAUSED and i.head in BAD]
    if not broken:
        return ""
    tests, fail = ("test", "fails") if len(broken) == 1 else ("tests", "fail")
    return f"{len(broken)} {tests} of base {fail} since the patch; that may be a break, or what was asked for"

"""The official suite: declared by the user to be the whole oracle, it decides both ways. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from showcause.attribution import BAD
from showcause.gate.causes import cause_of
from showcause.records import (
    Attribution,
    Cause,
    CheckResult,
    Item,
    ItemRun,
    Outcome,
    Rule,
    RunState,
    Side,
    Stage,
    Verdict,
)

__all__ = ["FAIL_TO_PASS", "OFFICIAL", "PASS_TO_PASS", "official_verdict"]

OFFICIAL = "official"
FAIL_TO_PASS, PASS_TO_PASS = "official.fail_to_pass", "official.pass_to_pass"

_UNBELIEVABLE = (RunState.ENVIRONMENT, RunState.TAMPERED, RunState.CANCELLED)


def official_verdict(checks: Sequence[CheckResult]) -> tuple[Verdict, list[Cause]] | None:
    """Both ways, and only if both parts ran whole; None leaves the case open.

    An id that is wrong on base for PASS_TO_PASS cannot speak about the patch and is left out here
    (it is in the evidence); one of which nothing was told on base leaves the case open.
    A FAIL_TO_PASS id speaks by what it does on head alone.
    """
    parts = {c.id: c for c in checks if c.id in (FAIL_TO_PASS, PASS_TO_PASS)}
    if len(parts) != 2 or any(c.state in _UNBELIEVABLE for c in parts.values()):
        return None
    wanted, kept = parts[FAIL_TO_PASS].items, parts[PASS_TO_PASS].items
    causes = [
        cause_of(Rule.OFFICIAL_SUITE, Stage.OFFICIAL, item, f"{item.id} should pass and does not")
        for item in wanted
        if item.head in BAD and _stable(item, item.head)
    ]
    causes += [
        cause_of(Rule.OFFICIAL_SUITE, Stage.OFFICIAL, item, f"{item.id} passed before the patch")
        for item in kept
        if item.base is Outcome.PASSED and item.head in BAD and item.attribution is Attribution.PATCH_CAUSED
    ]
    if causes:
        return Verdict.REJECT, causes
    speaking = [*wanted, *(item for item in kept if item.base is Outcome.PASSED)]
    is_whole = all(item.base is not Outcome.NOT_RUN for item in kept)
    if wanted and is_whole and all(item.head is Outcome.PASSED for item in speaking):
        return Verdict.ACCEPT, []
    return None


def _stable(item: Item, outcome: Outcome) -> bool:
    on_head: list[ItemRun] = [run for run in item.runs if run.side in (Side.HEAD, Side.HEAD_HEAD)]
    told = [run for run in on_head if run.outcome is not Outcome.NOT_RUN]
    return len(told) >= 2 and all(run.outcome is outcome for run in told)

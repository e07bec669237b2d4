"""What the checks saw, as evidence: a few lines that say what was seen and what it may weigh. Pure.

Items that ended the same way for the same reason are one piece of evidence, however many they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from showcause.attribution import BAD
from showcause.canon import finding_id
from showcause.records import (
    Attribution,
    Cause,
    CheckResult,
    Evidence,
    EvidenceKind,
    HeadSays,
    Item,
    Outcome,
    Policy,
    ProbeResult,
    ProbeRole,
    RegressionRule,
    RunState,
    Sameness,
    Stage,
)

__all__ = ["OWN_TESTS", "SUITE", "evidence_of", "failure_words", "lost_power", "probe_evidence"]

SUITE, OWN_TESTS = "suite", "own_tests"
_NAMED = 3
_ENDLESS = (Outcome.TIMEOUT, Outcome.CRASHED)
_PROBE_WORDS = {
    (ProbeRole.PROBE, HeadSays.FAILS): "fails without the patch and with it",
    (ProbeRole.PROBE, HeadSays.NOTHING): "fails without the patch; with it, it tells nothing",
    (ProbeRole.GUARD, HeadSays.FAILS): "passes without the patch and fails with it",
    (ProbeRole.GUARD, HeadSays.NOTHING): "passes without the patch; with it, it tells nothing",
}
_SAMENESS = {
    Sameness.SAME: ", in the same way",
    Sameness.DIFFERENT: ", in another way",
    Sameness.NONE: "",
}


def evidence_of(checks: Sequence[CheckResult], policy: Policy) -> Iterator[Evidence]:
    """All that is worth saying of `checks`, in their order."""
    for check in checks:
        if check.state is not RunState.COMPLETE:
            yield _about_check(check)
        if check.stage is Stage.PROBES:
            continue  # what probes say is judged probe by probe
        if check.id == OWN_TESTS:
            yield from _testimony(check)
        elif check.stage is Stage.STATIC:
            yield from _static(check)
        else:
            yield from _grounded(check, policy)


def probe_evidence(probes: Sequence[ProbeResult]) -> Iterator[Evidence]:
    """What qualified probes say, one piece each. A pass is no evidence, and a dropped probe says nothing."""
    for result in probes:
        if result.is_qualified and result.says is not HeadSays.PASSES:
            words = _probe_words(result)
            yield Evidence(
                id=finding_id("probe", result.probe.id, words),
                kind=EvidenceKind.GROUNDED,
                state="failed" if result.says is HeadSays.FAILS else "noted",
                text=f"{result.probe.role.value} {result.probe.tests[0]}: {words}",
                stage=Stage.PROBES,
                items=(result.probe.id,),
            )


def lost_power(cause: Cause) -> Evidence:
    """A cause of a rule that was wrong here too often to reject."""
    words = f"{cause.message}; the rule {cause.rule.value} was wrong here too often to reject"
    return Evidence(
        id=finding_id(cause.rule.value, cause.item, words),
        kind=EvidenceKind.GROUNDED,
        state="failed",
        text=words,
        stage=cause.stage,
        items=(cause.item,),
    )


def failure_words(exception: str, message: str) -> str:
    """An exception and the first line of its message."""
    first = message.strip().splitlines()[0] if message.strip() else ""
    return f"{exception}: {first}" if exception and first else exception or first or "no message"


def _grounded(check: CheckResult, policy: Policy) -> Iterator[Evidence]:
    groups: dict[tuple[str, str], list[Item]] = {}
    for item in check.items:
        words = _words(item)
        if words:
            groups.setdefault((words, _weight(check.id, item, policy)), []).append(item)
    for (words, weight), items in groups.items():
        is_one = len(items) == 1
        text = f"{items[0].id}: {words}{weight}" if is_one else f"{words}{weight}: {_names(items)}"
        yield Evidence(
            id=finding_id(check.id, items[0].id if is_one else "", words),
            kind=EvidenceKind.GROUNDED,
            state=items[0].attribution.value,
            text=text,
            stage=check.stage,
            items=tuple(item.id for item in items),
        )


def _static(check: CheckResult) -> Iterator[Evidence]:
    """What checkers found on head: one piece for each name, with what it may weigh.

    What base has in the same place is not evidence of anything; its item has no runs.
    """
    for item in check.items:
        if item.head not in BAD or not item.runs:
            continue
        run = next((run for run in item.runs if run.failure), None)
        said = f" ({run.failure.frame}: {run.failure.message})" if run and run.failure else ""
        state = "error" if item.base is Outcome.ERROR else item.attribution.value
        yield Evidence(
            id=finding_id(check.id, item.id, ""),
            kind=EvidenceKind.GROUNDED,
            state=state,
            text=f"{item.id}{said}: {item.note}",
            stage=check.stage,
            items=(item.id,),
        )


def _probe_words(result: ProbeResult) -> str:
    """How it ended, what it said on head, and what keeps it from counting."""
    said = ""
    if result.says is HeadSays.FAILS:
        failure = next((run.failure for run in reversed(result.runs) if run.failure), None)
        said = f" ({failure_words(failure.exception, failure.message)})" if failure else ""
    notes = [f"weak: {result.weak}"] if result.weak else []
    if result.probe.role is ProbeRole.PROBE and not result.is_quoted:
        notes.append("it quotes nothing of the issue")
    text = f"{_PROBE_WORDS[result.probe.role, result.says]}{_SAMENESS[result.sameness]}{said}"
    return "; ".join([text, *notes])


def _names(items: Sequence[Item]) -> str:
    if len(items) == 1:
        return items[0].id
    named = ", ".join(item.id for item in items[:_NAMED])
    more = f" and {len(items) - _NAMED} more" if len(items) > _NAMED else ""
    return f"{len(items)} items ({named}{more})"


def _words(item: Item) -> str:
    sides = f"{item.base.value} on base, {item.head.value} on head"
    match item.attribution:
        case Attribution.PATCH_CAUSED if item.head in BAD:
            failure = next((run.failure for run in reversed(item.runs) if run.failure), None)
            said = f" ({failure_words(failure.exception, failure.message)})" if failure else ""
            return f"{sides}{said}"
        case Attribution.PATCH_CAUSED if item.head is Outcome.SKIPPED:
            return f"{sides}: newly skipped"
        case Attribution.PRE_EXISTING if item.head in _ENDLESS:
            return f"{sides}: it tells nothing"
        case Attribution.FLAKY:
            return f"{sides}: flaky, decides nothing"
        case _:
            return ""


def _weight(check_id: str, item: Item, policy: Policy) -> str:
    if item.attribution is not Attribution.PATCH_CAUSED or item.head not in BAD:
        return ""
    if item.contested:
        return f"; contested: {item.note}"
    if item.self_hosted:
        return "; the repository is its own test runner, so this decides nothing alone"
    alone = check_id == SUITE and policy.regression is RegressionRule.CORROBORATED
    if alone and item.head is Outcome.FAILED:
        return "; alone this may be the change that was asked for"
    return ""


def _about_check(check: CheckResult) -> Evidence:
    text = f"{check.id}: {check.state.value}, so it decides nothing: {check.why}"
    return Evidence(
        id=finding_id(check.id, "", text),
        kind=EvidenceKind.GROUNDED,
        state="error" if check.stage is Stage.STATIC else check.state.value,
        text=text,
        stage=check.stage,
    )


def _testimony(check: CheckResult) -> Iterator[Evidence]:
    """What the author's own tests say for themselves, in one line a kind. They decide nothing.

    Only tests that the patch added or edited are the author's; the check marks them contested.
    """
    items = [item for item in check.items if item.contested]
    kinds = {
        "pass only with the patch": [i for i in items if _ended(i, BAD, {Outcome.PASSED})],
        "pass without the patch too, so they do not test the change": [
            i for i in items if _ended(i, {Outcome.PASSED}, {Outcome.PASSED})
        ],
        "pass with the patch, and could not be run without it": [
            i for i in items if _ended(i, {Outcome.NOT_RUN}, {Outcome.PASSED})
        ],
        "fail with the patch": [i for i in items if i.head in BAD],
        "are skipped with the patch": [i for i in items if i.head is Outcome.SKIPPED],
    }
    for words, found in kinds.items():
        if found:
            yield Evidence(
                id=finding_id(check.id, words, ""),
                kind=EvidenceKind.TESTIMONY,
                state="said",
                text=f"of the author's own tests these {words}: {_names(found)}",
                stage=check.stage,
                items=tuple(item.id for item in found),
            )


def _ended(item: Item, base: Set[Outcome], head: Set[Outcome]) -> bool:
    return item.base in base and item.head in head

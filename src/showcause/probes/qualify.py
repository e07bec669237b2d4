"""What a run of probes shows of each: kept or dropped, and what it says of the patch. Pure.

A probe is kept only if it failed on base every time, at least twice, for the same behavioural reason; a
guard only if it passed on base every time. What then happens on head counts only if it happened every
time, at least twice. Whatever is not told is NOTHING: no default speaks for or against a patch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from showcause.attribution import BAD, CONFIRM, summarise
from showcause.canon import level
from showcause.evidence import failure_words
from showcause.probes.quoting import is_quoted
from showcause.records import (
    CheckResult,
    Failure,
    FailureKind,
    HeadSays,
    Item,
    ItemRun,
    Origin,
    Outcome,
    Probe,
    ProbeResult,
    ProbeRole,
    ProbeState,
    RunState,
    Sameness,
    Side,
)
from showcause.runners.results import covers

__all__ = ["dropped", "items_of", "judge"]

_LACKING = re.compile(
    r"(?:cannot import name|No module named|has no attribute|unexpected keyword argument|name) '([\w.]+)'"
)
_UNBELIEVABLE = {RunState.ENVIRONMENT: ProbeState.ENVIRONMENT, RunState.TAMPERED: ProbeState.TAMPERED}


def judge(probe: Probe, check: CheckResult, issue: str, *, weak: str) -> ProbeResult:
    """What `check`, which ran the probe on base and head, shows of it."""
    items = items_of(probe, check)
    runs = tuple(run for item in items for run in item.runs)
    states = {item.id: _state(item, probe.role, issue) for item in items}
    kept = [item for item in items if states[item.id][0] is ProbeState.QUALIFIED]
    if check.state in _UNBELIEVABLE:
        state, why = _UNBELIEVABLE[check.state], check.why
    else:
        state, why = _overall([*states.values()])
    is_kept = state is ProbeState.QUALIFIED
    says = _says(kept, probe) if is_kept else HeadSays.NOTHING
    fails = is_kept and says is HeadSays.FAILS and probe.role is ProbeRole.PROBE
    return ProbeResult(
        probe=probe,
        state=state,
        why=why,
        base=_outcome(kept or items, Side.BASE),
        head=_outcome(kept or items, Side.HEAD),
        says=says,
        sameness=_sameness(kept) if fails else Sameness.NONE,
        is_quoted=is_quoted(probe.quote, issue),
        weak=weak,
        runs=runs,
    )


def dropped(probe: Probe, state: ProbeState, why: str, issue: str) -> ProbeResult:
    """A probe that never ran."""
    return ProbeResult(
        probe=probe,
        state=state,
        why=why,
        base=Outcome.NOT_RUN,
        head=Outcome.NOT_RUN,
        says=HeadSays.NOTHING,
        sameness=Sameness.NONE,
        is_quoted=is_quoted(probe.quote, issue),
        weak="",
        runs=(),
    )


def items_of(probe: Probe, check: CheckResult) -> tuple[Item, ...]:
    """The items that the ids of the probe stand for: a class or a parametrised test is several."""
    return tuple(item for item in check.items if any(covers(test, item.id) for test in probe.tests))


def _overall(told: Sequence[tuple[ProbeState, str]]) -> tuple[ProbeState, str]:
    """One qualified test is enough, unless another of the same probe is itself at fault."""
    if not told:
        return ProbeState.NOT_RUN, "none of its tests was collected"
    worst = [one for one in told if one[0] in (ProbeState.NOT_BEHAVIOURAL, ProbeState.UNSTABLE)]
    good = [one for one in told if one[0] is ProbeState.QUALIFIED]
    return (worst or good or told)[0]


# ------------------------------------------------------------------ on base


def _state(item: Item, role: ProbeRole, issue: str) -> tuple[ProbeState, str]:
    runs = _told(item, Side.BASE)
    outcomes = {run.outcome for run in runs}
    if not runs:
        told_by = next((run.told_by for run in item.runs if run.side is Side.BASE), "not collected")
        return ProbeState.NOT_RUN, told_by
    if len(outcomes) > 1:
        return ProbeState.UNSTABLE, f"its runs on base disagree: {', '.join(sorted(outcomes))}"
    match runs[0].outcome, role:
        case Outcome.SKIPPED, _:
            return ProbeState.SKIPPED, runs[0].told_by
        case Outcome.PASSED, ProbeRole.GUARD:
            return ProbeState.QUALIFIED, ""
        case Outcome.PASSED, ProbeRole.PROBE:
            return ProbeState.PASSES_ON_BASE, "it passes on base"
        case _, ProbeRole.GUARD:
            return ProbeState.FAILS_ON_BASE, f"it fails on base already: {_words(runs[0].failure)}"
        case _:
            return _failed(runs, issue)


def _failed(runs: Sequence[ItemRun], issue: str) -> tuple[ProbeState, str]:
    """A probe that failed on base each time: for the right reason, and the same one?"""
    failures = [run.failure for run in runs]
    at_fault = [failure for failure in failures if not _is_behavioural(failure)]
    if at_fault:
        return ProbeState.NOT_BEHAVIOURAL, _words(at_fault[0])
    if unasked := next(filter(None, (_unasked(failure, issue) for failure in failures)), ""):
        return ProbeState.NOT_BEHAVIOURAL, f"it wants {unasked}, and the issue does not speak of it"
    if len(runs) < CONFIRM:
        return ProbeState.UNSTABLE, "seen on base once only"
    if len({_reason(failure) for failure in failures if failure}) > 1:
        return ProbeState.UNSTABLE, "it fails on base for another reason each time"
    return ProbeState.QUALIFIED, ""


def _unasked(failure: Failure | None, issue: str) -> str:
    """A name that the repository lacks and the issue does not speak of: a slip, or somebody's own choice."""
    if failure is None or failure.kind is not FailureKind.MISSING_NAME:
        return ""
    found = _LACKING.search(failure.message)
    name = found[1].rpartition(".")[2] if found else ""
    return name if name and not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", issue) else ""


def _is_behavioural(failure: Failure | None) -> bool:
    return failure is not None and failure.is_behavioural


def _words(failure: Failure | None) -> str:
    if failure is None:
        return "it failed, and nothing says how"
    said = failure_words(failure.exception, failure.message)
    if failure.kind is FailureKind.EXCEPTION and failure.origin is not Origin.SOURCE:
        return f"raised in the test itself: {said}"
    return f"{failure.kind.value.replace('_', ' ')}: {said}"


# ------------------------------------------------------------------ on head


def _says(kept: Sequence[Item], probe: Probe) -> HeadSays:
    """One test of the probe that fails is enough; it passes only if all of them do."""
    if any(_fails(item) for item in kept):
        return HeadSays.FAILS
    once = 1 if probe.role is ProbeRole.GUARD else CONFIRM  # a guard that holds is not run again
    passes = [
        len(_told(item, Side.HEAD)) >= once
        and all(run.outcome is Outcome.PASSED for run in _told(item, Side.HEAD))
        for item in kept
    ]
    return HeadSays.PASSES if passes and all(passes) else HeadSays.NOTHING


def _fails(item: Item) -> bool:
    runs = _told(item, Side.HEAD)
    return (
        len(runs) >= CONFIRM
        and len(_told(item, Side.BASE)) >= CONFIRM
        and all(run.outcome in BAD and _is_behavioural(run.failure) for run in runs)
    )


def _sameness(kept: Sequence[Item]) -> Sameness:
    pairs = [(_reasons(item, Side.BASE), _reasons(item, Side.HEAD)) for item in kept if _fails(item)]
    return Sameness.SAME if all(base & head for base, head in pairs) else Sameness.DIFFERENT


def _reasons(item: Item, side: Side) -> frozenset[tuple[str, ...]]:
    return frozenset(_reason(run.failure) for run in _told(item, side) if run.failure)


def _reason(failure: Failure) -> tuple[str, ...]:
    """Kind, raising file and levelled text: lines of a file that the patch touches move."""
    frame = failure.frame.rpartition(":")[0] or failure.frame
    return failure.kind.value, failure.exception, frame, level(failure.message)


def _told(item: Item, side: Side) -> list[ItemRun]:
    return [run for run in item.runs if run.side is side and run.outcome is not Outcome.NOT_RUN]


def _outcome(items: Sequence[Item], side: Side) -> Outcome:
    return summarise([run for item in items for run in item.runs if run.side is side])

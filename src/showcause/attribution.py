"""Two sides' runs -> attributed items. Pure: no I/O, no clock.

Every run is kept; there is no "last one wins". Only a stable difference is the patch's doing:
at least `CONFIRM` runs a side that agree. A pass counts only in a run whose report may be believed
(state `complete`); a failure in an incomplete run stands, since it can only raise doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from showcause.records import (
    Attribution,
    Item,
    ItemRun,
    Outcome,
    RunReport,
    RunState,
)

__all__ = ["BAD", "CONFIRM", "attribute", "charge_unstarted", "differing", "summarise", "worst_state"]

CONFIRM = 2
"""Runs a side that must agree before a difference is the patch's doing (DESIGN 7, stage 1b)."""

BAD = frozenset({Outcome.FAILED, Outcome.ERROR, Outcome.TIMEOUT, Outcome.CRASHED})

_SEVERITY = (
    RunState.COMPLETE,
    RunState.TIMEOUT,
    RunState.CRASHED,
    RunState.TAMPERED,
    RunState.ENVIRONMENT,
    RunState.CANCELLED,
)


def worst_state(reports: Iterable[RunReport]) -> RunReport:
    """The report to be believed least. Raises ValueError where there is no report."""
    return max(reports, key=lambda report: _SEVERITY.index(report.state))


def charge_unstarted(head: RunReport, base: RunReport) -> RunReport:
    """Head's report, with an error of each test that base ran where head's own code kept the run from
    starting: base has shown that the environment can start it."""
    if head.unstarted is None or base.state is not RunState.COMPLETE:
        return head
    ran = {result.id for result in base.results if result.outcome is not Outcome.NOT_RUN}
    told = {"outcome": Outcome.ERROR, "told_by": "the run could not start", "failure": head.unstarted}
    results = tuple(
        msgspec.structs.replace(result, **told)
        if result.outcome is Outcome.NOT_RUN and result.id in ran
        else result
        for result in head.results
    )
    return msgspec.structs.replace(head, state=RunState.CRASHED, results=results)


def summarise(runs: Sequence[ItemRun]) -> Outcome:
    """One word for the runs of one side: `mixed` where they disagree, `not_run` where none told."""
    told = {run.outcome for run in runs} - {Outcome.NOT_RUN}
    if not told:
        return Outcome.NOT_RUN
    return told.pop() if len(told) == 1 else Outcome.MIXED


def attribute(
    base: Sequence[RunReport],
    head: Sequence[RunReport],
    *,
    contested: Callable[[str], str] = lambda _id: "",
    self_hosted: bool = False,
) -> tuple[Item, ...]:
    """Join the runs of both sides by id, in order of first appearance.

    `contested(id)` says, in words, why the patch has a hand in that test, or "".
    """
    base_runs, head_runs = _by_id(base), _by_id(head)
    states = {report.state for report in (*base, *head)}
    items = []
    for item_id in dict.fromkeys((*base_runs, *head_runs)):
        on_base, on_head = base_runs.get(item_id, []), head_runs.get(item_id, [])
        attribution, note = _believe(states, *_judge(on_base, on_head))
        why = contested(item_id)
        items.append(
            Item(
                id=item_id,
                base=summarise(on_base),
                head=summarise(on_head),
                attribution=attribution,
                runs=(*on_base, *on_head),
                contested=bool(why),
                self_hosted=self_hosted,
                note="; ".join(text for text in (note, why) if text),
            )
        )
    return tuple(items)


def differing(items: Iterable[Item]) -> tuple[str, ...]:
    """Ids worth a second run: the sides differ, or a pass is not yet told on one of them."""
    return tuple(
        item.id
        for item in items
        if (item.base is Outcome.PASSED) != (item.head is Outcome.PASSED)
        and Outcome.NOT_RUN not in (item.base, item.head)
    )


def _by_id(reports: Sequence[RunReport]) -> dict[str, list[ItemRun]]:
    runs: dict[str, list[ItemRun]] = {}
    for report in reports:
        believed = report.state is RunState.COMPLETE
        for result in report.results:
            outcome, told_by = result.outcome, result.told_by
            if outcome is Outcome.PASSED and not believed:
                outcome, told_by = Outcome.NOT_RUN, f"a pass in a run that is {report.state.value}"
            runs.setdefault(result.id, []).append(
                ItemRun(
                    side=report.side,
                    outcome=outcome,
                    told_by=told_by,
                    failure=result.failure,
                    duration_s=result.duration_s,
                )
            )
    return runs


def _judge(on_base: Sequence[ItemRun], on_head: Sequence[ItemRun]) -> tuple[Attribution, str]:
    base, head = summarise(on_base), summarise(on_head)
    if Outcome.MIXED in (base, head):
        return Attribution.FLAKY, "its runs disagree"
    if Outcome.NOT_RUN in (base, head):
        return Attribution.UNATTRIBUTED, _missing(base, head)
    if base is head:
        return (Attribution.PRE_EXISTING if base in BAD else Attribution.UNCHANGED), ""
    if base in BAD and head in BAD:
        return Attribution.PRE_EXISTING, f"{base} on base, {head} on head"
    if Outcome.SKIPPED in (base, head) and base is not Outcome.PASSED:
        return Attribution.UNATTRIBUTED, f"{base} on base, {head} on head"
    if min(_told(on_base), _told(on_head)) < CONFIRM:
        return Attribution.UNATTRIBUTED, "seen once only"
    return Attribution.PATCH_CAUSED, "passes now" if head is Outcome.PASSED else ""


def _believe(states: set[RunState], attribution: Attribution, note: str) -> tuple[Attribution, str]:
    """A run that loaded other code, or whose controls came out wrong, spoils the whole comparison."""
    if RunState.ENVIRONMENT in states:
        return Attribution.ENVIRONMENT, note
    if RunState.TAMPERED in states:
        return Attribution.UNATTRIBUTED, "the report of a run is not to be believed"
    return attribution, note


def _told(runs: Sequence[ItemRun]) -> int:
    return sum(run.outcome is not Outcome.NOT_RUN for run in runs)


def _missing(base: Outcome, head: Outcome) -> str:
    if base is head:
        return "not run"
    return "not run on head" if head is Outcome.NOT_RUN else "not run on base"

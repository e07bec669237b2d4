"""What a check wants run, and what its runs so far ask for next. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from showcause.attribution import BAD, differing
from showcause.records import Item, Outcome, Record, RunReport, RunState, Stage

__all__ = ["Plan", "again", "ids_of", "killers", "killers_of"]


class Plan(Record, frozen=True, kw_only=True):
    """What a check wants run. `select`, `expect`, `skip` and `config` as in `runners.Job`.

    Ids that differ are repeated; with `repeat_failures` those that do not pass on head are too, and
    with `repeat_whole` all of `select` runs again rather than ids alone. `repeat_backwards` turns their
    order round, so that a test which another one spoils shows itself.
    """

    check: str
    stage: Stage
    runner: str
    select: tuple[str, ...]
    budget_s: float
    repeats: int
    repeat_failures: bool = False
    repeat_whole: bool = False
    repeat_backwards: bool = False
    expect: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    workdir: str = ""


def again(items: Sequence[Item], plan: Plan) -> tuple[str, ...]:
    """Ids to run once more."""
    failing = (item.id for item in items if plan.repeat_failures and item.head in BAD)
    return tuple(dict.fromkeys((*differing(items), *failing)))


def killers(report: RunReport) -> tuple[str, ...]:
    """Ids during which a run ended before its time, or that used up the time of others."""
    cut_short = report.state in (RunState.CRASHED, RunState.TIMEOUT)
    missed = any(result.outcome is Outcome.NOT_RUN for result in report.results)
    if not cut_short and not (report.state is RunState.COMPLETE and missed):
        return ()
    bad = (Outcome.CRASHED, Outcome.TIMEOUT) if cut_short else (Outcome.TIMEOUT,)
    return tuple(result.id for result in report.results if result.outcome in bad)


def killers_of(reports: Sequence[RunReport]) -> tuple[str, ...]:
    """The same for several runs, each id once."""
    return tuple(dict.fromkeys(item for report in reports for item in killers(report)))


def ids_of(reports: Sequence[RunReport]) -> tuple[str, ...]:
    """Every id that one of the runs told of."""
    return tuple(dict.fromkeys(result.id for report in reports for result in report.results))

"""Causes: what of the checks' items licenses a rejection. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from showcause.attribution import BAD
from showcause.evidence import SUITE, failure_words
from showcause.records import (
    Attribution,
    Cause,
    CheckResult,
    Item,
    Outcome,
    Rule,
    RunState,
    Side,
    Stage,
)

__all__ = [
    "IMPORTS",
    "STATIC",
    "cause_of",
    "import_errors",
    "no_change",
    "numbered",
    "regression_causes",
    "static_causes",
]

IMPORTS = "imports"
STATIC = "static"  # and `static.TOOL`


def numbered(causes: Iterable[Cause], review_id: str) -> tuple[Cause, ...]:
    """The causes, each with the command that shows it again."""
    return tuple(
        msgspec.structs.replace(cause, reproduce=("showcause", "reproduce", f"{review_id}#{number}"))
        for number, cause in enumerate(causes, 1)
    )


def no_change() -> Cause:
    """Nothing was done where something was asked for."""
    return Cause(
        rule=Rule.NO_CHANGE,
        stage=Stage.CHANGE,
        item="patch",
        message="a task was given and the patch changes nothing",
        path="",
        line=None,
        base="",
        head="the same tree as base",
        reproduce=(),
    )


def static_causes(checks: Sequence[CheckResult]) -> Iterator[Cause]:
    """What the static stage confirmed. A tool that did not run whole on both sides confirms nothing."""
    for check in checks:
        if check.stage is not Stage.STATIC or check.state is not RunState.COMPLETE:
            continue
        for item in check.items:
            caused = item.attribution is Attribution.PATCH_CAUSED
            if caused and item.base is Outcome.PASSED and item.head in BAD:
                yield cause_of(Rule.STATIC, Stage.STATIC, item, f"new since the patch: {_said(item)}")


def _said(item: Item) -> str:
    """What the tool said of head, without what the confirmation added."""
    failures = (run.failure for run in reversed(item.runs) if run.failure)
    failure = next(failures, None)
    return failure.message.partition("; ")[0] if failure and failure.message else item.id


def import_errors(checks: Sequence[CheckResult]) -> Iterator[Cause]:
    """Touched modules that can be imported on base, and on head no more."""
    for item in _caused(checks, IMPORTS):
        if item.base is Outcome.PASSED and item.head in BAD:
            yield cause_of(Rule.IMPORT_ERROR, Stage.EXECUTION, item, f"{item.id} fails since the patch")


def regression_causes(checks: Sequence[CheckResult]) -> Iterator[Cause]:
    """Base tests that fail since the patch; not those in which the patch has a hand."""
    for item in _regressions(checks):
        if not item.contested and not item.self_hosted:
            yield cause_of(Rule.REGRESSION, Stage.EXECUTION, item, f"{item.id} passed before the patch")


def _regressions(checks: Sequence[CheckResult]) -> Iterator[Item]:
    for item in _caused(checks, SUITE):
        if item.base is Outcome.PASSED and item.head in BAD:
            yield item


def _caused(checks: Sequence[CheckResult], check_id: str) -> Iterator[Item]:
    for check in checks:
        if check.id == check_id:
            yield from (i for i in check.items if i.attribution is Attribution.PATCH_CAUSED)


def cause_of(rule: Rule, stage: Stage, item: Item, message: str) -> Cause:
    """The cause that an item is, with what each side did."""
    path, line = _place(item)
    return Cause(
        rule=rule,
        stage=stage,
        item=item.id,
        message=message,
        path=path,
        line=line,
        base=_told(item, item.base, (Side.BASE, Side.BASE_HEAD)),
        head=_told(item, item.head, (Side.HEAD, Side.HEAD_HEAD)),
        reproduce=(),
    )


def _place(item: Item) -> tuple[str, int | None]:
    for run in item.runs:
        if run.side in (Side.HEAD, Side.HEAD_HEAD) and run.failure and run.failure.frame:
            path, _, line = run.failure.frame.rpartition(":")
            return (path, int(line)) if line.isdigit() else (run.failure.frame, None)
    return "", None


def _told(item: Item, outcome: Outcome, sides: tuple[Side, ...]) -> str:
    runs = [run for run in item.runs if run.side in sides and run.outcome is not Outcome.NOT_RUN]
    text = f"{outcome.value} ({len(runs)} of {len(runs)} runs)" if outcome is not Outcome.MIXED else "mixed"
    failure = next((run.failure for run in runs if run.failure), None)
    if failure is None:
        return text
    return f"{text}: {failure_words(failure.exception, failure.message)}"

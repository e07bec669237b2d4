"""The gate: checks' outcomes and a policy -> a decision. Pure.

It rejects only with a cause, it never accepts because a check passed, and what nothing settles is
undecided (`verdict` None). The one thing that may accept here is an official suite that the user
declared to be the whole oracle, and only when both its parts ran.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from showcause.attribution import BAD
from showcause.evidence import OWN_TESTS, SUITE, evidence_of, failure_words
from showcause.records import (
    Attribution,
    Cause,
    CheckResult,
    Decision,
    Evidence,
    Item,
    ItemRun,
    Outcome,
    Policy,
    RegressionRule,
    Rule,
    RunState,
    Side,
    Stage,
    Verdict,
)

__all__ = [
    "FAIL_TO_PASS",
    "IMPORTS",
    "OFFICIAL",
    "OWN_TESTS",
    "PASS_TO_PASS",
    "STATIC",
    "SUITE",
    "decide",
    "official_verdict",
]

IMPORTS = "imports"
STATIC = "static"  # and `static.TOOL`
OFFICIAL = "official"
FAIL_TO_PASS, PASS_TO_PASS = "official.fail_to_pass", "official.pass_to_pass"
"""Ids of the checks that the gate knows by name."""

_UNBELIEVABLE = (RunState.ENVIRONMENT, RunState.TAMPERED, RunState.CANCELLED)


def decide(
    *,
    patch_is_empty: bool,
    task_given: bool,
    checks: Sequence[CheckResult],
    policy: Policy,
    review_id: str,
) -> Decision:
    """The table of DESIGN 8. `review_id` goes into each cause's `reproduce` command."""
    if patch_is_empty and task_given:
        return _decision(Verdict.REJECT, Stage.CHANGE, [_no_change()], (), review_id)
    evidence = tuple(evidence_of(checks, policy))
    official = official_verdict(checks)
    if official is not None:
        verdict, causes = official
        return _decision(verdict, Stage.OFFICIAL, causes, evidence, review_id)
    causes = [*_static_causes(checks), *_import_errors(checks)]
    if policy.regression is RegressionRule.REJECT:
        causes += _regression_causes(checks)
    if causes:
        return _decision(Verdict.REJECT, causes[0].stage, causes, evidence, review_id)
    return Decision(verdict=None, decided_by=None, causes=(), evidence=evidence)


def _decision(
    verdict: Verdict, stage: Stage, causes: Sequence[Cause], evidence: Iterable[Evidence], review_id: str
) -> Decision:
    numbered = tuple(
        Cause(
            rule=cause.rule,
            stage=cause.stage,
            item=cause.item,
            message=cause.message,
            path=cause.path,
            line=cause.line,
            base=cause.base,
            head=cause.head,
            reproduce=("showcause", "reproduce", f"{review_id}#{number}"),
        )
        for number, cause in enumerate(causes, 1)
    )
    return Decision(verdict=verdict, decided_by=stage, causes=numbered, evidence=tuple(evidence))


# ------------------------------------------------------------------ causes


def _no_change() -> Cause:
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


def _static_causes(checks: Sequence[CheckResult]) -> Iterator[Cause]:
    """What the static stage confirmed. A tool that did not run whole on both sides confirms nothing."""
    for check in checks:
        if check.stage is not Stage.STATIC or check.state is not RunState.COMPLETE:
            continue
        for item in check.items:
            caused = item.attribution is Attribution.PATCH_CAUSED
            if caused and item.base is Outcome.PASSED and item.head in BAD:
                yield _cause(Rule.STATIC, Stage.STATIC, item, f"new since the patch: {_said(item)}")


def _said(item: Item) -> str:
    """What the tool said of head, without what the confirmation added."""
    failures = (run.failure for run in reversed(item.runs) if run.failure)
    failure = next(failures, None)
    return failure.message.partition("; ")[0] if failure and failure.message else item.id


def _import_errors(checks: Sequence[CheckResult]) -> Iterator[Cause]:
    for item in _caused(checks, IMPORTS):
        if item.base is Outcome.PASSED and item.head in BAD:
            yield _cause(Rule.IMPORT_ERROR, Stage.EXECUTION, item, f"{item.id} fails since the patch")


def _regression_causes(checks: Sequence[CheckResult]) -> Iterator[Cause]:
    for item in _regressions(checks):
        if not item.contested and not item.self_hosted:
            yield _cause(Rule.REGRESSION, Stage.EXECUTION, item, f"{item.id} passed before the patch")


def _regressions(checks: Sequence[CheckResult]) -> Iterator[Item]:
    for item in _caused(checks, SUITE):
        if item.base is Outcome.PASSED and item.head in BAD:
            yield item


def _caused(checks: Sequence[CheckResult], check_id: str) -> Iterator[Item]:
    for check in checks:
        if check.id == check_id:
            yield from (i for i in check.items if i.attribution is Attribution.PATCH_CAUSED)


def _cause(rule: Rule, stage: Stage, item: Item, message: str) -> Cause:
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


# ------------------------------------------------------------------ the official suite


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
        _cause(Rule.OFFICIAL_SUITE, Stage.OFFICIAL, item, f"{item.id} should pass and does not")
        for item in wanted
        if item.head in BAD and _stable(item, item.head)
    ]
    causes += [
        _cause(Rule.OFFICIAL_SUITE, Stage.OFFICIAL, item, f"{item.id} passed before the patch")
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

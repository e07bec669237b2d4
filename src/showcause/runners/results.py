"""Events -> one result for each run of each item. Pure. Marked, never dropped: every expected id, every
selected entry and every collected test is accounted for."""

from __future__ import annotations

import os

import msgspec

from showcause.process import How
from showcause.records import Failure, FailureKind, Origin, Outcome, TestResult
from showcause.runners.events import (
    Begin,
    Changed,
    Collected,
    CollectError,
    CollectSkip,
    Controls,
    End,
    Fault,
    Finish,
    Importing,
    LoadedEvent,
    Log,
    NotRun,
    Phase,
    Raised,
)
from showcause.runners.failures import Places, judge, outcome_of

__all__ = ["Asked", "Attempt", "attempts_of", "collect_results", "control_ids", "covers"]


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for. `needs` are the phases that must have passed before a test has."""

    select: tuple[str, ...]
    expect: tuple[str, ...]
    needs: frozenset[str]
    how: How


class Attempt:
    """One start of one test and what was told of it, in order."""

    def __init__(self, test_id: str) -> None:
        self.id = test_id
        self.phases: list[Phase] = []
        self.finished = False
        self.refused = ""

    def change(self, event: Changed) -> None:
        """A hook changed an outcome: believed where it makes a skip, never where it makes a pass."""
        for index in range(len(self.phases) - 1, -1, -1):
            phase = self.phases[index]
            if phase.when == event.when:
                if event.outcome != "passed":
                    self.phases[index] = msgspec.structs.replace(phase, outcome=event.outcome)
                elif phase.outcome == "failed":
                    self.phases[index] = msgspec.structs.replace(phase, text=_FORGED)
                return

    @property
    def duration_s(self) -> float:
        return sum(phase.dur for phase in self.phases)

    @property
    def is_forged(self) -> bool:
        """Something was raised and yet reported as a pass."""
        return any(_forged(phase) for phase in self.phases)


_WHY_NOT = {True: "the run ended before it", False: "not collected"}
_FORGED = "reported as passed by a hook"


def _forged(phase: Phase) -> bool:
    hidden = phase.outcome == "passed" and phase.exc is not None and not phase.xfail
    return hidden or phase.text == _FORGED


def attempts_of(log: Log) -> list[Attempt]:
    """All attempts in order. A second setup without a new begin is a rerun: an attempt of its own."""
    attempts: list[Attempt] = []
    latest: dict[str, Attempt] = {}

    def new(test_id: str) -> Attempt:
        attempts.append(Attempt(test_id))
        latest[test_id] = attempts[-1]
        return attempts[-1]

    for event in log.events:
        match event:
            case Begin():
                new(event.id)
            case Phase():
                attempt = latest.get(event.id) or new(event.id)
                if event.when == "setup" and any(phase.when == "setup" for phase in attempt.phases):
                    attempt = new(event.id)
                attempt.phases.append(event)
            case Changed() if event.id in latest:
                latest[event.id].change(event)
            case Finish() if event.id in latest:
                latest[event.id].finished = True
            case NotRun():
                attempt = latest.get(event.id) or new(event.id)
                attempt.refused, attempt.finished = event.why, True
    return attempts


def control_ids(log: Log) -> tuple[str, ...]:
    """Ids of the controls of this run: must fail, must pass."""
    return next((event.ids for event in log.events if isinstance(event, Controls)), ())


def above(test_id: str) -> set[str]:
    """The id and everything that can stand above it: parameters off, class, file or module, folders."""
    marks = [index for index, mark in enumerate(test_id) if mark in ":/.["]
    return {test_id, *(test_id[:index] for index in marks)}


def covers(group: str, test_id: str) -> bool:
    """Whether a collector (file, class, module, folder) or a selected entry stands above a test."""
    group = group.removesuffix("/__init__.py").rstrip("/")
    return test_id == group or (test_id.startswith(group) and test_id[len(group)] in ":/.[")


def collect_results(log: Log, asked: Asked, places: Places) -> tuple[TestResult, ...]:
    """All results, expected ids first and in their order."""
    controls = control_ids(log)
    told: dict[str, list[TestResult]] = {}
    for attempt in attempts_of(log):
        if attempt.id not in controls:
            told.setdefault(attempt.id, []).append(_result(attempt, asked, places))
    groups = _groups(log, asked, places)
    collected = [test_id for event in log.events if isinstance(event, Collected) for test_id, _ in event.ids]
    for test_id in (*asked.expect, *collected):
        if test_id not in told and test_id not in controls:
            told[test_id] = [_untold(test_id, groups, _WHY_NOT[test_id in collected])]
    _account_for_groups(told, groups, asked)
    order = dict.fromkeys((*asked.expect, *told))
    return tuple(result for test_id in order for result in told[test_id])


def _account_for_groups(
    told: dict[str, list[TestResult]], groups: dict[str, TestResult], asked: Asked
) -> None:
    """A broken or skipped group of which no test is known, and a selected entry that led to nothing."""
    for name, result in groups.items():
        if not any(covers(name, test_id) for test_id in told):
            told[name] = [result]
    reached = {name for test_id in told for name in above(test_id)}
    for entry in asked.select:
        # Only paths are normalised: a parameter may hold anything, "//" of an address too.
        name = entry if "::" in entry else os.path.normpath(entry)
        if name not in reached and not (told and entry in ("", ".")):
            told[entry] = [_untold(entry, groups, "no test was collected for it")]


def not_run(test_id: str, why: str) -> TestResult:
    return TestResult(id=test_id, outcome=Outcome.NOT_RUN, told_by=why)


def _groups(log: Log, asked: Asked, places: Places) -> dict[str, TestResult]:
    """The result that stands for each test of a group which could not be collected or set up."""
    groups: dict[str, TestResult] = {}
    for event in log.events:
        match event:
            case CollectError():
                groups[event.id] = _group_error(event.id, event.when, event.exc, places)
            case CollectSkip():
                told_by = f"skip of {event.id}: {event.exc.message if event.exc else ''}".rstrip(": ")
                groups[event.id] = TestResult(id=event.id, outcome=Outcome.SKIPPED, told_by=told_by)
    for event in reversed(log.events):
        if isinstance(event, Importing):  # its import was the last thing that happened
            error = next((fault.exc for fault in log.events if isinstance(fault, Fault) and fault.exc), None)
            where = f"the import of {event.id}"
            groups[event.id] = (
                _group_error(event.id, "collect", error, places)
                if error
                else _cut(event.id, asked.how, where, 0.0)
            )
        if not isinstance(event, Fault | LoadedEvent | End):
            break
    return groups


def _group_error(group: str, when: str, raised: Raised | None, places: Places) -> TestResult:
    failure = (
        judge(raised, when, places)
        if raised
        else Failure(kind=FailureKind.COLLECTION, message="not collected")
    )
    return TestResult(id=group, outcome=Outcome.ERROR, told_by=f"{when} error of {group}", failure=failure)


def _untold(test_id: str, groups: dict[str, TestResult], why: str) -> TestResult:
    for name, result in groups.items():
        if covers(name, test_id):
            return msgspec.structs.replace(result, id=test_id)
    return not_run(test_id, why)


def _cut(test_id: str, how: How, where: str, duration_s: float) -> TestResult:
    """A test during which the process came to its end."""
    if how is How.CANCELLED:
        return not_run(test_id, f"cancelled during {where}")
    timeout = how is How.TIMEOUT
    kind = FailureKind.TIMEOUT if timeout else FailureKind.CRASH
    verb = "did not end in time" if timeout else "ended the process"
    return TestResult(
        id=test_id,
        outcome=Outcome.TIMEOUT if timeout else Outcome.CRASHED,
        told_by=f"{where} {verb}",
        failure=Failure(kind=kind, message=f"{where} {verb}"),
        duration_s=duration_s,
    )


def _result(attempt: Attempt, asked: Asked, places: Places) -> TestResult:
    if attempt.refused:
        return not_run(attempt.id, attempt.refused)
    bad = next((phase for phase in attempt.phases if phase.outcome == "failed" or _forged(phase)), None)
    if bad is None and not attempt.finished:
        return _cut(attempt.id, asked.how, "the test", attempt.duration_s)
    outcome, told_by, failure = _ended(attempt, asked, places) if bad is None else _failed(bad, places)
    return TestResult(
        id=attempt.id, outcome=outcome, told_by=told_by, failure=failure, duration_s=attempt.duration_s
    )


def _failed(phase: Phase, places: Places) -> tuple[Outcome, str, Failure]:
    if phase.exc is None:  # strict xpass, or a fail without exception
        kinds = {"setup": FailureKind.SETUP, "teardown": FailureKind.TEARDOWN}
        kind = kinds.get(phase.when, FailureKind.ASSERTION)
        failure = Failure(kind=kind, exception="", message=phase.text, origin=Origin.TEST)
    else:
        failure = judge(phase.exc, phase.when, places)
    told_by = f"{phase.when} ({_FORGED})" if _forged(phase) else phase.when
    return outcome_of(failure, phase.when), told_by, failure


def _ended(attempt: Attempt, asked: Asked, places: Places) -> tuple[Outcome, str, Failure | None]:
    last: dict[str, Phase] = {phase.when: phase for phase in attempt.phases}
    for when in ("setup", "call"):
        phase = last.get(when)
        if phase is not None and phase.outcome == "skipped":
            label = "xfail" if phase.xfail else "skip"
            text = phase.text or (phase.exc.message if phase.exc else "")
            return Outcome.SKIPPED, f"{when}: {label} {text}".rstrip(), None
    if all(when in last and last[when].outcome == "passed" for when in asked.needs):
        return Outcome.PASSED, "+".join(last), None
    return Outcome.ERROR, "incomplete phases", Failure(kind=FailureKind.UNKNOWN, message="incomplete phases")

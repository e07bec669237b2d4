"""Whether a run's report may be believed. Pure: log, end of the process, what was loaded -> state, why.

Exit statuses are read by table. All runners of this package end with 1, because the control that must
fail does; whatever else a process says is not the end that its own events imply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from showcause.process import Finished, How
from showcause.records import Failure, FailureKind, Loaded, Origin, RunState
from showcause.runners.events import Collected, Controls, Fault, Log, Start
from showcause.runners.failures import Places, judge
from showcause.runners.loaded import why_not_ours
from showcause.runners.results import Attempt, control_ids

__all__ = ["EXPECTED_STATUS", "judge_run", "raised_before_any_test"]

EXPECTED_STATUS = 1
_NOT_STARTED = 70  # inside/showcause_events.py: ENVIRONMENT_STATUS

_BEFORE_ANY_TEST = ("runner", "conftest")

State = tuple[RunState, str]


def judge_run(
    log: Log,
    finished: Finished,
    attempts: Sequence[Attempt],
    loaded: Sequence[Loaded],
    statuses: Mapping[int, State],
) -> State:
    """The state of a run and, unless it is complete, why."""
    for judgement in (_process(finished), _start(log, finished)):
        if judgement is not None:
            return judgement
    if why := why_not_ours(loaded):
        return RunState.ENVIRONMENT, why
    status = finished.exit_status
    if finished.how is How.SIGNALLED:
        return RunState.CRASHED, f"ended by signal {finished.signal}{_when(log)}"
    if status is not None and status in statuses and status != 0:
        state, said = statuses[status]
        return state, said + _internal(log)
    if log.end is None:
        return RunState.CRASHED, f"the process ended (status {status}) before its end event"
    if status != EXPECTED_STATUS or log.end.exit != status:
        return RunState.TAMPERED, f"exit status {status}, where the controls imply {EXPECTED_STATUS}"
    if log.foreign:
        return RunState.TAMPERED, f"{log.foreign} lines of the event file are not ours"
    return _controls(log, attempts)


def _process(finished: Finished) -> State | None:
    match finished.how:
        case How.SPAWN_FAILED:
            return RunState.ENVIRONMENT, f"could not be started: {finished.why}"
        case How.CANCELLED:
            return RunState.CANCELLED, "cancelled"
        case How.TIMEOUT:
            return RunState.TIMEOUT, f"stopped after {finished.wall_s:.1f} s"
        case _:
            return None


def _start(log: Log, finished: Finished) -> State | None:
    """Trouble before the first test: nothing that the tests could have done."""
    if not any(isinstance(event, Start) for event in log.events):
        return RunState.ENVIRONMENT, f"the interpreter did not get to the runner: {_last_line(finished)}"
    for event in log.events:
        if isinstance(event, Fault) and event.kind in _BEFORE_ANY_TEST:
            text = event.text or "a conftest cannot be imported"
            cause = f"{event.exc.type}: {event.exc.message.partition(chr(10))[0]}" if event.exc else ""
            return RunState.ENVIRONMENT, f"{text}: {cause}"
    status = finished.exit_status
    if status in (_NOT_STARTED, 4):
        return RunState.ENVIRONMENT, f"the runner refused to start: {_last_line(finished)}"
    if log.end is not None and not any(isinstance(event, Collected) for event in log.events) and status != 3:
        return RunState.ENVIRONMENT, f"the run ended before any test was collected: {_last_line(finished)}"
    return None


def raised_before_any_test(log: Log, places: Places) -> Failure | None:
    """What the repository's own code raised, or lacks, so that the runner could not start."""
    for event in log.events:
        if isinstance(event, Fault) and event.kind in _BEFORE_ANY_TEST and event.exc:
            failure = judge(event.exc, "collect", places)
            own = failure.origin is Origin.SOURCE or failure.kind is FailureKind.MISSING_NAME
            return failure if own and failure.is_behavioural else None
    return None


def _controls(log: Log, attempts: Sequence[Attempt]) -> State:
    names = control_ids(log)
    if sum(isinstance(event, Controls) for event in log.events) != 1 or len(names) != 2:
        return RunState.TAMPERED, "the controls were not announced once"
    must_fail = [attempt for attempt in attempts if attempt.id == names[0]]
    must_pass = [attempt for attempt in attempts if attempt.id == names[1]]
    if not must_fail or not must_pass:
        return RunState.TAMPERED, "the controls did not run"
    if any(attempt.is_forged or _call(attempt) != "failed" for attempt in must_fail):
        return RunState.TAMPERED, "the control that must fail was not reported as failed"
    if any(_call(attempt) != "passed" for attempt in must_pass):
        return RunState.TAMPERED, "the control that must pass was not reported as passed"
    return RunState.COMPLETE, ""


def _call(attempt: Attempt) -> str:
    """The outcome of the body. Teardown may be that of the session, which is the repository's."""
    return next((phase.outcome for phase in reversed(attempt.phases) if phase.when in ("call", "import")), "")


def _internal(log: Log) -> str:
    """What pytest's internal error was, if it told one."""
    for event in log.events:
        if isinstance(event, Fault) and event.exc:
            return f": {event.exc.type}: {event.exc.message}"[:500]
    return ""


def _when(log: Log) -> str:
    return " after its end event" if log.end else ""


def _last_line(finished: Finished) -> str:
    lines = finished.stderr.kept.decode("utf-8", "backslashreplace").strip().splitlines()
    errors = [line for line in lines if "rror" in line]
    return (errors or lines or [f"status {finished.exit_status}, nothing was said"])[-1][:500]

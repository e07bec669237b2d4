"""Any command of the project's: its exit status is all it tells.

One item, `command`. It cannot prove what code it ran and says nothing of single tests, so what it tells
is evidence and never a cause. `config` is the command; a first word without a slash is looked up on the
PATH of the run, which starts with the folder of the project's interpreter.
"""

from __future__ import annotations

from typing import assert_never

from showcause.process import Finished, How
from showcause.records import Failure, FailureKind, Outcome, RunReport, RunState, Side, TestResult
from showcause.runners.base import Job, Launch, environment
from showcause.runners.reporting import output_tail

__all__ = ["ITEM", "CommandRunner", "report_of"]

ITEM = "command"
_NOT_STARTED = (126, 127)  # as shells and our own init say: not executable, not found


class CommandRunner:
    """`select` and `expect` are not used; there is one item."""

    name = "command"
    version = "1"

    def launch(self, job: Job) -> Launch:
        folder = f"{job.root}/{job.workdir}" if job.workdir else job.root
        return Launch(argv=job.config, env=environment(job), cwd=folder)

    def report(self, job: Job, finished: Finished) -> RunReport:
        return report_of(finished, job.side, ITEM)


def report_of(finished: Finished, side: Side, item: str) -> RunReport:
    """What the exit status of a command tells, as the one item `item`."""
    state, why, outcome, kind = _told(finished)
    failure = None if outcome in (Outcome.PASSED, Outcome.NOT_RUN) else _failure(kind, finished)
    result = TestResult(
        id=item,
        outcome=outcome,
        told_by="exit status",
        failure=failure,
        duration_s=finished.wall_s,
    )
    return RunReport(
        side=side,
        state=state,
        why=why,
        results=(result,),
        loaded=(),
        argv=finished.argv,
        exit_status=finished.exit_status,
        signal=finished.signal,
        wall_s=finished.wall_s,
        leaked=finished.leaked,
        output_tail=output_tail(finished),
    )


def _told(finished: Finished) -> tuple[RunState, str, Outcome, FailureKind]:
    match finished.how:
        case How.EXITED if finished.exit_status == 0:
            return RunState.COMPLETE, "", Outcome.PASSED, FailureKind.UNKNOWN
        case How.EXITED if finished.exit_status in _NOT_STARTED:
            why = f"the command could not be started (status {finished.exit_status})"
            return RunState.ENVIRONMENT, why, Outcome.NOT_RUN, FailureKind.UNKNOWN
        case How.EXITED:
            return RunState.COMPLETE, "", Outcome.FAILED, FailureKind.UNKNOWN
        case How.SIGNALLED:
            why = f"killed by signal {finished.signal}"
            return RunState.CRASHED, why, Outcome.CRASHED, FailureKind.CRASH
        case How.TIMEOUT:
            return RunState.TIMEOUT, "out of time", Outcome.TIMEOUT, FailureKind.TIMEOUT
        case How.CANCELLED:
            return RunState.CANCELLED, "cancelled", Outcome.NOT_RUN, FailureKind.UNKNOWN
        case How.SPAWN_FAILED:
            return RunState.ENVIRONMENT, finished.why, Outcome.NOT_RUN, FailureKind.UNKNOWN
        case _:
            assert_never(finished.how)


def _failure(kind: FailureKind, finished: Finished) -> Failure:
    tail = output_tail(finished).strip().splitlines()
    said = tail[-1][:500] if tail else ""
    return Failure(kind=kind, exception=f"exit status {finished.exit_status}", message=said)

"""A finished run of any runner of this package -> its report."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from showcause.process import Finished
from showcause.records import RunReport, RunState, TestResult
from showcause.runners.base import Job, event_file
from showcause.runners.events import LoadedEvent, Log, Start, read_events
from showcause.runners.failures import Places
from showcause.runners.loaded import judge_loaded, why_not_ours
from showcause.runners.results import Asked, attempts_of, collect_results
from showcause.runners.state import State, judge_run, raised_before_any_test

__all__ = ["make_report", "output_tail"]

_TAIL_BYTES = 8192


def make_report(
    job: Job,
    finished: Finished,
    *,
    needs: frozenset[str],
    statuses: Mapping[int, State],
    read: Callable[[Log, Asked, Places], tuple[TestResult, ...]] = collect_results,
    selects_tests: bool = True,
) -> RunReport:
    """Read the event file; stdout and stderr are kept for people and decide nothing."""
    log = read_events(_content(job))
    places = _places(job, log, job.select if selects_tests else ())
    asked = Asked(select=job.select, expect=job.expect, needs=needs, how=finished.how)
    facts = [item for event in log.events if isinstance(event, LoadedEvent) for item in event.items]
    loaded = judge_loaded(facts, job.touched, places) if log.events else ()
    state, why = judge_run(log, finished, attempts_of(log), loaded, statuses)
    its_own = state is RunState.ENVIRONMENT and not why_not_ours(loaded)
    return RunReport(
        side=job.side,
        state=state,
        why=why,
        results=read(log, asked, places),
        loaded=loaded,
        argv=finished.argv,
        exit_status=finished.exit_status,
        signal=finished.signal,
        wall_s=finished.wall_s,
        leaked=finished.leaked,
        output_tail=output_tail(finished),
        unstarted=raised_before_any_test(log, places) if its_own else None,
    )


def _content(job: Job) -> bytes:
    try:
        return event_file(job).read_bytes()
    except OSError:
        return b""


def _places(job: Job, log: Log, select: Sequence[str]) -> Places:
    prefix = next((event.prefix for event in log.events if isinstance(event, Start)), "")
    selected = (entry.split("::")[0] for entry in select if entry.split("::")[0].endswith(".py"))
    here = {os.path.normpath(os.path.join(job.workdir, path)) for path in selected}
    return Places(surface=frozenset(job.surface) | here, prefix=_inside(prefix, job.root))


def _inside(path: str, root: str) -> str:
    """`path` relative to `root` if it is below it, else ""."""
    return path[len(root) :].strip("/") if path.startswith(root.rstrip("/") + "/") else ""


def output_tail(finished: Finished) -> str:
    """The end of both streams, for people."""
    tails = [stream.kept[-_TAIL_BYTES:] for stream in (finished.stdout, finished.stderr)]
    return b"\n".join(tail for tail in tails if tail).decode("utf-8", "backslashreplace")

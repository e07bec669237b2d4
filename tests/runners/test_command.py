"""A command's exit status by table, and nothing else."""

from __future__ import annotations

import sys

import pytest

from showcause.process import Command, run
from showcause.records import Outcome, RunState, Side
from showcause.runners import RUNNERS, Job


def told(tmp_path, script: str, limit_s: float = 20.0):  # type: ignore[no-untyped-def]
    job = Job(
        side=Side.HEAD,
        root=str(tmp_path),
        python=sys.executable,
        select=("command",),
        expect=("command",),
        touched={},
        sources=("",),
        out_dir=str(tmp_path),
        inside_dir="",
        nonce="n",
        budget_s=5,
        config=("/bin/sh", "-c", script),
    )
    runner = RUNNERS["command"]
    launch = runner.launch(job)
    finished = run(Command(argv=launch.argv, env=launch.env, cwd=launch.cwd, limit_s=limit_s))
    return runner.report(job, finished)


@pytest.mark.parametrize(
    ("script", "state", "outcome"),
    [
        ("exit 0", RunState.COMPLETE, Outcome.PASSED),
        ("exit 1", RunState.COMPLETE, Outcome.FAILED),
        ("exit 3", RunState.COMPLETE, Outcome.FAILED),
        ("exit 126", RunState.ENVIRONMENT, Outcome.NOT_RUN),
        ("no-such-command-of-mine", RunState.ENVIRONMENT, Outcome.NOT_RUN),
        ("kill -SEGV $$", RunState.CRASHED, Outcome.CRASHED),
    ],
)
def test_exit_status_table(tmp_path, script: str, state: RunState, outcome: Outcome) -> None:  # type: ignore[no-untyped-def]
    report = told(tmp_path, script)
    assert (report.state, report.results[0].outcome) == (state, outcome)


def test_a_command_that_never_ends_is_out_of_time(tmp_path) -> None:  # type: ignore[no-untyped-def]
    report = told(tmp_path, "sleep 60", limit_s=0.3)
    assert (report.state, report.results[0].outcome) == (RunState.TIMEOUT, Outcome.TIMEOUT)


def test_what_it_printed_is_kept_for_people(tmp_path) -> None:  # type: ignore[no-untyped-def]
    report = told(tmp_path, "echo all is well; echo 3 failed >&2; exit 1")
    assert report.results[0].failure is not None
    assert report.results[0].failure.message == "3 failed"

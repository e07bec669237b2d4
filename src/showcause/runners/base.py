"""What a runner is: a job goes in, a launch comes out, and the finished run becomes a report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Protocol

import msgspec

from showcause.process import Finished
from showcause.records import RunReport, Side

__all__ = ["Job", "Launch", "Runner", "environment", "event_file", "launch_inside"]


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One run to make.

    root        where the tree is, as the run sees it (absolute)
    python      the interpreter of the project (absolute, as the run sees it)
    select      test files or test ids to run, most relevant first; ids are the runner's own,
                paths are relative to `workdir`
    expect      ids that must be accounted for: each gets a result, `not_run` if nothing was told of it
    touched     path -> SHA-256 of its content on this side, for every source path that the patch
                touches; an empty digest means the path does not exist on this side
    sources     folders, relative to root, from which the project's packages are imported ("", "src")
    workdir     relative folder in which the runner is started ("" = root)
    out_dir     a folder that the run can write and that survives it: events and controls live there
    inside_dir  where showcause's own `runners/inside` files are, as the run sees them
    nonce       random text for the names of the controls and of the event file
    budget_s    no further test is started after this many seconds; controls still run, last
    config      runner configuration to use, see each runner (pytest: addopts already filtered)
    extra_env   environment of the project's tests, from its settings
    skip        ids that are never started (they hung or crashed an earlier run): `not_run`
    surface     paths of the known test surface (tests, conftest), relative to root: tells the test's
                frames from those of the source
    """

    side: Side
    root: str
    python: str
    select: tuple[str, ...]
    expect: tuple[str, ...]
    touched: dict[str, str]
    sources: tuple[str, ...]
    out_dir: str
    inside_dir: str
    nonce: str
    budget_s: float
    workdir: str = ""
    config: tuple[str, ...] = ()
    extra_env: dict[str, str] = {}
    skip: tuple[str, ...] = ()
    surface: tuple[str, ...] = ()


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """How to start a job: argv, environment, folder."""

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str


class Runner(Protocol):
    """One test runner."""

    name: str
    version: str  # changes whenever the meaning of its reports changes: part of cache keys

    def launch(self, job: Job) -> Launch:
        """Write the job's controls into `out_dir` and say how to start it."""
        ...

    def report(self, job: Job, finished: Finished) -> RunReport:
        """Read the event file of a finished run. Never reads stdout."""
        ...


def event_file(job: Job) -> Path:
    """Where the run writes its events."""
    return Path(job.out_dir) / f"events-{job.nonce}.jsonl"


_TOLD = ("root", "select", "skip", "touched", "sources", "budget_s", "nonce", "out_dir")


def launch_inside(
    job: Job, script: str, *, control_source: str, controls: Sequence[str], options: Sequence[str] = ()
) -> Launch:
    """Write the job file and the controls, and start `inside/script` with them.

    `controls` names what must fail and what must pass in `control_source`; `options` are the script's own.

    Our own files are given by path, never by PYTHONPATH: processes that the tests start are as they
    would be without us.
    """
    out = Path(job.out_dir)
    event_file(job).unlink(missing_ok=True)
    control_file = out / f"test_{job.nonce}.py"
    control_file.write_text(control_source, "utf-8")
    told = {
        "events": str(event_file(job)),
        "control_file": str(control_file),
        "controls": list(controls),
        "options": list(options),
        **{name: getattr(job, name) for name in _TOLD},
    }
    job_file = out / f"job-{job.nonce}.json"
    job_file.write_text(json.dumps(told), "utf-8")
    root = PurePosixPath(job.root)
    return Launch(
        argv=(job.python, str(PurePosixPath(job.inside_dir) / script), str(job_file)),
        env=environment(job),
        cwd=str(root / job.workdir) if job.workdir else job.root,
    )


def environment(job: Job) -> dict[str, str]:
    """The little that an interpreter needs; HOME and TMPDIR are the sandbox's to set."""
    interpreter = str(PurePosixPath(job.python).parent)
    return {
        "PATH": f"{interpreter}:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        **job.extra_env,
    }

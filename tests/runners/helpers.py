"""Runs small own fixtures through the real runners, without a sandbox."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import secrets
import sys
import threading
from pathlib import Path

import msgspec

from showcause.process import Command, Finished, How, run
from showcause.records import RunReport, Side, TestResult
from showcause.runners import Job, Runner
from showcause.runners import base as runners_base
from showcause.runners.base import event_file

PYTHON = os.environ.get("SHOWCAUSE_TEST_PYTHON", sys.executable)
"""The interpreter that runs the fixtures: this suite can be pointed at one with another pytest."""

INSIDE = Path(runners_base.__file__).parent / "inside"


def write(root: Path, files: dict[str, str]) -> Path:
    """Lay files under a folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


def digests(root: Path, *paths: str) -> dict[str, str]:
    """What `Job.touched` wants."""
    return {path: hashlib.sha256((root / path).read_bytes()).hexdigest() for path in paths}


def make_job(root: Path, select: tuple[str, ...], **fields: object) -> Job:
    """A job with what most tests want."""
    out = root.parent / f"{root.name}-out-{secrets.token_hex(4)}"
    out.mkdir()
    values: dict[str, object] = {
        "side": Side.HEAD,
        "root": str(root),
        "python": PYTHON,
        "select": select,
        "expect": (),
        "touched": {},
        "sources": ("",),
        "out_dir": str(out),
        "inside_dir": str(INSIDE),
        "nonce": secrets.token_hex(8),
        "budget_s": 60.0,
        "extra_env": {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # a plugin or two cost more than a run
        **fields,
    }
    return Job(**values)  # type: ignore[arg-type]


def start(runner: Runner, job: Job, limit_s: float = 60.0) -> Finished:
    """Launch a job through the one door."""
    launch = runner.launch(job)
    return run(Command(argv=launch.argv, cwd=launch.cwd, env=launch.env, limit_s=limit_s))


def stopped_in(runner: Runner, job: Job, begun: str, how: How) -> RunReport:
    """The report of a run that was stopped, as `how` says, once `begun` was begun: no clock is involved."""
    launch, stop = runner.launch(job), threading.Event()

    def watch() -> None:
        needle = json.dumps({"id": begun, "ev": "begin"}).encode()
        while not stop.wait(0.02):
            if event_file(job).exists() and needle in event_file(job).read_bytes():
                stop.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    command = Command(argv=launch.argv, cwd=launch.cwd, env=launch.env, limit_s=60.0)
    finished = run(command, cancel=stop)
    stop.set()
    watcher.join()
    return runner.report(job, msgspec.structs.replace(finished, how=how))


def report(
    runner: Runner, root: Path, select: tuple[str, ...], *, limit_s: float = 60.0, **fields: object
) -> RunReport:
    """Run and report."""
    job = make_job(root, select, **fields)
    return runner.report(job, start(runner, job, limit_s))


def by_id(report: RunReport) -> dict[str, list[TestResult]]:
    """All results of each id."""
    found: dict[str, list[TestResult]] = {}
    for result in report.results:
        found.setdefault(result.id, []).append(result)
    return found


@functools.cache
def version_of(module: str = "") -> tuple[int, ...]:
    """Version of the driven interpreter, or of a module in it; () where it has none."""
    code = f"import {module}; print({module}.__version__)" if module else "import sys; print(sys.version)"
    told = run(Command(argv=(PYTHON, "-c", code), cwd="/", env={}, limit_s=30)).stdout.kept.decode()
    return tuple(int(part) for part in told.split()[0].split(".") if part.isdigit()) if told else ()


@functools.cache
def has_module(module: str) -> bool:
    """Whether the driven interpreter can import it."""
    command = Command(argv=(PYTHON, "-c", f"import {module}"), cwd="/", env={}, limit_s=30)
    return run(command).exit_status == 0


def only(report: RunReport, test_id: str) -> TestResult:
    """The one result of an id."""
    (result,) = by_id(report)[test_id]
    return result

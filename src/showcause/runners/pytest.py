"""pytest, 6.0 to 9: one process, our plugin by object, the controls as real items of a real file."""

from __future__ import annotations

import shlex

import msgspec

from showcause.process import Finished
from showcause.project.pytest_config import filter_addopts, needs_cache
from showcause.records import RunReport, RunState
from showcause.runners.base import Job, Launch, launch_inside
from showcause.runners.reporting import make_report

__all__ = ["PytestRunner"]

_STATUSES = {
    0: (RunState.TAMPERED, "exit status 0, where the control that must fail implies 1"),
    2: (RunState.CRASHED, "the run was interrupted (status 2)"),
    3: (RunState.CRASHED, "internal error of pytest or of a plugin (status 3)"),
    4: (RunState.ENVIRONMENT, "pytest refused its command line or configuration (status 4)"),
    5: (RunState.TAMPERED, "no test was run (status 5), not even the controls"),
}


class PytestRunner:
    """`config` holds the project's addopts, filtered by `pytest_config`; ids are node ids."""

    name = "pytest"
    version = "3"

    def launch(self, job: Job) -> Launch:
        if words := job.extra_env.get("PYTEST_ADDOPTS"):
            kept, _ = filter_addopts(shlex.split(words))
            env = {**job.extra_env, "PYTEST_ADDOPTS": shlex.join(kept)}
            job = msgspec.structs.replace(job, extra_env=env)
        fails, passes = f"test_{job.nonce}_a", f"test_{job.nonce}_b"
        return launch_inside(
            job,
            "showcause_pytest.py",
            control_source=_controls(fails, passes),
            controls=(fails, passes),
            options=_options(job),
        )

    def report(self, job: Job, finished: Finished) -> RunReport:
        needs = frozenset({"setup", "call", "teardown"})
        return make_report(job, finished, needs=needs, statuses=_STATUSES)


def _controls(fails: str, passes: str) -> str:
    return f"def {fails}():\n    assert [1, 2] == [2, 1]\n\n\ndef {passes}():\n    assert [1, 2] == [1, 2]\n"


def _options(job: Job) -> list[str]:
    cache = (
        ["-o", f"cache_dir={job.out_dir}/cache"] if needs_cache(job.config) else ["-p", "no:cacheprovider"]
    )
    return [*cache, "--continue-on-collection-errors", "-o", f"addopts={shlex.join(job.config)}"]

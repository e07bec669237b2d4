"""Import smoke: each selected source file is imported by its module name, in one fresh interpreter.

`select` holds paths relative to the root. Ids are `import pkg.mod`. A result is `passed`, `error` or, where
importing the file is not meant to be harmless (scripts, tests, set-up files, what stands below no source
folder), `not_run` with the reason under the id `import PATH`. Kinds of error: EXCEPTION/SOURCE when the
repository's own code raised, syntax errors and missing names included; MISSING_NAME is not used; a module
that is not installed is UNKNOWN/OUTSIDE, since it cannot be told from here whether it is the patch or the
machine that lacks it.
"""

from __future__ import annotations

import keyword
from collections.abc import Sequence

import msgspec

from showcause.process import Finished
from showcause.records import RunReport, TestResult
from showcause.runners.base import Job, Launch, launch_inside
from showcause.runners.events import Log, Selected
from showcause.runners.failures import Places, is_test_path
from showcause.runners.reporting import make_report
from showcause.runners.results import Asked, collect_results, not_run
from showcause.runners.unittest import STATUSES

__all__ = ["ImportsRunner", "module_name"]

_SCRIPTS = frozenset(
    {"__main__.py", "setup.py", "conftest.py", "conf.py", "noxfile.py", "fabfile.py", "tasks.py", "manage.py"}
    | {"setupbase.py", "versioneer.py", "ez_setup.py", "wscript.py", "runtests.py", "sitecustomize.py"}
)
_NO_PACKAGES = frozenset(
    {"doc", "docs", "example", "examples", "script", "scripts", "tools", "bin", "ci", "build", "dist"}
    | {
        "bench",
        "benchmark",
        "benchmarks",
        "asv_bench",
        "test",
        "tests",
        "contrib",
        "samples",
        "demo",
        "demos",
    }
)


class ImportsRunner:
    """Not a test runner of the project's: always there."""

    name = "imports"
    version = "2"

    def launch(self, job: Job) -> Launch:
        fails, passes = f"control_{job.nonce}_a", f"control_{job.nonce}_b"
        names = [(path, module_name(path, job.sources, job.surface)[0]) for path in job.select]
        return launch_inside(
            job,
            "showcause_imports.py",
            control_source="raise AssertionError('control')\n",
            controls=(fails, passes),
            options=[f"{path}\n{name}" for path, name in names if name],
        )

    def report(self, job: Job, finished: Finished) -> RunReport:
        def read(log: Log, asked: Asked, places: Places) -> tuple[TestResult, ...]:
            return _read(job, log, asked, places)

        needs = frozenset({"import"})
        return make_report(job, finished, needs=needs, statuses=STATUSES, read=read, selects_tests=False)


def module_name(path: str, sources: Sequence[str], surface: Sequence[str] = ()) -> tuple[str, str]:
    """(module name, "") or ("", why it is not imported). Whether the folders are packages is for the run."""
    if not path.endswith(".py"):
        return "", "not a Python file"
    name = path.rpartition("/")[2]
    if path in surface or is_test_path(path):
        return "", "test code is not imported"
    if name in _SCRIPTS:
        return "", "a script or set-up file is not imported"
    rest = _below(path, sources)
    if rest is None:
        return "", "below no source folder"
    parts = rest.removesuffix(".py").split("/")
    if len(parts) > 1 and parts[0] in _NO_PACKAGES:
        return "", f"{parts[0]}/ is no package by its name"
    if parts[-1] == "__init__":
        parts.pop()
    if not parts or not all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
        return "", "its name cannot be imported"
    return ".".join(parts), ""


def _below(path: str, sources: Sequence[str]) -> str | None:
    """The path relative to the innermost source folder above it."""
    found = [f"{source.strip('/')}/" if source.strip("/") else "" for source in sources]
    above = [prefix for prefix in found if path.startswith(prefix)]
    return path[len(max(above, key=len)) :] if above else None


def _read(job: Job, log: Log, asked: Asked, places: Places) -> tuple[TestResult, ...]:
    refused, ids = [], []
    told = {path: name for event in log.events if isinstance(event, Selected) for path, name in event.names}
    for path in asked.select:
        name, why = module_name(path, job.sources, job.surface)
        if name and told.get(path) == "":
            name, why = "", "its folder is no package, or it does not exist"
        if name:
            ids.append(f"import {name}")
        else:
            refused.append(not_run(f"import {path}", why))
    expect = tuple(dict.fromkeys((*asked.expect, *ids)))
    skipped = {result.id for result in refused}
    wanted = tuple(each for each in expect if each not in skipped)
    results = collect_results(log, msgspec.structs.replace(asked, select=(), expect=wanted), places)
    return (*results, *refused)

"""unittest: our own result object and suite. Ids are `module.Class.method`.

`config` is what the project gives after `python -m unittest`: ("discover", "-s", "tests", "-t", ".",
"-p", "test_*.py"), or nothing. Selected files become module names below the top-level folder: the one
given, else the first folder above the file that is no package.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from showcause.process import Finished
from showcause.records import RunReport, RunState
from showcause.runners.base import Job, Launch, launch_inside
from showcause.runners.reporting import make_report
from showcause.runners.spelling import read_respelled, with_dotted

__all__ = ["STATUSES", "UnittestRunner", "controls_source"]

STATUSES = {
    0: (RunState.TAMPERED, "exit status 0, where the control that must fail implies 1"),
    2: (RunState.ENVIRONMENT, "the command line was refused (status 2)"),
}
_OPTIONS = {"-s": 0, "--start-directory": 0, "-p": 1, "--pattern": 1, "-t": 2, "--top-level-directory": 2}


class UnittestRunner:
    """The standard library's runner."""

    name = "unittest"
    version = "3"

    def launch(self, job: Job) -> Launch:
        fails, passes = f"test_{job.nonce}_a", f"test_{job.nonce}_b"
        return launch_inside(
            with_dotted(job),
            "showcause_unittest.py",
            control_source=controls_source(fails, passes),
            controls=(fails, passes),
            options=[*_discovery(job.config), *_named(job)],
        )

    def report(self, job: Job, finished: Finished) -> RunReport:
        needs = frozenset({"call"})
        return make_report(job, finished, needs=needs, statuses=STATUSES, read=read_respelled)


def _named(job: Job) -> list[str]:
    """Known test files that selected dotted ids may mean: an id does not say where its module lies."""
    words = {word for entry in job.select if "/" not in entry for word in entry.split(".")}
    return [path for path in job.surface if PurePosixPath(path).stem in words]


def controls_source(fails: str, passes: str) -> str:
    """A TestCase with the two controls."""
    return (
        "import unittest\n\n\nclass Controls(unittest.TestCase):\n"
        f"    def {fails}(self):\n        self.assertEqual([1, 2], [2, 1])\n\n"
        f"    def {passes}(self):\n        self.assertEqual([1, 2], [1, 2])\n"
    )


def _discovery(config: Sequence[str]) -> list[str]:
    """Start folder, pattern, top-level folder, as `discover` would read them."""
    found = [".", "test*.py", ""]
    words = [word for word in config if word != "discover"]
    positional = 0
    while words:
        word = words.pop(0)
        name, joined, value = word.partition("=")
        if name in _OPTIONS:
            found[_OPTIONS[name]] = value if joined else words.pop(0) if words else ""
        elif not word.startswith("-") and positional < 3:
            found[positional] = word
            positional += 1
    return found

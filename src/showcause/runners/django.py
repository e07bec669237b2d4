"""Django: a project's `manage.py test`, and Django's own `tests/runtests.py`.

`config` says which script, and its arguments: ("manage", "--settings=proj.test_settings") or
("runtests", "--settings=test_sqlite"); `workdir` is the script's folder. Ids are `module.Class.method`.
One process: `--parallel 1` is ours, and what stops early or asks questions is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

from showcause.process import Finished
from showcause.records import RunReport
from showcause.runners.base import Job, Launch, launch_inside
from showcause.runners.reporting import make_report
from showcause.runners.spelling import read_respelled, with_dotted
from showcause.runners.unittest import STATUSES, controls_source

__all__ = ["DjangoRunner"]

_SCRIPTS = {"manage": ("manage.py", "test"), "runtests": ("runtests.py",)}
_DROPPED = frozenset(
    {"--failfast", "--pdb", "--reverse", "-r", "--bisect", "--pair", "--start-at", "--start-after"}
)


class DjangoRunner:
    """Django's DiscoverRunner, with our result object and suite."""

    name = "django"
    version = "3"

    def launch(self, job: Job) -> Launch:
        fails, passes = f"test_{job.nonce}_a", f"test_{job.nonce}_b"
        return launch_inside(
            with_dotted(job),
            "showcause_django.py",
            control_source=controls_source(fails, passes),
            controls=(fails, passes),
            options=_command(job.config),
        )

    def report(self, job: Job, finished: Finished) -> RunReport:
        needs = frozenset({"call"})
        return make_report(job, finished, needs=needs, statuses=STATUSES, read=read_respelled)


def _command(config: Sequence[str]) -> list[str]:
    which, *arguments = config or ("manage",)
    script = _SCRIPTS.get(which, (which,))
    return [*script, *_filtered(arguments), "--parallel=1", "--noinput"]


def _filtered(arguments: Sequence[str]) -> list[str]:
    kept: list[str] = []
    words = list(arguments)
    while words:
        word = words.pop(0)
        if word == "--parallel":
            if words and (words[0].isdigit() or words[0] == "auto"):
                words.pop(0)
        elif not word.startswith("--parallel=") and word not in _DROPPED:
            kept.append(word)
    return kept

"""How the project's own tests are started: which runner, with what configuration, in which folder."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import assert_never

from showcause.project import RUNNER_FILES, BaseTree, Project, RunnerName, pytest_config
from showcause.records import Record

__all__ = ["Running", "how_to_run"]


class Running(Record, frozen=True, kw_only=True):
    """`runner` is a key of RUNNERS; `config` and `workdir` as in `runners.Job`."""

    runner: str
    config: tuple[str, ...] = ()
    workdir: str = ""

    def selectable(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Paths of the repository as the runner wants them: relative to its folder."""
        return tuple(posixpath.relpath(path, self.workdir) if self.workdir else path for path in paths)

    def path_of(self, test_id: str) -> str:
        """The path in the repository at which a pytest id starts."""
        path = test_id.partition("::")[0]
        return posixpath.normpath(posixpath.join(self.workdir, path))


def how_to_run(project: Project, base: BaseTree) -> Running:
    """The runner of `project`, configured as base says."""
    found = project.runner
    match found.name:
        case RunnerName.PYTEST:
            files = base.read([posixpath.join(found.workdir, name) for name in RUNNER_FILES])
            named = {posixpath.relpath(path, found.workdir or "."): data for path, data in files.items()}
            return Running(runner="pytest", config=pytest_config(named).addopts, workdir=found.workdir)
        case RunnerName.UNITTEST:
            return Running(runner="unittest", workdir=found.workdir)
        case RunnerName.DJANGO_MANAGE:
            return Running(runner="django", config=("manage",), workdir=found.workdir)
        case RunnerName.DJANGO_RUNTESTS:
            config = ("runtests", "--settings=test_sqlite")
            return Running(runner="django", config=config, workdir=found.workdir)
        case _:
            assert_never(found.name)

"""What a Python project is run with: interpreter, test runner, source folders, and why each was taken.

No interpreter is started for this, except to ask poetry, or a shim that is not pyenv's, once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from showcause.canon import digest_record
from showcause.project.choose import choose_interpreter, main_checkout
from showcause.project.environment import how_installed, read_environment
from showcause.project.interpreter import read_interpreter
from showcause.project.layout import BUILD_FILES, find_sources, project_name
from showcause.project.nouns import (
    BaseTree,
    Distribution,
    Environment,
    Fault,
    Finding,
    Installed,
    Interpreter,
    Project,
    RunnerFound,
    RunnerName,
    Sources,
)
from showcause.project.pytest_config import RUNNER_FILES, PytestConfig, pytest_config
from showcause.project.runner import find_runner
from showcause.settings import Settings

__all__ = [
    "CONFIG_FILES",
    "RUNNER_FILES",
    "BaseTree",
    "Distribution",
    "Environment",
    "Fault",
    "Finding",
    "Installed",
    "Interpreter",
    "Project",
    "PytestConfig",
    "RunnerFound",
    "RunnerName",
    "Sources",
    "find_project",
    "main_checkout",
    "pytest_config",
    "read_environment",
    "read_interpreter",
]

CONFIG_FILES = tuple(sorted({*BUILD_FILES, *RUNNER_FILES}))
"""Files at the top of a tree that tell what a project is."""


def find_project(
    top: Path, base: BaseTree, settings: Settings, environ: Mapping[str, str] | None = None
) -> Project:
    """All that running the project's tests needs. `environ` is the user's environment.

    Raises EnvironmentFault where `[suite] python` names a missing interpreter, or none is found at all.
    A runner that is configured but not installed is a value in `faults`.
    """
    environ = os.environ if environ is None else environ
    interpreter, passed = choose_interpreter(top, base, settings.suite.python, environ)
    environment = read_environment(interpreter)
    files = base.read(CONFIG_FILES)
    layout = find_sources(base.paths(), files)
    name = project_name(files)
    installed, why = how_installed(top, layout.names, name, environment, interpreter.site_packages)
    runner, faults = find_runner(base, settings, environment, layout.names, interpreter.path)
    config = files.get(runner.config, b"").decode("utf-8", "replace")
    return Project(
        top=str(top),
        interpreter=interpreter,
        environment=environment,
        installed=installed,
        runner=runner,
        layout=layout,
        digest=digest_record([environment.digest, runner.name, config, settings.suite.env]),
        mounts=_mounts(interpreter, environment, top, environ.get("HOME", "")),
        findings=(
            Finding(what="interpreter", value=interpreter.path, why=interpreter.why),
            Finding(what="runner", value=runner.name, why=runner.why),
            Finding(what="sources", value=", ".join(r or "." for r in layout.roots), why=layout.why),
            Finding(what="installed", value=installed, why=why),
            *passed,
        ),
        faults=faults,
        warnings=tuple(_warnings(installed, why)),
    )


def _mounts(interpreter: Interpreter, environment: Environment, top: Path, home: str) -> tuple[str, ...]:
    """What a sandbox must show besides the checkout. Never the home folder or / as a whole."""
    real_top = os.path.realpath(top)
    refused = {"/", os.path.realpath(home) if home else "/"}
    shown = list(interpreter.mounts)
    for path in environment.paths:
        real = os.path.realpath(path)
        covered = any(real == known or real.startswith(known + "/") for known in (*shown, real_top))
        # a folder that holds the checkout would show it under its own path, beside the tree under test
        if not covered and real not in refused and not real_top.startswith(real + "/"):
            shown.append(real)
    return tuple(shown)


def _warnings(installed: Installed, why: str) -> Iterator[str]:
    match installed:
        case Installed.COPIED:
            yield f"installed non-editable: checks would not see your change ({why})"
        case Installed.ELSEWHERE:
            yield f"installed from another checkout: checks may see that one's code ({why})"
        case Installed.EDITABLE | Installed.NOT_INSTALLED:
            pass

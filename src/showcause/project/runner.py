"""Which test runner a project uses, from base's files and what is installed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable

import msgspec

from showcause.project.nouns import BaseTree, Environment, Fault, RunnerFound, RunnerName
from showcause.project.pytest_config import RUNNER_FILES, PytestConfig, pytest_config
from showcause.settings import Settings

__all__ = ["find_runner"]

_UNITTEST_PATTERNS = ("test*.py",)
_HOSTS = {RunnerName.PYTEST: {"pytest", "_pytest", "pluggy"}, RunnerName.UNITTEST: {"unittest"}}
_TEST_NAME = re.compile(r"(?:test[^/]*|[^/]*_test)\.py$")
_LOOK_AT = 40  # test files read to tell their style


def find_runner(
    base: BaseTree,
    settings: Settings,
    environment: Environment,
    names: Collection[str],
    python: str,
) -> tuple[RunnerFound, tuple[Fault, ...]]:
    """The runner, and what keeps it from running. `names` are the project's import names."""
    paths = frozenset(base.paths())
    config = pytest_config(base.read([name for name in RUNNER_FILES if name in paths]))
    found = _choose(base, paths, settings, environment, config)
    hosted = bool(_HOSTS.get(found.name, set()).intersection(names))
    found = msgspec.structs.replace(
        found,
        self_hosted=hosted,
        workdir=settings.suite.workdir.strip("/") or found.workdir,
        test_paths=settings.suite.test_paths or found.test_paths,
    )
    return found, _faults(found, environment, python, hosted)


def _choose(
    base: BaseTree, paths: frozenset[str], settings: Settings, environment: Environment, config: PytestConfig
) -> RunnerFound:
    installed = environment.distributions
    set_to = settings.suite.runner
    why = f'[suite] runner = "{set_to}"'
    if set_to == "pytest":
        return _pytest(config, why)
    if set_to == "unittest":
        return _unittest(why)
    django = _django(paths)
    if set_to == "django":
        return _with_why(django, why) if django else _manage("manage.py", why)
    if django and not (
        config.ini and "pytest-django" in installed and django.name == RunnerName.DJANGO_MANAGE
    ):
        return django
    if config.ini:
        return _pytest(config, f"pytest is configured in {config.ini}")
    style = _unittest_style(base, paths)
    if "pytest" in installed:
        return _pytest(
            config, "pytest is installed" if style is None else "pytest is installed, and there are tests"
        )
    if style is False:
        return _pytest(config, "there are tests in pytest's style")
    return _unittest(
        "tests in unittest's style, no pytest" if style else "no pytest, and no test file was seen"
    )


def _with_why(found: RunnerFound, why: str) -> RunnerFound:
    return msgspec.structs.replace(found, why=f"{why}; {found.why}")


def _pytest(config: PytestConfig, why: str) -> RunnerFound:
    return RunnerFound(
        name=RunnerName.PYTEST,
        why=why,
        config=config.ini,
        patterns=config.python_files,
        test_paths=config.testpaths,
    )


def _unittest(why: str) -> RunnerFound:
    return RunnerFound(name=RunnerName.UNITTEST, why=why, patterns=_UNITTEST_PATTERNS)


def _manage(path: str, why: str) -> RunnerFound:
    folder = path.rpartition("/")[0]
    return RunnerFound(name=RunnerName.DJANGO_MANAGE, why=why, patterns=_UNITTEST_PATTERNS, workdir=folder)


def _django(paths: frozenset[str]) -> RunnerFound | None:
    if "tests/runtests.py" in paths and "django/__init__.py" in paths:
        return RunnerFound(
            name=RunnerName.DJANGO_RUNTESTS,
            why="Django's own repository: tests/runtests.py",
            patterns=_UNITTEST_PATTERNS,
            test_paths=("tests",),
            workdir="tests",
        )
    manage = sorted(
        (p for p in paths if p.endswith("manage.py") and re.fullmatch(r"(?:[^/]+/)?manage\.py", p)), key=len
    )
    manage = [path for path in manage if not re.match(r"tests?/|docs?/|examples?/", path)]
    return _manage(manage[0], f"{manage[0]} is there") if manage else None


def _faults(found: RunnerFound, environment: Environment, python: str, hosted: bool) -> tuple[Fault, ...]:
    needed = {
        RunnerName.PYTEST: "pytest",
        RunnerName.DJANGO_MANAGE: "django",
    }.get(found.name)
    if needed is None or hosted or needed in environment.distributions:
        return ()
    return (
        Fault(
            message=f"{needed} is not installed in {python} ({found.why})",
            cure=f"{shlex.quote(python)} -m pip install {needed}, or set [suite] python to one that has it",
        ),
    )


def _unittest_style(base: BaseTree, paths: Iterable[str]) -> bool | None:
    """Whether the tests are classes of unittest; None: there are none. A sample is read, not all."""
    tests = sorted(
        path for path in paths if path.endswith(".py") and _TEST_NAME.match(path, path.rfind("/") + 1)
    )
    if not tests:
        return None
    texts = base.read(tests[:: max(1, len(tests) // _LOOK_AT)][:_LOOK_AT]).values()
    classes = sum(bool(re.search(rb"^class \w+\([^)]*TestCase[^)]*\)", text, re.MULTILINE)) for text in texts)
    functions = sum(
        bool(re.search(rb"^(?:async )?def test|^import pytest|^from pytest", t, re.MULTILINE)) for t in texts
    )
    return classes > 0 and classes >= functions

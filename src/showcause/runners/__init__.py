"""Test runners: one file each, found by name in RUNNERS."""

from __future__ import annotations

from showcause.errors import UsageError
from showcause.runners.base import Job, Launch, Runner
from showcause.runners.command import CommandRunner
from showcause.runners.django import DjangoRunner
from showcause.runners.imports import ImportsRunner
from showcause.runners.pytest import PytestRunner
from showcause.runners.unittest import UnittestRunner

__all__ = ["RUNNERS", "Job", "Launch", "Runner", "runner_named"]

_ALL: tuple[Runner, ...] = (
    PytestRunner(),
    UnittestRunner(),
    DjangoRunner(),
    ImportsRunner(),
    CommandRunner(),
)
RUNNERS: dict[str, Runner] = {runner.name: runner for runner in _ALL}


def runner_named(name: str) -> Runner:
    """The runner of that name. Raises UsageError, which says what exists."""
    try:
        return RUNNERS[name]
    except KeyError:
        known = ", ".join(sorted(RUNNERS))
        raise UsageError(f"there is no test runner {name!r}; there are: {known}") from None

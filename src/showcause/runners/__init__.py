"""Test runners: one file each, found by name in RUNNERS."""

from __future__ import annotations

from typing import Protocol

import msgspec

from showcause.process import Finished
from showcause.records import RunReport, Side

__all__ = ["Job", "Launch", "Runner"]


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One run to make.

    root        where the tree is, as the run sees it (absolute)
    python      the interpreter of the project (absolute, as the run sees it)
    select      test files or test ids to run, most relevant first; ids are the runner's own
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

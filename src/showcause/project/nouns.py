"""What is known of a Python project and its environment."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from showcause.errors import EnvironmentFault
from showcause.records import Record

__all__ = [
    "BaseTree",
    "Distribution",
    "Environment",
    "Fault",
    "Finding",
    "Installed",
    "Interpreter",
    "Project",
    "RunnerFound",
    "RunnerName",
    "Sources",
]


class BaseTree(Protocol):
    """The base tree, read without its being checked out. Paths are repository-relative."""

    def paths(self) -> Sequence[str]:
        """Every path of a file in the tree."""
        ...

    def read(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        """The content of those paths that the tree has, in one batch."""
        ...

    def grep(self, words: Sequence[str]) -> Collection[str]:
        """The paths of Python files in which any of the words occurs as a whole word."""
        ...


class Finding(Record, frozen=True, kw_only=True):
    """One thing that was found, and why it was taken: a line of `doctor`."""

    what: str
    value: str
    why: str


class Fault(Record, frozen=True, kw_only=True):
    """Something that will keep tests from running, and one line of help."""

    message: str
    cure: str

    def error(self) -> EnvironmentFault:
        return EnvironmentFault(self.message, cure=self.cure)


class Interpreter(Record, frozen=True, kw_only=True):
    """An interpreter as read from disk; it was not started.

    path           what to start (a virtual environment is known by the path it is started under)
    real           the file behind all links
    prefix         the environment's folder; base_prefix: that of the installation it was made from
    version        "3.11.7", or "3.11" where no more is told, or ""
    site_packages  folders of installed distributions, the environment's own first
    mounts         paths that a sandbox must show for it to work: prefixes, or single links
    """

    path: str
    real: str
    prefix: str
    base_prefix: str
    version: str
    site_packages: tuple[str, ...]
    mounts: tuple[str, ...]
    why: str


class Distribution(Record, frozen=True, kw_only=True):
    """An installed distribution; `name` is normalised, `editable` the folder of an editable install."""

    name: str
    version: str
    editable: str = ""


class Installed(StrEnum):
    """How the project itself is installed in its environment."""

    EDITABLE = "editable"
    ELSEWHERE = "elsewhere"  # editable, but of another checkout
    COPIED = "copied"  # non-editable: tests may import the copy, which the patch does not touch
    NOT_INSTALLED = "not_installed"


class Environment(Record, frozen=True, kw_only=True):
    """What is installed. `paths` are existing folders that .pth files and editable installs add;
    `digest` is SHA-256 over interpreter, distributions and paths, without runner configuration."""

    distributions: dict[str, Distribution]
    paths: tuple[str, ...]
    digest: str


class RunnerName(StrEnum):
    PYTEST = "pytest"
    UNITTEST = "unittest"
    DJANGO_MANAGE = "manage"  # `manage.py test`
    DJANGO_RUNTESTS = "runtests"  # Django's own tests/runtests.py


class RunnerFound(Record, frozen=True, kw_only=True):
    """How the project's tests are run.

    config      the file of base that configures the runner, "" if none
    patterns    file names of tests; test_paths: where they are, none means everywhere
    workdir     folder in which the runner is started, "" = top
    self_hosted the repository is itself the runner, or a part of it
    """

    name: RunnerName
    why: str
    config: str = ""
    patterns: tuple[str, ...] = ("test_*.py", "*_test.py")
    test_paths: tuple[str, ...] = ()
    workdir: str = ""
    self_hosted: bool = False


class Sources(Record, frozen=True, kw_only=True):
    """Folders from which the project's packages are imported ("" = top), and their import names."""

    roots: tuple[str, ...]
    names: tuple[str, ...]
    why: str


class Project(Record, frozen=True, kw_only=True):
    """All that is needed to run a project's tests. `digest` is the environment digest of cache keys."""

    top: str
    interpreter: Interpreter
    environment: Environment
    installed: Installed
    runner: RunnerFound
    layout: Sources
    digest: str
    mounts: tuple[str, ...]
    findings: tuple[Finding, ...]
    faults: tuple[Fault, ...]
    warnings: tuple[str, ...]

    @property
    def python(self) -> str:
        return self.interpreter.path

    @property
    def sources(self) -> tuple[str, ...]:
        return self.layout.roots

"""Which paths judge the patch: tests with their data, runner configuration, CI (pure)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Set
from enum import StrEnum
from fnmatch import fnmatchcase

__all__ = [
    "SurfaceKind",
    "is_test_surface",
    "maybe_test_directories",
    "surface_files",
    "surface_kind",
    "test_directories",
]

_RUNNER_CONFIG = frozenset(
    {
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        ".pytest.toml",
        "tox.ini",
        "setup.cfg",
        "pyproject.toml",
        "noxfile.py",
        "ruff.toml",
        ".ruff.toml",
        "ty.toml",
        "mypy.ini",
        ".mypy.ini",
        ".pylintrc",
        ".flake8",
        ".coveragerc",
        "showcause.toml",
    }
)
_HOOKS = frozenset({"sitecustomize.py", "usercustomize.py"})
_CI_FOLDERS = (".github/workflows/", ".github/actions/", ".circleci/", ".buildkite/", ".woodpecker/")
_CI_FILES = frozenset(
    {
        ".gitlab-ci.yml",
        ".travis.yml",
        ".appveyor.yml",
        "appveyor.yml",
        "azure-pipelines.yml",
        "bitbucket-pipelines.yml",
        ".cirrus.yml",
        ".drone.yml",
        ".woodpecker.yml",
        "Jenkinsfile",
    }
)
# Everything below `tests` is surface. These two names are product code as often (django/test,
# sphinx/testing), so they count only where base has test files directly in them.
_SURE, _UNSURE = "tests", frozenset({"test", "testing"})


class SurfaceKind(StrEnum):
    """What a path is to the tests. `test` includes helper modules among the tests."""

    TEST = "test"
    TEST_DATA = "test_data"
    CONFTEST = "conftest"
    RUNNER_CONFIG = "runner_config"
    CI = "ci"
    INTERPRETER_HOOK = "interpreter_hook"
    NONE = "none"


def surface_kind(path: str, test_dirs: Set[str]) -> SurfaceKind:
    """What `path` is; `test_dirs` is what `test_directories` found in base."""
    folder, name = posixpath.split(path)
    if name in _HOOKS or name.endswith(".pth"):
        return SurfaceKind.INTERPRETER_HOOK
    if path in _CI_FILES or path.startswith(_CI_FOLDERS):
        return SurfaceKind.CI
    if name == "conftest.py":
        return SurfaceKind.CONFTEST
    below = _is_below_tests(folder, test_dirs)
    if name in _RUNNER_CONFIG or (below and name == "runtests.py"):
        return SurfaceKind.RUNNER_CONFIG
    if _is_test_file(name) or (below and name.endswith(".py")):
        return SurfaceKind.TEST
    return SurfaceKind.TEST_DATA if below else SurfaceKind.NONE


def is_test_surface(path: str, test_dirs: Set[str]) -> bool:
    """Whether `path` belongs to the tests rather than to the sources."""
    return surface_kind(path, test_dirs) is not SurfaceKind.NONE


def test_directories(base_paths: Iterable[str]) -> frozenset[str]:
    """The directories named `test` or `testing` that directly hold a test file."""
    found = set()
    for path in base_paths:
        folder, name = posixpath.split(path)
        if posixpath.basename(folder) in _UNSURE and _is_test_file(name):
            found.add(folder)
    return frozenset(found)


test_directories.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever its name says


def surface_files(base_paths: Iterable[str]) -> tuple[str, ...]:
    """The Python files among all paths of base that belong to its tests."""
    paths = tuple(base_paths)
    test_dirs = test_directories(paths)
    return tuple(path for path in paths if path.endswith(".py") and is_test_surface(path, test_dirs))


def maybe_test_directories(paths: Iterable[str]) -> frozenset[str]:
    """The directories above `paths` whose content in base decides what they are."""
    return frozenset(
        folder
        for path in paths
        for folder in _ancestors(posixpath.dirname(path))
        if posixpath.basename(folder) in _UNSURE
    )


def _is_below_tests(folder: str, test_dirs: Set[str]) -> bool:
    return any(posixpath.basename(above) == _SURE or above in test_dirs for above in _ancestors(folder))


def _ancestors(folder: str) -> Iterable[str]:
    """`folder` itself and all above it, less the top."""
    while folder:
        yield folder
        folder = posixpath.dirname(folder)


def _is_test_file(name: str) -> bool:
    return name == "tests.py" or fnmatchcase(name, "test_*.py") or fnmatchcase(name, "*_test.py")

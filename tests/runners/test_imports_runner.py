"""Import smoke."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners.helpers import digests, make_job, only, report, stopped_in, write
from showcause.process import How
from showcause.records import FailureKind, Origin, Outcome, RunReport, RunState
from showcause.runners import RUNNERS
from showcause.runners.imports import module_name

IMPORTS = RUNNERS["imports"]

FILES = {
    "src/pkg/__init__.py": "",
    "src/pkg/good.py": "x = 1\n",
    "src/pkg/name.py": "y = undefined\n",
    "src/pkg/lacks.py": "from pkg.good import gone\n",
    "src/pkg/syntax.py": "x = 1\ndef f(:\n",
    "src/pkg/third.py": "import not_installed_anywhere\n",
    "src/pkg/own.py": "import pkg.gone\n",
    "src/pkg/called.py": "import json\njson.loads('{')\n",
    "src/pkg/exits.py": "import sys\nsys.exit(0)\n",
    "src/pkg/__main__.py": "raise SystemExit(3)\n",
    "src/pkg/loose/part.py": "x = 1\n",
    "src/single.py": "x = 1\n",
    "setup.py": "raise RuntimeError\n",
    "scripts/run-it.py": "raise RuntimeError\n",
    "scripts/tool.py": "raise RuntimeError\n",
    "tests/test_a.py": "raise RuntimeError\n",
    "README": "",
}
EXCEPTION = (FailureKind.EXCEPTION, Origin.SOURCE)
EXPECTED: dict[str, tuple[Outcome, tuple[FailureKind, Origin] | None]] = {
    "import pkg": (Outcome.PASSED, None),
    "import pkg.good": (Outcome.PASSED, None),
    "import pkg.name": (Outcome.ERROR, EXCEPTION),
    "import pkg.lacks": (Outcome.ERROR, EXCEPTION),
    "import pkg.syntax": (Outcome.ERROR, EXCEPTION),
    "import pkg.third": (Outcome.ERROR, (FailureKind.UNKNOWN, Origin.OUTSIDE)),
    "import pkg.own": (Outcome.ERROR, EXCEPTION),
    "import pkg.called": (Outcome.ERROR, EXCEPTION),
    "import pkg.exits": (Outcome.ERROR, (FailureKind.EXIT, Origin.SOURCE)),
    "import src/pkg/__main__.py": (Outcome.NOT_RUN, None),
    "import src/pkg/loose/part.py": (Outcome.NOT_RUN, None),
    "import single": (Outcome.PASSED, None),
    "import setup.py": (Outcome.NOT_RUN, None),
    "import scripts/run-it.py": (Outcome.NOT_RUN, None),
    "import scripts/tool.py": (Outcome.NOT_RUN, None),
    "import tests/test_a.py": (Outcome.NOT_RUN, None),
    "import README": (Outcome.NOT_RUN, None),
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> RunReport:
    root = write(tmp_path_factory.mktemp("imports") / "repo", FILES)
    touched = digests(root, "src/pkg/good.py")
    return report(IMPORTS, root, tuple(FILES), sources=("", "src"), touched=touched)


def test_the_run_is_complete(told: RunReport) -> None:
    assert (told.state, told.why) == (RunState.COMPLETE, "")
    assert {result.id for result in told.results} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_case(told: RunReport, name: str) -> None:
    outcome, failure = EXPECTED[name]
    result = only(told, name)
    assert result.outcome is outcome, result
    assert (result.failure and (result.failure.kind, result.failure.origin)) == failure, result
    if outcome is Outcome.NOT_RUN:
        assert result.told_by


def test_frames(told: RunReport) -> None:
    frames = {name: only(told, f"import pkg.{name}").failure for name in ("syntax", "called", "name")}
    assert {name: failure.frame for name, failure in frames.items() if failure} == {
        "syntax": "src/pkg/syntax.py:2", "called": "src/pkg/called.py:2", "name": "src/pkg/name.py:1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("body", "outcome", "state"),
    [
        ("import os; os._exit(0)", Outcome.CRASHED, RunState.CRASHED),
        ("import atexit, os; atexit.register(os._exit, 0)", Outcome.PASSED, RunState.TAMPERED),
        (
            "import importlib; importlib.import_module = lambda name: None",
            Outcome.PASSED,
            RunState.TAMPERED,
        ),
    ],
)
def test_deadly(tmp_path: Path, body: str, outcome: Outcome, state: RunState) -> None:
    root = write(tmp_path / "repo", {"bad.py": body, "fine.py": ""})
    told = report(IMPORTS, root, ("bad.py", "fine.py"))
    assert (only(told, "import bad").outcome, told.state) == (outcome, state), told
    assert len(told.results) == 2


def test_hang(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", {"bad.py": "import time; time.sleep(60)", "fine.py": ""})
    job = make_job(root, ("bad.py", "fine.py"))
    told = stopped_in(IMPORTS, job, "import bad", How.TIMEOUT)
    assert told.state is RunState.TIMEOUT
    assert [result.outcome for result in told.results] == [Outcome.TIMEOUT, Outcome.NOT_RUN]


def test_another_copy_is_not_taken_for_the_tree(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", {"src/pkg/__init__.py": "", "src/pkg/mod.py": "x = 1\n"})
    copy = write(tmp_path / "site-packages", {"pkg/__init__.py": "", "pkg/mod.py": "raise RuntimeError\n"})
    told = report(
        IMPORTS, root, ("src/pkg/mod.py",), sources=("src",), touched=digests(root, "src/pkg/mod.py"),
        extra_env={"PYTHONPATH": str(copy)},
    )  # fmt: skip
    assert told.state is RunState.COMPLETE
    assert only(told, "import pkg.mod").outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("path", "sources", "name"),
    [
        ("pkg/mod.py", ("",), "pkg.mod"),
        ("src/pkg/__init__.py", ("", "src"), "pkg"),
        ("lib/a/b/c.py", ("lib",), "a.b.c"),
        ("other/mod.py", ("src",), ""),
        ("pkg/class.py", ("",), ""),
        ("conftest.py", ("",), ""),
        ("docs/conf.py", ("",), ""),
    ],
)
def test_module_name(path: str, sources: tuple[str, ...], name: str) -> None:
    found, why = module_name(path, sources)
    assert found == name
    assert bool(why) == (not name)

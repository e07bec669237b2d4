"""The pytest runner: states, controls, forged reports, budget, ids."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners.helpers import by_id, has_module, make_job, only, report, stopped_in, version_of, write
from showcause.attribution import attribute
from showcause.errors import UsageError
from showcause.process import How
from showcause.project import pytest_config
from showcause.records import Attribution, FailureKind, Outcome, RunState, Side
from showcause.runners import RUNNERS, runner_named

PYTEST = RUNNERS["pytest"]
FAILS = "def test_x(): assert 0\n"
PASSES = "def test_x(): pass\n"


def test_an_unknown_runner_says_what_exists() -> None:
    with pytest.raises(UsageError, match="django, imports, pytest, unittest"):
        runner_named("nose")


# ---- D6: six suites, six states


D6: dict[str, tuple[str, tuple[str, ...], RunState, Outcome]] = {
    "passes": (PASSES, (), RunState.COMPLETE, Outcome.PASSED),
    "fails": (FAILS, (), RunState.COMPLETE, Outcome.FAILED),
    "import error": ("import no_such_thing\n", (), RunState.COMPLETE, Outcome.ERROR),
    "bad option": (PASSES, ("--no-such-option",), RunState.ENVIRONMENT, Outcome.NOT_RUN),
    "nothing collected": ("", (), RunState.COMPLETE, Outcome.NOT_RUN),
    "all skipped": (
        "import pytest\n@pytest.mark.skip\n" + PASSES, (), RunState.COMPLETE, Outcome.SKIPPED,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", D6)
def test_d6_each_suite_has_its_own_state(tmp_path: Path, name: str) -> None:
    body, config, state, outcome = D6[name]
    root = write(tmp_path / "repo", {"test_a.py": body})
    told = report(PYTEST, root, ("test_a.py",), config=config)
    assert (told.state, *{result.outcome for result in told.results}) == (state, outcome), told
    if state is RunState.ENVIRONMENT:
        assert "no-such-option" in told.why


def test_d6_states_differ() -> None:
    assert len({(state, outcome) for _, _, state, outcome in D6.values()}) == len(D6)


# ---- G1: trouble before the first test is the environment's


def test_g1_a_conftest_that_cannot_be_imported(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", {"conftest.py": "import not_there\n", "tests/test_a.py": PASSES})
    told = report(PYTEST, root, ("tests/test_a.py",), expect=("tests/test_a.py::test_x",))
    assert told.state is RunState.ENVIRONMENT
    assert "not_there" in told.why
    assert only(told, "tests/test_a.py::test_x").outcome is Outcome.NOT_RUN


def test_g1_no_pytest_in_the_interpreter(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", {"pytest.py": "raise ImportError('no pytest here')\n", "test_a.py": ""})
    told = report(PYTEST, root, ("test_a.py",))
    assert (told.state, told.why) == (
        RunState.ENVIRONMENT, "pytest cannot be imported: ImportError: no pytest here",
    )  # fmt: skip


def test_an_interpreter_that_is_not_there(tmp_path: Path) -> None:
    told = report(PYTEST, write(tmp_path / "repo", {"a": ""}), ("a",), python="/no/such/python")
    assert told.state is RunState.ENVIRONMENT
    assert "could not be started" in told.why


# ---- forged reports


FORGE = """
import pytest
@pytest.hookimpl(hookwrapper=True{first})
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if {which}:
        report.outcome = "passed"
        report.longrepr = None
"""


@pytest.mark.parametrize("first", ["", ", tryfirst=True", ", trylast=True"])
def test_i1_a_conftest_that_turns_failures_into_passes(tmp_path: Path, first: str) -> None:
    conftest = FORGE.format(first=first, which="True")
    root = write(tmp_path / "repo", {"tests/conftest.py": conftest, "tests/test_a.py": FAILS})
    told = report(PYTEST, root, ("tests/test_a.py",), expect=("tests/test_a.py::test_x",))
    assert told.state is RunState.TAMPERED
    assert only(told, "tests/test_a.py::test_x").outcome is not Outcome.PASSED


@pytest.mark.parametrize("first", ["", ", tryfirst=True", ", trylast=True"])
def test_a_forged_single_test_keeps_its_failure(tmp_path: Path, first: str) -> None:
    conftest = FORGE.format(first=first, which="item.name == 'test_x'")
    root = write(tmp_path / "repo", {"conftest.py": conftest, "test_a.py": FAILS + "def test_y(): pass\n"})
    told = report(PYTEST, root, ("test_a.py",))
    forged = only(told, "test_a.py::test_x")
    assert (forged.outcome, forged.told_by) == (Outcome.FAILED, "call (reported as passed by a hook)")
    assert only(told, "test_a.py::test_y").outcome is Outcome.PASSED


CONFTESTS = {
    "removes all items but one": (
        "def pytest_runtestloop(session):\n    del session.items[1:]\n", RunState.TAMPERED,
    ),
    "runs nothing": ("def pytest_runtestloop(session): return True\n", RunState.TAMPERED),
    "claims each protocol": ("def pytest_runtest_protocol(item): return True\n", RunState.TAMPERED),
    "sets the status": (
        "def pytest_sessionfinish(session): session.exitstatus = 0\n", RunState.TAMPERED,
    ),
    "passes each call": ("def pytest_pyfunc_call(pyfuncitem): return True\n", RunState.TAMPERED),
    "exits": ("import os\ndef pytest_sessionfinish(session): os._exit(0)\n", RunState.CRASHED),
    "exits late": ("import os, atexit\natexit.register(os._exit, 0)\n", RunState.TAMPERED),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFTESTS)
def test_a_conftest_that_meddles_with_the_run(tmp_path: Path, name: str) -> None:
    conftest, state = CONFTESTS[name]
    root = write(tmp_path / "repo", {"conftest.py": conftest, "test_a.py": FAILS})
    told = report(PYTEST, root, ("test_a.py",), expect=("test_a.py::test_x",))
    assert told.state is state, told
    assert told.why


ENDS = {
    "status 0": "session.exitstatus = 0",
    "status 2": "session.exitstatus = 2",
    "status 3": "session.exitstatus = 3",
    "a signal": "import os; os.kill(os.getpid(), 15)",
}


@pytest.mark.parametrize("way", ENDS)
def test_d1_a_perfect_report_with_another_end_is_not_believed(tmp_path: Path, way: str) -> None:
    """Every test passed and both controls held; the process ends otherwise than that implies."""
    conftest = f"def pytest_sessionfinish(session): {ENDS[way]}\n"
    root = write(tmp_path / "repo", {"conftest.py": conftest, "test_a.py": "def test_x(): pass\n"})
    told = report(PYTEST, root, ("test_a.py",), expect=("test_a.py::test_x",))
    assert told.state in (RunState.TAMPERED, RunState.CRASHED, RunState.ENVIRONMENT), told
    assert told.why
    assert (told.exit_status, told.signal) == ((None, 15) if way == "a signal" else (int(way[-1]), None))


DROPPING = {
    "ignores the file": "collect_ignore = ['test_a.py']\n",
    "deselects": "def pytest_collection_modifyitems(items): items[:] = []\n",
}


@pytest.mark.parametrize("name", DROPPING)
def test_a_dropped_test_is_not_run(tmp_path: Path, name: str) -> None:
    root = write(tmp_path / "repo", {"conftest.py": DROPPING[name], "test_a.py": FAILS})
    told = report(PYTEST, root, ("test_a.py",), expect=("test_a.py::test_x",))
    assert told.state is RunState.COMPLETE
    # a file asked for by name is collected in spite of collect_ignore
    assert only(told, "test_a.py::test_x").outcome in (Outcome.NOT_RUN, Outcome.FAILED)
    assert Outcome.PASSED not in {result.outcome for result in told.results}


def test_lines_of_others_in_the_event_file(tmp_path: Path) -> None:
    body = (
        "import glob, json, sys\ndef test_x(pytestconfig):\n"
        "    path = glob.glob('../repo-out-*/events-*')[0]\n    open(path, 'a').write('not json\\n')\n"
    )
    told = report(PYTEST, write(tmp_path / "repo", {"test_a.py": body}), ("test_a.py",))
    assert told.state is RunState.TAMPERED
    assert "not ours" in told.why


# ---- what is started


def test_budget_and_skip(tmp_path: Path) -> None:
    body = (
        "import pytest, time\ndef test_no(): assert 0\n"
        "@pytest.fixture(scope='class', autouse=True)\ndef f():\n    yield\n"
        "class TestA:\n    def test_slow(self): time.sleep(3)\n    def test_late(self): pass\n"
        "class TestB:\n    def test_late(self): pass\n"
    )
    root = write(tmp_path / "repo", {"test_a.py": body})
    told = report(PYTEST, root, ("test_a.py",), budget_s=3.0, skip=("test_a.py::test_no",))
    assert (told.state, told.why) == (RunState.COMPLETE, "")
    assert only(told, "test_a.py::TestA::test_slow").outcome is Outcome.PASSED
    late = [only(told, f"test_a.py::Test{name}::test_late") for name in "AB"]
    assert {(each.outcome, each.told_by) for each in late} == {
        (Outcome.NOT_RUN, "the time budget of 3 s was used up")
    }
    skipped = only(told, "test_a.py::test_no")
    assert skipped.outcome is Outcome.NOT_RUN
    assert "skipped on request" in skipped.told_by


IDS = '''
import pytest, unittest
@pytest.mark.parametrize("x", ["a b", "c\\nd", "é", "a::b", "[x]", ""])
def test_p(x): pass
def test_d():
    """
    >>> 1
    """
class TestC:
    @pytest.fixture(scope="class")
    def f(self): return 1
    def test_f(self, f): assert f == 1
class T(unittest.TestCase):
    def test_u(self): pass
'''


def test_collection_leaves_time_for_what_was_collected(tmp_path: Path) -> None:
    slow = "import time\ntime.sleep(0.8)\n" + PASSES
    names = tuple(f"test_{letter}.py" for letter in "abcd")
    root = write(tmp_path / "repo", dict.fromkeys(names, slow))
    told = report(PYTEST, root, names, budget_s=3.0, expect=("test_d.py::test_x",))
    assert told.state is RunState.COMPLETE, told.why
    outcomes = {result.id: result.outcome for result in told.results}
    assert outcomes["test_a.py::test_x"] is Outcome.PASSED  # the nearest file, whatever it takes
    assert outcomes["test_d.py"] is outcomes["test_d.py::test_x"] is Outcome.NOT_RUN
    assert "collection" in only(told, "test_d.py").told_by


def test_ids(tmp_path: Path) -> None:
    names = {
        "pytest.ini": "[pytest]\naddopts = --doctest-modules\n"
        "disable_test_id_escaping_and_forfeit_all_rights_to_community_support = true\n",
        "test_é.py": IDS,
    }
    root = write(tmp_path / "repo", names)
    expect = tuple(f"test_é.py::test_p[{x}]" for x in ("a b", "c\nd", "é", "a::b", "[x]"))
    told = report(PYTEST, root, ("test_é.py",), expect=expect, config=("--doctest-modules",))
    assert told.state is RunState.COMPLETE
    results = by_id(told)
    assert {results[each][0].outcome for each in expect} == {Outcome.PASSED}
    rest = [name.removeprefix("test_é.py::") for name in results if name not in expect]
    assert len(rest) == 5, rest
    assert {"test_d", "TestC::test_f", "T::test_u"} < set(rest)


def test_selection_by_id(tmp_path: Path) -> None:
    body = "import pytest\n@pytest.mark.parametrize('x', [1, 2])\ndef test_p(x): pass\ndef test_px(): pass\n"
    root = write(tmp_path / "repo", {"test_a.py": body, "test_b.py": PASSES})
    select = ("test_a.py::test_p", "test_a.py::test_gone", "test_gone.py", "test_gone.py::test_y")
    told = report(PYTEST, root, select)
    assert told.state is RunState.COMPLETE
    assert {result.id: result.outcome for result in told.results} == {
        "test_a.py::test_p[1]": Outcome.PASSED,
        "test_a.py::test_p[2]": Outcome.PASSED,
        "test_a.py::test_gone": Outcome.NOT_RUN,
        "test_gone.py": Outcome.NOT_RUN,
        "test_gone.py::test_y": Outcome.NOT_RUN,
    }


def test_selection_by_ids_that_look_like_paths(tmp_path: Path) -> None:
    parameters = ["http://a.example/", "x//y/../z", "http://[12:00::1]:8/", "./q", "100%~"]
    body = f"import pytest\n@pytest.mark.parametrize('x', {parameters})\ndef test_p(x): pass\n"
    root = write(tmp_path / "repo", {"test_a.py": body})
    ids = tuple(f"test_a.py::test_p[{x}]" for x in parameters)
    told = report(PYTEST, root, ids)
    assert [(result.id, result.outcome) for result in told.results] == [(i, Outcome.PASSED) for i in ids]


def test_only_missing_files_selected_runs_nothing_else(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", {"test_b.py": FAILS})
    told = report(PYTEST, root, ("test_gone.py",))
    assert told.state is RunState.COMPLETE
    assert [(result.id, result.outcome) for result in told.results] == [("test_gone.py", Outcome.NOT_RUN)]


def test_the_tests_see_what_they_would_without_us(tmp_path: Path) -> None:
    body = """
import os, subprocess, sys
def test_x():
    assert sys.path[0] == os.getcwd() or os.getcwd() in sys.path
    assert not [path for path in sys.path if path.endswith("inside")]
    assert "PYTHONPATH" not in os.environ
    child = [sys.executable, "-c", "import sys; print(sys.modules)"]
    assert "showcause_events" not in subprocess.check_output(child, universal_newlines=True)
    assert sys.argv[0].endswith("__main__.py")
"""
    told = report(PYTEST, write(tmp_path / "repo", {"test_a.py": body}), ("test_a.py",))
    assert only(told, "test_a.py::test_x").outcome is Outcome.PASSED, told


def test_children_of_a_fork_are_not_heard(tmp_path: Path) -> None:
    body = "import os\ndef test_x():\n    pid = os.fork()\n    if pid: os.waitpid(pid, 0)\n"
    body += "    else: raise SystemExit\ndef test_y(): pass\n"
    told = report(PYTEST, write(tmp_path / "repo", {"test_a.py": body}), ("test_a.py",))
    assert told.state is RunState.COMPLETE, told
    assert {result.outcome for result in told.results} == {Outcome.PASSED}


def test_f1_runs_that_disagree_are_kept_apart(tmp_path: Path) -> None:
    body = "import os\ndef test_x():\n    open('n', 'a').write('x')\n    assert os.path.getsize('n') % 2\n"
    root = write(tmp_path / "repo", {"test_a.py": body})
    runs = [report(PYTEST, root, ("test_a.py",), side=Side.HEAD) for _ in range(2)]
    outcomes = [only(each, "test_a.py::test_x").outcome for each in runs]
    assert outcomes == [Outcome.PASSED, Outcome.FAILED]
    (item,) = attribute([], runs)
    assert (item.head, item.attribution) == (Outcome.MIXED, Attribution.FLAKY)


def test_cancelled_marks_nothing_as_failed(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", {"test_a.py": "import time\ndef test_x(): time.sleep(9)\n"})
    job = make_job(root, ("test_a.py",), expect=("test_a.py::test_x",))
    told = stopped_in(PYTEST, job, "test_a.py::test_x", How.CANCELLED)
    assert told.state is RunState.CANCELLED
    assert only(told, "test_a.py::test_x").outcome is Outcome.NOT_RUN


SUBTESTS = """
def test_x(subtests):
    for i in range(3):
        with subtests.test(i=i): assert i != 1
def test_y(subtests):
    with subtests.test(): pass
"""


def test_subtests(tmp_path: Path) -> None:
    if version_of("pytest") < (9,):
        pytest.skip("subtests are part of pytest 9")
    told = report(PYTEST, write(tmp_path / "repo", {"test_a.py": SUBTESTS}), ("test_a.py",))
    assert told.state is RunState.COMPLETE
    failed = only(told, "test_a.py::test_x")
    assert failed.outcome is Outcome.FAILED
    assert failed.failure is not None
    assert failed.failure.kind is FailureKind.ASSERTION
    assert only(told, "test_a.py::test_y").outcome is Outcome.PASSED


def test_reruns_are_all_kept(tmp_path: Path) -> None:
    if not has_module("pytest_rerunfailures"):
        pytest.skip("needs pytest-rerunfailures")
    body = "import os\ndef test_x():\n    open('n', 'a').write('x')\n    assert os.path.getsize('n') > 1\n"
    root = write(tmp_path / "repo", {"test_a.py": body})
    told = report(PYTEST, root, ("test_a.py",), config=("--reruns", "2"), extra_env={})
    assert told.state is RunState.COMPLETE, told
    outcomes = [result.outcome for result in by_id(told)["test_a.py::test_x"]]
    assert outcomes == [Outcome.FAILED, Outcome.PASSED]


def test_a_timeout_of_a_plugin(tmp_path: Path) -> None:
    if not has_module("pytest_timeout"):
        pytest.skip("needs pytest-timeout")
    body = "import time\ndef test_x(): time.sleep(9)\n"
    root = write(tmp_path / "repo", {"test_a.py": body})
    told = report(PYTEST, root, ("test_a.py",), config=("--timeout=0.3",), extra_env={})
    assert told.state is RunState.COMPLETE
    assert only(told, "test_a.py::test_x").outcome is Outcome.TIMEOUT


def test_addopts_of_the_environment_are_filtered_too(tmp_path: Path) -> None:
    env = {"PYTEST_ADDOPTS": "-x -q", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    root = write(tmp_path / "repo", {"test_a.py": FAILS + "def test_y(): pass\n"})
    told = report(PYTEST, root, ("test_a.py",), extra_env=env)
    assert told.state is RunState.COMPLETE
    assert only(told, "test_a.py::test_y").outcome is Outcome.PASSED


@pytest.mark.parametrize("name", ["pytest.toml", "pyproject.toml"])
def test_pytest_9_native_configuration(tmp_path: Path, name: str) -> None:
    if version_of("pytest") < (9,):
        pytest.skip("needs pytest 9")
    table = "[pytest]" if name == "pytest.toml" else "[tool.pytest]"
    text = f"{table}\naddopts = ['-x', '--doctest-modules']\nstrict_config = true\n"
    body = FAILS + 'def test_y():\n    """\n    >>> 1\n    1\n    """\n'
    root = write(tmp_path / "repo", {name: text, "test_a.py": body})
    config = pytest_config({name: text.encode()}).addopts
    told = report(PYTEST, root, ("test_a.py",), config=config)
    assert (told.state, told.why) == (RunState.COMPLETE, "")
    assert len(told.results) == 3


def test_whatever_plugins_there_are_the_order_is_ours(tmp_path: Path) -> None:
    names = [f"test_{n}" for n in range(12)]
    body = "".join(f"def {name}(): pass\n" for name in names)
    root = write(tmp_path / "repo", {"test_b.py": body, "test_a.py": body, "pytest.ini": PLUGINS_INI})
    config = pytest_config({"pytest.ini": PLUGINS_INI.encode()}).addopts
    told = report(PYTEST, root, ("test_b.py", "test_a.py"), config=config, extra_env={})
    assert (told.state, told.why) == (RunState.COMPLETE, "")
    assert [result.id for result in told.results] == [f"test_{m}.py::{name}" for m in "ba" for name in names]
    assert {result.outcome for result in told.results} == {Outcome.PASSED}
    assert not list(root.glob("**/.coverage*"))


PLUGINS_INI = (
    "[pytest]\naddopts = -n 2 --cov=. --dist loadscope -p xdist --maxfail=1 --lf -ra --junitxml=j.xml\n"
)

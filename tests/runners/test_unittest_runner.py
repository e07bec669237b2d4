"""The unittest runner."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners.helpers import digests, only, report, write
from showcause.records import FailureKind as K
from showcause.records import LoadedState, Origin, RunReport, RunState
from showcause.records import Outcome as O
from showcause.runners import RUNNERS

UNITTEST = RUNNERS["unittest"]

BODY = '''
import sys, unittest
from pkg.core import lookup
import pkg.core

class TestA(unittest.TestCase):
    def test_pass(self): pass
    def test_fail(self): self.assertEqual(1, 2)
    def test_source(self): lookup(1)
    def test_missing(self): pkg.core.fresh()
    def test_name(self): undefined
    def test_skip(self): self.skipTest("no")
    @unittest.skip("never")
    def test_skip_mark(self): pass
    @unittest.expectedFailure
    def test_xfail(self): self.fail()
    @unittest.expectedFailure
    def test_xpass(self): pass
    def test_sub(self):
        for i in range(3):
            with self.subTest(i=i): self.assertNotEqual(i, 1)
    def test_sub_skip(self):
        with self.subTest(): self.skipTest("part")
    def test_sub_pass(self):
        with self.subTest(): pass
    def test_exit(self): sys.exit(0)
    def test_described(self):
        """It does what it says."""

class TestSetUp(unittest.TestCase):
    def setUp(self): lookup(1)
    def test_x(self): pass

class TestTearDown(unittest.TestCase):
    def tearDown(self): raise RuntimeError
    def test_x(self): pass

class TestClass(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError
    def test_x(self): pass
    def test_y(self): pass

class TestClassSkip(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise unittest.SkipTest("none")
    def test_x(self): pass

class TestClassEnd(unittest.TestCase):
    @classmethod
    def tearDownClass(cls): raise RuntimeError
    def test_x(self): pass
'''

FILES = {
    "pkg/__init__.py": "",
    "pkg/core.py": "def lookup(key): return {}[key]\n",
    "tests/__init__.py": "",
    "tests/test_a.py": BODY,
    "tests/test_module.py": "import unittest\ndef setUpModule(): raise RuntimeError\n"
    "class T(unittest.TestCase):\n    def test_x(self): pass\n",
    "tests/test_import.py": "import unittest\nfrom pkg.core import fresh\n",
    "tests/test_skipped.py": "import unittest\nraise unittest.SkipTest('whole')\n",
    "tests/test_empty.py": "",
}

# id below tests.: outcome, kind, origin
EXPECTED: dict[str, tuple[O, K | None, Origin]] = {
    "test_a.TestA.test_pass": (O.PASSED, None, Origin.NONE),
    "test_a.TestA.test_fail": (O.FAILED, K.ASSERTION, Origin.TEST),
    "test_a.TestA.test_source": (O.FAILED, K.EXCEPTION, Origin.SOURCE),
    "test_a.TestA.test_missing": (O.FAILED, K.MISSING_NAME, Origin.TEST),
    "test_a.TestA.test_name": (O.ERROR, K.TEST_ERROR, Origin.TEST),
    "test_a.TestA.test_skip": (O.SKIPPED, None, Origin.NONE),
    "test_a.TestA.test_skip_mark": (O.SKIPPED, None, Origin.NONE),
    "test_a.TestA.test_xfail": (O.SKIPPED, None, Origin.NONE),
    "test_a.TestA.test_xpass": (O.FAILED, K.ASSERTION, Origin.TEST),
    "test_a.TestA.test_sub": (O.FAILED, K.ASSERTION, Origin.TEST),
    "test_a.TestA.test_sub_skip": (O.PASSED, None, Origin.NONE),
    "test_a.TestA.test_sub_pass": (O.PASSED, None, Origin.NONE),
    "test_a.TestA.test_exit": (O.ERROR, K.EXIT, Origin.TEST),
    "test_a.TestSetUp.test_x": (O.ERROR, K.SETUP, Origin.SOURCE),
    "test_a.TestTearDown.test_x": (O.ERROR, K.TEARDOWN, Origin.TEST),
    "test_a.TestClass.test_x": (O.ERROR, K.SETUP, Origin.TEST),
    "test_a.TestClass.test_y": (O.ERROR, K.SETUP, Origin.TEST),
    "test_a.TestClassSkip.test_x": (O.SKIPPED, None, Origin.NONE),
    "test_a.TestClassEnd.test_x": (O.PASSED, None, Origin.NONE),
    "test_module.T.test_x": (O.ERROR, K.SETUP, Origin.TEST),
    "test_import.T.test_x": (O.ERROR, K.MISSING_NAME, Origin.TEST),
    "test_skipped.T.test_x": (O.SKIPPED, None, Origin.NONE),
    "test_empty.T.test_x": (O.NOT_RUN, None, Origin.NONE),
}
SPELLED = (
    "test_fail (tests.test_a.TestA)",
    "test_pass (tests.test_a.TestA.test_pass)",
    "It does what it says.",
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> RunReport:
    root = write(tmp_path_factory.mktemp("unittest") / "repo", FILES)
    select = tuple(path for path in FILES if path.startswith("tests/test_"))
    expect = (*(f"tests.{name}" for name in EXPECTED), *SPELLED)
    return report(UNITTEST, root, select, expect=expect, touched=digests(root, "pkg/core.py"))


def test_the_run_is_complete(told: RunReport) -> None:
    assert (told.state, told.why, told.exit_status) == (RunState.COMPLETE, "", 1)
    assert [record.state for record in told.loaded] == [LoadedState.MATCHES]


@pytest.mark.parametrize("name", EXPECTED)
def test_case(told: RunReport, name: str) -> None:
    outcome, kind, origin = EXPECTED[name]
    result = only(told, f"tests.{name}")
    assert result.outcome is outcome, result
    assert (result.failure and (result.failure.kind, result.failure.origin)) == (kind and (kind, origin)), (
        result
    )


def test_what_was_not_asked_for_is_told_too(told: RunReport) -> None:
    rest = {
        result.id: result.outcome for result in told.results if result.id.split(".", 1)[-1] not in EXPECTED
    }
    assert rest.pop("tearDownClass (tests.test_a.TestClassEnd)") is O.ERROR
    assert {name: rest.pop(name) for name in SPELLED} == {
        SPELLED[0]: O.FAILED, SPELLED[1]: O.PASSED, SPELLED[2]: O.PASSED,
    }  # fmt: skip
    assert rest == {}


def test_selection_and_order(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", FILES)
    select = ("tests.test_a.TestA.test_fail", "test_x (tests.test_a.TestSetUp)", "tests.gone.T.test_x")
    told = report(UNITTEST, root, select)
    assert told.state is RunState.COMPLETE
    assert {result.id for result in told.results} == {
        "tests.test_a.TestA.test_fail", "tests.test_a.TestSetUp.test_x", "tests.gone.T.test_x",
    }  # fmt: skip


def test_folder_that_is_no_package(tmp_path: Path) -> None:
    body = "import unittest, helper\nclass T(unittest.TestCase):\n    def test_x(self): pass\n"
    root = write(tmp_path / "repo", {"checks/test_a.py": body, "checks/helper.py": ""})
    for select, config in ((("checks/test_a.py",), ()), ((), ("discover", "-s", "checks"))):
        told = report(UNITTEST, root, select, config=config)
        assert [(result.id, result.outcome) for result in told.results] == [("test_a.T.test_x", O.PASSED)], (
            told
        )


def test_budget_and_skip(tmp_path: Path) -> None:
    body = (
        "import time, unittest\nclass A(unittest.TestCase):\n    def test_0(self): time.sleep(9)\n"
        "    def test_1(self): time.sleep(1.2)\n"
        "class B(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): time.sleep(9)\n"
        "    def test_2(self): pass\n"
    )
    root = write(tmp_path / "repo", {"test_a.py": body})
    told = report(UNITTEST, root, ("test_a.py",), budget_s=1.0, skip=("test_a.A.test_0",), limit_s=8.0)
    assert told.state is RunState.COMPLETE
    assert [result.outcome for result in told.results] == [O.NOT_RUN, O.PASSED, O.NOT_RUN]


ENDS = {
    "import os\nos._exit(0)": (O.CRASHED, RunState.CRASHED),
    "import sys\nsys.exit(0)": (O.CRASHED, RunState.CRASHED),
    "import atexit, os\natexit.register(os._exit, 0)": (O.FAILED, RunState.TAMPERED),
    "unittest.TestCase.assertEqual = lambda *a: None": (O.PASSED, RunState.TAMPERED),
    "unittest.TestResult.wasSuccessful = lambda *a: True": (O.FAILED, RunState.TAMPERED),
    "unittest.TestCase.run = lambda *a: None": (O.NOT_RUN, RunState.TAMPERED),
}


@pytest.mark.parametrize("line", ENDS)
def test_forged(tmp_path: Path, line: str) -> None:
    body = (
        f"import unittest\n{line}\nclass T(unittest.TestCase):\n    def test_x(self): self.assertEqual(1, 2)"
    )
    told = report(
        UNITTEST, write(tmp_path / "repo", {"test_a.py": body}), ("test_a.py",), expect=("test_a.T.test_x",)
    )
    assert (only(told, "test_a.T.test_x").outcome, told.state) == ENDS[line], told

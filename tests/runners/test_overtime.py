"""A test that goes on after the budget is ended alone, and the run ends in order. No other test notices."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners.helpers import INSIDE, PYTHON, only, report, write
from showcause.process import Command, run
from showcause.records import FailureKind, Outcome, RunState
from showcause.runners import RUNNERS

BUDGET_S = 4.0  # the runner has to have started by then, on a machine that does other things too
HANGS = {
    "sleeps": "import time\ndef test_x(): time.sleep(300)\n",
    "computes": "def test_x():\n    while True: pass\n",
    "catches exceptions": (
        "import time\ndef test_x():\n    try: time.sleep(300)\n    except Exception: pass\n"
    ),
    "waits for a program": "import subprocess\ndef test_x(): subprocess.run(['sleep', '300'])\n",
    "in a fixture": (
        "import pytest, time\n@pytest.fixture\ndef slow(): time.sleep(300)\ndef test_x(slow): pass\n"
    ),
    "raises another in the end": (
        "import time\ndef test_x():\n    try: time.sleep(300)\n    finally: raise ValueError\n"
    ),
}
UNSEEN = """
import os, signal, threading, pytest

def test_nothing_of_the_alarm_is_seen():
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert threading.active_count() == 1
    with pytest.raises(ChildProcessError):
        os.wait()
    assert len(os.listdir("/proc/self/task")) == 1

def test_an_alarm_of_its_own():
    rung = []
    signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    while not rung:
        pass
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
"""
STOPS = """
import os, sys, time
sys.path.insert(0, {inside!r})
from showcause_overtime import Alarm
alarm = Alarm()
alarm.start(300.0)
watcher = alarm._watcher
os.kill(watcher, 0)
alarm.stop()
for _ in range(500):
    try:
        os.kill(watcher, 0)
    except ProcessLookupError:
        print("gone")
        break
    time.sleep(0.02)
"""


OFTEN = ("computes", "catches exceptions", "in a fixture")


@pytest.mark.parametrize(
    "name", [name if name in OFTEN else pytest.param(name, marks=pytest.mark.slow) for name in HANGS]
)
def test_a_hanging_test_of_pytest(name: str, tmp_path: Path) -> None:
    root = write(tmp_path / "repo", {"test_a.py": HANGS[name] + "def test_y(): pass\n"})
    told = report(RUNNERS["pytest"], root, ("test_a.py",), budget_s=BUDGET_S)
    assert (told.state, told.why) == (RunState.COMPLETE, "")
    hung, after = only(told, "test_a.py::test_x"), only(told, "test_a.py::test_y")
    assert hung.outcome is Outcome.TIMEOUT
    assert hung.failure is not None
    assert hung.failure.kind is FailureKind.TIMEOUT
    assert after.outcome is Outcome.NOT_RUN
    assert "time budget" in after.told_by


def test_a_hanging_test_of_unittest(tmp_path: Path) -> None:
    body = "import time, unittest\nclass T(unittest.TestCase):\n    def test_x(self): time.sleep(300)\n"
    root = write(tmp_path / "repo", {"test_a.py": body + "    def test_y(self): pass\n"})
    told = report(RUNNERS["unittest"], root, ("test_a.py",), budget_s=BUDGET_S)
    assert (told.state, told.why) == (RunState.COMPLETE, "")
    assert only(told, "test_a.T.test_x").outcome is Outcome.TIMEOUT
    assert only(told, "test_a.T.test_y").outcome is Outcome.NOT_RUN


@pytest.mark.slow
def test_one_that_catches_everything_is_left_to_the_limit_of_the_run(tmp_path: Path) -> None:
    body = "import time\ndef test_x():\n    while True:\n        try: time.sleep(1)\n"
    body += "        except BaseException: pass\n"
    root = write(tmp_path / "repo", {"test_a.py": body})
    told = report(RUNNERS["pytest"], root, ("test_a.py",), budget_s=BUDGET_S, limit_s=BUDGET_S + 12)
    assert told.state is RunState.TIMEOUT
    assert only(told, "test_a.py::test_x").outcome is Outcome.TIMEOUT


def test_tests_do_not_see_it(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", {"test_a.py": UNSEEN})
    told = report(RUNNERS["pytest"], root, ("test_a.py",))
    assert told.state is RunState.COMPLETE
    assert {result.id: result.failure for result in told.results} == {
        "test_a.py::test_nothing_of_the_alarm_is_seen": None,
        "test_a.py::test_an_alarm_of_its_own": None,
    }


def test_the_watcher_does_not_outlive_the_run() -> None:
    command = Command(argv=(PYTHON, "-c", STOPS.format(inside=str(INSIDE))), cwd="/", env={}, limit_s=60)
    assert run(command).stdout.kept == b"gone\n"

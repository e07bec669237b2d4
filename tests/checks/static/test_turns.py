"""Tools that share a confined run are told apart: what one does to itself does not silence the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from static_made import A, workbench

from showcause.checks.static.turns import Turn, in_turn
from showcause.checks.workbench import Workbench
from showcause.process import Finished, How
from showcause.records import Side

FORKS = "import os, time; os.fork() or time.sleep(300); print('left a child')"
OVERWRITES = """
import glob, os
for path in glob.glob("/tmp/*") + glob.glob("{out}/*"):
    os.path.isfile(path) and open(path, "wb").write(b"forged")
"""
FLOODS = """
import os, signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
while True:
    os.write(1, b"x" * 99_999)
"""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    with workbench(tmp_path / "r", {"shop/a.py": A + b"\nX = 1\n"}) as (bench, _):
        yield bench


def run(bench: Workbench, *programs: str, limit_s: float = 20.0) -> tuple[Finished, ...]:
    """Programs in turn on head, each the text of a script."""
    out_dir = bench.new_out_dir()
    python = bench.kit.project.python
    turns = [Turn(argv=(python, "-c", text.replace("{out}", out_dir)), limit_s=limit_s) for text in programs]
    return in_turn(bench, Side.HEAD, turns, out_dir)


def test_each_has_its_own_end_and_output(bench: Workbench) -> None:
    first, crashed, failed, hung, last = run(
        bench,
        "import sys; print(open('shop/a.py').read()[-6:]); print('aside', file=sys.stderr)",
        "import os; print('before', flush=True); os.kill(os.getpid(), 9)",
        "raise SystemExit(7)",
        "import time; time.sleep(300)",
        "print('last')",
        limit_s=3.0,
    )
    assert (first.how, first.exit_status, first.stdout.kept) == (How.EXITED, 0, b"X = 1\n\n")
    assert first.stderr.kept == b"aside\n"
    assert (crashed.how, crashed.signal, crashed.stdout.kept) == (How.SIGNALLED, 9, b"before\n")
    assert (failed.how, failed.exit_status) == (How.EXITED, 7)
    assert (hung.how, hung.exit_status) == (How.TIMEOUT, None)
    assert (last.how, last.stdout.kept) == (How.EXITED, b"last\n")


def test_a_program_that_is_not_there(bench: Workbench) -> None:
    out_dir = bench.new_out_dir()
    there = Turn(argv=(bench.kit.project.python, "-c", "print(1)"), limit_s=20.0)
    gone, told = in_turn(bench, Side.HEAD, [Turn(argv=("/nowhere/tool",), limit_s=5.0), there], out_dir)
    assert gone.how is How.SPAWN_FAILED
    assert "/nowhere/tool" in gone.why
    assert told.stdout.kept == b"1\n"


def test_one_that_writes_without_end_is_stopped(bench: Workbench) -> None:
    stopped, told = run(bench, FLOODS, "print('after')")
    assert stopped.how is How.SIGNALLED
    assert told.stdout.kept == b"after\n"


def test_what_one_wrote_is_out_of_reach_of_the_next(bench: Workbench) -> None:
    first, second = run(bench, "print('true')", OVERWRITES)
    assert second.exit_status == 0, second.stderr.kept
    assert first.stdout.kept == b"true\n"


def test_a_child_that_is_left_does_not_hold_up_the_next(bench: Workbench) -> None:
    left, after = run(bench, FORKS, "print('after')")
    assert (left.how, left.stdout.kept) == (How.EXITED, b"left a child\n")
    assert after.stdout.kept == b"after\n"


def test_those_that_were_not_reached_have_not_succeeded(bench: Workbench) -> None:
    kills = "import os, signal; os.kill(os.getppid(), signal.SIGKILL)"
    before, killer, never = run(bench, "print('before')", kills, "print('never')")
    assert before.stdout.kept == b"before\n"
    for finished in (killer, never):
        assert finished.exit_status != 0
        assert b"never" not in finished.stdout.kept

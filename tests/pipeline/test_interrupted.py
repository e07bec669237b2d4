"""A review that is stopped in any phase: nothing runs on, nothing is left, and the receipt says so."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from git_helpers import Files, fingerprint, write
from reviews import (
    PRICE,
    SETTINGS,
    cli,
    descendants,
    environment,
    leftovers,
    processes_below,
    receipts,
    shop,
    start_cli,
    until,
)

from showcause.records import Ended

SLEEPS = b"import time\nimport unittest\n\nfrom shop import price\n\n\nclass SlowTest(unittest.TestCase):\n"
SLEEPS += b"    def test_slow(self):\n        time.sleep(getattr(price, 'WAIT', 0))\n"
PATCH: Files = {"shop/price.py": PRICE + b"\nWAIT = 30\n"}


_HUGE_BYTES = 4 << 30  # more than git reads before anyone gives up waiting


def _runs(*words: str) -> Callable[[int], bool]:
    """Whether a descendant's command line has all these words."""

    def found(pid: int) -> bool:
        for each in descendants(pid):
            try:
                line = Path(f"/proc/{each}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if all(any(word.encode() in argument for argument in line) for word in words):
                return True
        return False

    return found


PHASES: dict[str, tuple[Callable[[int], bool], Files]] = {
    "snapshot": (_runs("git", "add"), {}),
    "own tests": (_runs("showcause_unittest.py"), {"tests/test_new.py": SLEEPS}),
    "suite": (_runs("showcause_unittest.py"), {}),
    "imports": (_runs("showcause_imports.py"), {"shop/slow.py": b"import time\n\ntime.sleep(30)\n"}),
}


def prepare(top: Path, phase: str) -> None:
    base: Files = {"suite": {"tests/test_slow.py": SLEEPS}, "imports": {"shop/slow.py": b"\n"}}.get(phase, {})
    shop(top, base)
    write(top, PATCH | PHASES[phase][1])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("phase", PHASES)
def test_d2_a_signal_ends_all_and_is_in_the_receipt(
    tmp_path: Path, phase: str, number: signal.Signals
) -> None:
    top = tmp_path / "r"
    prepare(top, phase)
    before = fingerprint(top)
    if phase == "snapshot":
        with open(top / "large", "wb") as file:
            file.truncate(_HUGE_BYTES)
    living = start_cli(top, tmp_path / "temporary", "review", "--format", "json")
    until(lambda: PHASES[phase][0](living.process.pid))
    assert living.interrupt(number) == 130
    assert processes_below(str(tmp_path)) == []
    assert leftovers(living.temporary) == []
    (top / "large").unlink(missing_ok=True)
    assert fingerprint(top) == before
    (receipt,) = receipts(top)
    assert (receipt.body.ended, receipt.body.exit_status) == (Ended.INTERRUPTED, 130)
    assert (receipt.body.verdict, receipt.body.causes) == (None, ())
    assert (receipt.body.bound_to.head_tree == "") == (phase == "snapshot"), "git was stopped, not awaited"


def test_d2_a_signal_while_the_receipt_waits_for_the_store(tmp_path: Path) -> None:
    """Somebody holds the store: the wait ends, nothing is half written, and the next look tells of it."""
    top = shop(tmp_path / "r", {"tests/test_slow.py": SLEEPS})
    write(top, {"shop/price.py": PRICE + b"\nWAIT = 2\n"})
    living = start_cli(top, tmp_path / "temporary", "review", "--format", "json")
    until(lambda: _runs("showcause_unittest.py")(living.process.pid))
    holder = sqlite3.connect(top / ".git" / "showcause" / "store.sqlite3", timeout=30, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    until(lambda: not descendants(living.process.pid))
    assert living.process.poll() is None
    assert living.interrupt(signal.SIGINT) == 130
    holder.execute("ROLLBACK")
    holder.close()
    assert leftovers(living.temporary) == []
    assert "interrupted" in cli(top, "list").out
    assert [receipt.body.ended for receipt in receipts(top)] == [Ended.INTERRUPTED]
    assert cli(top, "verify").status == 0


def test_a_signal_before_the_work_is_no_verdict(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    write(top, PATCH)
    living = start_cli(top, tmp_path / "temporary", "review")
    # not before our first import: what comes earlier is the interpreter's own start
    until(lambda: b"msgspec" in Path(f"/proc/{living.process.pid}/maps").read_bytes())
    assert living.interrupt(signal.SIGINT) in (130, -signal.SIGINT)


@pytest.mark.parametrize("level", ["1", "3"])
def test_what_a_killed_review_leaves_is_swept_by_the_next(tmp_path: Path, level: str) -> None:
    top = tmp_path / "r"
    prepare(top, "suite")
    forced = {"SHOWCAUSE_SANDBOX_LEVEL": level}
    living = start_cli(top, tmp_path / "temporary", "review", env=forced)
    until(lambda: _runs("showcause_unittest.py")(living.process.pid))
    assert living.interrupt(signal.SIGKILL) == -signal.SIGKILL
    until(lambda: processes_below(str(tmp_path)) == [], seconds=5)
    assert leftovers(living.temporary) != []
    told = cli(top, "list")
    assert (told.status, "interrupted" in told.out) == (0, True)
    write(top, {"shop/price.py": PRICE + b"\nWAIT = 0\n"})
    again = cli(top, "review", env=forced | {"TMPDIR": str(living.temporary)})
    assert again.status == 3, again.err
    assert leftovers(living.temporary) == []
    assert [receipt.body.ended for receipt in receipts(top)] == [Ended.UNDECIDED, Ended.INTERRUPTED]
    assert cli(top, "verify").status == 0


def test_an_interrupted_reproduction(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": b"import time\n\ntime.sleep(0.5)\nprint(undefined)\n" + PRICE})
    assert cli(top, "review").status == 1
    identity = receipts(top)[0].id
    living = start_cli(top, tmp_path / "temporary", "reproduce", identity)
    until(lambda: _runs("showcause_imports.py")(living.process.pid))
    assert living.interrupt(signal.SIGINT) == 130
    assert processes_below(str(tmp_path)) == []
    assert leftovers(living.temporary) == []


def test_an_interrupted_demo(tmp_path: Path) -> None:
    living = start_cli(tmp_path, tmp_path / "temporary", "demo")
    until(lambda: _runs("showcause_unittest.py")(living.process.pid))
    assert living.interrupt(signal.SIGINT) == 130
    assert processes_below(str(living.temporary)) == []
    assert leftovers(living.temporary) == []


def test_e1_standard_input_that_never_ends(tmp_path: Path) -> None:
    """A test that reads its standard input finds it empty, whatever ours is."""
    reads = SLEEPS.replace(
        b"time.sleep(getattr(price, 'WAIT', 0))", b"self.assertEqual(__import__('sys').stdin.read(), '')"
    )
    top = shop(tmp_path / "r", {"tests/test_slow.py": reads})
    write(top, PATCH)
    reader, writer = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "showcause", "review", "--format", "json", *SETTINGS],
            cwd=top, env=environment(), stdin=reader, capture_output=True, check=False, timeout=30,
        )  # fmt: skip
    finally:
        os.close(reader)
        os.close(writer)
    assert done.returncode == 3
    items = {item.id: item.head.value for check in receipts(top)[0].body.checks for item in check.items}
    assert items["tests.test_slow.SlowTest.test_slow"] == "passed"

"""Records for the store's tests, and a child process that does what its arguments say."""

from __future__ import annotations

import os
import subprocess
import sys

import msgspec

from showcause.errors import ShowcauseError
from showcause.receipt import exit_status
from showcause.records import (
    Attribution,
    BoundTo,
    CheckResult,
    Ended,
    Failure,
    FailureKind,
    Item,
    ItemRun,
    Outcome,
    ReviewRecord,
    RunReport,
    RunState,
    Side,
    Stage,
    TestResult,
    Verdict,
)
from showcause.store import About, open_store


def record(items: int = 3, **changes: object) -> ReviewRecord:
    run = ItemRun(side=Side.HEAD, outcome=Outcome.PASSED, told_by="call", duration_s=0.25)
    made = ReviewRecord(
        verdict=None,
        ended=Ended.UNDECIDED,
        why="no cause",
        exit_status=3,
        decided_by=None,
        causes=(),
        evidence=(),
        checks=(
            CheckResult(
                id="suite",
                stage=Stage.EXECUTION,
                version="1",
                state=RunState.COMPLETE,
                why="",
                items=tuple(
                    Item(
                        id=f"tests/test_a.py::test_{number}",
                        base=Outcome.PASSED,
                        head=Outcome.PASSED,
                        attribution=Attribution.UNCHANGED,
                        runs=(run, run),
                    )
                    for number in range(items)
                ),
            ),
        ),
        tampering=(),
        not_checked=(),
        changes=(),
        bound_to=BoundTo(base_tree="1a" * 20, head_tree="2b" * 20, patch="3c" * 32, policy="4d" * 32),
        sandbox=None,
        issue="",
        settings="",
        environment="",
        started="2026-01-02T03:04:05.000000+00:00",
        wall_s=1.5,
    )
    return msgspec.structs.replace(made, **changes)


def rejection() -> ReviewRecord:
    ended, verdict = Ended.DECIDED, Verdict.REJECT
    return record(ended=ended, verdict=verdict, exit_status=exit_status(ended, verdict, False))


def report(id: str = "tests/test_a.py::test_\udcff") -> RunReport:
    failure = Failure(kind=FailureKind.ASSERTION, message="a\x00b\ud800")
    result = TestResult(id=id, outcome=Outcome.FAILED, told_by="call", failure=failure, duration_s=0.5)
    return RunReport(
        side=Side.BASE, state=RunState.COMPLETE, why="", results=(result,), loaded=(), argv=("pytest", id),
        exit_status=1, signal=None, wall_s=1.25, leaked=0, output_tail="",
    )  # fmt: skip


def child(*words: str | int, **options: object) -> subprocess.Popen[bytes]:
    """Run `main` below in a new process; its output is read by the caller."""
    argv = [sys.executable, __file__, *map(str, words)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)  # type: ignore[call-overload,no-any-return]


def main(what: str, path: str, count: str = "0", busy_s: str = "60") -> None:
    """append: `count` receipts. fill: receipts until the store fails. announce: a review, then die.
    hold: keep the write lock until standard input ends."""
    try:
        store = open_store(path, busy_s=float(busy_s))
        match what:
            case "append":
                for _ in range(int(count)):
                    print(store.finish_review(store.start_review(About()), record()).id, flush=True)
            case "fill":
                while True:
                    print(store.finish_review(store.start_review(About()), record(500)).id, flush=True)
            case "announce":
                print(store.start_review(About(issue="i")).id, flush=True)
                os._exit(9)
            case "hold":
                with store._write():  # type: ignore[attr-defined]
                    print("held", flush=True)
                    sys.stdin.read()
    except ShowcauseError as error:
        print(f"{type(error).__name__}|{error}|{getattr(error, 'cure', '')}", flush=True)
        raise SystemExit(4) from None


if __name__ == "__main__":
    main(*sys.argv[1:])

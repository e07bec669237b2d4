"""The event file as bytes, without a run."""

from __future__ import annotations

import json

import pytest

from showcause.process import How
from showcause.records import FailureKind, Outcome
from showcause.runners.events import Begin, End, Start, read_events
from showcause.runners.failures import Places
from showcause.runners.results import Asked, collect_results
from showcause.runners.spelling import dotted

START = {"ev": "start", "runner": "pytest", "runner_version": "8", "python": "3", "prefix": "", "pid": 1}
PLACES = Places(surface=frozenset())


def lines(*events: dict[str, object]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def asked(*expect: str, how: How = How.EXITED) -> Asked:
    return Asked(select=(), expect=expect, needs=frozenset({"setup", "call", "teardown"}), how=how)


def test_nothing() -> None:
    log = read_events(b"")
    assert (log.events, log.foreign, log.end) == ((), 0, None)
    assert [result.outcome for result in collect_results(log, asked("a"), PLACES)] == [Outcome.NOT_RUN]


def test_a_cut_last_line_is_nobodys_fault() -> None:
    log = read_events(lines(START) + b'{"ev": "begin", "i')
    assert [type(event) for event in log.events] == [Start]
    assert log.foreign == 0


@pytest.mark.parametrize(
    "line", [b"x", b"[]", b"{}", b'{"ev": "nothing"}', b'{"ev": "end"}', b"\xff", b"[" * 99_999]
)
def test_lines_of_others_are_counted(line: bytes) -> None:
    assert read_events(lines(START) + line + b"\n").foreign == 1


def test_only_one_last_end_counts() -> None:
    end: dict[str, object] = {"ev": "end", "exit": 1}
    begin: dict[str, object] = {"ev": "begin", "id": "a"}
    assert read_events(lines(START, end)).end == End(1)
    assert read_events(lines(START, end, end)).end is None
    assert read_events(lines(START, end, begin)).end is None


def test_ids_may_hold_anything() -> None:
    name = "t.py::test[\udcff\n]"
    assert read_events(lines({"ev": "begin", "id": name})).events == (Begin(name),)


@pytest.mark.parametrize(
    ("how", "outcome", "kind"),
    [
        (How.EXITED, Outcome.CRASHED, FailureKind.CRASH),
        (How.SIGNALLED, Outcome.CRASHED, FailureKind.CRASH),
        (How.TIMEOUT, Outcome.TIMEOUT, FailureKind.TIMEOUT),
        (How.CANCELLED, Outcome.NOT_RUN, None),
    ],
)
def test_the_begun_test(how: How, outcome: Outcome, kind: FailureKind | None) -> None:
    phase: dict[str, object] = {"ev": "phase", "id": "a", "when": "setup", "outcome": "passed"}
    log = read_events(
        lines(START, {"ev": "collected", "ids": [["a", ""], ["b", ""]]}, {"ev": "begin", "id": "a"}, phase)
    )
    first, second = collect_results(log, asked("a", how=how), PLACES)
    assert (first.outcome, first.failure and first.failure.kind) == (outcome, kind)
    assert (second.id, second.outcome, second.told_by) == ("b", Outcome.NOT_RUN, "the run ended before it")


@pytest.mark.parametrize("missing", ["setup", "call", "teardown"])
def test_a_pass_needs_every_phase(missing: str) -> None:
    phases: list[dict[str, object]] = [
        {"ev": "phase", "id": "a", "when": when, "outcome": "passed"}
        for when in ("setup", "call", "teardown")
        if when != missing
    ]
    log = read_events(lines(START, {"ev": "begin", "id": "a"}, *phases, {"ev": "finish", "id": "a"}))
    (result,) = collect_results(log, asked("a"), PLACES)
    assert result.outcome is Outcome.ERROR


def test_counts_in_are_counts_out() -> None:
    runs: list[dict[str, object]] = [{"ev": "not_run", "id": "a", "why": "x"}] * 2
    results = collect_results(read_events(lines(START, *runs)), asked("c", "a", "b"), PLACES)
    assert [result.id for result in results] == ["c", "a", "b"]


@pytest.mark.parametrize(
    ("spelled", "meant"),
    [
        ("test_x (a.b.C)", "a.b.C.test_x"),
        ("test_x (a.b.C.test_x)", "a.b.C.test_x"),
        ("a.b.C.test_x", "a.b.C.test_x"),
        ("A sentence (with a.bracket) in it", "A sentence (with a.bracket) in it"),
    ],
)
def test_spellings(spelled: str, meant: str) -> None:
    assert dotted(spelled) == meant

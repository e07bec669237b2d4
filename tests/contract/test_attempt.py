"""One attempt with a real process: every fault has its own end, and only a whole review is complete."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from showcause import process
from showcause.contract import Runtime, pool_of
from showcause.contract.standing import Plan
from showcause.process import Command, Finished
from showcause.records.contract import AttemptEnd, CritiqueOutcome, Phase, ReviewerSpec, WhyNot
from tests.contract.made import Journal, made, parcel, spec

FINDING = {"place": "till/basket.py:12", "trigger": "two equal items", "wrong": "one is lost"}


def test_a_whole_review_is_complete(tmp_path: Path) -> None:
    done = made(tmp_path, Plan(findings=(FINDING,))).record
    assert (done.ended, done.why, done.exit_status) == (AttemptEnd.COMPLETED, "", 0)
    assert done.why_not == ()
    assert done.critique is not None
    assert done.critique.outcome is CritiqueOutcome.FINDINGS
    assert done.critique.findings[0].trigger == "two equal items"
    assert done.delivery is not None
    assert done.delivery.is_whole
    assert done.delivery.codes_back == done.delivery.codes >= 3
    assert done.launched is not None
    assert done.launched.audited
    assert done.launched.program_digest


def test_no_finding_is_complete_too(tmp_path: Path) -> None:
    done = made(tmp_path, Plan()).record
    assert done.ended is AttemptEnd.COMPLETED
    assert done.critique is not None
    assert done.critique.outcome is CritiqueOutcome.NO_FINDING


@pytest.mark.parametrize(
    ("plan", "end"),
    [
        (Plan(out=""), AttemptEnd.EMPTY_RESPONSE),
        (Plan(out=" \n"), AttemptEnd.EMPTY_RESPONSE),
        (Plan(out="ok looks good APPROVED"), AttemptEnd.MALFORMED_OUTPUT),
        (Plan(out="@ANSWER@@ANSWER@"), AttemptEnd.MALFORMED_OUTPUT),
        (Plan(cut=30), AttemptEnd.MALFORMED_OUTPUT),
        (Plan(exit=1), AttemptEnd.PROCESS_CRASH),
        (Plan(exit=1, out=""), AttemptEnd.PROCESS_CRASH),
        (Plan(signal=15), AttemptEnd.PROCESS_CRASH),
        (Plan(signal=9), AttemptEnd.PROCESS_CRASH),
        (Plan(known={"codes": ["0", "1", "2"]}), AttemptEnd.INPUT_DELIVERY_FAILED),
    ],
)
def test_each_fault_has_its_own_end(tmp_path: Path, plan: Plan, end: AttemptEnd) -> None:
    done = made(tmp_path, plan).record
    assert done.ended is end
    assert WhyNot.NOT_COMPLETED in done.why_not
    assert done.critique is None
    assert done.exit_status != 0


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99, None])
def test_cut_input_is_never_a_review(tmp_path: Path, share: float | None) -> None:
    """1%, 50%, 99% and all but one character, by a reader that closes its end."""
    sent = parcel(400_000)
    size = len(sent.data)
    plan = Plan(read=size - 1 if share is None else int(size * share))
    done = made(tmp_path, plan, parcel=sent, reviewer=spec(context_tokens=1_000_000)).record
    assert done.ended is AttemptEnd.INPUT_DELIVERY_FAILED
    assert not done.is_eligible


def test_a_liar_that_knows_the_marks_is_caught_by_the_count(tmp_path: Path) -> None:
    sent = parcel(400_000)
    known = {"packet": sent.id, "codes": list(sent.codes), "nonce": sent.nonce}
    done = made(
        tmp_path, Plan(read=1000, known=known), parcel=sent, reviewer=spec(context_tokens=1_000_000)
    ).record
    assert done.ended is AttemptEnd.INPUT_DELIVERY_FAILED
    assert WhyNot.INPUT_INCOMPLETE in done.why_not


@pytest.mark.parametrize(
    ("plan", "phase"),
    [(Plan(read=0, close=False, wait_s=600), Phase.WRITING), (Plan(wait_s=600), Phase.READING)],
)
def test_cancelling_ends_it_in_each_phase(tmp_path: Path, plan: Plan, phase: Phase) -> None:
    cancel = threading.Event()
    threading.Timer(0.5, cancel.set).start()
    sent = parcel(400_000)
    done = made(
        tmp_path, plan, cancel=cancel, parcel=sent,
        reviewer=spec(context_tokens=1_000_000, deadline_s=300),
    ).record  # fmt: skip
    assert (done.ended, done.timing.phase) == (AttemptEnd.CANCELLED, phase)


def test_a_cancellation_after_reaping_still_counts(tmp_path: Path) -> None:
    cancel = threading.Event()

    def door(command: Command, **how: object) -> Finished:
        finished = process.run(command, **how)  # type: ignore[arg-type]
        cancel.set()
        return finished

    done = made(tmp_path, Plan(), cancel=cancel, runtime=Runtime(door=door)).record
    assert (done.ended, done.timing.phase) == (AttemptEnd.CANCELLED, Phase.COUNTING)


@pytest.mark.parametrize(
    "plan",
    [
        Plan(read=0, close=False, wait_s=600),
        Plan(wait_s=600, ignore_term=True),
        Plan(linger_s=600),
    ],
)
def test_the_deadline_ends_what_does_not_end(tmp_path: Path, plan: Plan) -> None:
    done = made(tmp_path, plan, reviewer=spec(deadline_s=0.5)).record
    assert done.ended is AttemptEnd.TIMEOUT
    assert done.launched is not None
    assert done.launched.left == 0


def test_a_deadline_that_passes_while_counting(tmp_path: Path) -> None:
    def door(command: Command, **how: object) -> Finished:
        finished = process.run(command, **how)  # type: ignore[arg-type]
        deadline = how["deadline"]
        while not deadline.passed:  # type: ignore[attr-defined]
            time.sleep(0.01)
        return finished

    done = made(tmp_path, Plan(), reviewer=spec(deadline_s=3), runtime=Runtime(door=door)).record
    assert (done.ended, done.timing.phase) == (AttemptEnd.TIMEOUT, Phase.COUNTING)
    assert WhyNot.LATE in done.why_not


def test_a_daemon_does_not_outlive_it(tmp_path: Path) -> None:
    done = made(tmp_path, Plan(daemon=600)).record
    assert done.ended is AttemptEnd.COMPLETED
    assert done.launched is not None
    assert done.launched.left == 0


@pytest.mark.parametrize(
    ("share", "end"),
    [(0.8, AttemptEnd.COMPLETED), (1.0, AttemptEnd.COMPLETED), (1.2, AttemptEnd.OUTPUT_TRUNCATED)],
)
def test_output_beside_its_budget(tmp_path: Path, share: float, end: AttemptEnd) -> None:
    done = made(tmp_path, Plan(pad=int(100_000 * share)), output_bytes=100_000).record
    assert done.output is not None
    assert done.output.stdout_bytes == int(100_000 * share)
    assert done.ended is end


def test_a_flood_on_standard_error_is_drained(tmp_path: Path) -> None:
    done = made(tmp_path, Plan(stderr_bytes=50_000_000), output_bytes=100_000).record
    assert done.ended is AttemptEnd.COMPLETED
    assert done.output is not None
    assert done.output.stderr_bytes == 50_000_000


@pytest.mark.parametrize(
    ("reviewer", "end"),
    [
        (spec(model="claude-opus-4-5"), AttemptEnd.SAME_POOL),
        (spec(pool="Team-A "), AttemptEnd.SAME_POOL),
        (spec(pool="openai/team-a"), AttemptEnd.SAME_POOL),
        (spec(pool=""), AttemptEnd.UNKNOWN_POOL),
        (spec(model="house-model"), AttemptEnd.UNKNOWN_POOL),
        (spec(pool="google/team-b"), AttemptEnd.UNKNOWN_POOL),
    ],
)
def test_a_shared_or_unknown_pool_spawns_nothing(
    tmp_path: Path, reviewer: ReviewerSpec, end: AttemptEnd
) -> None:
    def door(_command: Command, **_how: object) -> Finished:
        raise AssertionError("something was spawned")

    done = made(tmp_path, Plan(), reviewer=reviewer, runtime=Runtime(door=door)).record
    assert done.ended is end
    assert done.launched is None
    assert done.why_not


def test_a_primary_of_an_unknown_pool_cannot_be_reviewed(tmp_path: Path) -> None:
    done = made(tmp_path, Plan(), primary_pool=pool_of("me")).record
    assert done.ended is AttemptEnd.UNKNOWN_POOL
    assert WhyNot.PRIMARY_PROVIDER_UNKNOWN in done.why_not


def test_a_missing_program_is_spawn_failed() -> None:
    from showcause.contract import attempt
    from tests.contract.made import means, order

    done = attempt(order(spec(command=("/nowhere/reviewer",))), means()).record
    assert (done.ended, done.exit_status) == (AttemptEnd.SPAWN_FAILED, 4)


def test_a_reviewer_that_changes_the_repository_is_told(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("as it was")
    done = made(tmp_path, Plan(write=(str(target),)), tree=target.read_text).record
    assert done.ended is AttemptEnd.MUTATED
    assert WhyNot.TREE_CHANGED in done.why_not


@pytest.mark.parametrize("size", [0, 1, 131_071, 131_072, 300_000, 3_000_000])
def test_packets_of_every_size_arrive_whole(tmp_path: Path, size: int) -> None:
    sent = parcel(size)
    done = made(tmp_path, Plan(), parcel=sent, reviewer=spec(context_tokens=1_000_000)).record
    assert done.ended is AttemptEnd.COMPLETED
    assert done.delivery is not None
    assert done.delivery.accepted_bytes == len(sent.data)


def test_a_packet_over_the_window_spawns_nothing(tmp_path: Path) -> None:
    done = made(tmp_path, Plan(), parcel=parcel(3_000_000), reviewer=spec(context_tokens=200_000)).record
    assert done.ended is AttemptEnd.INPUT_TOO_LARGE
    assert "window of 200000" in done.why


def test_the_started_row_stands_before_the_spawn(tmp_path: Path) -> None:
    journal = Journal()
    seen: list[list[str]] = []

    def door(command: Command, **how: object) -> Finished:
        seen.append([what for what, *_ in journal.rows])
        return process.run(command, **how)  # type: ignore[arg-type]

    made(tmp_path, Plan(), journal=journal, runtime=Runtime(door=door))
    assert seen == [["started"]]
    assert [what for what, *_ in journal.rows] == ["started", "finished"]


def test_an_error_of_our_own_has_a_terminal_row(tmp_path: Path) -> None:
    journal = Journal()

    def door(_command: Command, **_how: object) -> Finished:
        raise RuntimeError("broken")

    done = made(tmp_path, Plan(), journal=journal, runtime=Runtime(door=door)).record
    assert (done.ended, done.why) == (AttemptEnd.FAULT, "RuntimeError: broken")
    assert [what for what, *_ in journal.rows] == ["started", "finished"]


def test_an_interrupt_has_a_terminal_row_and_goes_on(tmp_path: Path) -> None:
    journal = Journal()

    def door(_command: Command, **_how: object) -> Finished:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made(tmp_path, Plan(), journal=journal, runtime=Runtime(door=door))
    assert [what for what, *_ in journal.rows] == ["started", "finished"]

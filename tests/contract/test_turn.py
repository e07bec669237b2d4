"""Whole turns: packet, attempt, receipt in a real store, and what is refused before."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from showcause.canon import digest
from showcause.contract import Turn, pool_of, review_turn, run_primary
from showcause.contract.adapters import ADAPTERS
from showcause.contract.standing import Plan, stand_in
from showcause.errors import UsageError
from showcause.models import Act, Scripted, Step
from showcause.records import ChatFailureKind, ModelSpec
from showcause.records.contract import Allowance, AttemptEnd, CritiqueOutcome, ReviewerKind, Role
from showcause.store import open_store
from showcause.store.attempts import Attempts, open_attempts
from showcause.store.chain import verify
from tests.contract.made import PRIMARY, Journal, means, spec

FINDING = {"place": "answer", "trigger": "two items", "wrong": "one is lost"}


def turn(**more: Any) -> Turn:
    told: dict[str, Any] = {"instruction": "Make it count.", "answer": "It counts now.", "author": PRIMARY}
    return Turn(**{**told, **more})


def standing(folder: Path, plan: Plan, **more: Any) -> Any:
    return stand_in(spec(**more), ADAPTERS[ReviewerKind.COMMAND], plan, folder)


@pytest.fixture
def attempts(tmp_path: Path) -> Attempts:
    return open_attempts(tmp_path / "store" / "store.sqlite3")


def test_a_turn_is_reviewed_and_its_receipt_kept(tmp_path: Path, attempts: Attempts) -> None:
    done = review_turn(turn(), standing(tmp_path, Plan(findings=(FINDING,))), means(journal=attempts))
    assert done.record.ended is AttemptEnd.COMPLETED
    assert done.record.is_eligible
    kept = attempts.get(done.receipt)
    assert kept.body == done.record
    assert kept.body.critique is not None
    assert kept.body.critique.outcome is CritiqueOutcome.FINDINGS
    store = open_store(tmp_path / "store" / "store.sqlite3")
    report = verify(store.entries())
    assert (report.is_valid, report.count, report.head) == (True, 1, kept.digest)


def test_attempts_are_not_listed_among_reviews(tmp_path: Path, attempts: Attempts) -> None:
    done = review_turn(turn(), standing(tmp_path, Plan()), means(journal=attempts))
    store = open_store(tmp_path / "store" / "store.sqlite3")
    assert (store.count(), store.page(), store.latest()) == (0, (), None)
    with pytest.raises(UsageError):
        store.get(done.receipt)


def test_no_final_answer_spawns_nothing(tmp_path: Path, attempts: Attempts) -> None:
    done = review_turn(turn(answer=" \n"), standing(tmp_path, Plan()), means(journal=attempts))
    assert done.record.ended is AttemptEnd.PRIMARY_INCOMPLETE
    assert done.record.launched is None
    assert attempts.spent(done.record.pool, done.record.ids.turn).turn == 0


@pytest.mark.parametrize("size", [1, 131_071, 131_072, 300_000, 3_000_000])
def test_answers_of_every_size(tmp_path: Path, size: int) -> None:
    done = review_turn(turn(answer="a" * size), standing(tmp_path, Plan(), context_tokens=2_000_000), means())
    assert done.record.ended is AttemptEnd.COMPLETED


def test_an_answer_over_the_window_is_refused_and_said(tmp_path: Path) -> None:
    done = review_turn(turn(answer="a" * 3_000_000), standing(tmp_path, Plan()), means())
    assert done.record.ended is AttemptEnd.INPUT_TOO_LARGE
    assert "too small" in done.record.why


def test_the_allowance_of_a_turn_and_of_an_hour(tmp_path: Path, attempts: Attempts) -> None:
    reviewer, with_store = standing(tmp_path, Plan()), means(journal=attempts)
    ends = [
        review_turn(turn(), reviewer, with_store, allowance=Allowance(per_turn=2)).record.ended
        for _ in range(3)
    ]
    assert ends == [AttemptEnd.COMPLETED, AttemptEnd.COMPLETED, AttemptEnd.BUDGET_SPENT]
    other = turn(answer="Another one.")
    allowed = Allowance(per_hour=2)
    assert review_turn(other, reviewer, with_store, allowance=allowed).record.ended is AttemptEnd.BUDGET_SPENT


def test_a_stated_limit_opens_a_breaker_for_its_pool_only(tmp_path: Path, attempts: Attempts) -> None:
    limited = Scripted("m", [Step(act=Act.FAIL, failure=ChatFailureKind.RATE_LIMIT, retry_after_s=600.0)])
    reviewer = spec(
        kind=ReviewerKind.MODEL, model="", asks=ModelSpec(name="m", kind="scripted", model="gpt-5")
    )
    with_chat = means(journal=attempts, chat=limited)
    first = review_turn(turn(), reviewer, with_chat).record
    assert (first.ended, first.retry_after_s) == (AttemptEnd.PROVIDER_FAULT, 600.0)
    second = review_turn(turn(), reviewer, with_chat).record
    assert second.ended is AttemptEnd.BUDGET_SPENT
    assert "left alone until" in second.why
    other = standing(tmp_path, Plan(), model="gemini-3-pro", pool="team-c")
    assert review_turn(turn(), other, means(journal=attempts)).record.ended is AttemptEnd.COMPLETED


def test_a_primary_answers_under_the_same_conditions(tmp_path: Path, attempts: Attempts) -> None:
    done = run_primary("Say hello.", standing(tmp_path, Plan(out="hello")), means(journal=attempts)).record
    assert (done.ended, done.role, done.answer) == (AttemptEnd.COMPLETED, Role.PRIMARY, "hello")
    assert done.is_eligible
    failed = run_primary("Say hello.", standing(tmp_path, Plan(out="hello", exit=1)), means()).record
    assert (failed.ended, failed.answer) == (AttemptEnd.PROCESS_CRASH, "")


def test_a_model_reviews_without_a_process(attempts: Attempts) -> None:
    from showcause.contract.standin import critique_of

    chat = Scripted("m", lambda request: __import__("json").dumps(critique_of(request.messages[0].content)))
    asks = ModelSpec(name="m", kind="scripted", model="gpt-5")
    done = review_turn(
        turn(), spec(kind=ReviewerKind.MODEL, model="", asks=asks), means(journal=attempts, chat=chat)
    ).record
    assert done.ended is AttemptEnd.MODEL_MISMATCH  # a scripted model reports its own name
    chat.model = "gpt-5"
    done = review_turn(
        turn(), spec(kind=ReviewerKind.MODEL, model="", asks=asks), means(journal=attempts, chat=chat)
    ).record
    assert (done.ended, done.why_not) == (AttemptEnd.COMPLETED, ())


@pytest.mark.parametrize(
    ("step", "end"),
    [
        (Step(act=Act.EMPTY), AttemptEnd.EMPTY_RESPONSE),
        (Step(act=Act.PROSE), AttemptEnd.MALFORMED_OUTPUT),
        (Step(act=Act.CUT, text="{}"), AttemptEnd.OUTPUT_TRUNCATED),
        (Step(act=Act.LENGTH, text="{" + " " * 40), AttemptEnd.OUTPUT_TRUNCATED),
        (Step(act=Act.FAIL, failure=ChatFailureKind.AUTH), AttemptEnd.PROVIDER_FAULT),
        (Step(act=Act.STALL), AttemptEnd.TIMEOUT),
        (Step(act=Act.WRONG_MODEL, text="{}"), AttemptEnd.MODEL_MISMATCH),
    ],
)
def test_faults_of_a_model_have_the_same_ends(step: Step, end: AttemptEnd) -> None:
    asks = ModelSpec(name="m", kind="scripted", model="gpt-5")
    reviewer = spec(kind=ReviewerKind.MODEL, model="", asks=asks, deadline_s=0.5)
    done = review_turn(turn(), reviewer, means(chat=Scripted("m", [step], model="gpt-5"))).record
    assert done.ended is end
    assert done.why_not


def test_a_killed_runtime_leaves_an_attempt_that_is_found_interrupted(tmp_path: Path) -> None:
    """SIGKILL between the STARTED row and the end: `interrupted` at the next start, never complete."""
    path = tmp_path / "store" / "store.sqlite3"
    program = textwrap.dedent(
        """
        import os, signal, sys
        from pathlib import Path
        from showcause.contract import Runtime, Turn, review_turn
        from showcause.store.attempts import open_attempts
        from tests.contract.made import PRIMARY, means, spec

        def door(command, **how):
            os.kill(os.getpid(), signal.SIGKILL)

        attempts = open_attempts(Path(sys.argv[1]))
        review_turn(
            Turn(instruction="i", answer="a", author=PRIMARY),
            spec(command=("true",)),
            means(journal=attempts, runtime=Runtime(door=door)),
        )
        """
    )
    root = Path(__file__).parents[2]
    env = {**os.environ, "PYTHONPATH": f"{root}:{root / 'src'}"}
    ended = subprocess.run([sys.executable, "-c", program, str(path)], env=env, check=False)
    assert ended.returncode == -9
    attempts = open_attempts(path)
    (kept,) = attempts.page()
    assert kept.body.ended is AttemptEnd.INTERRUPTED
    assert not kept.body.is_eligible
    assert attempts.interrupt_dead() == ()


def test_ids_name_the_turn_by_its_content() -> None:
    assert turn().ids == turn().ids
    assert turn(answer="other").ids.turn != turn().ids.turn
    assert turn(turn="t-9", conversation="c").ids.turn == "t-9"
    assert turn().ids.candidate == digest(b"It counts now.")


def test_a_primary_pool_that_is_spent_leaves_the_reviewer_able_to_run(tmp_path: Path) -> None:
    class Full(Journal):
        def spent(self, pool: Any, turn: str) -> Any:
            base = super().spent(pool, turn)
            return base if pool.account != "team-a" else type(base)(turn=99, hour=99, limited_until="")

    journal = Full()
    primary = standing(tmp_path, Plan(out="x"), model="claude-opus-4-5", pool="team-a")
    assert run_primary("i", primary, means(journal=journal)).record.ended is AttemptEnd.BUDGET_SPENT
    assert (
        review_turn(
            turn(author=pool_of("anthropic/team-a")), standing(tmp_path, Plan()), means(journal=journal)
        ).record.ended
        is AttemptEnd.COMPLETED
    )

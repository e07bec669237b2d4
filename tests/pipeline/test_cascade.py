"""Probes and reviewer after the checks: the whole cascade with scripted models (DESIGN 7, 8, 9)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cascades import ASKED, HALF, WHOLE, answer, cascade, claim, draft, vote
from reviews import PLAIN, receipts

import showcause
from showcause.errors import UsageError
from showcause.records import (
    AuditClass,
    Ended,
    HeadSays,
    ProbeState,
    ReviewRecord,
    Rule,
    Sameness,
    Stage,
    Verdict,
)
from showcause.report import render

SPREAD = draft("one", "self.assertEqual(stats.spread([]), 0.0)")
TUPLE = draft("two", "self.assertEqual(stats.spread(()), 0.0)")
MEAN = draft("three", "self.assertEqual(stats.mean([]), 0.0)", quote="it should return 0.0")
GUARD = draft("guard", "self.assertEqual(stats.mean([4]), 4)", role="guard", quote="")
TYPO = draft("four", "self.assertEqual(stats.spred([]), 0.0)")
WRITES = '[probe]\nmodels = ["m"]\n'
WITNESS = "You reviewed a patch"
MEND = "Some of the tests you wrote"
ASK = "You write tests"


def states(record: ReviewRecord) -> list[tuple[ProbeState, HeadSays]]:
    return [(result.state, result.says) for result in record.probes]


def test_probes_of_a_model_reject_an_omission_by_agreement(tmp_path: Path) -> None:
    steps = [{"when": ASK, "text": answer(SPREAD, TUPLE, GUARD)}]
    record = cascade(tmp_path, steps, WRITES)
    assert (record.verdict, record.decided_by) == (Verdict.REJECT, Stage.PROBES)
    assert [cause.rule for cause in record.causes] == [Rule.PROBE] * 2
    assert record.causes[0].base.startswith("failed (2 of 2 runs): ValueError")
    assert states(record) == [(ProbeState.QUALIFIED, HeadSays.FAILS)] * 2 + [
        (ProbeState.QUALIFIED, HeadSays.PASSES)
    ]
    assert record.probes[0].sameness is Sameness.SAME
    (said,) = record.written
    assert (said.generator, said.probes, said.why) == ("m", 3, "")


def test_the_causes_of_probes_show_again(tmp_path: Path) -> None:
    record = cascade(tmp_path, [{"when": ASK, "text": answer(SPREAD, TUPLE)}], WRITES)
    assert record.verdict is Verdict.REJECT
    top = tmp_path / "repo"
    id = record.causes[1].reproduce[-1]
    (top / "stats.py").write_bytes(WHOLE)  # the checkout has moved on; the receipt's trees have not
    _, again = showcause.reproduce(str(top), id)
    assert again[0].now is not None
    assert again[0].now.head == record.causes[1].head


def test_passing_probes_accept_nothing(tmp_path: Path) -> None:
    steps = [{"when": ASK, "text": answer(SPREAD, TUPLE, MEAN)}]
    record = cascade(tmp_path, steps, WRITES, head=WHOLE)
    assert (record.verdict, record.ended) == (None, Ended.UNDECIDED)
    assert [result.says for result in record.probes] == [HeadSays.PASSES] * 3


def test_one_failing_probe_of_three_is_evidence(tmp_path: Path) -> None:
    head = WHOLE.replace(b"if values else 0.0\n\n", b"if values else 1.0\n\n")
    record = cascade(tmp_path, [{"when": ASK, "text": answer(SPREAD, TUPLE, MEAN)}], WRITES, head=head)
    assert record.verdict is None
    (failing,) = (one for one in record.evidence if one.stage is Stage.PROBES)
    assert "fails without the patch and with it, in another way (AssertionError: 1.0 != 0.0" in failing.text


def test_the_policy_note_takes_any_single_one(tmp_path: Path) -> None:
    head = WHOLE.replace(b"if values else 0.0\n\n", b"if values else 1.0\n\n")
    settings = WRITES + '[gate]\npolicy = "note"\n'
    record = cascade(tmp_path, [{"when": ASK, "text": answer(SPREAD, TUPLE, MEAN)}], settings, head=head)
    assert [cause.rule for cause in record.causes] == [Rule.PROBE]


def test_what_does_not_qualify_is_mended_by_base_alone(tmp_path: Path) -> None:
    mended = draft("five", "self.assertEqual(stats.spread([]), 0.0)")
    steps = [
        {"when": ASK, "text": answer(TYPO)},
        {
            "when": MEND,
            "text": json.dumps({"probes": [{**mended, "replaces": "{{old}}"}]}),
            "echo": {"old": r"=== (\w+) \(probe\)"},
        },
    ]
    record = cascade(tmp_path, steps, WRITES)
    (result,) = record.probes
    assert (result.state, result.says) == (ProbeState.QUALIFIED, HeadSays.FAILS)
    (before,) = result.earlier
    assert before.state is ProbeState.NOT_BEHAVIOURAL
    assert "spred" in before.why
    assert record.verdict is None  # one probe is too few
    assert len(record.written) == 2


def test_a_break_is_evidence_alone_and_a_cause_beside_a_failing_probe(tmp_path: Path) -> None:
    head = HALF.replace(b"if values else 0.0", b"+ (len(values) == 1) if values else 0.0")
    steps = [{"when": ASK, "text": answer(GUARD, SPREAD, MEAN)}]
    record = cascade(tmp_path, steps, WRITES, head=head)
    rules = [cause.rule for cause in record.causes]
    assert rules[-1] is Rule.GUARD
    steps = [{"when": ASK, "text": answer(GUARD)}]
    (tmp_path / "alone").mkdir()
    alone = cascade(tmp_path / "alone", steps, WRITES, head=head)
    assert alone.verdict is None
    assert any("passes without the patch and fails with it" in one.text for one in alone.evidence)


# ------------------------------------------------------------------ the reviewer


def test_a_witnessed_claim_rejects_and_shows_again(tmp_path: Path) -> None:
    steps = [{"when": WITNESS, "text": answer(SPREAD)}, vote("reject", claim())]
    record = cascade(tmp_path, steps)
    assert (record.verdict, record.decided_by) == (Verdict.REJECT, Stage.REVIEWER)
    (cause,) = record.causes
    assert cause.rule is Rule.REVIEWER
    assert record.review is not None
    assert [one.holds for one in record.review.witnesses] == [True]
    _, again = showcause.reproduce(str(tmp_path / "repo"), cause.reproduce[-1])
    assert again[0].now is not None


@pytest.mark.parametrize(
    ("witness", "why"),
    [
        (answer(), "it wrote none"),
        (answer(MEAN), "it passes with the patch"),
        (answer(TYPO), "not_behavioural"),
        (answer(GUARD), "it passes with the patch"),
        (answer({**SPREAD, "quote": "spread of nothing is zero"}), "quote is not in the issue"),
        (answer(SPREAD, TUPLE), "2 tests instead of one"),
    ],
)
def test_a_claim_without_a_witness_stays_uncertain(tmp_path: Path, witness: str, why: str) -> None:
    record = cascade(tmp_path, [{"when": WITNESS, "text": witness}, vote("reject", claim())])
    assert (record.verdict, record.ended) == (None, Ended.UNDECIDED)
    assert record.review is not None
    (one,) = record.review.witnesses
    assert not one.holds
    assert why in one.why
    assert "no test shows what it claims" in record.why


def test_an_accept_that_was_not_earned_reads_uncertain(tmp_path: Path) -> None:
    record = cascade(tmp_path, [vote("accept")], head=WHOLE)
    assert record.verdict is None
    assert "has not earned the power to accept" in record.why


def test_what_the_checks_decide_is_never_sent_to_a_model(tmp_path: Path) -> None:
    box = tmp_path / "box"
    model = (
        f'[models.p]\nkind = "mailbox"\npath = "{box}"\n[review]\nreviewer = "p"\n[probe]\nmodels = ["p"]\n'
    )
    record = cascade(tmp_path, [vote("accept")], model, head=HALF + b"\nundefined_name\n")
    assert (record.verdict, record.decided_by) == (Verdict.REJECT, Stage.STATIC)
    assert not list(box.glob("requests/*"))
    assert record.review is None


@pytest.mark.parametrize("act", ["stall", "cut", "crash", "length", "empty", "prose", "two_objects", "fail"])
def test_a_failing_model_is_no_approval_and_no_rejection(tmp_path: Path, act: str) -> None:
    settings = '[review]\nreviewer = "m"\nvotes = 2\nlimit_s = 3\n[probe]\nmodels = ["m"]\nlimit_s = 1\n'
    record = cascade(tmp_path, [{"act": act, "text": "{}"}], settings, head=WHOLE)
    assert (record.verdict, record.ended) == (None, Ended.UNDECIDED)
    assert record.review is not None
    assert all(one.fault is not None and one.why for one in record.review.ballot.votes)
    assert all(said.why for said in record.written)


def test_a_vote_that_contradicts_its_evidence_is_kept_and_does_not_count(tmp_path: Path) -> None:
    lie = vote("reject", claim())
    lie["text"] = lie["text"].replace('{"id": "patch", "state": "shown"', '{"id": "ev-1", "state": "failed"')
    record = cascade(tmp_path, [{"when": WITNESS, "text": answer(SPREAD)}, lie])
    assert record.verdict is None
    assert record.review is not None
    assert all(AuditClass.CONTRADICTS_EVIDENCE in audit.classes for audit in record.review.audits)
    assert not record.review.witnesses  # nobody is asked to show what a spoilt vote claims


def test_an_unknown_model_is_told_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no \[models.q\]"):
        cascade(tmp_path, [vote("accept")], '[review]\nreviewer = "q"\n')


def test_a_key_is_not_sent_where_the_repository_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "very-secret-key")
    model = '[models.e]\nkind = "openai"\nmodel = "x"\nbase_url = "https://example.test/v1"\n'
    settings = model + 'api_key_env = "A_KEY"\n[review]\nreviewer = "e"\n'
    with pytest.raises(UsageError, match=r"SHOWCAUSE_MODEL_HOSTS=example.test") as caught:
        cascade(tmp_path, [], settings)
    assert "very-secret-key" not in str(caught.value)


def test_without_a_model_it_says_how_to_add_one(tmp_path: Path) -> None:
    record = cascade(tmp_path, [], "[gate]\n")
    assert any("--probe FILE" in one.why for one in record.not_checked)


def test_recorded_exchanges_replay_without_a_model(tmp_path: Path) -> None:
    steps = [
        {"when": ASK, "text": answer(SPREAD)},
        {"when": WITNESS, "text": answer(TUPLE)},
        vote("reject", claim()),
    ]
    settings = '[review]\nreviewer = "m"\nvotes = 2\n[probe]\nmodels = ["m"]\n'
    tape = str(tmp_path / "tape")
    first = cascade(tmp_path, steps, settings, record=tape)
    assert first.verdict is Verdict.REJECT
    (tmp_path / "script.json").write_text("{}")  # the model would fail now
    top = str(tmp_path / "repo")
    overrides = {"suite.python": PLAIN, "suite.runner": "unittest"}
    request = showcause.Request(directory=top, issue=ASKED, overrides=overrides, replay=tape, fresh=True)
    second = showcause.review(request).receipt.body
    assert second.causes[0].message == first.causes[0].message
    assert second.review is not None
    assert first.review is not None
    assert second.review.packet == first.review.packet
    assert [v.raw_digest for v in second.review.ballot.votes] == [
        v.raw_digest for v in first.review.ballot.votes
    ]


def test_every_form_of_report_shows_the_stage(tmp_path: Path) -> None:
    steps = [
        {"when": ASK, "text": answer(SPREAD, TYPO)},
        {"when": WITNESS, "text": answer()},
        vote("reject", claim()),
    ]
    settings = '[review]\nreviewer = "m"\nvotes = 2\n[probe]\nmodels = ["m"]\nrepairs = 1\n'
    cascade(tmp_path, steps, settings)
    (receipt,) = receipts(tmp_path / "repo")
    for form in ("text", "markdown", "json"):
        text = render(receipt, form).decode()
        assert "spred" in text
        assert "wrote none" in text

"""What reviewers of every kind earn on known cases (DESIGN 9)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from showcause.calibrate import Terms, calibrate, calibration_key, read_cases, shipped_cases
from showcause.calibrate.cases import patches_of
from showcause.errors import UsageError
from showcause.models import Scripted
from showcause.packet import Material, build_packet
from showcause.records import Calibration, ChatRequest, ModelSpec, Packet, PacketForm
from showcause.reviewer import Voting

TERMS = Terms(voting=Voting(votes=3), min_precision=0.7)
CASES = shipped_cases()
DEFECTIVE = {known.patch.digest: known.is_defective for case in CASES for known in patches_of(case)}


def packet(material: Material) -> Packet:
    return build_packet(material, PacketForm.CASCADE, budget=30_000, nonce="n" * 16)


def vote(request: ChatRequest, decision: str, cites: list[dict[str, str]] | None = None) -> str:
    text = request.messages[-1].content
    found = re.search(r"END OF PACKET (p-\w+) nonce (\w+)", text)
    assert found is not None
    cited = cites or [{"id": "patch", "state": "shown", "quote": ""}]
    reason = {"text": "Each sentence of the issue was held against the patch.", "cites": cited}
    finding = {"place": "line 1", "trigger": "the input named", "wrong": "not as asked", "cites": []}
    return json.dumps(
        {
            "packet": found[1],
            "nonce": found[2],
            "decision": decision,
            "reasons": [reason],
            "findings": [finding] if decision == "reject" else [],
        }
    )


def knows(request: ChatRequest) -> bool:
    """What nobody else can know: whether this very patch is the defective one."""
    found = re.search(r"^patch: (\w+)$", request.messages[-1].content, re.MULTILINE)
    assert found is not None
    return DEFECTIVE[found[1]]


def asked(answer: Callable[[ChatRequest], str]) -> Calibration:
    return calibrate(Scripted("judge", answer), CASES, TERMS, packet)


def test_a_good_reviewer_earns_both_powers() -> None:
    found = asked(lambda request: vote(request, "reject" if knows(request) else "accept"))
    assert (found.powers.accept, found.powers.reject) == (True, True)
    assert (found.catch.count, found.over_rejection.count) == (len(CASES), 0)
    assert found.accepts.low > 0.7


@pytest.mark.parametrize(
    "decision",
    [
        lambda request: "accept" if knows(request) else "reject",  # lies
        lambda _request: "accept",  # lazy
        lambda _request: "reject",
        lambda _request: "uncertain",
    ],
    ids=["lying", "lazy", "harsh", "undecided"],
)
def test_others_earn_none(decision: Callable[[ChatRequest], str]) -> None:
    found = asked(lambda request: vote(request, decision(request)))
    assert (found.powers.accept, found.powers.reject) == (False, False)
    assert all("refused" in why for why in found.why)


def test_votes_against_what_they_were_given_cost_the_power() -> None:
    wrong = [{"id": "patch", "state": "shown", "quote": "words that stand nowhere in it"}]
    found = asked(lambda request: vote(request, "reject" if knows(request) else "accept", wrong))
    assert not found.powers.accept
    assert found.contradicting.count == found.contradicting.n


def test_answers_that_cannot_be_read_are_no_answers() -> None:
    found = asked(lambda _request: "APPROVED")
    assert {answer.verdict for answer in found.answers} == {None}
    assert not found.powers.accept


def test_too_few_cases_earn_nothing() -> None:
    answer = Scripted("judge", lambda request: vote(request, "reject" if knows(request) else "accept"))
    found = calibrate(answer, CASES[:3], TERMS, packet)
    assert not found.powers.accept
    assert "fewer than 10 cases" in found.why[0]


def test_the_shipped_cases_are_what_they_say(tmp_path: Path) -> None:
    assert len({case.id for case in CASES}) == len(CASES) >= 12
    for case in CASES:
        assert case.good != case.bad
        for answer in (case.before, case.good, case.bad):
            for path, text in answer.items():
                compile(text, path, "exec")


def test_cases_of_the_users_own(tmp_path: Path) -> None:
    place = tmp_path / "own.jsonl"
    place.write_text('{"id": "a"}\n')
    with pytest.raises(UsageError, match=r"own.jsonl:1: .*issue"):
        read_cases(str(place))
    told = {"id": "a", "issue": "x", "before": {"../a": ""}, "good": {}, "bad": {}, "lacks": ""}
    place.write_text(json.dumps(told))
    (case,) = read_cases(str(place))
    with pytest.raises(UsageError, match="paths of its own"):
        list(patches_of(case))


def test_another_model_or_way_of_voting_is_another_reviewer() -> None:
    spec = ModelSpec(name="a", kind="openai", model="m")
    key = calibration_key(spec, TERMS.voting)
    assert key != calibration_key(ModelSpec(name="a", kind="openai", model="n"), TERMS.voting)
    assert key != calibration_key(spec, Voting(votes=5))

"""What a ballot comes to (laws 1, 4, 6, 8; PAINS A1, A2, A6, B3)."""

from __future__ import annotations

import msgspec
import pytest
from packets_made import FULL, GREEN, packet, patch, section
from votes_made import vote

from showcause.packet import Material
from showcause.records import (
    Ballot,
    Cite,
    Conclusion,
    Finding,
    Packet,
    Powers,
    Reason,
    Verdict,
    Vote,
    WitnessRule,
)
from showcause.reviewer import audit_votes, conclude, majority

ALL = Powers(accept=True, reject=True)
SOUND = Reason(text="The bound is n + 1 now.", cites=(Cite(id="patch", state="shown"),))
SHOWN = Reason(text="test_zero broke.", cites=(Cite(id="ev-1", state="failed"),))
FAULT = Finding(place="last.py:20", trigger="n = 0", wrong="[0]", cites=("ev-1",))


def concluded(
    given: Packet,
    *votes: Vote,
    powers: Powers = ALL,
    witness: WitnessRule = WitnessRule.OPTIONAL,
    witnessed: tuple[str, ...] = (),
) -> Conclusion:
    votes = tuple(msgspec.structs.replace(one, number=at) for at, one in enumerate(votes, 1))
    decision, why = majority(votes)
    ballot = Ballot(packet=given.id, asked=len(votes), votes=votes, decision=decision, why=why)
    audits = audit_votes(votes, given)
    return conclude(ballot, audits, given, powers, witness=witness, witnessed=witnessed)


def test_a_sound_accept_with_the_power_to_accept() -> None:
    assert concluded(packet(GREEN), *[vote("accept", reasons=(SOUND,))] * 3).verdict is Verdict.ACCEPT


def test_an_accept_without_the_power_reads_uncertain() -> None:
    powers = Powers(accept=False, reject=True)
    told = concluded(packet(GREEN), *[vote("accept", reasons=(SOUND,))] * 3, powers=powers)
    assert told.verdict is Verdict.UNCERTAIN
    assert "has not earned the power to accept" in told.why


def test_a_reject_without_the_power_reads_uncertain() -> None:
    powers = Powers(accept=True, reject=False)
    told = concluded(packet(FULL), *[vote("reject", reasons=(SHOWN,))] * 3, powers=powers)
    assert told.verdict is Verdict.UNCERTAIN


@pytest.mark.parametrize("decision", ["accept", "reject"])
def test_b3_an_incomplete_packet_caps_at_uncertain_whatever_the_words_say(decision: str) -> None:
    files = {f"f{i}.py": section(f"f{i}.py", ["x = 1"] * 200) for i in range(120)}
    cut = packet(Material(patch=patch(files), evidence=FULL.evidence), budget=8000)
    told = concluded(cut, *[vote(decision, reasons=(SOUND, SHOWN), findings=(FAULT,))] * 5)
    assert told.verdict is Verdict.UNCERTAIN
    assert "not given everything" in told.why
    assert "more" in told.why


def test_passes_accept_nothing() -> None:
    passes = Reason(text="The probe passes.", cites=(Cite(id="ev-1", state="passed"),))
    told = concluded(packet(GREEN), *[vote("accept", reasons=(passes,))] * 5)
    assert told == Conclusion(
        verdict=Verdict.UNCERTAIN,
        why="no majority (0 accept, 0 reject, 0 uncertain, 0 invalid, 5 set aside of 5 votes)",
    )


def test_a6_contradicting_votes_do_not_reject() -> None:
    wrong = Reason(text="ev-1 failed", cites=(Cite(id="ev-1", state="failed"),))
    assert concluded(packet(GREEN), *[vote("reject", reasons=(wrong,))] * 5).verdict is Verdict.UNCERTAIN


def test_a1_a2_a_reject_needs_evidence_or_a_witness() -> None:
    noted = vote("reject", findings=(Finding(severity="high", text="consider adding logging"),))
    assert concluded(packet(FULL), *[noted] * 5).verdict is Verdict.UNCERTAIN
    uncited = vote("reject", reasons=(SOUND,), findings=(Finding(place="a", trigger="b", wrong="c"),))
    told = concluded(packet(GREEN), *[uncited] * 5)
    assert told.verdict is Verdict.UNCERTAIN
    assert "no vote shows evidence" in told.why
    (audit,) = audit_votes([uncited], packet(GREEN))
    held = concluded(packet(GREEN), *[uncited] * 5, witnessed=(audit.findings[0].id,))
    assert held.verdict is Verdict.REJECT
    grounded = vote("reject", findings=(FAULT,))
    assert concluded(packet(FULL), *[grounded] * 3, *[vote("accept")] * 2).verdict is Verdict.REJECT


def test_a_rejection_without_a_witness_is_uncertain_where_one_is_required() -> None:
    grounded = vote("reject", findings=(FAULT,), reasons=(SHOWN,))
    told = concluded(packet(FULL), *[grounded] * 5, witness=WitnessRule.REQUIRED)
    assert told.verdict is Verdict.UNCERTAIN
    assert "no test shows what it claims" in told.why
    (audit,) = audit_votes([grounded], packet(FULL))
    shown = (audit.findings[0].id,)
    powers = Powers(accept=False, reject=False)  # a test that runs needs no trust in who asked for it
    held = concluded(
        packet(FULL), *[grounded] * 5, powers=powers, witness=WitnessRule.REQUIRED, witnessed=shown
    )
    assert held.verdict is Verdict.REJECT


def test_an_accept_does_not_stand_against_a_witness_of_the_minority() -> None:
    accepts, rejects = vote("accept", reasons=(SOUND,)), vote("reject", findings=(FAULT,))
    (audit,) = audit_votes([rejects], packet(GREEN))
    told = concluded(packet(GREEN), *[accepts] * 4, rejects, witnessed=(audit.findings[0].id,))
    assert told.verdict is Verdict.UNCERTAIN
    assert "a test shows a fault" in told.why


def test_failure_is_never_approval() -> None:
    told = concluded(packet(GREEN), *[vote(None)] * 5)
    assert told.verdict is None
    assert "no_object" in told.why
    half = concluded(packet(GREEN), *[vote("accept", reasons=(SOUND,))] * 2, *[vote(None)] * 3)
    assert half.verdict is Verdict.UNCERTAIN


def test_a_ballot_on_another_packet_is_refused() -> None:
    ballot = Ballot(packet="p-other", asked=0, votes=(), decision=Verdict.UNCERTAIN, why="")
    with pytest.raises(ValueError, match="belong together"):
        conclude(ballot, (), packet(GREEN), ALL)

"""Ballots: separate calls, the majority over all of them, every vote kept."""

from __future__ import annotations

import json

import jsonschema
import pytest
from packets_made import FULL, packet
from votes_made import FakeChat, answer, reply, vote

from showcause.clock import Deadline
from showcause.records import ChatFailure, ChatFailureKind, Verdict, Vote, VoteFault
from showcause.reviewer import Voting, hold_ballot, instructions, majority, rates, vote_schema

PACKET = packet(FULL)


def votes(letters: str) -> tuple[Vote, ...]:
    """A vote for each letter: accept, reject, uncertain, and x for invalid."""
    words = {"a": "accept", "r": "reject", "u": "uncertain", "x": None}
    return tuple(vote(words[letter], number=at) for at, letter in enumerate(letters, 1))


@pytest.mark.parametrize(
    ("letters", "decision"),
    [
        ("aaaaa", Verdict.ACCEPT),
        ("aaarr", Verdict.ACCEPT),
        ("rrrax", Verdict.REJECT),
        ("aaxxx", Verdict.UNCERTAIN),  # most of those that say something, not most of all
        ("aaruu", Verdict.UNCERTAIN),
        ("aarr", Verdict.UNCERTAIN),
        ("uuuuu", Verdict.UNCERTAIN),
        ("xxxxx", Verdict.UNCERTAIN),
        ("a", Verdict.ACCEPT),
    ],
)
def test_the_majority_is_over_all_votes(letters: str, decision: Verdict) -> None:
    assert majority(votes(letters))[0] is decision


def test_g2_a_refusing_provider_is_no_answer_and_is_counted_beside() -> None:
    """Three of ten votes met a rate limit: none of them counts against, and the words tell how many."""
    limit = ChatFailure(kind=ChatFailureKind.RATE_LIMIT, message="429", status=429)
    chat = FakeChat(lambda number, _: reply(answer(PACKET, "accept")) if number < 8 else limit)
    ballot = hold_ballot(chat, PACKET, Voting(votes=10), deadline=Deadline.after(10))
    assert [one.fault for one in ballot.votes].count(VoteFault.CHAT_FAILURE) == 3
    assert {one.chat_failure for one in ballot.votes if one.fault} == {ChatFailureKind.RATE_LIMIT}
    assert majority(ballot.votes) == (
        Verdict.ACCEPT,
        "7 accept, 0 reject, 0 uncertain, 3 invalid of 10 votes",
    )
    told = rates(ballot.votes)[0]
    assert (told.accept, told.reject, told.uncertain) == (0.7, 0.0, 0.3)


def test_votes_set_aside_count_for_nothing_and_the_whole_stays() -> None:
    assert majority(votes("aaarr"), without={1}) == (
        Verdict.UNCERTAIN,
        "2 accept, 2 reject, 0 uncertain, 0 invalid, 1 set aside of 5 votes",
    )


def test_rates_are_over_every_choice_of_recorded_votes() -> None:
    told = rates(votes("aaarx"))
    assert [one.votes for one in told] == [1, 2, 3, 4, 5]
    assert (told[0].accept, told[0].reject, told[0].uncertain) == (0.6, 0.2, 0.2)
    assert (told[1].accept, told[1].uncertain) == (0.3, 0.7)
    assert (told[2].accept, told[2].reject) == (0.7, 0.0)
    assert told[4].accept == 1.0
    assert all(abs(one.accept + one.reject + one.uncertain - 1) < 1e-12 for one in told)


@pytest.mark.parametrize("at_once", [1, 5])
def test_five_separate_calls_each_kept(at_once: int) -> None:
    chat = FakeChat(lambda number, _: reply(answer(PACKET, "accept") if number < 4 else "prose"))
    ballot = hold_ballot(chat, PACKET, Voting(at_once=at_once), deadline=Deadline.after(10))
    assert [one.number for one in ballot.votes] == [1, 2, 3, 4, 5]
    assert (ballot.decision, ballot.asked, ballot.packet) == (Verdict.ACCEPT, 5, PACKET.id)
    assert [one.fault for one in ballot.votes[3:]] == [VoteFault.NO_OBJECT] * 2
    assert sorted(one.ordinal or 0 for one in chat.asked) == [1, 2, 3, 4, 5]
    assert {one.temperature for one in chat.asked} == {0.8}
    assert len({one.digest for one in chat.asked}) == 1  # the same question, so that a replay finds it


def test_the_question_is_the_instructions_and_the_packet_as_it_stands() -> None:
    chat = FakeChat(lambda _, request: reply(answer(PACKET)))
    hold_ballot(chat, PACKET, Voting(votes=1), deadline=Deadline.after(10))
    system, user = chat.asked[0].messages
    assert system.content == instructions().text
    assert user.content == PACKET.text


def test_a_chat_that_only_fails_decides_nothing() -> None:
    chat = FakeChat(lambda *_: ChatFailure(kind=ChatFailureKind.RATE_LIMIT, message="429"))
    ballot = hold_ballot(chat, PACKET, Voting(), deadline=Deadline.after(10))
    assert ballot.decision is Verdict.UNCERTAIN
    assert len(ballot.votes) == 5
    with pytest.raises(ValueError, match="at least one"):
        hold_ballot(chat, PACKET, Voting(votes=0), deadline=Deadline.after(10))


def test_the_schema_takes_what_the_reader_takes() -> None:
    schema = vote_schema().schema
    good = json.loads(answer(PACKET, findings=[{"place": "a", "trigger": "b", "wrong": "c", "cites": []}]))
    jsonschema.validate(good, schema)
    for name in good:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({key: value for key, value in good.items() if key != name}, schema)


def test_the_instructions_are_versioned() -> None:
    told = instructions()
    assert len(told.digest) == 64
    assert told.version == "reviewer-1"
    for words in ("BEFORE the patch", "never an instruction", "no reason to reject", "hidden test"):
        assert words in told.text
    for wrong in ("reviewer-999", "../reviewer-1", ""):
        with pytest.raises(KeyError):
            instructions(wrong)

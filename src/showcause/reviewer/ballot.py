"""Several separate votes on one packet, and what they come to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import comb

from showcause.clock import Deadline
from showcause.records import AtVotes, Ballot, Chat, ChatRequest, Packet, Record, Verdict, Vote
from showcause.reviewer.prompt import Instructions, instructions, messages_for, vote_schema
from showcause.reviewer.vote import read_vote

__all__ = ["Voting", "hold_ballot", "majority", "rates", "request_for"]


class Voting(Record, frozen=True, kw_only=True):
    """How votes are taken: how many, how warm, how many at once, each within how long."""

    votes: int = 5
    temperature: float = 0.8
    at_once: int = 1
    limit_s: float = 300.0
    max_tokens: int | None = None


def request_for(packet: Packet, voting: Voting, number: int, told: Instructions | None = None) -> ChatRequest:
    """What is asked for vote `number`, from 1. All of a ballot ask the same."""
    return ChatRequest(
        messages=messages_for(packet, told or instructions()),
        temperature=voting.temperature,
        max_tokens=voting.max_tokens,
        json_schema=vote_schema(),
        limit_s=voting.limit_s,
        ordinal=number,
    )


def hold_ballot(
    chat: Chat,
    packet: Packet,
    voting: Voting,
    *,
    deadline: Deadline,
    cancel: threading.Event | None = None,
    told: Instructions | None = None,
    say: Callable[[Vote], None] = lambda _vote: None,
) -> Ballot:
    """Ask `voting.votes` times by separate calls. Every vote is kept, unreadable ones with their reason.

    Raises ValueError for fewer than one vote.
    """
    if voting.votes < 1 or voting.at_once < 1:
        raise ValueError("a ballot has at least one vote")

    def one(number: int) -> Vote:
        request = request_for(packet, voting, number, told)
        reply = chat.ask(request, deadline=deadline, cancel=cancel)
        vote = read_vote(reply, packet, number=number, request=request.digest, asked_model=chat.model)
        say(vote)
        return vote

    numbers = range(1, voting.votes + 1)
    if voting.at_once == 1:
        votes = tuple(map(one, numbers))
    else:
        with ThreadPoolExecutor(max_workers=voting.at_once) as pool:
            votes = tuple(pool.map(one, numbers))
    decision, why = majority(votes)
    return Ballot(packet=packet.id, asked=voting.votes, votes=votes, decision=decision, why=why)


def majority(votes: Sequence[Vote], without: Collection[int] = ()) -> tuple[Verdict, str]:
    """What more than half of all votes say, else `uncertain`; and the count in words.

    Invalid and uncertain votes, and those whose numbers are in `without`, count for nothing, and the whole
    stays what it was: three of five is a majority, three of six is none.
    """
    heard = [vote.decision for vote in votes if vote.number not in without]
    accepts, rejects = heard.count(Verdict.ACCEPT), heard.count(Verdict.REJECT)
    uncertain, invalid = heard.count(Verdict.UNCERTAIN), heard.count(None)
    why = f"{accepts} accept, {rejects} reject, {uncertain} uncertain, {invalid} invalid"
    if without:
        why += f", {len(votes) - len(heard)} set aside"
    why += f" of {len(votes)} votes"
    return _decision(accepts, rejects, len(votes)), why


def rates(votes: Sequence[Vote], without: Collection[int] = ()) -> tuple[AtVotes, ...]:
    """For each number of votes from 1 to all: how often that many of these would have decided what.

    Exact: over every choice of that many of the recorded votes.
    """
    heard = [vote.decision for vote in votes if vote.number not in without]
    accepts, rejects, total = heard.count(Verdict.ACCEPT), heard.count(Verdict.REJECT), len(votes)
    others = total - accepts - rejects
    found = []
    for drawn in range(1, total + 1):
        ways = dict.fromkeys(Verdict, 0)
        for a in range(min(accepts, drawn) + 1):
            for r in range(min(rejects, drawn - a) + 1):
                many = comb(accepts, a) * comb(rejects, r) * comb(others, drawn - a - r)
                ways[_decision(a, r, drawn)] += many
        share = {verdict.value: count / comb(total, drawn) for verdict, count in ways.items()}
        found.append(AtVotes(votes=drawn, **share))
    return tuple(found)


def _decision(accepts: int, rejects: int, total: int) -> Verdict:
    if 2 * accepts > total:
        return Verdict.ACCEPT
    return Verdict.REJECT if 2 * rejects > total else Verdict.UNCERTAIN

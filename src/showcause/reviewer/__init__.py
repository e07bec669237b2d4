"""Asking a model about a packet: instructions, votes, ballot, audit, conclusion."""

from showcause.reviewer.audit import audit_vote, audit_votes
from showcause.reviewer.ballot import Voting, hold_ballot, majority, rates, request_for
from showcause.reviewer.conclude import conclude
from showcause.reviewer.prompt import Instructions, instructions, messages_for, vote_schema
from showcause.reviewer.vote import read_vote

__all__ = [
    "Instructions",
    "Voting",
    "audit_vote",
    "audit_votes",
    "conclude",
    "hold_ballot",
    "instructions",
    "majority",
    "messages_for",
    "rates",
    "read_vote",
    "request_for",
    "vote_schema",
]

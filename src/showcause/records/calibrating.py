"""Nouns of calibration: what a reviewer showed on cases whose answers are known."""

from __future__ import annotations

from showcause.records.base import Record
from showcause.records.deciding import Verdict
from showcause.records.voting import Powers

__all__ = ["Calibration", "KnownAnswer", "Share"]


class Share(Record, frozen=True, kw_only=True):
    """`count` of `n`, with the ends of its exact 95 % interval."""

    count: int
    n: int
    low: float
    high: float


class KnownAnswer(Record, frozen=True, kw_only=True):
    """One known case and what the reviewer said of it. `contradicting` of its `votes` spoke against the
    evidence or quoted what is not there, `invalid` could not be read."""

    case: str
    is_defective: bool
    verdict: Verdict | None
    why: str
    votes: int
    invalid: int
    contradicting: int


class Calibration(Record, frozen=True, kw_only=True):
    """What a reviewer showed on known cases, and the powers that this earns it, with the reasons.

    `accepts` and `rejects` say how often its accepts and rejects were right; `catch` and `over_rejection`
    are over all defective and all acceptable cases.
    """

    reviewer: str
    model: str
    answers: tuple[KnownAnswer, ...]
    accepts: Share
    rejects: Share
    catch: Share
    over_rejection: Share
    contradicting: Share
    powers: Powers
    why: tuple[str, ...]
    created: str

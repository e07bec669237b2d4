"""A reviewer's answer -> a critique, or the reason why it is none. Pure.

Tolerant about what surrounds the one JSON object, strict about the object. There is no default outcome.
The instructions are a file; one that was released is never edited, its digest goes into the receipt.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from showcause.answers import AnswerFault, Unreadable, one_object
from showcause.contract.deliver import Parcel
from showcause.records import Finding, Record
from showcause.records.contract import Critique, CritiqueOutcome

__all__ = ["MAX_ANSWER_BYTES", "Heard", "hear", "instructions"]

MAX_ANSWER_BYTES = 256 * 1024
_CURRENT = "critique-1"
_SHOWN = 200


class _Finding(Record, frozen=True, kw_only=True):
    """Other fields that a model adds are let be."""

    place: str
    trigger: str
    wrong: str
    severity: str = ""


class _Answer(Record, frozen=True, kw_only=True):
    packet: str
    codes: tuple[str, ...]
    nonce: str
    outcome: CritiqueOutcome
    findings: tuple[_Finding, ...]


class Heard(Record, frozen=True, kw_only=True):
    """What an answer comes to. `critique` is None where it is none, and `why` then says why not.

    `codes_back` and `nonce_back` say what came back of the marks, as far as the answer could be read.
    """

    critique: Critique | None
    is_empty: bool
    why: str
    codes_back: int
    nonce_back: bool


@cache
def instructions() -> str:
    """What a contract reviewer is told before its packet."""
    return (files("showcause.contract") / "prompts" / f"{_CURRENT}.txt").read_text(encoding="utf-8")


def hear(text: str, parcel: Parcel) -> Heard:
    """The critique in an answer to `parcel`. Never raises for what a model wrote."""
    if not text.strip():
        return Heard(critique=None, is_empty=True, why="an empty answer", codes_back=0, nonce_back=False)
    try:
        answer = _read(text)
    except Unreadable as error:
        why = f"{error.fault.value}: {error.why}"[:_SHOWN]
        return Heard(critique=None, is_empty=False, why=why, codes_back=0, nonce_back=False)
    back = sum(ours == theirs for ours, theirs in zip(parcel.codes, answer.codes, strict=False))
    back = min(back, len(parcel.codes) if len(answer.codes) == len(parcel.codes) else len(parcel.codes) - 1)
    why = _contradiction(answer, parcel)
    critique = Critique(outcome=answer.outcome, findings=tuple(map(_finding, answer.findings)))
    return Heard(
        critique=None if why else critique,
        is_empty=False,
        why=why,
        codes_back=back,
        nonce_back=answer.nonce == parcel.nonce,
    )


def _read(text: str) -> _Answer:
    if len(text.encode("utf-8", "surrogatepass")) > MAX_ANSWER_BYTES:
        raise Unreadable(AnswerFault.WRONG_SHAPE, f"more than {MAX_ANSWER_BYTES} bytes")
    try:
        return msgspec.convert(one_object(text), _Answer)
    except msgspec.ValidationError as error:
        raise Unreadable(AnswerFault.WRONG_SHAPE, str(error)) from None


def _contradiction(answer: _Answer, parcel: Parcel) -> str:
    if answer.packet != parcel.id:
        return f"the answer is about {answer.packet!r}, not {parcel.id}"[:_SHOWN]
    if (answer.outcome is CritiqueOutcome.FINDINGS) != bool(answer.findings):
        return f"the outcome is {answer.outcome.value} with {len(answer.findings)} findings"
    if not all(one.place.strip() or one.wrong.strip() for one in answer.findings):
        return "a finding that says nothing"
    return ""


def _finding(one: _Finding) -> Finding:
    return Finding(place=one.place, trigger=one.trigger, wrong=one.wrong, severity=one.severity)

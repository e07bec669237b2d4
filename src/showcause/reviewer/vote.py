"""One answer of a reviewer -> one vote, valid or with the reason why not. Pure.

Tolerant about what surrounds the one JSON object (a byte order mark, prose, a fence), strict about the
object itself. There is no default: what cannot be read has no decision.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

import msgspec

from showcause.canon import digest
from showcause.records import (
    ChatFailure,
    ChatReply,
    ChatUsage,
    Finding,
    FinishReason,
    Packet,
    Reason,
    Record,
    Verdict,
    Vote,
    VoteFault,
)

__all__ = ["MAX_ANSWER_BYTES", "read_vote"]

MAX_ANSWER_BYTES = 256 * 1024
_SHOWN = 200


class _Unreadable(Exception):
    """Why an answer is no vote."""

    def __init__(self, fault: VoteFault, why: str) -> None:
        super().__init__(why)
        self.fault, self.why = fault, why[:_SHOWN]


class _Answer(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The object that a reviewer answers. `decision` is looked at on its own: no near miss counts."""

    packet: str
    nonce: str
    decision: str
    reasons: tuple[Reason, ...]
    findings: tuple[Finding, ...]


def read_vote(
    reply: ChatReply | ChatFailure, packet: Packet, *, number: int, request: str, asked_model: str
) -> Vote:
    """The vote in `reply`. Never raises for what a model wrote."""
    if isinstance(reply, ChatFailure):
        return Vote(
            number=number,
            decision=None,
            fault=VoteFault.CHAT_FAILURE,
            why=f"{reply.kind.value}: {reply.message}"[:_SHOWN],
            reasons=(),
            findings=(),
            raw_digest="",
            request=request,
            asked_model=asked_model,
            reported_model="",
            usage=ChatUsage(),
            latency_s=reply.latency_s,
            chat_failure=reply.kind,
        )
    try:
        answer: _Answer | None = _read(reply, packet)
        fault, why = None, ""
    except _Unreadable as error:
        answer, fault, why = None, error.fault, error.why
    return Vote(
        number=number,
        decision=Verdict(answer.decision) if answer else None,
        fault=fault,
        why=why,
        reasons=answer.reasons if answer else (),
        findings=answer.findings if answer else (),
        raw_digest=digest(reply.text.encode("utf-8", "surrogatepass")),
        request=request,
        asked_model=reply.asked_model,
        reported_model=reply.reported_model,
        usage=reply.usage,
        latency_s=reply.latency_s,
        response_id=reply.response_id,
    )


def _read(reply: ChatReply, packet: Packet) -> _Answer:
    if reply.finish_reason is not FinishReason.STOP:
        raise _Unreadable(VoteFault.STOPPED, f"the model stopped for {reply.finish_reason.value}")
    if len(reply.text.encode("utf-8", "surrogatepass")) > MAX_ANSWER_BYTES:
        raise _Unreadable(VoteFault.TOO_LARGE, f"more than {MAX_ANSWER_BYTES} bytes")
    answer = _strict(_one_object(reply.text))
    if answer.packet != packet.id:
        raise _Unreadable(VoteFault.WRONG_PACKET, f"the answer is about {answer.packet!r}, not {packet.id}")
    if answer.nonce != packet.nonce:
        raise _Unreadable(VoteFault.WRONG_NONCE, "the nonce is not that of the packet's last line")
    return answer


# ------------------------------------------------------------------ tolerant: finding the object


def _one_object(text: str) -> dict[str, Any]:
    text = text.removeprefix("\ufeff").strip()
    if not text:
        raise _Unreadable(VoteFault.EMPTY, "an empty answer")
    found: list[dict[str, Any]] = []
    for before, span in _spans(text):
        value = _parse(span)
        if value is not None:
            if before.endswith("["):
                raise _Unreadable(VoteFault.WRONG_SHAPE, "a list instead of one object")
            found.append(value)
    if len(found) > 1:
        raise _Unreadable(VoteFault.TWO_OBJECTS, f"{len(found)} JSON objects instead of one")
    if not found:
        raise _Unreadable(VoteFault.NO_OBJECT, "no JSON object in the answer")
    return found[0]


def _spans(text: str) -> Iterator[tuple[str, str]]:
    """Each outermost `{...}` with the text before it; braces within JSON strings don't count.

    Looking for the outermost only means that no object inside a broken one is ever taken for the answer.
    """
    start = depth = 0
    in_string = False
    for found in re.finditer(r'\\.|["{}]', text, re.DOTALL):
        sign = found[0]
        if depth and sign == '"':
            in_string = not in_string
        elif in_string or sign not in "{}":
            continue
        elif sign == "{":
            start = start if depth else found.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield text[:start].rstrip(), text[start : found.end()]
    if depth:
        raise _Unreadable(VoteFault.NOT_JSON, "a JSON object that does not end")


def _parse(span: str) -> dict[str, Any] | None:
    """The object; None for braces in prose and for an empty object, which can be no answer."""
    try:
        value = json.loads(span, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        if '"' not in span:
            return None
        raise _Unreadable(VoteFault.NOT_JSON, f"not JSON: {error}") from None
    return value or None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise _Unreadable(VoteFault.NOT_JSON, "the same field twice in one object")
    return fields


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


# ------------------------------------------------------------------ strict: reading it


def _strict(value: dict[str, Any]) -> _Answer:
    try:
        answer = msgspec.convert(value, _Answer)
    except msgspec.ValidationError as error:
        is_missing = "missing required field" in str(error)
        fault = VoteFault.MISSING_FIELD if is_missing else VoteFault.WRONG_SHAPE
        raise _Unreadable(fault, str(error)) from None
    if answer.decision not in [verdict.value for verdict in Verdict]:
        raise _Unreadable(VoteFault.UNKNOWN_DECISION, f"no such decision: {answer.decision!r}")
    return answer

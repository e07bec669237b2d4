"""One answer of a reviewer -> one vote, valid or with the reason why not. Pure.

Tolerant about what surrounds the one JSON object (a byte order mark, prose, a fence), strict about the
object itself. There is no default: what cannot be read has no decision.
"""

from __future__ import annotations

from typing import Any

import msgspec

from showcause.answers import Unreadable, one_object
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
    try:
        told = one_object(reply.text)
    except Unreadable as error:
        raise _Unreadable(VoteFault(error.fault.value), error.why) from None
    answer = _strict(told)
    if answer.packet != packet.id:
        raise _Unreadable(VoteFault.WRONG_PACKET, f"the answer is about {answer.packet!r}, not {packet.id}")
    if answer.nonce != packet.nonce:
        raise _Unreadable(VoteFault.WRONG_NONCE, "the nonce is not that of the packet's last line")
    return answer


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

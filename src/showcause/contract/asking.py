"""Asks a reviewer that is a language model: no process, the same facts, the same ends."""

from __future__ import annotations

import threading
from typing import assert_never

from showcause.clock import Deadline
from showcause.contract.classify import Conclusion
from showcause.contract.deliver import too_large
from showcause.contract.nouns import Means, Order
from showcause.contract.performing import Performed, delivery_of, models_of, output_of
from showcause.contract.reading import Fault, Reading
from showcause.process import Finished, How
from showcause.process.nouns import Stream
from showcause.records import (
    ChatFailure,
    ChatFailureKind,
    ChatReply,
    ChatRequest,
    ChatRole,
    FinishReason,
    Message,
)
from showcause.records.contract import AttemptEnd, Launched, ModelSeen, ProviderFaultKind, ReviewerSpec

__all__ = ["ask", "window_of"]

_WINDOW = 32_000  # tokens, where the settings name no window
_K = ChatFailureKind
_FAULTS = {
    _K.UNREACHABLE: ProviderFaultKind.UNREACHABLE,
    _K.AUTH: ProviderFaultKind.AUTH,
    _K.RATE_LIMIT: ProviderFaultKind.RATE_LIMIT,
    _K.SPENT: ProviderFaultKind.SPENT,
    _K.SERVER_FAULT: ProviderFaultKind.SERVER,
    _K.BAD_REQUEST: ProviderFaultKind.BAD_REQUEST,
    _K.REFUSED: ProviderFaultKind.REFUSED,
    _K.NOT_RECORDED: ProviderFaultKind.OTHER,
    _K.FAULT: ProviderFaultKind.OTHER,
}


def ask(order: Order, means: Means, *, deadline: Deadline, cancel: threading.Event) -> Performed | Conclusion:
    """One question to the model of the settings; the whole parcel is the question.

    Raises ValueError without a chat in `means`.
    """
    if means.chat is None:
        raise ValueError("a reviewer of the kind model needs its chat")
    window = window_of(order.spec)
    if why := too_large(order.parcel, context_tokens=window, characters=1 << 30, size=1 << 30):
        return Conclusion(ended=AttemptEnd.INPUT_TOO_LARGE, why=why)
    request = ChatRequest(
        messages=(Message(role=ChatRole.USER, content=order.parcel.text),), limit_s=order.spec.deadline_s
    )
    reply = means.chat.ask(request, deadline=deadline, cancel=cancel)
    reading = _reading(reply)
    finished = _finished(order, reply)
    return Performed(
        finished=finished,
        launched=_launched(),
        delivery=delivery_of(order, len(order.parcel.data), finished.stdin_accepted, reading),
        output=output_of(order, finished, reading, means),
        reading=reading,
        status_fault=None,
        models=models_of(order, reading),
        notes=reply.notes,
    )


def window_of(spec: ReviewerSpec) -> int:
    """The window of the model, as the settings name it."""
    told = spec.asks.context_tokens if spec.asks else None
    return spec.context_tokens or told or _WINDOW


def _reading(reply: ChatReply | ChatFailure) -> Reading:
    if isinstance(reply, ChatReply):
        seen = ModelSeen(id=reply.reported_model, where="reply.model", fragment=reply.raw_digest, served=True)
        return Reading(
            answer=reply.text,
            ended=reply.finish_reason is FinishReason.STOP,
            models=(seen,) if reply.reported_model else (),
            usage=reply.usage,
        )
    if reply.kind is _K.MALFORMED:
        return Reading(broken=reply.message)
    if reply.kind in _FAULTS:
        kind = _FAULTS[reply.kind]
        return Reading(fault=Fault(kind=kind, why=reply.message, retry_after_s=reply.retry_after_s))
    return Reading()


def _finished(order: Order, reply: ChatReply | ChatFailure) -> Finished:
    """A call told in the words of a process, so that one set of rules judges both."""
    text = reply.text if isinstance(reply, ChatReply) else reply.message
    data = text.encode("utf-8", "backslashreplace")
    how = How.EXITED if isinstance(reply, ChatReply) else _how(reply.kind)
    is_sent = how is How.EXITED
    return Finished(
        argv=(),
        how=how,
        exit_status=0 if is_sent else None,
        signal=None,
        stdout=Stream(head=data, tail=b"", total_bytes=len(data)),
        stderr=Stream(head=b"", tail=b"", total_bytes=0),
        stdin_accepted=len(order.parcel.data) if is_sent else 0,
        wall_s=reply.latency_s,
        leaked=0,
        why="" if is_sent else text,
    )


def _how(kind: ChatFailureKind) -> How:
    match kind:
        case _K.TIMEOUT:
            return How.TIMEOUT
        case _K.CANCELLED:
            return How.CANCELLED
        case (
            _K.UNREACHABLE | _K.AUTH | _K.RATE_LIMIT | _K.SPENT | _K.SERVER_FAULT | _K.CUT | _K.BAD_REQUEST
            | _K.REFUSED | _K.MALFORMED | _K.NOT_RECORDED | _K.FAULT
        ):  # fmt: skip
            return How.EXITED
        case _:
            assert_never(kind)


def _launched() -> Launched:
    """Nothing was spawned: the call went out of this process."""
    return Launched(
        argv=(), argv_digest="", spawned="", audited=False, program="", program_digest="", version="",
        environment=(), network="host", confined=None, readable=(), exit_status=0, signal=None, errno=None,
        left=0,
    )  # fmt: skip

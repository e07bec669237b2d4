"""Votes and scripted chats for tests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

from showcause.clock import Deadline
from showcause.records import (
    ChatFailure,
    ChatReply,
    ChatRequest,
    ChatUsage,
    Finding,
    FinishReason,
    Packet,
    Reason,
    Verdict,
    Vote,
    VoteFault,
)


def vote(
    decision: str | None,
    *,
    number: int = 1,
    reasons: tuple[Reason, ...] = (),
    findings: tuple[Finding, ...] = (),
) -> Vote:
    """A vote as if it had been read; invalid for None."""
    return Vote(
        number=number,
        decision=Verdict(decision) if decision else None,
        fault=None if decision else VoteFault.NO_OBJECT,
        why="",
        reasons=reasons,
        findings=findings,
        raw_digest="",
        request="",
        asked_model="m",
        reported_model="m",
        usage=ChatUsage(),
        latency_s=0.0,
    )


def answer(packet: Packet, decision: str | None = "reject", /, **fields: Any) -> str:
    """A well-formed answer to `packet`; `fields` replace or add."""
    standard = {
        "packet": packet.id,
        "nonce": packet.nonce,
        "decision": decision,
        "reasons": [],
        "findings": [],
    }
    return json.dumps(standard | fields)


def reply(text: str, finish_reason: FinishReason = FinishReason.STOP) -> ChatReply:
    return ChatReply(
        text=text,
        finish_reason=finish_reason,
        asked_model="m-1",
        reported_model="m-1-2026",
        usage=ChatUsage(prompt_tokens=10, completion_tokens=5),
        latency_s=0.5,
        raw_digest="0" * 64,
    )


class FakeChat:
    """Answers by `tell(number of the vote, request)`; keeps what it was asked."""

    name, model = "fake", "m-1"

    def __init__(self, tell: Callable[[int, ChatRequest], ChatReply | ChatFailure]) -> None:
        self._tell, self.asked = tell, list[ChatRequest]()

    def ask(
        self, request: ChatRequest, *, deadline: Deadline, cancel: threading.Event | None = None
    ) -> ChatReply | ChatFailure:
        self.asked.append(request)
        return self._tell(request.ordinal or 0, request)

    def close(self) -> None:
        pass

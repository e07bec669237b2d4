"""What a stub server is told to do, and what it saw."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from showcause.records import Record

__all__ = ["Act", "Asked", "Call", "Step"]


class Act(StrEnum):
    ANSWER = "answer"  # `text`, in pieces
    CRITIQUE = "critique"  # a valid critique of the packet that was sent, marks and all
    CALL = "call"  # asks for the tools in `calls`
    ERROR = "error"  # the HTTP status `status`
    HANG = "hang"  # not even headers
    CUT = "cut"  # half of the answer, then a clean end of the stream that says nothing of its own end
    BREAK = "break"  # half of the answer, then a closed connection
    EMPTY = "empty"  # a whole answer without a word


class Call(Record, frozen=True, kw_only=True):
    """One tool call of a model."""

    name: str
    arguments: dict[str, Any]


class Step(Record, frozen=True, kw_only=True):
    """What to do for one request. The last step of a script goes on for ever."""

    act: Act = Act.CRITIQUE
    text: str = ""
    calls: tuple[Call, ...] = ()
    status: int = 500
    message: str = "scripted"
    retry_after_s: int | None = None
    findings: tuple[dict[str, str], ...] = ()


class Asked(Record, frozen=True, kw_only=True):
    """One request as it came. `text` is all text of its messages, `tools` the names that were offered."""

    path: str
    model: str
    stream: bool
    text: str
    tools: tuple[str, ...]
    is_main: bool
    seconds: float

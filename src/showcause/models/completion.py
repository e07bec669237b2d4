"""The body of an OpenAI-compatible completion, whole or in pieces, as a reply."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from showcause.canon import digest, printable
from showcause.models import wire
from showcause.models.faults import AnswerCut, AnswerUnreadable, DeclinedByModel
from showcause.records import ChatReply, ChatUsage, FinishReason, TokenChance

__all__ = ["ErrorInside", "reply_of_body", "reply_of_pieces", "status_in"]

_FINISH = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
    "tool_calls": FinishReason.TOOL,
    "function_call": FinishReason.TOOL,
}


class _Top(msgspec.Struct):
    token: str
    logprob: float | None = None


class _Token(_Top):
    top_logprobs: list[_Top] | None = None


class _Logprobs(msgspec.Struct):
    content: list[_Token] | None = None


class _Message(msgspec.Struct):
    content: Any = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message | None = None
    delta: _Message | None = None
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Body(msgspec.Struct):
    """A completion, or one piece of a stream."""

    choices: list[_Choice] = []
    id: str | None = None
    model: str | None = None
    usage: Any = None
    error: Any = None


class ErrorInside(Exception):
    """An error under the status of success, as some routers send it."""

    def __init__(self, message: str, status_code: int) -> None:
        super().__init__(message)
        self.status_code = status_code


def reply_of_body(raw: bytes, asked: str) -> ChatReply:
    """The reply in a whole answer. Raises AnswerUnreadable, AnswerCut, DeclinedByModel or ErrorInside."""
    return _reply_of(wire.as_body(raw, _Body), raw, asked)


def reply_of_pieces(pieces: list[bytes], asked: str) -> ChatReply:
    """The same for the pieces of a stream, each as JSON; the raw digest is of them, one a line."""
    return _reply_of(_joined([wire.as_body(piece, _Body) for piece in pieces]), b"\n".join(pieces), asked)


def _reply_of(body: _Body, raw: bytes, asked: str) -> ChatReply:
    if body.error is not None and not body.choices:
        raise ErrorInside(str(body.error), status_in(body.error))
    if not body.choices or body.choices[0].message is None:
        raise AnswerUnreadable("the answer holds no message")
    choice = body.choices[0]
    message = body.choices[0].message
    text = _text(message.content)
    if message.refusal and not text:
        raise DeclinedByModel(f"the model declines: {message.refusal}")
    return ChatReply(
        text=text,
        finish_reason=_FINISH.get(choice.finish_reason or "", FinishReason.UNKNOWN),
        asked_model=asked,
        reported_model=body.model or "",
        usage=_usage(body.usage),
        latency_s=0.0,
        raw_digest=digest(raw),
        response_id=body.id or "",
        logprobs=_chances(choice.logprobs),
    )


def _text(content: Any) -> str:
    """The text of a message; of a list of parts, those that are text."""
    match content:
        case None:
            return ""
        case str():
            return content
        case list():
            parts = [part.get("text") for part in content if isinstance(part, dict)]
            return "".join(part for part in parts if isinstance(part, str))
        case _:
            raise AnswerUnreadable(f"the message's content is of type {type(content).__name__}")


def _usage(told: Any) -> ChatUsage:
    """Counts that are counts; all else is not known."""
    counts = told if isinstance(told, dict) else {}
    prompt, completion = (
        value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
        for value in (counts.get("prompt_tokens"), counts.get("completion_tokens"))
    )
    return ChatUsage(prompt_tokens=prompt, completion_tokens=completion)


def _chances(told: _Logprobs | None) -> tuple[TokenChance, ...]:
    """Log probabilities as told; one that is missing or infinite is written as -9999."""

    def finite(value: float | None) -> float:
        return value if value is not None and math.isfinite(value) else -9999.0

    return tuple(
        TokenChance(
            token=printable(token.token),
            logprob=finite(token.logprob),
            others=tuple((printable(top.token), finite(top.logprob)) for top in token.top_logprobs or ()),
        )
        for token in (told.content if told else None) or ()
    )


def status_in(error: Any) -> int:
    """The HTTP status that an error in a body stands for; 500 where it does not tell."""
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 500


def _joined(pieces: list[_Body]) -> _Body:
    """One completion of the pieces of a stream. Raises AnswerCut where none tells why it ended."""
    texts, refusals, tokens, finish = [], [], [], None
    whole = _Body()
    for piece in pieces:
        whole.id, whole.model = piece.id or whole.id, piece.model or whole.model
        whole.usage, whole.error = piece.usage or whole.usage, piece.error or whole.error
        for choice in piece.choices[:1]:
            delta = choice.delta or _Message()
            texts.append(_text(delta.content))
            refusals.append(delta.refusal or "")
            tokens += (choice.logprobs.content if choice.logprobs else None) or []
            finish = choice.finish_reason or finish
    if finish is None and whole.error is None:
        raise AnswerCut("the stream ended before the answer did")
    if finish is not None:
        message = _Message(content="".join(texts), refusal="".join(refusals) or None)
        logprobs = _Logprobs(content=tokens)
        whole.choices = [_Choice(message=message, finish_reason=finish, logprobs=logprobs)]
    return whole

"""Anthropic's Messages, streamed and whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from showcause.contract.stubserver.nouns import Call
from showcause.contract.stubserver.wire import pieces, sse

__all__ = ["Messages"]

_USAGE = {"input_tokens": 100, "output_tokens": 7}
_ERRORS = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
    404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error",
}  # fmt: skip


class Messages:
    """See `Api`."""

    def whole(self, model: str, text: str, calls: tuple[Call, ...]) -> dict[str, Any]:
        return {**_message(model), "content": _content(text, calls), "stop_reason": _reason(calls)}

    def events(self, model: str, text: str, calls: tuple[Call, ...]) -> Iterator[tuple[str, bytes]]:
        message = {**_message(model), "content": [], "stop_reason": None}
        yield "head", _event("message_start", message=message)
        index = 0
        if text or not calls:
            block: dict[str, Any] = {"type": "text", "text": ""}
            yield "head", _event("content_block_start", index=0, content_block=block)
            for piece in pieces(text):
                delta = {"type": "text_delta", "text": piece}
                yield "text", _event("content_block_delta", index=0, delta=delta)
            yield "tail", _event("content_block_stop", index=0)
            index = 1
        for at, call in enumerate(calls, index):
            block = {"type": "tool_use", "id": f"call_{at}", "name": call.name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
            yield "text", _event("content_block_start", index=at, content_block=block)
            yield "text", _event("content_block_delta", index=at, delta=delta)
            yield "tail", _event("content_block_stop", index=at)
        ending = {"stop_reason": _reason(calls), "stop_sequence": None}
        yield "tail", _event("message_delta", delta=ending, usage={"output_tokens": 7})
        yield "tail", _event("message_stop")

    def error(self, status: int, message: str) -> dict[str, Any]:
        kind = _ERRORS.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}

    def offered(self, body: dict[str, Any]) -> tuple[str, ...]:
        tools = body.get("tools")
        return tuple(str(one.get("name")) for one in tools) if isinstance(tools, list) else ()


def _event(kind: str, **fields: Any) -> bytes:
    return sse({"type": kind, **fields}, event=kind)


def _message(model: str) -> dict[str, Any]:
    return {
        "id": "msg_stub", "type": "message", "role": "assistant", "model": model,
        "stop_sequence": None, "usage": dict(_USAGE),
    }  # fmt: skip


def _content(text: str, calls: tuple[Call, ...]) -> list[dict[str, Any]]:
    said = [{"type": "text", "text": text}] if text or not calls else []
    asked = [
        {"type": "tool_use", "id": f"call_{at}", "name": call.name, "input": call.arguments}
        for at, call in enumerate(calls, len(said))
    ]
    return [*said, *asked]


def _reason(calls: tuple[Call, ...]) -> str:
    return "tool_use" if calls else "end_turn"

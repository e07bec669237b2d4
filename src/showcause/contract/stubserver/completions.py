"""Chat completions, streamed and whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from showcause.contract.stubserver.nouns import Call
from showcause.contract.stubserver.wire import pieces, sse

__all__ = ["Completions"]

_USAGE = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}


class Completions:
    """See `Api`."""

    def whole(self, model: str, text: str, calls: tuple[Call, ...]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [_call(at, call) for at, call in enumerate(calls)]
        choice = {"index": 0, "message": message, "finish_reason": _reason(calls)}
        return {**_head(model, "chat.completion"), "choices": [choice], "usage": _USAGE}

    def events(self, model: str, text: str, calls: tuple[Call, ...]) -> Iterator[tuple[str, bytes]]:
        yield "head", _chunk(model, {"role": "assistant", "content": ""})
        for piece in pieces(text) if text or not calls else ():
            yield "text", _chunk(model, {"content": piece})
        for at, call in enumerate(calls):
            yield "text", _chunk(model, {"tool_calls": [{"index": at, **_call(at, call)}]})
        yield "tail", _chunk(model, {}, reason=_reason(calls))
        yield "tail", sse({**_head(model, "chat.completion.chunk"), "choices": [], "usage": _USAGE})
        yield "tail", b"data: [DONE]\n\n"

    def error(self, status: int, message: str) -> dict[str, Any]:
        kind = {401: "authentication_error", 429: "rate_limit_exceeded"}.get(status, "server_error")
        return {"error": {"message": message, "type": kind, "param": None, "code": kind}}

    def offered(self, body: dict[str, Any]) -> tuple[str, ...]:
        tools = body.get("tools")
        named = (one.get("function", one) for one in tools) if isinstance(tools, list) else ()
        return tuple(str(one.get("name")) for one in named)


def _head(model: str, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-stub", "object": kind, "created": 1, "model": model}


def _chunk(model: str, delta: dict[str, Any], *, reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return sse({**_head(model, "chat.completion.chunk"), "choices": [choice]})


def _call(at: int, call: Call) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.arguments)}
    return {"id": f"call_{at}", "type": "function", "function": function}


def _reason(calls: tuple[Call, ...]) -> str:
    return "tool_calls" if calls else "stop"

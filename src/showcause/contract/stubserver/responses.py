"""OpenAI's Responses, streamed and whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from showcause.contract.stubserver.nouns import Call
from showcause.contract.stubserver.wire import pieces, sse

__all__ = ["Responses"]

_USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 107,
}


class Responses:
    """See `Api`."""

    def whole(self, model: str, text: str, calls: tuple[Call, ...]) -> dict[str, Any]:
        return {**_response(model, "completed"), "output": _items(text, calls), "usage": _USAGE}

    def events(self, model: str, text: str, calls: tuple[Call, ...]) -> Iterator[tuple[str, bytes]]:
        started = {**_response(model, "in_progress"), "output": [], "usage": None}
        yield "head", _event("response.created", response=started)
        for at, item in enumerate(_items(text, calls)):
            told = text if item["type"] == "message" else ""
            yield "head", _event("response.output_item.added", output_index=at, item=_begun(item))
            for piece in pieces(told) if told else ():
                yield (
                    "text",
                    _event(
                        "response.output_text.delta", item_id=item["id"], output_index=at, content_index=0,
                        delta=piece,
                    ),
                )  # fmt: skip
            yield "tail", _event("response.output_item.done", output_index=at, item=item)
        yield "tail", _event("response.completed", response=self.whole(model, text, calls))

    def error(self, status: int, message: str) -> dict[str, Any]:
        kind = {401: "invalid_request_error", 429: "rate_limit_exceeded"}.get(status, "server_error")
        return {"error": {"message": message, "type": kind, "param": None, "code": kind}}

    def offered(self, body: dict[str, Any]) -> tuple[str, ...]:
        tools = body.get("tools")
        return tuple(str(one.get("name") or one.get("type")) for one in tools or () if isinstance(one, dict))


def _event(kind: str, **fields: Any) -> bytes:
    return sse({"type": kind, "sequence_number": 0, **fields}, event=kind)


def _response(model: str, status: str) -> dict[str, Any]:
    return {"id": "resp_stub", "object": "response", "created_at": 1, "status": status, "model": model}


def _items(text: str, calls: tuple[Call, ...]) -> list[dict[str, Any]]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {
        "id": "msg_0", "type": "message", "status": "completed", "role": "assistant", "content": content,
    }  # fmt: skip
    return [*([message] if text else []), *(_call(at, call) for at, call in enumerate(calls))]


def _begun(item: dict[str, Any]) -> dict[str, Any]:
    return {**item, "status": "in_progress", **({"content": []} if item["type"] == "message" else {})}


def _call(at: int, call: Call) -> dict[str, Any]:
    base = {"id": f"fc_{at}", "call_id": f"call_{at}", "status": "completed", "name": call.name}
    if set(call.arguments) == {"input"}:  # a free-form tool, such as a patch
        return {**base, "type": "custom_tool_call", "input": call.arguments["input"]}
    return {**base, "type": "function_call", "arguments": json.dumps(call.arguments)}

"""Gemini's generateContent, streamed and whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from showcause.contract.stubserver.nouns import Call
from showcause.contract.stubserver.wire import pieces, sse

__all__ = ["Gemini"]

_USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 7, "totalTokenCount": 107}
_ERRORS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    429: "RESOURCE_EXHAUSTED",
}


class Gemini:
    """See `Api`."""

    def whole(self, model: str, text: str, calls: tuple[Call, ...]) -> dict[str, Any]:
        parts = [*([{"text": text}] if text or not calls else []), *map(_call, calls)]
        return _answer(model, parts, reason="STOP")

    def events(self, model: str, text: str, calls: tuple[Call, ...]) -> Iterator[tuple[str, bytes]]:
        said = pieces(text) if text or not calls else []
        for piece in said:
            yield "text", sse(_answer(model, [{"text": piece}]))
        if calls:
            yield "text", sse(_answer(model, list(map(_call, calls))))
        yield "tail", sse(_answer(model, [{"text": ""}], reason="STOP"))

    def error(self, status: int, message: str) -> dict[str, Any]:
        return {"error": {"code": status, "message": message, "status": _ERRORS.get(status, "INTERNAL")}}

    def offered(self, body: dict[str, Any]) -> tuple[str, ...]:
        tools = body.get("tools")
        found: list[str] = []
        for one in tools if isinstance(tools, list) else ():
            declared = one.get("functionDeclarations", ()) if isinstance(one, dict) else ()
            found += [str(each.get("name")) for each in declared]
        return tuple(found)


def _answer(model: str, parts: list[dict[str, Any]], *, reason: str = "") -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    if reason:
        candidate["finishReason"] = reason
    return {"candidates": [candidate], "usageMetadata": _USAGE, "modelVersion": model}


def _call(call: Call) -> dict[str, Any]:
    return {"functionCall": {"name": call.name, "args": call.arguments}}

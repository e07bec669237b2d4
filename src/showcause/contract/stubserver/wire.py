"""What the four APIs share: an answer as events, and text out of any shape of request. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Protocol

from showcause.contract.stubserver.nouns import Call

__all__ = ["Api", "all_text", "pieces", "sse"]


class Api(Protocol):
    """One API: how an answer looks, whole or as a stream."""

    def whole(self, model: str, text: str, calls: tuple[Call, ...]) -> dict[str, Any]:
        """The body of an answer that is not streamed."""
        ...

    def events(self, model: str, text: str, calls: tuple[Call, ...]) -> Iterator[tuple[str, bytes]]:
        """The stream: (kind, bytes) with kind "head", "text" or "tail". A cut stream is heads and texts."""
        ...

    def error(self, status: int, message: str) -> dict[str, Any]:
        """The body of an error."""
        ...

    def offered(self, body: dict[str, Any]) -> tuple[str, ...]:
        """Names of the tools that a request offers."""
        ...


def sse(value: dict[str, Any], *, event: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {json.dumps(value)}\n\n".encode()


def pieces(text: str) -> list[str]:
    """The text in a few pieces, as a model streams it; at least one, even of nothing."""
    size = max(1, -(-len(text) // 4))
    return [text[at : at + size] for at in range(0, len(text), size)] or [""]


def all_text(value: object) -> str:
    """All texts of a request's messages, in order, whatever their shape."""
    return "\n".join(_texts(value))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        for name in ("content", "text", "parts", "input", "messages", "contents", "output"):
            if name in value:
                yield from _texts(value[name])

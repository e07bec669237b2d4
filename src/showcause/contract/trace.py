"""The final answer in an agent's own record of its work: JSON lines of the CLIs that we know. Pure.

A record that does not end with an answer of the agent (a tool was still wanted, it was cut) has none.
"""

from __future__ import annotations

from showcause.contract.adapters import ADAPTERS
from showcause.contract.reading import Event, dig, events, text_of
from showcause.records.contract import ReviewerKind

__all__ = ["final_answer"]

_STREAMS = (
    ReviewerKind.CLAUDE_CODE,
    ReviewerKind.CODEX,
    ReviewerKind.GEMINI,
    ReviewerKind.QWEN,
    ReviewerKind.OPENCODE,
)
_STOPPED = ("max_tokens", "tool_use", "pause_turn", "refusal")


def final_answer(data: bytes) -> str:
    """The answer that the record ends with, or ""."""
    for kind in _STREAMS:
        reading = ADAPTERS[kind].read(data, b"", "")
        if reading.ended and reading.fault is None and reading.answer.strip():
            return reading.answer
    return _of_session(events(data).events)


def _of_session(found: tuple[Event, ...]) -> str:
    """Claude Code's session files, and plain lists of chat messages."""
    spoken = [one for one in found if one.type in ("assistant", "user") or one.value.get("role")]
    if not spoken:
        return ""
    last = spoken[-1].value
    message = last.get("message") if isinstance(last.get("message"), dict) else last
    if dig(message, "role") != "assistant" or dig(message, "stop_reason") in _STOPPED:
        return ""
    content = dig(message, "content")
    if isinstance(content, str):
        return "" if dig(message, "tool_calls") else content
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    if any(part.get("type") == "tool_use" for part in parts):
        return ""
    return "".join(text_of(part.get("text")) for part in parts)

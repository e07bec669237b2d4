"""What a reviewer is told, and the shape its answer must have.

The words are files, one per version; a version that was released is never edited. The digest of the one
that was used goes into the receipt.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from showcause.canon import digest
from showcause.records import JsonSchema, Message, Packet, Record, Verdict
from showcause.records.chat import ChatRole

__all__ = ["CURRENT", "Instructions", "instructions", "messages_for", "vote_schema"]

CURRENT = "reviewer-1"


class Instructions(Record, frozen=True, kw_only=True):
    """One version of the reviewer's instructions."""

    version: str
    text: str

    @property
    def digest(self) -> str:
        return digest(self.text.encode())


@cache
def instructions(version: str = CURRENT) -> Instructions:
    """The instructions of that version. Raises KeyError for one that does not exist."""
    file = files("showcause.reviewer") / "prompts" / f"{version}.txt"
    if not version.replace("-", "").isalnum() or not file.is_file():
        raise KeyError(f"no reviewer instructions {version!r}")
    return Instructions(version=version, text=file.read_text(encoding="utf-8"))


def messages_for(packet: Packet, told: Instructions) -> tuple[Message, ...]:
    """The whole conversation: instructions, then the packet as it stands."""
    return (
        Message(role=ChatRole.SYSTEM, content=told.text),
        Message(role=ChatRole.USER, content=packet.text),
    )


def vote_schema() -> JsonSchema:
    """The JSON Schema of a vote, in the subset that providers enforce: every field required, none other."""
    text = {"type": "string"}
    cite = _object({"id": text, "state": text, "quote": text})
    reason = _object({"text": text, "cites": _list(cite)})
    finding = _object({"place": text, "trigger": text, "wrong": text, "cites": _list(text)})
    decision = {"type": "string", "enum": [verdict.value for verdict in Verdict]}
    fields = {
        "packet": text,
        "nonce": text,
        "decision": decision,
        "reasons": _list(reason),
        "findings": _list(finding),
    }
    return JsonSchema(name="vote", schema=_object(fields))


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _list(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}

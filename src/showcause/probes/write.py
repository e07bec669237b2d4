"""Probes written by a model that is not the author. What it writes is only a draft: running it decides.

The model sees issue, patch, code of base and an existing test, never an official suite, and on a repair only
what its own tests did on base.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from showcause.answers import Unreadable, one_object
from showcause.canon import digest
from showcause.clock import Deadline
from showcause.evidence import failure_words
from showcause.probes.given import Draft, probe_of
from showcause.records import (
    Chat,
    ChatFailure,
    ChatReply,
    ChatRequest,
    JsonSchema,
    Message,
    Packet,
    Probe,
    ProbeResult,
    ProbeRole,
    Record,
    Side,
    Written,
)
from showcause.records.chat import ChatRole

__all__ = ["Commission", "repair_probes", "write_probes", "write_witness"]

_WRITER, _REPAIR, _WITNESS = "writer-1", "repair-1", "witness-1"
_MAX_ANSWER_BYTES = 1 << 20


class Commission(Record, frozen=True, kw_only=True):
    """What writers are asked for. `packet` shows them issue, patch and code; `spelling` says how the
    project's runner spells the id of a test; `limit_s` is for one answer."""

    packet: Packet
    spelling: str
    probes: int
    guards: int
    limit_s: float


class _File(Record, frozen=True, kw_only=True):
    path: str
    text: str


class _Draft(Record, frozen=True, kw_only=True):
    role: ProbeRole
    files: tuple[_File, ...]
    tests: tuple[str, ...]
    shows: str
    quote: str = ""
    remarks: str = ""
    replaces: str = ""


class _Answer(Record, frozen=True, kw_only=True):
    probes: tuple[_Draft, ...]


def write_probes(
    chat: Chat, wanted: Commission, *, deadline: Deadline, cancel: threading.Event | None = None
) -> tuple[Written, tuple[Probe, ...]]:
    """Ask once. Whatever goes wrong is in `Written.why`; then there are no probes."""
    asked = f"Write {wanted.probes} probes and {wanted.guards} guards.\n{wanted.spelling}\n"
    said, drafts = _ask(chat, _WRITER, f"{wanted.packet.text}\n{asked}", wanted, deadline, cancel)
    return said, tuple(_probe(draft, chat) for draft in drafts)


def repair_probes(
    chat: Chat,
    wanted: Commission,
    failed: Sequence[ProbeResult],
    *,
    deadline: Deadline,
    cancel: threading.Event | None = None,
) -> tuple[Written, dict[str, Probe]]:
    """Ask for better versions of probes that did not qualify: id of the old one -> the new one."""
    shown = "\n".join(_complaint(result) for result in failed)
    text = f"{wanted.packet.text}\nTests that cannot be used:\n{shown}\n{wanted.spelling}\n"
    said, drafts = _ask(chat, _REPAIR, text, wanted, deadline, cancel)
    known = {result.probe.id for result in failed}
    return said, {draft.replaces: _probe(draft, chat) for draft in drafts if draft.replaces in known}


def write_witness(
    chat: Chat,
    wanted: Commission,
    claim: str,
    *,
    deadline: Deadline,
    cancel: threading.Event | None = None,
) -> tuple[Written, Probe | None]:
    """Ask a reviewer for the one test that shows its claim; None where it gives none, or several."""
    text = f"{wanted.packet.text}\nYour claim:\n{claim}\n{wanted.spelling}\n"
    said, drafts = _ask(chat, _WITNESS, text, wanted, deadline, cancel)
    if len(drafts) > 1:
        why = f"{len(drafts)} tests instead of one"
        return msgspec.structs.replace(said, why=why), None
    return said, _probe(drafts[0], chat) if drafts else None


def _ask(
    chat: Chat,
    prompt: str,
    text: str,
    wanted: Commission,
    deadline: Deadline,
    cancel: threading.Event | None,
) -> tuple[Written, tuple[_Draft, ...]]:
    told = _prompt(prompt)
    messages = (
        Message(role=ChatRole.SYSTEM, content=told),
        Message(role=ChatRole.USER, content=text),
    )
    request = ChatRequest(messages=messages, json_schema=_schema(), limit_s=wanted.limit_s)
    reply = chat.ask(request, deadline=deadline, cancel=cancel)
    drafts, why = _read(reply)
    written = Written(
        generator=chat.name,
        request=request.digest,
        prompt=digest(told.encode()),
        probes=len(drafts),
        why=why,
        reported_model=reply.reported_model if isinstance(reply, ChatReply) else "",
        latency_s=reply.latency_s,
    )
    return written, drafts


def _read(reply: ChatReply | ChatFailure) -> tuple[tuple[_Draft, ...], str]:
    """The drafts in an answer, and why there are none."""
    if isinstance(reply, ChatFailure):
        return (), f"{reply.kind.value}: {reply.message}"
    if not reply.complete:
        return (), f"the model stopped for {reply.finish_reason.value}"
    if len(reply.text.encode("utf-8", "surrogatepass")) > _MAX_ANSWER_BYTES:
        return (), f"more than {_MAX_ANSWER_BYTES} bytes"
    try:
        answer = msgspec.convert(one_object(reply.text), _Answer)
    except Unreadable as error:
        return (), f"{error.fault.value}: {error.why}"[:200]
    except msgspec.ValidationError as error:
        return (), f"not the shape that was asked for: {error}"[:200]
    return answer.probes, "" if answer.probes else "it wrote none"


def _probe(draft: _Draft, chat: Chat) -> Probe:
    plain = Draft(
        role=draft.role,
        files={file.path: file.text for file in draft.files},
        tests=draft.tests,
        quote=draft.quote,
        shows=draft.shows,
        remarks=draft.remarks,
    )
    return probe_of(plain, generator=chat.name)


def _complaint(result: ProbeResult) -> str:
    """Why a probe was dropped, and what base said: never what head said."""
    runs = [run.failure for run in result.runs if run.side is Side.BASE and run.failure]
    said = sorted({failure_words(failure.exception, failure.message) for failure in runs})
    files = "\n".join(f"--- {path}\n{text}" for path, text in result.probe.files.items())
    words = f"{result.state.value}: {result.why}\n" + "".join(f"before the patch: {one}\n" for one in said)
    return f"=== {result.probe.id} ({result.probe.role.value})\n{words}{files}\n"


@cache
def _prompt(name: str) -> str:
    return (files("showcause.probes") / "prompts" / f"{name}.txt").read_text(encoding="utf-8")


@cache
def _schema() -> JsonSchema:
    text: dict[str, Any] = {"type": "string"}
    file = _object({"path": text, "text": text})
    draft = _object(
        {
            "replaces": text,
            "role": {"type": "string", "enum": [role.value for role in ProbeRole]},
            "files": {"type": "array", "items": file},
            "tests": {"type": "array", "items": text},
            "quote": text,
            "shows": text,
            "remarks": text,
        }
    )
    return JsonSchema(name="probes", schema=_object({"probes": {"type": "array", "items": draft}}))


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }

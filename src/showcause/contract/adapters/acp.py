"""Any agent that speaks the Agent Client Protocol (JSON-RPC on standard input and output).

It is offered no file and no terminal, and every permission it asks for is refused. Its own tools are its own
affair: what they may touch is what the sandbox lets them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from showcause.contract.adapters.base import Composed, Forbidden, Job, Limits, Misbehaving, no_repository
from showcause.contract.reading import Event, Fault, Reading, dig, events, fault_of, text_of, told_on_stderr
from showcause.errors import UsageError
from showcause.records.contract import ReviewerKind, ToolAttempt, ToolState

__all__ = ["AcpAdapter", "AcpConversation"]

_INITIALIZE, _NEW, _PROMPT = 0, 1, 2
_VERSION = 1
_NO_SUCH_METHOD = -32601


class AcpAdapter:
    """See `Adapter`."""

    kind = ReviewerKind.ACP
    program = ""
    forbidden: tuple[Forbidden, ...] = ()
    required: tuple[tuple[str, ...], ...] = ()
    misbehaving: tuple[Misbehaving, ...] = ()
    limits = Limits()

    def compose(self, job: Job) -> Composed:
        no_repository(job)
        if not job.spec.command:
            raise UsageError(f"[reviewers.{job.spec.name}] command: which agent is to be started?")
        talk = AcpConversation(job.parcel.text, job.folder)
        env = {job.spec.api_key_env: job.key} if job.key else {}
        return Composed(argv=job.program, stdin=talk.first, env=env, talk=talk)

    def read(self, out: bytes, err: bytes, sent: str) -> Reading:
        stream = events(out)
        done, said = _answer_to(stream.events, _PROMPT), _answer(stream.events)
        is_silent = not done and not said
        error = next((told for one in stream.events if (told := dig(one.value, "error", "message"))), None)
        return Reading(
            answer=said,
            ended=is_silent or (dig(done, "result", "stopReason") == "end_turn" and not stream.cut),
            fault=_fault(done, error),
            tools=_tools(stream.events),
            foreign=stream.foreign,
            broken="no line of it answers the prompt" if is_silent and stream.foreign else "",
        )

    def status(self, exit_status: int, err: bytes) -> Fault | None:
        return told_on_stderr(err)

    def speak(self, answer: str, model: str) -> bytes:
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": answer}}
        lines: list[dict[str, Any]] = [
            {"id": _INITIALIZE, "result": {"protocolVersion": _VERSION}},
            {"id": _NEW, "result": {"sessionId": "s"}},
            {"method": "session/update", "params": {"sessionId": "s", "update": update}},
            {"id": _PROMPT, "result": {"stopReason": "end_turn"}},
        ]
        return b"".join(_line(line) for line in lines)


class AcpConversation:
    """Our side of it: initialize, a new session, one prompt, no to everything that is asked, and the end."""

    def __init__(self, prompt: str, folder: str) -> None:
        self._prompt, self._folder = prompt, folder
        self._buffer, self._said, self._is_asked = b"", 0, False
        files = {"readTextFile": False, "writeTextFile": False}
        told = {"protocolVersion": _VERSION, "clientCapabilities": {"fs": files, "terminal": False}}
        self.first = self._say({"id": _INITIALIZE, "method": "initialize", "params": told})

    @property
    def total(self) -> int:
        return self._said + (0 if self._is_asked else len(self._prompt.encode("utf-8", "backslashreplace")))

    def __call__(self, data: bytes) -> bytes | None:
        """The answers to what the agent wrote; None once the prompt is answered, or the agent closed."""
        if not data:
            return None
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        answers = b""
        for one in events(b"\n".join(lines)).events:
            answer = self._answer(one.value)
            if answer is None:
                return None
            answers += answer
        return answers

    def _answer(self, told: dict[str, Any]) -> bytes | None:
        id, method = told.get("id"), told.get("method")
        if isinstance(method, str):
            return b"" if id is None else self._refuse(id, method, told)
        if "error" in told or (id == _PROMPT and "result" in told):
            return None
        if id == _INITIALIZE:
            params: dict[str, Any] = {"cwd": self._folder, "mcpServers": []}
            return self._say({"id": _NEW, "method": "session/new", "params": params})
        if id == _NEW and not self._is_asked:
            self._is_asked = True
            prompt = [{"type": "text", "text": self._prompt}]
            params = {"sessionId": dig(told, "result", "sessionId"), "prompt": prompt}
            return self._say({"id": _PROMPT, "method": "session/prompt", "params": params})
        return b""

    def _refuse(self, id: object, method: str, told: dict[str, Any]) -> bytes:
        if method != "session/request_permission":
            error = {"code": _NO_SUCH_METHOD, "message": f"{method} is not offered"}
            return self._say({"id": id, "error": error})
        options = dig(told, "params", "options")
        kinds = {dig(one, "kind"): dig(one, "optionId") for one in options or () if isinstance(one, dict)}
        refused = kinds.get("reject_always") or kinds.get("reject_once")
        outcome = {"outcome": "selected", "optionId": refused} if refused else {"outcome": "cancelled"}
        return self._say({"id": id, "result": {"outcome": outcome}})

    def _say(self, told: dict[str, Any]) -> bytes:
        line = _line(told)
        self._said += len(line)
        return line


def _line(told: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **told}).encode() + b"\n"


def _answer_to(found: Sequence[Event], id: int) -> dict[str, Any]:
    return next(
        (one.value for one in reversed(found) if one.value.get("id") == id and "method" not in one.value), {}
    )


def _updates(found: Sequence[Event]) -> list[dict[str, Any]]:
    told = (
        dig(one.value, "params", "update") for one in found if one.value.get("method") == "session/update"
    )
    return [one for one in told if isinstance(one, dict)]


def _answer(found: Sequence[Event]) -> str:
    """The agent's text after its last tool."""
    updates = _updates(found)
    tools = [
        at for at, one in enumerate(updates) if text_of(one.get("sessionUpdate")).startswith("tool_call")
    ]
    return "".join(
        text_of(dig(one, "content", "text"))
        for one in updates[max(tools, default=-1) + 1 :]
        if one.get("sessionUpdate") == "agent_message_chunk"
    )


def _fault(done: dict[str, Any], error: object) -> Fault | None:
    reason = dig(done, "result", "stopReason")
    if reason == "refusal":
        return fault_of("refused by the model")
    if reason == "max_turn_requests":
        return fault_of("the turn limit was reached")
    return fault_of(text_of(error) or "the agent reports an error") if error and reason is None else None


_STATES = {"completed": ToolState.DONE, "failed": ToolState.REFUSED}


def _tools(found: Sequence[Event]) -> tuple[ToolAttempt, ...]:
    names: dict[str, str] = {}
    states: dict[str, ToolState] = {}
    for one in _updates(found):
        id = text_of(one.get("toolCallId"))
        if id:
            names[id] = text_of(one.get("title")) or names.get(id, "")
            states[id] = _STATES.get(text_of(one.get("status")), states.get(id, ToolState.UNKNOWN))
    return tuple(ToolAttempt(name=names[id], state=states[id]) for id in names)

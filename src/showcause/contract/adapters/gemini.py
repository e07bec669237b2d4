"""Gemini CLI, unattended: an administrator's policy that denies every tool, its own home, no extensions.

Its exit status is the low byte of an HTTP status. A cut stream ends with status 0 and the partial texts of
four tries joined; an over-long packet with status 0, no answer and no request. Never `plan`: there a model
talks itself into writing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from showcause.contract.adapters.base import Composed, Forbidden, Job, Limits, Misbehaving, no_repository
from showcause.contract.reading import (
    Event,
    Fault,
    Reading,
    count_of,
    dig,
    events,
    fault_of,
    fault_of_status,
    is_empty_notice,
    text_of,
    told_on_stderr,
)
from showcause.records import ChatUsage
from showcause.records.contract import (
    Echo,
    ModelSeen,
    ProviderFaultKind,
    ReviewerKind,
    ToolAttempt,
    ToolState,
)

__all__ = ["GeminiAdapter"]

_POLICY = b'[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 999\n'
_HTTP = {status & 255: status for status in (400, 401, 403, 404, 413, 429, 500, 502, 503, 504)}
_K = ProviderFaultKind
_OWN = {41: (_K.AUTH, "not logged in"), 53: (_K.LIMIT, "the limit of turns was reached")}


class GeminiAdapter:
    """See `Adapter`."""

    kind = ReviewerKind.GEMINI
    program = "gemini"
    forbidden = (
        Forbidden(flags=("--yolo", "-y"), why="allows every tool"),
        Forbidden(
            flags=("--approval-mode",), values=r"^(?!default$)", why="lets it write, or leads to where it may"
        ),
        Forbidden(flags=("--allowed-tools", "--policy"), why="allows tools"),
        Forbidden(flags=("--extensions", "-e", "--allowed-mcp-server-names"), why="runs foreign code"),
        Forbidden(flags=("--include-directories", "--resume", "-r", "--acp"), why="reaches out of its place"),
    )
    required = (("--approval-mode", "default"), ("--admin-policy",), ("--output-format", "stream-json"))
    misbehaving: tuple[Misbehaving, ...] = ()
    limits = Limits(characters=4_000_000, size=8_388_608, context_tokens=900_000)

    def compose(self, job: Job) -> Composed:
        no_repository(job)
        policy = f"{job.home}/deny.toml"
        argv = [*job.program, "--output-format", "stream-json", "--skip-trust"]
        argv += ["--approval-mode", "default", "--admin-policy", policy]
        if job.spec.model:
            argv += ["-m", job.spec.model]
        env = {"GEMINI_CLI_NO_RELAUNCH": "true"}
        if job.key:
            env["GEMINI_API_KEY"] = job.key
        if job.spec.base_url:
            env["GOOGLE_GEMINI_BASE_URL"] = job.spec.base_url
        files = {"deny.toml": _POLICY, ".gemini/settings.json": json.dumps(_settings(job)).encode()}
        return Composed(argv=tuple(argv), stdin=job.parcel.data, env=env, files=files)

    def read(self, out: bytes, err: bytes, sent: str) -> Reading:
        stream = events(out)
        result = next((one for one in reversed(stream.events) if one.type == "result"), None)
        return Reading(
            answer=_answer(stream.events),
            ended=result is not None
            and (
                text_of(result.value.get("status")) == "success" or is_empty_notice(_complaint(stream.events))
            ),
            fault=_fault(stream.events, err),
            models=_models(stream.events),
            tools=_tools(stream.events),
            usage=ChatUsage(
                prompt_tokens=count_of(dig(result.value, "stats", "input_tokens")) if result else None,
                completion_tokens=count_of(dig(result.value, "stats", "output_tokens")) if result else None,
            ),
            echo=_echo(stream.events, sent),
            foreign=stream.foreign,
            broken="no line of it is an event" if out.strip() and not stream.events else "",
        )

    def status(self, exit_status: int, err: bytes) -> Fault | None:
        told = told_on_stderr(err)
        if exit_status in _HTTP:
            return fault_of_status(_HTTP[exit_status], told.why if told else "")
        if exit_status in _OWN:
            kind, why = _OWN[exit_status]
            return Fault(kind=kind, why=why)
        return told

    def speak(self, answer: str, model: str) -> bytes:
        stats = {"input_tokens": 1, "output_tokens": 1, "models": {model: {"total_tokens": 2}}}
        lines: list[dict[str, Any]] = [
            {"type": "init", "session_id": "s", "model": model},
            {"type": "message", "role": "user", "content": "@SENT_IN_JSON@"},
            {"type": "message", "role": "assistant", "content": answer, "delta": True},
            {"type": "result", "status": "success", "stats": stats},
        ]
        return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _settings(job: Job) -> dict[str, Any]:
    return {
        "security": {"auth": {"selectedType": "gemini-api-key" if job.key else "oauth-personal"}},
        "tools": {"core": ["read_file"]},
        "general": {"maxAttempts": 2, "enableAutoUpdate": False, "disableAutoUpdate": True},
        "model": {"maxSessionTurns": 4},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "mcp": {"allowed": []},
        "context": {"fileName": "NONE-OF-THESE.md"},
    }


def _answer(found: Sequence[Event]) -> str:
    """The assistant's text after the last tool: what came before one is no final answer."""
    last = max((at for at, one in enumerate(found) if one.type in ("tool_use", "tool_result")), default=-1)
    return "".join(
        text_of(one.value.get("content"))
        for one in found[last + 1 :]
        if one.type == "message" and one.value.get("role") == "assistant"
    )


def _fault(found: Sequence[Event], err: bytes) -> Fault | None:
    """What ended it. Errors that it went on after are no fault, and neither is a model that said nothing."""
    result = next((one for one in reversed(found) if one.type == "result"), None)
    if result is not None and text_of(result.value.get("status")) == "success":
        return None
    told = _complaint(found)
    if told:
        return None if is_empty_notice(told) else fault_of(told)
    if result is not None:
        return fault_of(text_of(dig(result.value, "error", "message")) or "the CLI reports an error")
    return told_on_stderr(err) if not found else None


def _complaint(found: Sequence[Event]) -> str:
    last = next((one for one in reversed(found) if one.type == "error"), None)
    return text_of(last.value.get("message")) if last else ""


def _models(found: Sequence[Event]) -> tuple[ModelSeen, ...]:
    seen: list[ModelSeen] = []
    for one in found:
        if one.type == "init":
            seen += one.model("init.model", one.value.get("model"), served=False)
        told = dig(one.value, "stats", "models")
        if one.type == "result" and isinstance(told, dict):
            for id in told:
                seen += one.model("result.stats.models", id, served=True)
    return tuple(seen)


def _tools(found: Sequence[Event]) -> tuple[ToolAttempt, ...]:
    results = {text_of(one.value.get("tool_id")): one.value for one in found if one.type == "tool_result"}
    tools = []
    for one in found:
        if one.type != "tool_use":
            continue
        told = results.get(text_of(one.value.get("tool_id")), {})
        states = {"success": ToolState.DONE, "error": ToolState.REFUSED}
        state = states.get(text_of(told.get("status")), ToolState.UNKNOWN)
        why = text_of(told.get("output"))[:200] if state is ToolState.REFUSED else ""
        tools.append(ToolAttempt(name=text_of(one.value.get("tool_name")), state=state, why=why))
    return tuple(tools)


def _echo(found: Sequence[Event], sent: str) -> Echo:
    texts = [
        text_of(one.value.get("content"))
        for one in found
        if one.type == "message" and one.value.get("role") == "user"
    ]
    if not texts:
        return Echo.MISSING
    return Echo.EQUAL if texts[0].strip() == sent.strip() else Echo.DIFFERENT

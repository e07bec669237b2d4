"""Qwen Code, unattended: bare, in plan mode, with writing tools left out by name.

Its exit status says nothing: a refused key, a cut stream, an empty answer all end with 0 and a text that
begins or ends with "[API Error: ...]". It names the model that was asked for, never the one that served.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from showcause.contract.adapters.base import Composed, Forbidden, Job, Limits, Misbehaving, no_repository
from showcause.contract.adapters.claude_code import tools_of_messages
from showcause.contract.reading import (
    Event,
    Fault,
    Reading,
    count_of,
    dig,
    events,
    fault_of,
    is_empty_notice,
    text_of,
    told_on_stderr,
)
from showcause.errors import UsageError
from showcause.records import ChatUsage
from showcause.records.contract import ModelSeen, ProviderFaultKind, ReviewerKind

__all__ = ["QwenAdapter"]

_LEFT_OUT = "write_file,edit,run_shell_command,agent,exit_plan_mode,web_fetch"
_API_ERROR = re.compile(r"\[API Error: (.*?)\]?\s*\Z", re.DOTALL)
_TURNS = 53


class QwenAdapter:
    """See `Adapter`."""

    kind = ReviewerKind.QWEN
    program = "qwen"
    forbidden = (
        Forbidden(flags=("--yolo", "-y"), why="allows every tool"),
        Forbidden(flags=("--approval-mode",), values=r"^(?!plan$)", why="lets it write"),
        Forbidden(flags=("--allowed-tools",), why="allows tools"),
        Forbidden(flags=("--core-tools",), values=r"^(?!read_file$)", why="gives more than reading"),
        Forbidden(flags=("--extensions", "-e", "--allowed-mcp-server-names"), why="runs foreign code"),
        Forbidden(
            flags=("--include-directories", "--add-dir", "--resume", "-r", "--continue", "-c", "--acp"),
            why="reaches out of its place",
        ),
    )
    required = (("--bare",), ("--approval-mode", "plan"), ("--exclude-tools", _LEFT_OUT))
    misbehaving: tuple[Misbehaving, ...] = ()
    limits = Limits(characters=8_000_000, size=8_388_608, context_tokens=120_000)

    def compose(self, job: Job) -> Composed:
        no_repository(job)
        if not job.spec.model:
            raise UsageError(f"[reviewers.{job.spec.name}] model: which model is to be asked?")
        argv = [*job.program, "--output-format", "stream-json", "--auth-type", "openai"]
        argv += ["--approval-mode", "plan", "--bare", "--max-session-turns", "4"]
        argv += ["--core-tools", "read_file", "--exclude-tools", _LEFT_OUT]
        env = {"OPENAI_MODEL": job.spec.model, "QWEN_TELEMETRY_ENABLED": "false"}
        if job.key:
            env["OPENAI_API_KEY"] = job.key
        if job.spec.base_url:
            env["OPENAI_BASE_URL"] = job.spec.base_url
        return Composed(argv=tuple(argv), stdin=job.parcel.data, env=env)

    def read(self, out: bytes, err: bytes, sent: str) -> Reading:
        stream = events(out)
        result = next((one for one in reversed(stream.events) if one.type == "result"), None)
        value = result.value if result else {}
        told = text_of(value.get("result"))
        complaint = _API_ERROR.search(told)
        is_empty = complaint is not None and is_empty_notice(complaint[1])
        answer = "" if is_empty else told
        return Reading(
            answer=answer,
            ended=result is not None and not stream.cut,
            fault=None if is_empty else _fault(value, answer, err),
            models=_models(stream.events),
            tools=tools_of_messages(stream.events),
            usage=ChatUsage(
                prompt_tokens=count_of(dig(value, "usage", "input_tokens")),
                completion_tokens=count_of(dig(value, "usage", "output_tokens")),
            ),
            foreign=stream.foreign,
            broken="no line of it is an event" if out.strip() and not stream.events else "",
        )

    def status(self, exit_status: int, err: bytes) -> Fault | None:
        if exit_status == _TURNS:
            return Fault(kind=ProviderFaultKind.LIMIT, why="the limit of turns was reached")
        return told_on_stderr(err)

    def speak(self, answer: str, model: str) -> bytes:
        said = {"role": "assistant", "model": model, "content": [{"type": "text", "text": answer}]}
        lines: list[dict[str, Any]] = [
            {"type": "system", "subtype": "init", "model": model, "tools": []},
            {"type": "assistant", "message": said},
            {"type": "result", "subtype": "success", "is_error": False, "result": answer},
        ]
        return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _fault(result: dict[str, Any], answer: str, err: bytes) -> Fault | None:
    """Also where everything says success: an API error stands in the answer."""
    if found := _API_ERROR.search(answer):
        return fault_of(found[1])
    if result.get("is_error") or text_of(result.get("subtype")) not in ("success", ""):
        told = text_of(dig(result, "error", "message")) or answer or text_of(result.get("subtype"))
        return fault_of(told)
    return None if result else told_on_stderr(err)


def _models(found: Sequence[Event]) -> tuple[ModelSeen, ...]:
    seen: list[ModelSeen] = []
    for one in found:
        if one.type == "system":
            seen += one.model("system.init.model", one.value.get("model"), served=False)
    return tuple(seen)

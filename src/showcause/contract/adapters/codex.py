"""Codex, unattended: no shell, no plugins, no hooks, no project files; its own read-only sandbox beside ours.

Its events are no complete record: refused patches and unknown tools leave none. It names no served model.
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
    text_of,
    told_on_stderr,
)
from showcause.errors import UsageError
from showcause.records import ChatUsage
from showcause.records.contract import ReviewerKind, ToolAttempt, ToolState

__all__ = ["CodexAdapter"]

_OFF = ("shell_tool", "unified_exec", "plugins", "apps", "multi_agent", "hooks")
_KEY = "SHOWCAUSE_REVIEWER_KEY"
_OPENAI = "https://api.openai.com/v1"


class CodexAdapter:
    """See `Adapter`."""

    kind = ReviewerKind.CODEX
    program = "codex"
    forbidden = (
        Forbidden(
            flags=("--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "--yolo"),
            why="skips sandbox and approvals",
        ),
        Forbidden(flags=("--full-auto",), why="lets it write"),
        Forbidden(flags=("--sandbox", "-s"), values=r"^(?!read-only$)", why="lets it write"),
        Forbidden(
            flags=("--config", "-c"), values=r"sandbox|approval|mcp|notify|hook|shell", why="gives powers"
        ),
        Forbidden(flags=("--add-dir", "--enable", "--profile", "-p", "--search"), why="gives powers"),
    )
    required = (
        ("exec",),
        ("--sandbox", "read-only"),
        ("--ephemeral",),
        *(("--disable", name) for name in _OFF),
    )
    misbehaving: tuple[Misbehaving, ...] = ()
    limits = Limits(characters=1_048_576, size=4_194_304, context_tokens=200_000)

    def compose(self, job: Job) -> Composed:
        no_repository(job)
        argv = [*job.program, "exec", "--json", "--sandbox", "read-only", "--skip-git-repo-check"]
        argv += ["--ephemeral", "--color", "never"]
        for name in _OFF:
            argv += ["--disable", name]
        env = {"CODEX_HOME": f"{job.home}/.codex"}
        if job.key:
            env[_KEY] = job.key
        files = {".codex/config.toml": _config(job).encode()}
        return Composed(argv=(*argv, "-"), stdin=job.parcel.data, env=env, files=files)

    def read(self, out: bytes, err: bytes, sent: str) -> Reading:
        stream = events(out)
        ended = next((one for one in reversed(stream.events) if one.type == "turn.completed"), None)
        said = [
            text_of(dig(one.value, "item", "text"))
            for one in stream.events
            if one.type == "item.completed" and dig(one.value, "item", "type") == "agent_message"
        ]
        return Reading(
            answer=said[-1] if said else "",
            ended=ended is not None and not stream.cut,
            fault=_fault(stream.events),
            tools=_tools(stream.events),
            usage=ChatUsage(
                prompt_tokens=count_of(dig(ended.value, "usage", "input_tokens")) if ended else None,
                completion_tokens=count_of(dig(ended.value, "usage", "output_tokens")) if ended else None,
            ),
            foreign=stream.foreign,
            broken="no line of it is an event" if out.strip() and not stream.events else "",
        )

    def status(self, exit_status: int, err: bytes) -> Fault | None:
        return told_on_stderr(err)

    def speak(self, answer: str, model: str) -> bytes:
        lines: list[dict[str, Any]] = [
            {"type": "thread.started", "thread_id": "t"},
            {"type": "turn.started"},
            {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": answer}},
            {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}},
        ]
        return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _config(job: Job) -> str:
    spec = job.spec
    lines = [f"model = {_quoted(spec.model)}"] if spec.model else []
    lines += ['approval_policy = "never"', 'web_search = "disabled"', "project_doc_max_bytes = 0"]
    if job.key or spec.base_url:
        lines += ['model_provider = "reviewer"', "[model_providers.reviewer]", 'name = "reviewer"']
        lines += [f"base_url = {_quoted(spec.base_url or _OPENAI)}", 'wire_api = "responses"']
        lines += [f"env_key = {_quoted(_KEY)}"] if job.key else []
        lines += ["request_max_retries = 1", "stream_max_retries = 0"]
    lines += ["[shell_environment_policy]", 'inherit = "none"', "[analytics]", "enabled = false"]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """As a TOML string. Raises UsageError for what cannot stand in one."""
    if any(ord(sign) < 32 for sign in text):
        raise UsageError(f"{text!r} holds a control character")
    return json.dumps(text, ensure_ascii=False)


def _fault(found: Sequence[Event]) -> Fault | None:
    """What ended the turn. Errors that it went on after (`item.type` error) are no fault."""
    for one in reversed(found):
        if one.type == "turn.completed":
            return None
        if one.type == "turn.failed":
            return fault_of(text_of(dig(one.value, "error", "message")))
    last = next((one for one in reversed(found) if one.type == "error"), None)
    return fault_of(text_of(last.value.get("message"))) if last else None


_STATES = {"completed": ToolState.DONE, "failed": ToolState.REFUSED, "declined": ToolState.REFUSED}
_SPEECH = ("agent_message", "reasoning", "error", "todo_list")


def _tools(found: Sequence[Event]) -> tuple[ToolAttempt, ...]:
    """Items that are no speech. One whose last command succeeded is `completed` whatever it was refused."""
    tools = []
    for one in found:
        name = text_of(dig(one.value, "item", "type"))
        if one.type != "item.completed" or not name or name in _SPEECH:
            continue
        state = _STATES.get(text_of(dig(one.value, "item", "status")), ToolState.UNKNOWN)
        why = text_of(dig(one.value, "item", "aggregated_output"))[:200]
        tools.append(ToolAttempt(name=name, state=state, why=why if state is ToolState.REFUSED else ""))
    return tuple(tools)

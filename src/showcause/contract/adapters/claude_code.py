"""Claude Code, unattended: no tools or reading tools only, no settings, hooks, plugins, memory or servers.

Input goes as one stream-json message which the CLI replays on its output, so its receipt by the CLI shows;
with text input it waits three seconds for the first byte and then goes on without it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from showcause.contract.adapters.base import Composed, Forbidden, Job, Limits, Misbehaving
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
from showcause.records import ChatUsage
from showcause.records.contract import (
    Echo,
    ModelSeen,
    ProviderFaultKind,
    ReviewerKind,
    ToolAttempt,
    ToolState,
)

__all__ = ["ClaudeCodeAdapter", "tools_of_messages"]

_TURNS, _TURNS_READING = "4", "40"
_CUT = ("max_tokens", "model_context_window_exceeded", "refusal", "pause_turn")


class ClaudeCodeAdapter:
    """See `Adapter`."""

    kind = ReviewerKind.CLAUDE_CODE
    program = "claude"
    forbidden = (
        Forbidden(
            flags=("--dangerously-skip-permissions", "--allow-dangerously-skip-permissions"),
            why="skips all permissions",
        ),
        Forbidden(
            flags=("--permission-mode",), values=r"^(?!plan$|dontAsk$)", why="lets it write without asking"
        ),
        Forbidden(flags=("--tools",), values=r"^(?!$|Read,Grep,Glob$)", why="gives more than reading"),
        Forbidden(flags=("--allowedTools", "--allowed-tools"), why="allows tools"),
        Forbidden(flags=("--setting-sources",), values=r".", why="reads settings, which may hold hooks"),
        Forbidden(flags=("--settings", "--mcp-config", "--plugin-dir", "--agents"), why="runs foreign code"),
        Forbidden(flags=("--continue", "-c", "--resume", "-r", "--from-pr"), why="brings another session"),
        Forbidden(flags=("--ide", "--chrome", "--remote-control"), why="reaches out of its place"),
    )
    required = (
        ("-p",),
        ("--bare",),
        ("--strict-mcp-config",),
        ("--setting-sources", ""),
        ("--no-session-persistence",),
        ("--replay-user-messages",),
    )
    misbehaving: tuple[Misbehaving, ...] = ()
    limits = Limits(characters=1_500_000, size=6_000_000, context_tokens=180_000)  # 3 M lose its result

    def compose(self, job: Job) -> Composed:
        argv = [*job.program, "-p", "--output-format", "stream-json", "--verbose"]
        argv += ["--input-format", "stream-json", "--replay-user-messages", "--strict-mcp-config"]
        argv += ["--setting-sources", "", "--no-session-persistence", "--bare", "--disable-slash-commands"]
        if job.repository:
            argv += ["--permission-mode", "dontAsk", "--tools", "Read,Grep,Glob"]
            argv += ["--max-turns", _TURNS_READING, f"--add-dir={job.repository}"]
        else:
            argv += ["--permission-mode", "plan", "--tools", "", "--max-turns", _TURNS]
        if job.spec.model:
            argv += ["--model", job.spec.model]
        content = [{"type": "text", "text": job.parcel.text}]
        message = {"type": "user", "message": {"role": "user", "content": content}}
        return Composed(
            argv=tuple(argv), stdin=json.dumps(message, ensure_ascii=True).encode() + b"\n", env=_env(job)
        )

    def read(self, out: bytes, err: bytes, sent: str) -> Reading:
        stream = events(out)
        result = next((one for one in reversed(stream.events) if one.type == "result"), None)
        value = result.value if result else {}
        return Reading(
            answer=text_of(value.get("result")) or text_of(value.get("structured_output")),
            ended=result is not None and value.get("stop_reason") not in _CUT and not stream.cut,
            fault=_fault(value) if result else None,
            models=tuple(_models(stream.events)),
            tools=tools_of_messages(stream.events),
            usage=_usage(value.get("usage")),
            echo=_echo(stream.events, sent),
            foreign=stream.foreign,
            broken="no line of it is an event" if out.strip() and not stream.events else "",
        )

    def status(self, exit_status: int, err: bytes) -> Fault | None:
        return told_on_stderr(err)

    def speak(self, answer: str, model: str) -> bytes:
        sent = {"role": "user", "content": [{"type": "text", "text": "@SENT_IN_JSON@"}]}
        said = {"role": "assistant", "model": model, "content": [{"type": "text", "text": answer}]}
        lines: list[dict[str, Any]] = [
            {"type": "system", "subtype": "init", "model": model, "tools": []},
            {"type": "user", "message": sent, "isReplay": True},
            {"type": "assistant", "message": said},
            {"type": "result", "subtype": "success", "is_error": False, "result": answer,
             "stop_reason": "end_turn"},
        ]  # fmt: skip
        return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _env(job: Job) -> dict[str, str]:
    env = {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
    }
    if job.key:
        env["ANTHROPIC_API_KEY"] = job.key
    if job.spec.base_url:
        env["ANTHROPIC_BASE_URL"] = job.spec.base_url
    return env


def _fault(result: dict[str, Any]) -> Fault | None:
    """Also where `subtype` says success: `is_error` tells, or the text is the CLI's own complaint."""
    subtype, told = text_of(result.get("subtype")), text_of(result.get("result"))
    listed = result.get("errors")
    errors = "; ".join(map(text_of, listed)) if isinstance(listed, list) else ""
    if subtype.startswith("error_max"):
        return Fault(kind=ProviderFaultKind.LIMIT, why=f"{subtype} {errors}".strip()[:300])
    if result.get("is_error") or subtype not in ("success", ""):
        return fault_of(told or errors or subtype, result.get("api_error_status"))
    return fault_of(told) if told.startswith("API Error") else None


def _models(found: Sequence[Event]) -> Iterator[ModelSeen]:
    seen: set[tuple[str, str]] = set()
    for event in found:
        told = {"system": dig(event.value, "model"), "assistant": dig(event.value, "message", "model")}
        where = {"system": "system.init.model", "assistant": "assistant.message.model"}
        if event.type in told:
            # "<synthetic>" is the CLI speaking for itself
            for one in event.model(where[event.type], told[event.type], served=event.type == "assistant"):
                if (one.id, one.where) not in seen and not one.id.startswith("<"):
                    seen.add((one.id, one.where))
                    yield one


def tools_of_messages(found: Sequence[Event]) -> tuple[ToolAttempt, ...]:
    """Tool calls in `message.content` of Anthropic's shape, each with what was answered to it."""
    answers: dict[str, tuple[ToolState, str]] = {}
    for part in (part for event in found for part in _parts(event, "user")):
        if part.get("type") == "tool_result":
            state = ToolState.REFUSED if part.get("is_error") else ToolState.DONE
            answers[text_of(part.get("tool_use_id"))] = (state, _said(part.get("content")))
    calls = (part for event in found for part in _parts(event, "assistant"))
    return tuple(
        ToolAttempt(
            name=text_of(part.get("name")), state=state, why=why if state is ToolState.REFUSED else ""
        )
        for part in calls
        if part.get("type") == "tool_use"
        for state, why in [answers.get(text_of(part.get("id")), (ToolState.UNKNOWN, ""))]
    )


def _parts(event: Event, role: str) -> list[dict[str, Any]]:
    content = dig(event.value, "message", "content") if event.type == role else None
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _said(content: object) -> str:
    if isinstance(content, list):
        content = " ".join(text_of(part.get("text")) for part in content if isinstance(part, dict))
    return text_of(content)[:200]


def _echo(found: Sequence[Event], sent: str) -> Echo:
    """Every user message that is no answer of a tool is a replay of ours."""
    texts = [
        text_of(part.get("text"))
        for event in found
        for part in _parts(event, "user")
        if part.get("type") == "text"
    ]
    plain = [dig(one.value, "message", "content") for one in found if one.type == "user"]
    texts += [text for text in plain if isinstance(text, str)]
    if not texts:
        return Echo.MISSING
    return Echo.EQUAL if texts[0] == sent else Echo.DIFFERENT


def _usage(told: object) -> ChatUsage:
    prompt = [
        count_of(dig(told, name))
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    ]
    known = [count for count in prompt if count is not None]
    return ChatUsage(
        prompt_tokens=sum(known) if known else None, completion_tokens=count_of(dig(told, "output_tokens"))
    )

"""opencode, unattended: an agent of our own to whom everything is denied, no plugins, no project settings.

A cut stream makes it ask again and again; a packet over the window is summarised before the model sees it,
with exit status 0. The return codes show that.
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

__all__ = ["OpencodeAdapter"]

_OFF = (
    "AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "PROJECT_CONFIG", "AUTOCOMPACT",
)  # fmt: skip
_KEY = "SHOWCAUSE_REVIEWER_KEY"


class OpencodeAdapter:
    """See `Adapter`."""

    kind = ReviewerKind.OPENCODE
    program = "opencode"
    forbidden = (
        Forbidden(flags=("--agent",), values=r"^(?!reviewer$)", why="an agent that may write"),
        Forbidden(flags=("--dangerously-skip-permissions", "--auto"), why="skips permissions"),
        Forbidden(
            flags=("--share", "--attach", "--continue", "-c", "--session", "-s", "--command"),
            why="reaches out of its place",
        ),
    )
    required = (("run",), ("--pure",), ("--agent", "reviewer"))
    misbehaving: tuple[Misbehaving, ...] = ()
    limits = Limits(characters=3_000_000, size=8_000_000, context_tokens=100_000)

    def compose(self, job: Job) -> Composed:
        no_repository(job)
        if not job.spec.model:
            raise UsageError(f"[reviewers.{job.spec.name}] model: which model is to be asked?")
        argv = (*job.program, "run", "--format", "json", "--pure", "--agent", "reviewer")
        env = {f"OPENCODE_DISABLE_{name}": "1" for name in _OFF}
        env["OPENCODE_CONFIG_CONTENT"] = json.dumps(_config(job))
        if job.key:
            env[_KEY] = job.key
        return Composed(argv=argv, stdin=job.parcel.data, env=env)

    def read(self, out: bytes, err: bytes, sent: str) -> Reading:
        stream = events(out)
        finish = next((one for one in reversed(stream.events) if one.type == "step_finish"), None)
        reason = text_of(dig(finish.value, "part", "reason")) if finish else ""
        return Reading(
            answer=_answer(stream.events),
            ended=reason == "stop" and not stream.cut,
            fault=_fault(stream.events),
            tools=_tools(stream.events),
            usage=ChatUsage(
                prompt_tokens=count_of(dig(finish.value, "part", "tokens", "input")) if finish else None,
                completion_tokens=count_of(dig(finish.value, "part", "tokens", "output")) if finish else None,
            ),
            foreign=stream.foreign,
            broken="no line of it is an event" if out.strip() and not stream.events else "",
        )

    def status(self, exit_status: int, err: bytes) -> Fault | None:
        return told_on_stderr(err)

    def speak(self, answer: str, model: str) -> bytes:
        lines: list[dict[str, Any]] = [
            {"type": "step_start", "part": {"type": "step-start"}},
            {"type": "text", "part": {"type": "text", "text": answer}},
            {"type": "step_finish", "part": {"reason": "stop", "tokens": {"input": 1, "output": 1}}},
        ]
        return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _config(job: Job) -> dict[str, Any]:
    spec = job.spec
    provider, _, model = spec.model.partition("/")
    options: dict[str, str] = {"baseURL": spec.base_url} if spec.base_url else {}
    if job.key:
        options["apiKey"] = f"{{env:{_KEY}}}"
    limit = {"context": spec.context_tokens or 128_000, "output": 16_000}
    config: dict[str, Any] = {
        "model": spec.model if model else f"reviewer/{spec.model}",
        "agent": {
            "reviewer": {"mode": "primary", "permission": {"*": "deny"}},
            "title": {"disable": True},
        },
        "permission": {"*": "deny"},
        "snapshot": False,
        "autoupdate": False,
        "share": "disabled",
        "compaction": {"auto": False, "prune": False},
    }
    if options:
        name, id = (provider, model) if model else ("reviewer", spec.model)
        config["provider"] = {
            name: {
                "npm": "@ai-sdk/openai-compatible",
                "options": options,
                "models": {id: {"limit": limit}},
            }
        }
    return config


def _answer(found: Sequence[Event]) -> str:
    """The text of the last step."""
    last = max((at for at, one in enumerate(found) if one.type == "step_start"), default=-1)
    return "".join(text_of(dig(one.value, "part", "text")) for one in found[last + 1 :] if one.type == "text")


def _fault(found: Sequence[Event]) -> Fault | None:
    one = next((one for one in reversed(found) if one.type == "error"), None)
    if one is None:
        return None
    told = text_of(dig(one.value, "error", "data", "message")) or text_of(dig(one.value, "error", "name"))
    return fault_of(told or "the CLI reports an error", dig(one.value, "error", "data", "statusCode"))


def _tools(found: Sequence[Event]) -> tuple[ToolAttempt, ...]:
    states = {"completed": ToolState.DONE, "error": ToolState.REFUSED}
    tools = []
    for one in found:
        if one.type != "tool_use":
            continue
        state = states.get(text_of(dig(one.value, "part", "state", "status")), ToolState.UNKNOWN)
        why = text_of(dig(one.value, "part", "state", "error"))[:200] if state is ToolState.REFUSED else ""
        tools.append(ToolAttempt(name=text_of(dig(one.value, "part", "tool")), state=state, why=why))
    return tuple(tools)

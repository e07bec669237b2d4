"""Kimi's CLIs, unattended: an agent file of our own without any tool.

kimi-code (the default) reads no standard input: the packet is a word of its command line, of at most
131,071 bytes. kimi-cli (`extra.flavour = "kimi-cli"`, up to 1.51) reads it. Both answer from a summary where
the packet is larger than the window, with exit status 0; the return codes show that.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from showcause.contract.adapters.base import Composed, Forbidden, Job, Limits, Misbehaving, no_repository
from showcause.contract.reading import Event, Fault, Reading, dig, events, fault_of, text_of, told_on_stderr
from showcause.errors import UsageError
from showcause.records.contract import ProviderFaultKind, ReviewerKind, ToolAttempt, ToolState

__all__ = ["KimiAdapter"]

_URL = "https://api.moonshot.ai/v1"
_WORD = 131_071  # bytes that one word of a command line may have
_FLAVOURS = ("kimi-code", "kimi-cli")
_UNAVAILABLE = 75


class KimiAdapter:
    """See `Adapter`."""

    kind = ReviewerKind.KIMI
    program = "kimi"
    forbidden = (
        Forbidden(
            flags=("--yolo", "-y", "--yes", "--auto-approve", "--afk", "--plan"),
            why="lets it write without asking",
        ),
        Forbidden(
            flags=("--mcp-config", "--mcp-config-file", "--skills-dir", "--add-dir"), why="gives powers"
        ),
        Forbidden(flags=("--continue", "-c", "--session", "-S", "--resume", "-r"), why="another session"),
    )
    required = (("--agent-file",), ("--output-format", "stream-json"))
    misbehaving = (
        Misbehaving(
            pattern=r"1\.52\.\d+",
            why="a stub that answers with a notice and exit status 0; kimi-cli 1.51.0 is the last that works",
        ),
    )
    limits = Limits(characters=_WORD, size=_WORD, context_tokens=100_000)

    def compose(self, job: Job) -> Composed:
        no_repository(job)
        flavour = job.spec.extra.get("flavour", _FLAVOURS[0])
        if flavour not in _FLAVOURS:
            raise UsageError(f"[reviewers.{job.spec.name}] extra.flavour: one of {', '.join(_FLAVOURS)}")
        if not job.spec.model:
            raise UsageError(f"[reviewers.{job.spec.name}] model: which model is to be asked?")
        return _code(job) if flavour == "kimi-code" else _cli(job)

    def read(self, out: bytes, err: bytes, sent: str) -> Reading:
        """The last message of the assistant is the answer, if no tool comes after it."""
        stream = events(out)
        messages = [one for one in stream.events if one.value.get("role") in ("assistant", "tool")]
        last = messages[-1].value if messages else {}
        answer = _text(last.get("content")) if last.get("role") == "assistant" else ""
        return Reading(
            answer=answer,
            ended=bool(answer) and not last.get("tool_calls") and not stream.cut,
            fault=_fault(out, err) if not messages else None,
            tools=_tools(stream.events),
            foreign=stream.foreign,
            broken="no line of it is a message" if out.strip() and not stream.events else "",
        )

    def status(self, exit_status: int, err: bytes) -> Fault | None:
        told = told_on_stderr(err)
        if exit_status == _UNAVAILABLE and told is None:
            return Fault(kind=ProviderFaultKind.SERVER, why="the provider is not available (status 75)")
        return told

    def speak(self, answer: str, model: str) -> bytes:
        return json.dumps({"role": "assistant", "content": answer}).encode() + b"\n"


def _code(job: Job) -> Composed:
    """kimi-code."""
    agent = "---\nname: reviewer\ndescription: reviews one packet\ntools: []\n---\nYou review one packet.\n"
    config = (
        f"default_model = {json.dumps(_model(job))}\n"
        f'[providers.reviewer]\ntype = "kimi"\nbase_url = {json.dumps(job.spec.base_url or _URL)}\n'
        f"api_key = {json.dumps(job.key)}\n"
        f'[models.{json.dumps(_model(job))}]\nprovider = "reviewer"\nmodel = {json.dumps(job.spec.model)}\n'
        f"max_context_size = {job.spec.context_tokens or 128_000}\n"
        "[loop_control]\nmax_attempts_per_step = 2\nmax_steps_per_turn = 4\n"
    )
    argv = (*job.program, "--output-format", "stream-json", "--agent-file", f"{job.home}/reviewer.md")
    return Composed(
        argv=(*argv, "-p", job.parcel.text),
        stdin=b"",
        env={"KIMI_DISABLE_TELEMETRY": "1"},
        files={"reviewer.md": agent.encode(), ".kimi-code/config.toml": config.encode()},
        in_argv=True,
    )


def _cli(job: Job) -> Composed:
    """kimi-cli up to 1.51."""
    agent = "version: 1\nagent:\n  name: reviewer\n  system_prompt_path: ./system.md\n  tools: []\n"
    config = (
        f"default_model = {json.dumps(_model(job))}\n"
        f'[providers.reviewer]\ntype = "kimi"\nbase_url = {json.dumps(job.spec.base_url or _URL)}\n'
        f"api_key = {json.dumps(job.key)}\n"
        f'[models.{json.dumps(_model(job))}]\nprovider = "reviewer"\nmodel = {json.dumps(job.spec.model)}\n'
        f"max_context_size = {job.spec.context_tokens or 128_000}\n"
    )
    argv = (*job.program, "--print", "--input-format", "text", "--output-format", "stream-json")
    argv += ("--agent-file", f"{job.home}/agent.yaml", "--max-steps-per-turn", "4")
    files = {
        "agent.yaml": agent.encode(),
        "system.md": b"You review one packet.\n",
        ".kimi/config.toml": config.encode(),
    }
    return Composed(argv=(*argv, "--max-retries-per-step", "1"), stdin=job.parcel.data, env={}, files=files)


def _model(job: Job) -> str:
    return f"reviewer/{job.spec.model}"


def _text(content: object) -> str:
    """A text, or the texts of a list of parts."""
    if isinstance(content, list):
        return "".join(text_of(dig(part, "text")) for part in content)
    return text_of(content)


def _fault(out: bytes, err: bytes) -> Fault | None:
    """Where no message came at all, the words on either stream tell why."""
    told = out.decode("utf-8", "replace").strip()
    if told:
        found = fault_of(" ".join(told.split()))
        return found if found.kind is not ProviderFaultKind.OTHER else None
    return told_on_stderr(err)


def _tools(found: Sequence[Event]) -> tuple[ToolAttempt, ...]:
    """What became of a call stands in prose only: known is that it was asked for."""
    return tuple(
        ToolAttempt(name=text_of(dig(call, "function", "name")), state=ToolState.UNKNOWN)
        for one in found
        for call in (one.value.get("tool_calls") or ())
        if isinstance(call, dict)
    )

"""Anthropic's API, through the official client.

A JSON schema is asked for as a tool that must be called; its input is the answer. Seed and log
probabilities do not exist there: the reply's `notes` say that they were left out.
"""

from __future__ import annotations

import json
import threading
from typing import Any

import msgspec

from showcause.canon import digest, printable
from showcause.clock import Deadline
from showcause.errors import UsageError
from showcause.models import wire
from showcause.models.calling import Retrying, call
from showcause.models.faults import AnswerUnreadable, DeclinedByModel
from showcause.models.masking import secrets_named
from showcause.records import (
    ChatFailure,
    ChatFailureKind,
    ChatReply,
    ChatRequest,
    ChatRole,
    ChatUsage,
    FinishReason,
    ModelSpec,
)

__all__ = ["AnthropicChat", "open_anthropic"]

_URL = "https://api.anthropic.com"
_MAX_TOKENS = 8192  # this API wants a limit; used where the request has none
_REFUSALS = {"json_schema": r"tool|input_schema", "temperature": r"temperature"}
_FINISH = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "tool_use": FinishReason.TOOL,
}


class _Block(msgspec.Struct):
    type: str = ""
    text: str = ""
    name: str = ""
    input: Any = None


class _Body(msgspec.Struct):
    content: list[_Block]
    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: Any = None


class AnthropicChat:
    """One of Anthropic's models."""

    def __init__(self, spec: ModelSpec) -> None:
        wire.known_extras(spec, "json")
        if not spec.model:
            raise UsageError(f"[models.{spec.name}] model: which model is to be asked?")
        if not spec.api_key_env:
            raise UsageError(f"[models.{spec.name}] api_key_env: which environment variable holds the key?")
        if (form := spec.extra.get("json", "tool")) not in ("tool", "plain"):
            raise UsageError(f'[models.{spec.name}] extra.json: must be "tool" or "plain", not {form!r}')
        self.name, self.model = spec.name, spec.model
        self.retrying = Retrying()
        self._spec, self._plain = spec, form == "plain"
        self._url = wire.checked_url(spec, _URL)
        self._left_out = wire.LeftOut(_REFUSALS)

    def close(self) -> None:
        """Nothing is held between calls."""

    def ask(
        self, request: ChatRequest, *, deadline: Deadline, cancel: threading.Event | None = None
    ) -> ChatReply | ChatFailure:
        key = wire.key_of(self._spec)
        if isinstance(key, ChatFailure):
            return key
        if all(message.role is ChatRole.SYSTEM for message in request.messages):
            return ChatFailure(kind=ChatFailureKind.BAD_REQUEST, message="the request holds no user message")
        limit = deadline.within(request.limit_s)
        secrets = secrets_named([self._spec.api_key_env])

        async def attempt(notes: list[str]) -> ChatReply:
            return await self._attempt(request, key, limit, notes)

        return call(attempt, deadline=limit, cancel=cancel, retrying=self.retrying, secrets=secrets)

    async def _attempt(self, request: ChatRequest, key: str, limit: Deadline, notes: list[str]) -> ChatReply:
        async with _client(key, self._url, limit) as client:
            while True:
                options = self._options(request, notes)
                body = self._body(request, options)
                create = client.messages.with_streaming_response.create
                try:
                    raw = await wire.read_all(create(**body))
                    return _reply(raw, body["model"], tool="json_schema" in options)
                except Exception as error:
                    if not self._left_out.learn(error, options):
                        raise

    def _options(self, request: ChatRequest, notes: list[str]) -> dict[str, Any]:
        """The options that are sent; a note for each wanted one that is not."""
        wanted: dict[str, Any] = {"temperature": request.temperature, "json_schema": request.json_schema}
        wanted = {option: value for option, value in wanted.items() if value is not None}
        if self._plain and wanted.pop("json_schema", None):
            notes.append("json_schema: left out, as the settings say")
        for option in [option for option in wanted if option in self._left_out]:
            notes.append(f"{option}: refused by the endpoint, left out")
            del wanted[option]
        for option in ("seed", "logprobs"):
            if getattr(request, option):
                notes.append(f"{option}: not offered by this API, left out")
        return wanted

    def _body(self, request: ChatRequest, options: dict[str, Any]) -> dict[str, Any]:
        system = [m.content for m in request.messages if m.role is ChatRole.SYSTEM]
        body: dict[str, Any] = {
            "model": request.model or self.model,
            "max_tokens": request.max_tokens or _MAX_TOKENS,
            "messages": [
                {"role": m.role.value, "content": printable(m.content)}
                for m in request.messages
                if m.role is not ChatRole.SYSTEM
            ],
        }
        if system:
            body["system"] = printable("\n\n".join(system))
        if "temperature" in options:  # in the body by hand: clients for newer models lack the argument
            body["extra_body"] = {"temperature": options["temperature"]}
        if schema := options.get("json_schema"):
            body["tools"] = [
                {"name": schema.name, "description": "Gives the answer.", "input_schema": schema.schema}
            ]
            body["tool_choice"] = {"type": "tool", "name": schema.name}
        return body


def open_anthropic(spec: ModelSpec) -> AnthropicChat:
    """Raises UsageError for settings that make no sense; the network is not touched."""
    return AnthropicChat(spec)


def _client(key: str, url: str, limit: Deadline) -> Any:
    """The official client, made for one call. With an explicit key it looks for no other credential."""
    from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

    return AsyncAnthropic(
        api_key=key,
        base_url=url,
        max_retries=0,
        timeout=max(limit.left_s, 0.001),
        http_client=wire.http_client(DefaultAsyncHttpxClient, url),
    )


def _reply(raw: bytes, asked: str, *, tool: bool) -> ChatReply:
    body = wire.as_body(raw, _Body)
    given = [block.input for block in body.content if block.type == "tool_use"] if tool else []
    texts = [json.dumps(value, ensure_ascii=False) for value in given]
    if not texts:
        texts = [block.text for block in body.content if block.type == "text"]
    if body.stop_reason == "refusal":
        raise DeclinedByModel(f"the model declines: {''.join(texts)}")
    if body.stop_reason is None and not body.content:
        raise AnswerUnreadable("the answer holds no message")
    finish = _FINISH.get(body.stop_reason or "", FinishReason.UNKNOWN)
    return ChatReply(
        text="\n".join(texts) if given else "".join(texts),
        finish_reason=FinishReason.STOP if given and finish is FinishReason.TOOL else finish,
        asked_model=asked,
        reported_model=body.model or "",
        usage=_usage(body.usage),
        latency_s=0.0,
        raw_digest=digest(raw),
        response_id=body.id or "",
    )


def _usage(told: Any) -> ChatUsage:
    """Prompt tokens include those read from and written to the provider's cache."""
    counts = told if isinstance(told, dict) else {}

    def count(name: str) -> int | None:
        value = counts.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

    prompt = count("input_tokens")
    if prompt is not None:
        prompt += sum(count(name) or 0 for name in ("cache_creation_input_tokens", "cache_read_input_tokens"))
    return ChatUsage(prompt_tokens=prompt, completion_tokens=count("output_tokens"))

"""Any OpenAI-compatible endpoint, through the official client.

What an endpoint refuses with status 400 (a JSON schema, a seed, a temperature, log probabilities) is left
out and the reply says so in `notes`; the limit of tokens is then sent under its newer name.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from showcause.canon import printable
from showcause.clock import Deadline
from showcause.errors import UsageError
from showcause.models import wire
from showcause.models.calling import Retrying, call
from showcause.models.completion import ErrorInside, reply_of_body, reply_of_pieces, status_in
from showcause.models.masking import secrets_named
from showcause.records import ChatFailure, ChatReply, ChatRequest, ModelSpec

__all__ = ["OpenAIChat", "open_openai"]

_URL = "https://api.openai.com/v1"
_NO_KEY = "none"  # the client insists on a key; servers without one ignore it
_REFUSALS = {
    "json_schema": r"response_format|json_schema|structured[ _]output|grammar|schema",
    "temperature": r"temperature",
    "seed": r"\bseed\b",
    "logprobs": r"logprobs",
    "max_tokens": r"max_completion_tokens|^max_tokens$",
    "stream_options": r"stream_options",
}


class OpenAIChat:
    """One model at one OpenAI-compatible endpoint."""

    def __init__(self, spec: ModelSpec, *, key: str | None = None) -> None:
        """`key` is for an engine of our own only; anyone else's is read at the call."""
        wire.known_extras(spec, "stream", "strict")
        if not spec.model:
            raise UsageError(f"[models.{spec.name}] model: which model is to be asked?")
        self.name, self.model = spec.name, spec.model
        self.retrying = Retrying()
        self._spec, self._own_key = spec, key
        self._url = wire.checked_url(spec, _URL)
        self._stream = wire.flag(spec, "stream", default=False)
        self._strict = wire.flag(spec, "strict", default=True)
        self._left_out = wire.LeftOut(_REFUSALS)

    def close(self) -> None:
        """Nothing is held between calls."""

    def ask(
        self, request: ChatRequest, *, deadline: Deadline, cancel: threading.Event | None = None
    ) -> ChatReply | ChatFailure:
        key = self._own_key or wire.key_of(self._spec)
        if isinstance(key, ChatFailure):
            return key
        limit = deadline.within(request.limit_s)
        secrets = secrets_named([self._spec.api_key_env])

        async def attempt(notes: list[str]) -> ChatReply:
            return await self._attempt(request, key or _NO_KEY, limit, notes)

        return call(attempt, deadline=limit, cancel=cancel, retrying=self.retrying, secrets=secrets)

    async def _attempt(self, request: ChatRequest, key: str, limit: Deadline, notes: list[str]) -> ChatReply:
        """Ask once; again without an option for as long as the endpoint refuses one more."""
        async with _client(key, self._url, limit) as client:
            while True:
                options = self._options(request, notes)
                body = self._body(request, options)
                create = client.chat.completions.with_streaming_response.create
                try:
                    if self._stream:
                        return await self._streamed(create(**body), body["model"])
                    return reply_of_body(await wire.read_all(create(**body)), body["model"])
                except Exception as error:
                    if not self._left_out.learn(error, options):
                        raise

    def _options(self, request: ChatRequest, notes: list[str]) -> dict[str, Any]:
        """The options that are sent, by their name in the request; a note for each that is not."""
        wanted: dict[str, Any] = {
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "seed": request.seed,
            "logprobs": request.logprobs or None,
            "json_schema": request.json_schema,
            "stream_options": {"include_usage": True} if self._stream else None,
        }
        wanted = {option: value for option, value in wanted.items() if value is not None}
        for option in [option for option in wanted if option in self._left_out]:
            if option == "max_tokens":
                wanted["max_completion_tokens"] = wanted["max_tokens"]
            else:
                notes.append(f"{option}: refused by the endpoint, left out")
            del wanted[option]
        return wanted

    def _body(self, request: ChatRequest, options: Mapping[str, Any]) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": request.model or self.model,
            "messages": [
                {"role": message.role.value, "content": printable(message.content)}
                for message in request.messages
            ],
            **{name: value for name, value in options.items() if name not in ("logprobs", "json_schema")},
        }
        if "logprobs" in options:
            body |= {"logprobs": True, "top_logprobs": options["logprobs"]}
        if schema := options.get("json_schema"):
            shape = {"name": schema.name, "schema": schema.schema, "strict": self._strict}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        if self._stream:
            body["stream"] = True
        return body

    async def _streamed(self, answer: Any, asked: str) -> ChatReply:
        """The pieces of a stream as one reply."""
        pieces: list[bytes] = []
        async with answer as response:
            try:
                async for piece in await response.parse():
                    pieces.append(piece.to_json(indent=None).encode())
            except Exception as error:
                if getattr(error, "body", None) is not None:  # an error event of the provider's
                    raise ErrorInside(str(error), status_in(error.body)) from error  # type: ignore[attr-defined]
                raise wire.cut_or_late(error) from error
        return reply_of_pieces(pieces, asked)


def open_openai(spec: ModelSpec) -> OpenAIChat:
    """Raises UsageError for settings that make no sense; the network is not touched."""
    return OpenAIChat(spec)


def _client(key: str, url: str, limit: Deadline) -> Any:
    """The official client, made for one call. What the environment holds for OpenAI itself (organisation,
    project) is not sent to anyone else."""
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Omit

    foreign = {} if url == _URL else {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
    headers: Any = foreign
    http = wire.http_client(DefaultAsyncHttpxClient, url)
    return AsyncOpenAI(
        api_key=key,
        base_url=url,
        max_retries=0,  # ours know the deadline
        timeout=max(limit.left_s, 0.001),
        default_headers=headers,
        http_client=http,
    )

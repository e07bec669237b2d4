"""Nouns of talking to a language model: what is asked, what comes back, what can go wrong instead.

A failure is a value (`ChatFailure`), never an exception, and no field has a default that could be read
as an answer. `finish_reason` tells whether an answer ended of its own accord; one that did not is kept,
and is not `complete`.
"""

from __future__ import annotations

import threading
from enum import StrEnum
from typing import Any, Protocol

from showcause.canon import digest_record
from showcause.clock import Deadline
from showcause.records.base import Record

__all__ = [
    "Chat",
    "ChatFailure",
    "ChatFailureKind",
    "ChatReply",
    "ChatRequest",
    "ChatRole",
    "ChatUsage",
    "FinishReason",
    "JsonSchema",
    "Message",
    "ModelSpec",
    "TokenChance",
]

_DIGEST_VERSION = 1


class ChatRole(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Message(Record, frozen=True, kw_only=True):
    role: ChatRole
    content: str


class JsonSchema(Record, frozen=True, kw_only=True):
    """The shape an answer is to have. `name`: letters, digits, `_` and `-`; `schema`: JSON Schema."""

    name: str
    schema: dict[str, Any]


class ChatRequest(Record, frozen=True, kw_only=True):
    """One question. `model` "" is the model the chat was opened for.

    `temperature`, `max_tokens` and `seed` None leave it to the provider. `logprobs` is how many
    alternatives per token are wanted, 0 for none. `limit_s` is this question's own limit, inside the
    caller's deadline. `ordinal` numbers equal questions (votes) from 1; None: in the order they are asked.
    """

    messages: tuple[Message, ...]
    model: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    json_schema: JsonSchema | None = None
    logprobs: int = 0
    limit_s: float = 300.0
    ordinal: int | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of what is asked: limits and the number of the vote do not change it."""
        asked = [self.messages, self.model, self.temperature, self.max_tokens, self.seed]
        return digest_record([_DIGEST_VERSION, *asked, self.json_schema, self.logprobs])


class FinishReason(StrEnum):
    """Why the model stopped writing."""

    STOP = "stop"  # of its own accord
    LENGTH = "length"  # cut at a limit of tokens
    CONTENT_FILTER = "content_filter"
    TOOL = "tool"  # it wants a tool that was not offered
    UNKNOWN = "unknown"  # not told, or a word we do not know


class ChatUsage(Record, frozen=True, kw_only=True):
    """Tokens as the provider counts them; None where it does not tell."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class TokenChance(Record, frozen=True, kw_only=True):
    """One written token with its log probability, and the alternatives the provider names."""

    token: str
    logprob: float
    others: tuple[tuple[str, float], ...] = ()


class ChatFailureKind(StrEnum):
    UNREACHABLE = "unreachable"  # nobody there: refused, unknown host, no engine, no key file
    AUTH = "auth"  # no key, or one that is not accepted
    RATE_LIMIT = "rate_limit"
    SPENT = "spent"  # the allowance is used up: waiting does not help
    SERVER_FAULT = "server_fault"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    CUT = "cut"  # the answer ended in the middle
    BAD_REQUEST = "bad_request"  # unknown model, too long, an option that is not offered
    REFUSED = "refused"  # the model declines
    MALFORMED = "malformed"  # an answer that is none: not the promised format, too large
    NOT_RECORDED = "not_recorded"  # replay knows no such exchange
    FAULT = "fault"  # an error of our own, or of a client library


class ChatFailure(Record, frozen=True, kw_only=True):
    """No answer, and why. `status` is the HTTP status where there was one.

    `retry_after_s` is what the provider asks to wait. `earlier` holds the tries before the last one.
    `message` is one line for a person, with known secrets masked.
    """

    kind: ChatFailureKind
    message: str
    status: int | None = None
    retry_after_s: float | None = None
    latency_s: float = 0.0
    earlier: tuple[ChatFailure, ...] = ()
    notes: tuple[str, ...] = ()


class ChatReply(Record, frozen=True, kw_only=True):
    """An answer. `reported_model` "" means that the provider does not say which model wrote it.

    `raw_digest` is the SHA-256 of the answer's bytes as they arrived. `earlier` are failed tries before
    this one, `notes` what was left out of the question because the provider refuses it.
    """

    text: str
    finish_reason: FinishReason
    asked_model: str
    reported_model: str
    usage: ChatUsage
    latency_s: float
    raw_digest: str
    response_id: str = ""
    logprobs: tuple[TokenChance, ...] = ()
    earlier: tuple[ChatFailure, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """The model ended of its own accord. Any other answer counts for nothing."""
        return self.finish_reason is FinishReason.STOP


class ModelSpec(Record, frozen=True, kw_only=True):
    """One `[models.NAME]` of the settings. `api_key_env` names the environment variable with the key.

    `path` is the GGUF file (local), the folder (mailbox) or the script (scripted); `sha256` belongs to
    the GGUF file. What `extra` may hold differs by kind; unknown names are refused.
    """

    name: str
    kind: str
    base_url: str = ""
    model: str = ""
    api_key_env: str = ""
    context_tokens: int | None = None
    path: str = ""
    sha256: str = ""
    extra: dict[str, str] = {}


class Chat(Protocol):
    """A language model that can be asked. Several threads may ask at once."""

    @property
    def name(self) -> str:
        """The name in the settings."""
        ...

    @property
    def model(self) -> str:
        """The model id that is asked for; "" where there is none (a person at a mailbox)."""
        ...

    def ask(
        self, request: ChatRequest, *, deadline: Deadline, cancel: threading.Event | None = None
    ) -> ChatReply | ChatFailure:
        """Ask, and return by the earlier of `deadline` and the request's own limit, or soon after
        `cancel` is set. Never raises (an interrupt apart): what goes wrong is the value returned."""
        ...

    def close(self) -> None:
        """Give back what is held (a local engine). May be called twice."""
        ...

"""A model on this machine: a GGUF file that the user names, in an engine that we start and stop.

The file must have the SHA-256 that the user gave, or it is not loaded. Models small enough for an
ordinary machine review at chance: this is for those who bring a better one, and for testing the plumbing.
"""

from __future__ import annotations

import os
import re
import threading
import time
from pathlib import Path

import msgspec

from showcause.clock import Deadline
from showcause.errors import UsageError
from showcause.models.engine import Engine, EngineTrouble, sha256_of
from showcause.models.openai import OpenAIChat
from showcause.models.wire import known_extras
from showcause.records import ChatFailure, ChatFailureKind, ChatReply, ChatRequest, ModelSpec

__all__ = ["LocalChat", "open_local"]

_CONTEXT_TOKENS = 8192


class LocalChat:
    """The engine is started at the first question, and loads within that question's time."""

    def __init__(self, spec: ModelSpec) -> None:
        self.name, self.model = spec.name, spec.model or Path(spec.path).stem
        self._spec = msgspec.structs.replace(spec, model=self.model, extra={}, api_key_env="")
        self._threads = int(spec.extra.get("threads") or os.cpu_count() or 1)
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._chat: OpenAIChat | None = None

    def close(self) -> None:
        """Stop the engine; it is dead on return. A later question starts it again."""
        with self._lock:
            if self._engine is not None:
                self._engine.close()
            self._engine = self._chat = None

    def ask(
        self, request: ChatRequest, *, deadline: Deadline, cancel: threading.Event | None = None
    ) -> ChatReply | ChatFailure:
        """As any chat. Log probabilities beside a JSON schema are those before the schema took effect,
        and belong to other tokens than the answer's: they are left out."""
        started = time.monotonic()
        limit = deadline.within(request.limit_s)
        try:
            chat = self._running(limit, cancel)
        except (EngineTrouble, OSError) as error:
            return self._not_there(str(error), limit, cancel, time.monotonic() - started)
        if not (request.logprobs and request.json_schema):
            return chat.ask(request, deadline=limit, cancel=cancel)
        found = chat.ask(msgspec.structs.replace(request, logprobs=0), deadline=limit, cancel=cancel)
        note = "logprobs: wrong under a JSON schema, left out"
        return msgspec.structs.replace(found, notes=(*found.notes, note))

    def _running(self, limit: Deadline, cancel: threading.Event | None) -> OpenAIChat:
        """The chat with a running engine; another thread's start is waited for. Raises EngineTrouble."""
        if not self._lock.acquire(timeout=max(limit.left_s, 0.001)):
            raise EngineTrouble("the engine was not ready in time")
        try:
            if self._engine is not None and not self._engine.alive:
                self._engine.close()
                self._engine = self._chat = None
            if self._chat is None:
                self._engine = self._engine or self._start(limit, cancel)
                self._engine.wait_ready(limit, cancel)
                spec = msgspec.structs.replace(self._spec, base_url=self._engine.url)
                self._chat = OpenAIChat(spec, key=self._engine.key)
            return self._chat
        finally:
            self._lock.release()

    def _start(self, limit: Deadline, cancel: threading.Event | None) -> Engine:
        gguf = Path(self._spec.path).absolute()
        found = sha256_of(gguf, deadline=limit, cancel=cancel)
        if found != self._spec.sha256.lower():
            raise EngineTrouble(f"{gguf.name} is not the file that was named: its SHA-256 is {found}")
        context_tokens = self._spec.context_tokens or _CONTEXT_TOKENS
        return Engine(gguf, model=self.model, context_tokens=context_tokens, threads=self._threads)

    def _not_there(
        self, why: str, limit: Deadline, cancel: threading.Event | None, latency_s: float
    ) -> ChatFailure:
        kind = ChatFailureKind.UNREACHABLE
        if cancel is not None and cancel.is_set():
            kind = ChatFailureKind.CANCELLED
        elif limit.passed:
            kind = ChatFailureKind.TIMEOUT
        return ChatFailure(kind=kind, message=why, latency_s=latency_s)


def open_local(spec: ModelSpec) -> LocalChat:
    """Raises UsageError where file or SHA-256 are not given; nothing is started yet."""
    known_extras(spec, "threads")
    if not spec.path:
        raise UsageError(f"[models.{spec.name}] path: which GGUF file?")
    if not re.fullmatch(r"[0-9a-fA-F]{64}", spec.sha256):
        raise UsageError(f"[models.{spec.name}] sha256: the 64 hexadecimal digits of the file's SHA-256")
    if not re.fullmatch(r"[1-9]\d{0,3}", spec.extra.get("threads", "1")):
        raise UsageError(f"[models.{spec.name}] extra.threads: must be a number of threads")
    return LocalChat(spec)

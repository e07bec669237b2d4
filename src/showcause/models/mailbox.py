"""A folder as a model: each question is a file, and somebody puts an answer beside it.

A person, or an agent on a machine without a network, can be the reviewer this way. Questions are written
whole under their name or not at all; an answer is taken once it is whole (see README_TEXT).
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import secrets
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from showcause.canon import digest, plain, printable
from showcause.clock import Deadline
from showcause.errors import UsageError
from showcause.models.faults import AnswerTooLarge, AnswerUnreadable, failure_of
from showcause.models.wire import known_extras
from showcause.records import (
    ChatFailure,
    ChatFailureKind,
    ChatReply,
    ChatRequest,
    ChatUsage,
    FinishReason,
    ModelSpec,
)

__all__ = ["README_TEXT", "REQUEST_SCHEMA", "Mailbox", "open_mailbox"]

REQUEST_SCHEMA = "showcause/mail/1"
_LARGEST_BYTES = 16 << 20
_ENVELOPE = {"text", "model", "finish_reason"}

README_TEXT = """\
This folder stands in for a language model: showcause asks, and you (or a program) answer.

requests/   open questions, one JSON file each. Read `messages`; `json_schema`, where it is not null, is
            the shape the answer must have; `answer_until` is when showcause stops waiting.
answers/    put your answer here, under the name of the question:
              ID.txt    the answer, as it is
              ID.json   the answer as JSON; or {"text": "the answer", "model": "who gave it"}
answered/   questions that were answered in time
expired/    questions that nobody answered in time

Write an answer under another name (ID.part, say) and rename it when it is complete. If you write it in
place: a .json file is taken once its JSON is complete, a .txt file once it is not empty and has not changed
for a second.
"""


class Mailbox:
    """One folder. `settle_s` is how long a .txt answer must have stayed the same."""

    def __init__(self, name: str, folder: Path, *, model: str = "", settle_s: float = 1.0) -> None:
        self.name, self.model = name, model
        self.folder, self._settle_s = folder, settle_s
        self._poll_s = min(0.2, settle_s / 2)

    def close(self) -> None:
        """Open questions were moved away when their waiting ended."""

    def ask(
        self, request: ChatRequest, *, deadline: Deadline, cancel: threading.Event | None = None
    ) -> ChatReply | ChatFailure:
        started = time.monotonic()
        limit = deadline.within(request.limit_s)
        try:
            self._prepare()
            mail = self._post(request, limit)
            return self._await(mail, request, limit, cancel or threading.Event(), started)
        except (OSError, AnswerTooLarge, AnswerUnreadable) as error:
            found = failure_of(error, {})
            kind = ChatFailureKind.UNREACHABLE if isinstance(error, OSError) else found.kind
            latency_s = time.monotonic() - started
            return ChatFailure(kind=kind, message=found.message, latency_s=latency_s)

    def _prepare(self) -> None:
        for name in ("requests", "answers", "answered", "expired"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        if not (self.folder / "README").exists():
            _write(self.folder / "README", README_TEXT.encode())

    def _post(self, request: ChatRequest, limit: Deadline) -> str:
        """Write the question; its id."""
        now = datetime.now(UTC)
        vote = f"-{request.ordinal}" if request.ordinal else ""
        mail = f"{now:%Y%m%dT%H%M%S}-{request.digest[:12]}{vote}-{secrets.token_hex(3)}"
        content = {
            "schema": REQUEST_SCHEMA,
            "id": mail,
            "answer_file": f"answers/{mail}.json",
            "asked": f"{now:%Y-%m-%dT%H:%M:%SZ}",
            "answer_until": f"{now + timedelta(seconds=limit.left_s):%Y-%m-%dT%H:%M:%SZ}",
            **plain(request),
        }
        text = json.dumps(content, indent=1, ensure_ascii=False)
        _write(self.folder / "requests" / f"{mail}.json", text.encode())
        return mail

    def _await(
        self, mail: str, request: ChatRequest, limit: Deadline, cancel: threading.Event, started: float
    ) -> ChatReply | ChatFailure:
        kind, why = ChatFailureKind.TIMEOUT, "nobody answered in time"
        answers = _Answers(self.folder / "answers", mail, self._settle_s)
        answered = False
        try:
            while not limit.passed:
                if (told := answers.taken()) is not None:
                    answered = True
                    return self._reply(*told, request, time.monotonic() - started)
                if cancel.wait(min(self._poll_s, limit.left_s)):
                    kind, why = ChatFailureKind.CANCELLED, "cancelled while waiting for an answer"
                    break
            else:
                why = f"the answer answers/{mail}.* was not complete in time" if answers.begun else why
        finally:
            done = self.folder / ("answered" if answered else "expired")
            with contextlib.suppress(FileNotFoundError):  # somebody tidied up
                (self.folder / "requests" / f"{mail}.json").replace(done / f"{mail}.json")
        return ChatFailure(kind=kind, message=why, latency_s=time.monotonic() - started)

    def _reply(self, raw: bytes, is_json: bool, request: ChatRequest, latency_s: float) -> ChatReply:
        try:
            text = raw.removeprefix(codecs.BOM_UTF8).decode()
        except UnicodeDecodeError as error:
            raise AnswerUnreadable(f"the answer is not UTF-8: {error}") from error
        envelope = _envelope(text) if is_json else {"text": text}
        told = envelope.get("finish_reason", "stop")
        known = [reason for reason in FinishReason if reason.value == told]
        return ChatReply(
            text=printable(str(envelope["text"])),
            finish_reason=known[0] if known else FinishReason.UNKNOWN,
            asked_model=request.model or self.model,
            reported_model=printable(str(envelope.get("model", ""))),
            usage=ChatUsage(),
            latency_s=latency_s,
            raw_digest=digest(raw),
        )


class _Answers:
    """The answer to one question, once it is whole."""

    def __init__(self, folder: Path, mail: str, settle_s: float) -> None:
        self._json, self._txt = folder / f"{mail}.json", folder / f"{mail}.txt"
        self._settle_s = settle_s
        self._seen: tuple[tuple[int, int, int], float] | None = None

    @property
    def begun(self) -> bool:
        return self._json.exists() or self._txt.exists()

    def taken(self) -> tuple[bytes, bool] | None:
        """The whole answer and whether it is JSON, or None: not there, or still being written."""
        if (raw := _read(self._json)) is not None and _is_json(raw):
            return raw, True
        try:
            stat = self._txt.stat()
        except FileNotFoundError:
            return None
        # Our own clock: the file's may be another machine's.
        state = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        if self._seen is None or self._seen[0] != state:
            self._seen = (state, time.monotonic())
        if not stat.st_size or time.monotonic() - self._seen[1] < self._settle_s:
            return None
        raw = _read(self._txt)
        return None if raw is None else (raw, False)


def open_mailbox(spec: ModelSpec) -> Mailbox:
    """`path` is the folder; it is made at the first question. Raises UsageError where it is not named."""
    known_extras(spec, "settle_s")
    if not spec.path:
        raise UsageError(f"[models.{spec.name}] path: which folder is the mailbox?")
    told = spec.extra.get("settle_s", "1")
    try:
        settle_s = float(told)
    except ValueError:
        settle_s = -1.0
    if not 0 < settle_s <= 60:
        raise UsageError(f"[models.{spec.name}] extra.settle_s: must be seconds, up to 60, not {told!r}")
    return Mailbox(spec.name, Path(spec.path), model=spec.model, settle_s=settle_s)


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    part.write_bytes(data)
    part.replace(path)


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size > _LARGEST_BYTES:
                raise AnswerTooLarge(f"{path.name} is larger than {_LARGEST_BYTES} bytes")
            return file.read()
    except FileNotFoundError:
        return None


def _is_json(raw: bytes) -> bool:
    """Whether this is one whole JSON object or list: a beginning of one never is. (A number could be.)"""
    try:
        return isinstance(json.loads(raw.removeprefix(codecs.BOM_UTF8)), dict | list)
    except (ValueError, RecursionError):
        return False


def _envelope(text: str) -> dict[str, Any]:
    """`{"text": ..., "model": ...}` as it is; anything else is the answer itself."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = None
    if isinstance(told, dict) and isinstance(told.get("text"), str) and told.keys() <= _ENVELOPE:
        return told
    return {"text": text}

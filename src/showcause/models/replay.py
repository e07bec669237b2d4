"""A cassette: exchanges with a model, recorded and played back.

One JSON file per exchange in a folder per model, named by the digest of the request and the number of the
vote, so that k equal questions are k recordings. Known secrets are masked before a request is digested and
before anything is written; the reply that is handed on is the one that was written, so a replay gives the
same bytes.

Recording goes on where a cassette stops: what it holds is played back, nothing is paid twice. A recorded
failure is asked again; it stays beside its successor as `...-failed-N.json`. Replaying never asks.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets as tokens
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from showcause.canon import canonical_json
from showcause.clock import Deadline
from showcause.errors import UsageError
from showcause.models.masking import mask_plain, secrets_named
from showcause.records import Chat, ChatFailure, ChatFailureKind, ChatReply, ChatRequest, Record

__all__ = ["CASSETTE_SCHEMA", "Cassette", "Recorded", "Replayed"]

CASSETTE_SCHEMA = "showcause/cassette/1"
_LABEL = "cassette.json"


class _Exchange(Record, frozen=True, kw_only=True):
    """One recording: exactly one of reply and failure."""

    schema: str
    digest: str
    ordinal: int
    model: str  # the name in the settings
    masked: int  # how many secrets were replaced
    request: ChatRequest
    reply: ChatReply | None = None
    failure: ChatFailure | None = None


class Cassette:
    """The recordings of the model called `name`. Threads may share one; processes that number their votes
    may share its folder."""

    def __init__(self, folder: Path, name: str, *, create: bool) -> None:
        """Raises UsageError for a folder that is no cassette, or one of another version."""
        self.folder = folder / (re.sub(r"[^\w.-]", "_", name).lstrip(".") or "_")
        self._lock = threading.Lock()
        self._asked: dict[str, int] = {}
        label = folder / _LABEL
        if create and not label.exists():
            with _file_trouble(folder):
                folder.mkdir(parents=True, exist_ok=True)
                _write(label, canonical_json({"schema": CASSETTE_SCHEMA}))
        try:
            schema = msgspec.json.decode(label.read_bytes())["schema"]
        except (OSError, msgspec.MsgspecError, KeyError, TypeError) as error:
            raise UsageError(f"{folder} holds no recordings of showcause ({_LABEL}): {error}") from error
        if schema != CASSETTE_SCHEMA:
            raise UsageError(f"{folder} is a cassette of version {schema!r}; this is {CASSETTE_SCHEMA!r}")

    def number(self, request: ChatRequest, digest: str) -> int:
        """Which vote this is: the caller's number, or the next one for this question."""
        if request.ordinal is not None:
            return request.ordinal
        with self._lock:
            self._asked[digest] = self._asked.get(digest, 0) + 1
            return self._asked[digest]

    def find(self, digest: str, ordinal: int) -> ChatReply | ChatFailure | None:
        """What is recorded, None where nothing is. A damaged recording is a failure."""
        path = self._path(digest, ordinal)
        try:
            told = msgspec.json.decode(path.read_bytes(), type=_Exchange)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError) as error:
            return _damaged(path, str(error))
        if (told.schema, told.digest, told.ordinal) != (CASSETTE_SCHEMA, digest, ordinal):
            return _damaged(path, "it is of another exchange or version")
        return told.reply or told.failure or _damaged(path, "it holds no answer")

    def keep(
        self, name: str, request: ChatRequest, ordinal: int, found: dict[str, Any], masked: int
    ) -> ChatReply | ChatFailure:
        """Write one exchange, masked already, and read it again."""
        digest = request.digest
        path = self._path(digest, ordinal)
        content = {
            "schema": CASSETTE_SCHEMA, "digest": digest, "ordinal": ordinal, "model": name,
            "masked": masked, "request": request, **found,
        }  # fmt: skip
        with self._lock:
            self.folder.mkdir(exist_ok=True)
            if path.exists():
                number = 1 + sum(1 for _ in self.folder.glob(f"{path.stem}-failed-*.json"))
                path.replace(path.with_name(f"{path.stem}-failed-{number}.json"))
            _write(path, canonical_json(content))
        return self.find(digest, ordinal) or _damaged(path, "it vanished")

    def _path(self, digest: str, ordinal: int) -> Path:
        return self.folder / f"{digest}-{ordinal:03}.json"


class Recorded:
    """A chat whose exchanges are kept. `secret_names`: environment variables whose values are masked."""

    def __init__(
        self,
        chat: Chat,
        cassette: Cassette,
        *,
        set_model: str | None = None,
        secret_names: Iterable[str] = (),
    ) -> None:
        """`set_model` is the model of the settings, by which a replay looks; None: the chat's own."""
        self.name, self.model = chat.name, chat.model
        self._set_model = chat.model if set_model is None else set_model
        self._chat, self._cassette = chat, cassette
        self._secret_names = tuple(secret_names)

    def close(self) -> None:
        self._chat.close()

    def ask(
        self, request: ChatRequest, *, deadline: Deadline, cancel: threading.Event | None = None
    ) -> ChatReply | ChatFailure:
        """As the chat's own. A cancelled question leaves no recording; an answer that cannot be written is
        a failure, since a replay would not have it."""
        secrets = secrets_named(self._secret_names)
        try:
            named, hidden = _named(request, self._set_model, secrets)
            digest = named.digest
            ordinal = self._cassette.number(request, digest)
            kept = self._cassette.find(digest, ordinal)
            if isinstance(kept, ChatReply):
                return kept
            found = self._chat.ask(request, deadline=deadline, cancel=cancel)
            if isinstance(found, ChatFailure) and found.kind is ChatFailureKind.CANCELLED:
                return found
            masked, more = mask_plain(found, secrets)
            told = {"reply" if isinstance(found, ChatReply) else "failure": masked}
            return self._cassette.keep(self.name, named, ordinal, told, hidden + more)
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            message = f"the exchange could not be recorded: {error}"
            return ChatFailure(kind=ChatFailureKind.FAULT, message=message)


class Replayed:
    """A chat that only plays back. A question that was never recorded is a failure, never a call."""

    def __init__(
        self, name: str, model: str, cassette: Cassette, *, secret_names: Iterable[str] = ()
    ) -> None:
        self.name, self.model = name, model
        self._cassette = cassette
        self._secret_names = tuple(secret_names)

    def close(self) -> None:
        """Nothing is held."""

    def ask(
        self, request: ChatRequest, *, deadline: Deadline, cancel: threading.Event | None = None
    ) -> ChatReply | ChatFailure:
        if cancel is not None and cancel.is_set():
            return ChatFailure(kind=ChatFailureKind.CANCELLED, message="cancelled before the replay")
        try:
            named, _ = _named(request, self.model, secrets_named(self._secret_names))
            digest = named.digest
        except (ValueError, msgspec.MsgspecError) as error:
            return ChatFailure(kind=ChatFailureKind.FAULT, message=f"the request cannot be digested: {error}")
        ordinal = self._cassette.number(request, digest)
        if (kept := self._cassette.find(digest, ordinal)) is not None:
            return kept
        message = f"not recorded in {self._cassette.folder}: request {digest[:12]}, vote {ordinal}"
        return ChatFailure(kind=ChatFailureKind.NOT_RECORDED, message=message)


def _named(request: ChatRequest, model: str, secrets: Mapping[str, str]) -> tuple[ChatRequest, int]:
    """The request as it is digested and kept: its model named, its secrets masked; and their number."""
    whole = msgspec.structs.replace(request, model=request.model or model)
    masked, count = mask_plain(whole, secrets)
    return msgspec.convert(masked, ChatRequest), count


def _damaged(path: Path, why: str) -> ChatFailure:
    return ChatFailure(kind=ChatFailureKind.MALFORMED, message=f"the recording {path.name} is damaged: {why}")


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.{tokens.token_hex(4)}.part")
    part.write_bytes(data)
    os.replace(part, path)


@contextlib.contextmanager
def _file_trouble(folder: Path) -> Any:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{folder}: cannot record there: {error.strerror}") from error

"""What the two network models share: where to, with which key, how much to read, what to leave out."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import threading
from collections.abc import Collection, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from showcause.errors import UsageError
from showcause.models.faults import AnswerCut, AnswerTooLarge, AnswerUnreadable
from showcause.records import ChatFailure, ChatFailureKind, ModelSpec

__all__ = [
    "LeftOut",
    "as_body",
    "checked_url",
    "cut_or_late",
    "flag",
    "http_client",
    "key_of",
    "known_extras",
    "read_all",
]

_LARGEST_BYTES = 16 << 20
_T = TypeVar("_T")


def checked_url(spec: ModelSpec, default: str) -> str:
    """The base URL to call. Raises UsageError for one that is none, or that holds a password."""
    url = (spec.base_url or default).rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            f"[models.{spec.name}] base_url: must begin with http:// or https://, and name a host"
        )
    if parts.password is not None or parts.username is not None:
        raise UsageError(f"[models.{spec.name}] base_url: must hold no key; name its variable in api_key_env")
    return url


def known_extras(spec: ModelSpec, *names: str) -> None:
    """Raises UsageError for an `extra` that this kind of model does not have."""
    for name in spec.extra:
        if name not in names:
            known = ", ".join(names) or "none"
            raise UsageError(
                f"[models.{spec.name}] extra.{name}: unknown for kind {spec.kind}; known: {known}"
            )


def flag(spec: ModelSpec, name: str, *, default: bool) -> bool:
    """A yes or no of `extra`. Raises UsageError for any other word."""
    told = spec.extra.get(name, "true" if default else "false")
    if told not in ("true", "false"):
        raise UsageError(f'[models.{spec.name}] extra.{name}: must be "true" or "false", not {told!r}')
    return told == "true"


def key_of(spec: ModelSpec) -> str | ChatFailure:
    """The key, read now and to be forgotten after the call; "" where none was asked for."""
    if not spec.api_key_env:
        return ""
    key = os.environ.get(spec.api_key_env, "").strip()
    if not key:
        message = f"the environment variable {spec.api_key_env} is not set; it should hold the key"
        return ChatFailure(kind=ChatFailureKind.AUTH, message=message)
    if not (key.isascii() and key.isprintable()):
        message = f"the environment variable {spec.api_key_env} holds what no key can be"
        return ChatFailure(kind=ChatFailureKind.AUTH, message=message)
    return key


def http_client(factory: Any, url: str) -> Any:
    """The SDK's own HTTP client, but: no redirect is followed, since a key in a header of its own would go
    along to another host; the environment's proxies are not asked for an address on this machine; and
    where nothing is encrypted, no certificates are loaded (it takes longer than all the rest)."""
    encrypted = url.startswith("https:")
    return factory(follow_redirects=False, trust_env=not _on_this_machine(url), verify=encrypted)


def _on_this_machine(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


async def read_all(answer: AbstractAsyncContextManager[Any]) -> bytes:
    """The bytes of an answer's body. Raises what the client raises before the answer begins; once it has
    begun AnswerCut, and AnswerTooLarge beyond 16 MiB; time-outs as they are."""
    async with answer as response:
        taken = bytearray()
        try:
            async for piece in response.iter_bytes():
                taken += piece
                if len(taken) > _LARGEST_BYTES:
                    break
        except Exception as error:
            raise cut_or_late(error) from error
        if len(taken) > _LARGEST_BYTES:
            raise AnswerTooLarge(f"the answer is larger than {_LARGEST_BYTES} bytes")
        return bytes(taken)


def cut_or_late(error: Exception) -> Exception:
    """What an error in the middle of an answer means: out of time, or cut."""
    if any(base.__name__ == "TimeoutException" for base in type(error).__mro__):
        return error
    return AnswerCut(f"the answer ended in the middle: {error}")


def as_body(raw: bytes, shape: type[_T]) -> _T:
    """An answer's body as the struct `shape`. Raises AnswerUnreadable, or AnswerCut where a JSON object
    was begun and not ended."""
    try:
        return msgspec.convert(json.loads(raw), shape, strict=False)
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        told = raw.strip()
        if told.startswith(b"{") and not told.endswith(b"}"):
            raise AnswerCut("the answer ended in the middle of its JSON") from error
        begun = told[:80].decode("utf-8", "replace")
        raise AnswerUnreadable(f"the answer is not what this API promises ({error}): {begun!r}") from error


class LeftOut:
    """Options that a provider has refused: they are left out from then on, and each reply says so."""

    def __init__(self, words: Mapping[str, str]) -> None:
        """`words`: option -> regular expression that finds it in the text of a refusal."""
        self._words = {option: re.compile(words[option], re.IGNORECASE) for option in words}
        self._refused: set[str] = set()
        self._lock = threading.Lock()

    def __contains__(self, option: str) -> bool:
        with self._lock:
            return option in self._refused

    def learn(self, error: Exception, sent: Collection[str]) -> bool:
        """Whether the error refuses one of the options that were sent, so that asking without it may help.
        The parameter that the provider names counts first, then the words of its message."""
        if getattr(error, "status_code", None) not in (400, 422):
            return False
        candidates = [option for option in sent if option in self._words]
        for told in (str(getattr(error, "param", None) or ""), str(error)):
            for option in candidates:
                if told and self._words[option].search(told):
                    with self._lock:
                        self._refused.add(option)
                    return True
        return False

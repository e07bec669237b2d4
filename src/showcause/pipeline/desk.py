"""Where models are asked from: they are opened by name, once, and what they are given is put together.

A key leaves this machine only for its provider's own address, for this machine, or for a host that the
person at the keyboard named, in their own settings or environment: other settings come with the
repository, and a repository must not be able to send somebody's key to an address of its choice.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from showcause.errors import UsageError
from showcause.records import Chat, ModelSpec, Packet, PacketForm
from showcause.settings import Settings

if TYPE_CHECKING:  # packets and models are imported once one is asked for: most reviews ask for none
    from showcause.packet import Material

__all__ = ["ALLOWED_HOSTS", "Desk"]

ALLOWED_HOSTS = "SHOWCAUSE_MODEL_HOSTS"
"""Environment variable: hosts, separated by commas, to which keys may be sent besides."""

_OWN_MACHINE = ("localhost", "127.0.0.1", "::1")
_KEY_FILE = "nonce.key"


class Desk:
    """Models and packets of one review. `record` and `replay` are folders, or ""."""

    def __init__(
        self,
        settings: Settings,
        *,
        record: str = "",
        replay: str = "",
        opener: Callable[..., Chat] | None = None,
    ) -> None:
        if record and replay:
            raise UsageError("either --record or --replay, not both")
        self.settings, self.record, self.replay = settings, record, replay
        self._open = opener
        self._chats: dict[str, Chat] = {}
        self._names = tuple(spec.api_key_env for spec in settings.models if spec.api_key_env)
        self._key = self._nonce_key()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for chat in self._chats.values():
            chat.close()

    def chat(self, name: str) -> Chat:
        """The model of that name. Raises UsageError for an unknown one, or one that may not have its key."""
        from showcause.models import open_model

        if name not in self._chats:
            spec = self.settings.model(name)
            if not self.replay and name not in self.settings.trusted:
                _check_address(spec)
            folders = {
                "record": Path(self.record) if self.record else None,
                "replay": Path(self.replay) if self.replay else None,
            }
            self._chats[name] = (self._open or open_model)(spec, **folders, secret_names=self._names)
        return self._chats[name]

    def packet(self, material: Material, form: PacketForm, *, readers: Sequence[str]) -> Packet:
        """The packet that fits the smallest of `readers`. Raises UsageError where nothing fits."""
        from showcause.models import secrets_named
        from showcause.packet import build_packet

        known = [self.settings.model(name).context_tokens for name in readers]
        room = [tokens // 2 for tokens in known if tokens]  # the other half is for instructions and answer
        return build_packet(
            material,
            form,
            budget=min([self.settings.review.budget_tokens, *room]),
            nonce=self._nonce(material, form),
            secrets=secrets_named(self._names),
        )

    def _nonce(self, material: Material, form: PacketForm) -> str:
        """New for each packet, and the same again on a replay: it belongs to the recordings."""
        told = f"{form.value}:{material.patch.digest}".encode()
        return hmac.new(self._key, told, hashlib.sha256).hexdigest()[:32]

    def _nonce_key(self) -> bytes:
        if self.replay:
            try:
                return (Path(self.replay) / _KEY_FILE).read_bytes()
            except OSError as error:
                raise UsageError(f"--replay {self.replay}: {_KEY_FILE}: {error.strerror}") from error
        key = secrets.token_bytes(32)
        if self.record:
            place = Path(self.record) / _KEY_FILE
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.exists():
                return place.read_bytes()
            place.write_bytes(key)
        return key


def _check_address(spec: ModelSpec) -> None:
    from showcause.models import PROVIDER_HOSTS

    host = urlsplit(spec.base_url).hostname or ""
    if not spec.api_key_env or not host or host in _OWN_MACHINE or host in PROVIDER_HOSTS:
        return
    allowed = [name.strip() for name in os.environ.get(ALLOWED_HOSTS, "").split(",")]
    if host not in allowed:
        raise UsageError(
            f"[models.{spec.name}] would send ${spec.api_key_env} to {host}, an address that the"
            f" repository's settings name; to allow it: {ALLOWED_HOSTS}={host}"
        )

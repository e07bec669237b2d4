"""Language models that can be asked, each behind the Protocol `Chat` of `showcause.records`.

`MODELS` is the list of kinds. There is no default model: without one in the settings, what the checks leave
open stays `uncertain`. Opening touches no network and starts nothing; libraries of providers are imported
when a model is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from showcause.errors import UsageError
from showcause.models.anthropic import open_anthropic
from showcause.models.family import PROVIDER_HOSTS, UNKNOWN_FAMILY, family_of
from showcause.models.local import open_local
from showcause.models.mailbox import Mailbox, open_mailbox
from showcause.models.masking import mask, mask_plain, secrets_named
from showcause.models.openai import open_openai
from showcause.models.replay import Cassette, Recorded, Replayed
from showcause.models.scripted import Act, Scripted, Step, open_scripted
from showcause.records import Chat, ModelSpec

__all__ = [
    "MODELS",
    "PROVIDER_HOSTS",
    "UNKNOWN_FAMILY",
    "Act",
    "Cassette",
    "Mailbox",
    "Recorded",
    "Replayed",
    "Scripted",
    "Step",
    "family_of",
    "mask",
    "mask_plain",
    "open_model",
    "secrets_named",
]

MODELS: dict[str, Callable[[ModelSpec], Chat]] = {
    "openai": open_openai,
    "anthropic": open_anthropic,
    "local": open_local,
    "mailbox": open_mailbox,
    "scripted": open_scripted,
}


def open_model(
    spec: ModelSpec,
    *,
    record: Path | None = None,
    replay: Path | None = None,
    secret_names: Iterable[str] = (),
) -> Chat:
    """The model that the settings describe; with `record` its exchanges are kept in that folder, with
    `replay` they are taken from it and the model itself is never opened.

    `secret_names` are further environment variables whose values are masked in recordings. Raises
    UsageError for an unknown kind, settings that make no sense, or a folder that is no cassette.
    """
    if record is not None and replay is not None:
        raise UsageError("either record or replay, not both")
    if spec.kind not in MODELS:
        known = ", ".join(MODELS)
        raise UsageError(f'[models.{spec.name}] kind: unknown kind "{spec.kind}"; known: {known}')
    names = (spec.api_key_env, *secret_names)
    if replay is not None:
        return Replayed(spec.name, spec.model, Cassette(replay, spec.name, create=False), secret_names=names)
    chat = MODELS[spec.kind](spec)
    if record is None:
        return chat
    return Recorded(chat, Cassette(record, spec.name, create=True), set_model=spec.model, secret_names=names)

"""The settings of the person at the keyboard: models and who is asked, for every repository.

A repository's settings are read from its base, so that no patch changes them; but models and keys are
somebody's own. What this file names may be sent its key wherever the file says.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from showcause.errors import UsageError
from showcause.records import ModelSpec
from showcause.settings.nouns import Settings

__all__ = ["ENVIRON", "OWN_SECTIONS", "user_file", "with_models", "with_user"]

ENVIRON = "SHOWCAUSE_CONFIG"
OWN_SECTIONS = ("models", "reviewers", "review", "probe")


def user_file(environ: Mapping[str, str] = os.environ) -> tuple[str, bytes] | None:
    """Path and content of the user's own settings: $SHOWCAUSE_CONFIG, else `showcause/showcause.toml` in the
    XDG configuration folder; None where there is none. Raises UsageError for a named file that is not there.
    """
    named = environ.get(ENVIRON, "")
    folder = environ.get("XDG_CONFIG_HOME", "") or os.path.join(environ.get("HOME", ""), ".config")
    path = Path(named or os.path.join(folder, "showcause", "showcause.toml"))
    if not named and not path.is_absolute():
        return None
    try:
        return str(path), path.read_bytes()
    except OSError as error:
        if named:
            raise UsageError(f"{ENVIRON}={named}: {error.strerror}") from error
        return None


def with_user(settings: Settings, own: Settings, name: str) -> Settings:
    """The repository's settings with the user's `own` over them. Raises UsageError for other sections."""
    flat = {key for key in own.sources if key.split(".")[0] not in OWN_SECTIONS}
    if flat:
        allowed = ", ".join(f"[{section}]" for section in OWN_SECTIONS)
        raise UsageError(f"{name}: {min(flat)} belongs to the repository; here may stand: {allowed}")
    changed: dict[str, object] = {
        section: msgspec.structs.replace(getattr(settings, section), **_told(own, section))
        for section in ("review", "probe")
    }
    sources = settings.sources | dict.fromkeys(own.sources, name)
    names = {spec.name for spec in own.reviewers}
    kept = tuple(spec for spec in settings.reviewers if spec.name not in names)
    reviewers = (*kept, *own.reviewers)
    trusted = settings.trusted | {f"reviewers.{name}" for name in names}
    changed |= {"sources": sources, "reviewers": reviewers, "trusted": trusted}
    settings = msgspec.structs.replace(settings, **changed)
    return with_models(settings, own.models)


def with_models(settings: Settings, models: tuple[ModelSpec, ...]) -> Settings:
    """The settings with models of the user's own; they take the place of the repository's of that name."""
    names = {spec.name for spec in models}
    kept = tuple(spec for spec in settings.models if spec.name not in names)
    trusted = settings.trusted | names
    return msgspec.structs.replace(settings, models=(*kept, *models), trusted=trusted)


def _told(own: Settings, section: str) -> dict[str, object]:
    keys = [key.partition(".")[2] for key in own.sources if key.startswith(f"{section}.")]
    return {key: getattr(getattr(own, section), key) for key in keys}

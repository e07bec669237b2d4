"""Known secret values are replaced by their names in whatever is stored or shown.

By value, never by what a name looks like: only the contents of environment variables that the settings
name as keys are secrets here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from showcause.canon import plain

__all__ = ["mask", "mask_plain", "secrets_named"]

_SHORTEST = 6  # a shorter value would be found by chance in any text


def secrets_named(names: Iterable[str]) -> dict[str, str]:
    """Name -> value of those environment variables that are set, and long enough to be a secret."""
    found = {name: os.environ.get(name, "").strip() for name in names if name}
    return {name: value for name, value in found.items() if len(value) >= _SHORTEST}


def mask(text: str, secrets: Mapping[str, str]) -> tuple[str, int]:
    """`text` with every secret value replaced by `[masked:NAME]`, and how many were replaced."""
    if not secrets or not text:
        return text, 0
    by_value = {value: name for name, value in secrets.items() if len(value) >= _SHORTEST}
    if not by_value:
        return text, 0
    longest_first = sorted(by_value, key=len, reverse=True)  # one secret may be the beginning of another
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    return pattern.subn(lambda found: f"[masked:{by_value[found[0]]}]", text)


def mask_plain(value: Any, secrets: Mapping[str, str]) -> tuple[Any, int]:
    """A record as JSON-ready builtins with every text in it masked, keys included; and the count.

    Text by text, before it is written as JSON: there a secret with a quote in it would look different.
    """
    return _walk(plain(value), secrets)


def _walk(value: Any, secrets: Mapping[str, str]) -> tuple[Any, int]:
    if isinstance(value, str):
        return mask(value, secrets)
    if isinstance(value, dict):
        keys = [mask(key, secrets) for key in value]
        values = [_walk(item, secrets) for item in value.values()]
        masked = {key: item for (key, _), (item, _) in zip(keys, values, strict=True)}
        return masked, sum(count for _, count in (*keys, *values))
    if isinstance(value, list | tuple):
        items = [_walk(item, secrets) for item in value]
        return [item for item, _ in items], sum(count for _, count in items)
    return value, 0

"""Canonical JSON and digests: the same record is always the same bytes.

Keys are sorted, no white space, UTF-8, no NaN or infinity. Text that came from bytes which are
not UTF-8 (git paths) carries surrogates inside showcause; here they become `\\xNN`.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import msgspec

__all__ = ["canonical_json", "digest", "digest_record", "plain", "printable"]

_encoder = msgspec.json.Encoder(order="sorted")


def printable(text: str) -> str:
    """`text` with undecodable bytes (surrogates of `os.fsdecode`) written as `\\xNN`."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def plain(value: Any) -> Any:
    """A record as JSON-ready builtins. Raises ValueError on NaN or infinity."""
    return _clean(msgspec.to_builtins(value, str_keys=True))


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value!r} has no place in a record")
    return value


def canonical_json(value: Any) -> bytes:
    """The one JSON text of a record. Raises ValueError on NaN or infinity."""
    return _encoder.encode(plain(value))


def digest(data: bytes) -> str:
    """SHA-256 as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def digest_record(value: Any) -> str:
    """SHA-256 of the canonical JSON of a record."""
    return digest(canonical_json(value))

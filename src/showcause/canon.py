"""Canonical JSON and digests: the same record is always the same bytes.

Keys are sorted, no white space, UTF-8, no NaN or infinity. Text that came from bytes which are
not UTF-8 (git paths) carries surrogates inside showcause; here they become `\\xNN`.
"""

from __future__ import annotations

import hashlib
import math
import re
from typing import Any

import msgspec

__all__ = ["canonical_json", "digest", "digest_record", "finding_id", "plain", "printable"]

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


_VOLATILE = (
    (re.compile(r"0x[0-9a-fA-F]{4,}"), "0x"),
    (re.compile(r"/tmp/[^\s'\":,)]+"), "/tmp/"),
    (re.compile(r"\b\d+(\.\d+)?( ?(ms|s|sec|seconds))\b"), "<time>"),
    (re.compile(r"\s+"), " "),
)


def finding_id(rule: str, path: str, text: str) -> str:
    """A stable id for one finding: the same on every run over the same trees.

    Addresses, temporary paths and durations in `text` are levelled first, so that they do not make
    an old finding look new.
    """
    for pattern, instead in _VOLATILE:
        text = pattern.sub(instead, text)
    return "f-" + digest_record([rule, path, text.strip()])[:12]

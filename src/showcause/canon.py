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

__all__ = ["canonical_json", "digest", "digest_record", "finding_id", "level", "plain", "printable"]

_encoder = msgspec.json.Encoder(order="sorted")


def printable(text: str) -> str:
    """`text` with undecodable bytes (surrogates of `os.fsdecode`) written as `\\xNN`."""
    if text.isascii():
        return text
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # a surrogate that stands for no byte: from a JSON escape, say
        return text.encode("utf-8", "backslashreplace").decode()


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
    (re.compile(r"\x1b\[[0-9;]*[A-Za-z]"), ""),
    (re.compile(r"0x[0-9a-fA-F]{4,}"), "0x"),
    (re.compile(r"/(tmp|var/folders)/[^\s'\":,)]+"), "/tmp/"),
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?"), "<date>"),
    (re.compile(r"\b\d\d:\d\d:\d\d(\.\d+)?\b"), "<date>"),
    (re.compile(r"\b\d+(\.\d+)?( ?(ms|s|sec|seconds))\b"), "<time>"),
    (re.compile(r"(\.\w+:|\bline |\bpid )\d+\b"), r"\1<n>"),
    (re.compile(r"\s+"), " "),
)


def finding_id(rule: str, path: str, text: str) -> str:
    """A stable id for one finding: the same on every run over the same trees.

    What changes from run to run in `text` (addresses, temporary paths, times, line numbers) is levelled
    first, so that it does not make an old finding look new.
    """
    return "f-" + digest_record([rule, path, level(text)])[:12]


def level(text: str) -> str:
    """`text` without what changes from run to run: addresses, temporary paths, times, line numbers."""
    for pattern, instead in _VOLATILE:
        text = pattern.sub(instead, text)
    return text.strip()

"""The base of all nouns."""

from __future__ import annotations

import msgspec

__all__ = ["Record"]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all nouns: immutable, keyword-only, comparable by value."""

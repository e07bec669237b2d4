"""The base of all nouns."""

from __future__ import annotations

import msgspec

__all__ = ["Record"]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Immutable, comparable by value. Subclasses repeat `frozen=True, kw_only=True`: msgspec does not
    inherit the second, and type checkers want to read both."""

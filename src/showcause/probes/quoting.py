"""Whether words that a writer quotes really stand in the issue. Pure."""

from __future__ import annotations

import re

__all__ = ["is_quoted"]

_SHORTEST = 8
"""Letters and digits of a quote; fewer stand in any text."""


def is_quoted(quote: str, issue: str) -> bool:
    """Whether all of `quote` stands in `issue`, white space and quotation marks around it apart.

    An issue shorter than the shortest quote is quoted as a whole.
    """
    words, held = _level(quote), _level(issue)
    said = sum(map(str.isalnum, words))
    return said > 0 and words in held and (said >= _SHORTEST or words == held)


def _level(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip(" \"'`“”‘’")

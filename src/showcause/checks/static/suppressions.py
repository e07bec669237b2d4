"""Comments that the patch adds to silence a checker. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from showcause.checks.static.hunks import LineMap, untouched
from showcause.checks.static.scope import Contents
from showcause.records import Tampering

__all__ = ["added_suppressions"]

_SILENCING = re.compile(
    r"#\s*(?P<what>(?:(?:ruff|flake8)\s*:\s*)?noqa\b(?:\s*:\s*[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)?"
    r"|type:\s*ignore(?:\[[^\]]*\])?|ty:\s*ignore(?:\[[^\]]*\])?|pyright:\s*(?:ignore|basic)(?:\[[^\]]*\])?"
    r"|pylint:\s*(?:disable\s*=\s*[\w,\s-]+|skip-file)|mypy:\s*(?:ignore-errors|disable-error-code)[^#]*)",
    re.IGNORECASE,
)
_HARMLESS = re.compile(r"noqa\s*:\s*(?:(?:E[1257]|W|D|I|N|C9|Q|ERA|UP|F401|F403)\d*[,\s]*)+$", re.IGNORECASE)


def added_suppressions(
    paths: tuple[str, ...], contents: Contents, maps: Mapping[str, LineMap]
) -> Iterator[Tampering]:
    """One entry for each line that the patch adds with such a comment, where base has none like it.

    Codes of pure style (line length, order of imports) silence nothing that matters here.
    """
    for path in paths:
        lines = maps.get(path) or untouched(path)
        head = contents.head(path).lines
        grown = Counter(map(_found, head))
        grown.subtract(map(_found, contents.base(lines.old_path).lines if lines.old_path else ()))
        for number, text in enumerate(head, 1):
            what = _found(text)
            if what and grown[what] > 0 and lines.to_base(number) is None and not _HARMLESS.search(what):
                told = f"adds a comment that silences a checker (line {number}: # {what})"
                yield Tampering(path=path, what=told)


def _found(text: str) -> str:
    found = _SILENCING.search(text) if "#" in text else None
    return found["what"].strip() if found else ""

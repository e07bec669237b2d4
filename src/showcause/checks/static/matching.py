"""Which findings on head are new: three passes, never by line number alone. Pure.

1. Base's findings are carried through the hunks: the same rule and message at the line where the
   patch put base's line.
2. What is left cancels as a multiset on (rule, path or its former name, message, source line); what is
   then left of base cancels the same way in other files, for code that moved.
3. What has the same rule and name in that file on base is not new either: a line that was edited with
   an old fault in it escapes the first two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from showcause.checks.static.hunks import LineMap, untouched
from showcause.checks.static.nouns import Fate, Finding, Matched

__all__ = ["match"]

_NUMBERS = re.compile(r"\b(lines?|column|col) \d+")
_Key = tuple[object, ...]


def match(
    base: Sequence[Finding], head: Sequence[Finding], maps: Mapping[str, LineMap]
) -> tuple[Matched, ...]:
    """One `Matched` for each finding of head, in their order."""
    by_path: dict[str, list[Finding]] = {}
    for finding in head:
        by_path.setdefault(finding.path, []).append(finding)
    fates: dict[int, Fate] = {}
    spent: set[int] = set()
    for path, findings in by_path.items():
        old = [f for f in base if f.path == _map_of(path, maps).old_path]
        left = _carry(old, findings, _map_of(path, maps), fates)
        left = _cancel(left, findings, fates)
        spent |= {id(f) for f in old} - {id(f) for f in left}
    _cancel([f for f in base if id(f) not in spent], head, fates)
    symbols = {(f.rule, f.path, f.symbol) for f in base}
    for finding in head:
        key = (finding.rule, _map_of(finding.path, maps).old_path, finding.symbol)
        fates.setdefault(id(finding), Fate.SAME_SYMBOL if key in symbols else Fate.NEW)
    return tuple(
        Matched(finding=f, fate=fates[id(f)], base_line=_map_of(f.path, maps).to_base(f.line)) for f in head
    )


def _map_of(path: str, maps: Mapping[str, LineMap]) -> LineMap:
    return maps.get(path) or untouched(path)


def _carry(
    old: Sequence[Finding], head: Iterable[Finding], lines: LineMap, fates: dict[int, Fate]
) -> list[Finding]:
    """The first pass over one file; what is left of base."""
    waiting: dict[_Key, list[Finding]] = {}
    for finding in old:
        key = (finding.rule, _level(finding.message), lines.to_head(finding.line))
        waiting.setdefault(key, []).append(finding)
    for finding in head:
        key = (finding.rule, _level(finding.message), finding.line)
        if waiting.get(key):
            waiting[key].pop()
            fates[id(finding)] = Fate.CARRIED
    return [finding for rest in waiting.values() for finding in rest]


def _cancel(left: Sequence[Finding], head: Iterable[Finding], fates: dict[int, Fate]) -> list[Finding]:
    """The second pass; what is still left of base."""
    waiting = Counter(_by_text(finding) for finding in left)
    for finding in head:
        if id(finding) not in fates and finding.text and waiting[_by_text(finding)] > 0:
            waiting[_by_text(finding)] -= 1
            fates[id(finding)] = Fate.MOVED
    rest = []
    for finding in left:
        if waiting[_by_text(finding)] > 0:
            waiting[_by_text(finding)] -= 1
            rest.append(finding)
    return rest


def _by_text(finding: Finding) -> _Key:
    return (finding.rule, _level(finding.message), finding.text)


def _level(message: str) -> str:
    """A message without line numbers: "defined on line 12" moves with the code."""
    return _NUMBERS.sub(r"\1 N", message)

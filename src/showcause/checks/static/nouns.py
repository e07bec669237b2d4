"""Nouns of the static stage: what a tool said, what became of it, and what it may do."""

from __future__ import annotations

from enum import StrEnum

from showcause.records import Record, RunState

__all__ = ["Fate", "Finding", "Kind", "Matched", "Said", "Sort"]


class Finding(Record, frozen=True, kw_only=True):
    """One thing a tool said of one place. Lines and columns count from 1, columns in characters; the
    end is exclusive. `symbol` is the name it speaks of, `text` the source line without its indentation."""

    tool: str
    rule: str
    path: str
    line: int
    column: int = 1
    end_line: int = 0
    end_column: int = 0
    message: str = ""
    symbol: str = ""
    text: str = ""


class Fate(StrEnum):
    """What a finding on head is to base."""

    CARRIED = "carried"  # base has it, where the hunks of the patch lead
    MOVED = "moved"  # base has it on the same line of code, which stands elsewhere now
    SAME_SYMBOL = "same_symbol"  # base has the same rule for the same name in this file
    NEW = "new"


class Matched(Record, frozen=True, kw_only=True):
    """A finding on head and its fate. `base_line` is where its line stands in base, None: it is not there."""

    finding: Finding
    fate: Fate
    base_line: int | None


class Said(Record, frozen=True, kw_only=True):
    """What one tool said on one side. Findings of a state other than `complete` prove nothing by absence."""

    state: RunState
    why: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


class Sort(StrEnum):
    """What a sound rule says is wrong; each is confirmed in its own way."""

    SYNTAX = "syntax"
    UNDEFINED = "undefined"
    EXPORT = "export"  # a name in __all__ that the module lacks
    MODULE = "module"
    MEMBER = "member"  # `from module import name`
    ATTRIBUTE = "attribute"
    CALL = "call"
    ABSTRACT = "abstract"


class Kind(Record, frozen=True, kw_only=True):
    """What is known of a rule. `sort` None: it never rejects by itself."""

    sort: Sort | None
    words: str

"""The options of `review` as a table: click's options are made from it, and the short way reads it.

Importing click costs more than looking up a review that was settled before. Words in their plainest
spelling are therefore read here; whatever is spelled another way is left to click.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple

__all__ = ["DIRECTORY", "FORMAT", "REVIEW", "VERBOSE", "VERSION", "Kind", "Option", "read_review"]

VERSION = "--version"


class Kind(Enum):
    TEXT = "one value, the last one counts"
    MANY = "all values"
    FLAG = "no value"


class Option(NamedTuple):
    """One option: its spellings, the parameter it fills, and what it says of itself."""

    names: tuple[str, ...]
    fills: str
    help: str
    kind: Kind = Kind.TEXT
    metavar: str | None = None
    default: str | None = None
    choices: tuple[str, ...] = ()


DIRECTORY = Option(
    ("-C",), "directory", "The repository; default: the current folder.", metavar="DIR", default="."
)
FORMAT = Option(("--format",), "format_", "", default="text", choices=("text", "json", "markdown"))
VERBOSE = Option(("-v", "--verbose"), "verbose", "Show all, shorten nothing.", Kind.FLAG)

REVIEW = (
    DIRECTORY,
    Option(("--issue",), "issue", "What was asked for: a file, standard input, or text.", Kind.TEXT,
           "FILE|-|TEXT"),
    Option(("--base",), "base", "Compare with REV (where the head left it).", metavar="REV", default=""),
    Option(("--head",), "head", "Review REV instead of the work tree.", metavar="REV", default=""),
    Option(("--staged",), "staged", "Review what is staged.", Kind.FLAG),
    Option(("--commit",), "commit", "Review one commit against its parent.", metavar="REV", default=""),
    Option(("--diff",), "diff", "Review a patch, on base.", metavar="FILE|-"),
    Option(("--official",), "official", "A suite that is the whole oracle.", metavar="FILE", default=""),
    Option(("--probe",), "probe", "Generated tests to run, as JSON (docs/probes.md).", Kind.MANY, "FILE"),
    Option(("--record",), "record", "Keep every exchange with a model in DIR.", metavar="DIR", default=""),
    Option(("--replay",), "replay", "Take exchanges with models from DIR; none is asked.",
           metavar="DIR", default=""),
    Option(("--set",), "settings", "A setting, such as suite.python=PATH.", Kind.MANY, "KEY=VALUE"),
    Option(("--allow-unsandboxed",), "allow_unsandboxed",
           "Run code even where it cannot be confined.", Kind.FLAG),
    Option(("--allow-uncertain",), "allow_uncertain",
           "Exit 0 where nothing was shown either way.", Kind.FLAG),
    Option(("--fresh",), "fresh", "Review again even if these very trees were reviewed before.", Kind.FLAG),
    VERBOSE,
    FORMAT,
)  # fmt: skip


def read_review(words: Sequence[str]) -> dict[str, Any] | None:
    """The parameters of `showcause WORDS`, exactly as click gives them; None where click must be asked.

    Taken are `review` and options in full, each value a word of its own that does not start with a
    dash. What click refuses, asks about or explains is always left to it.
    """
    if not words or words[0] != "review":
        return None
    known = {name: option for option in REVIEW for name in option.names}
    told: dict[str, Any] = {option.fills: _unset(option) for option in REVIEW}
    rest = iter(words[1:])
    for word in rest:
        option = known.get(word)
        if option is None or not _take(option, rest, told):
            return None
    return {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}


def _unset(option: Option) -> object:
    match option.kind:
        case Kind.FLAG:
            return False
        case Kind.MANY:
            return []
        case Kind.TEXT:
            return option.default


def _take(option: Option, rest: Iterator[str], told: dict[str, Any]) -> bool:
    """Put the option's value into `told`; False where it is not plain."""
    if option.kind is Kind.FLAG:
        told[option.fills] = True
        return True
    value = next(rest, None)
    if value is None or value.startswith("-") or (option.choices and value not in option.choices):
        return False
    if option.kind is Kind.MANY:
        told[option.fills].append(value)
    else:
        told[option.fills] = value
    return True

"""What a CLI wrote -> what it says: the answer, its author, tools asked for, what went wrong. Pure.

Each adapter fills a `Reading`. A reading judges nothing: `classify` does. The helpers here read lines of
JSON as they come from programs that print banners, are cut in the middle, or write what is no JSON at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from showcause.canon import digest
from showcause.records import ChatUsage, Record
from showcause.records.contract import Echo, ModelSeen, ProviderFaultKind, ToolAttempt

__all__ = [
    "Event",
    "Fault",
    "Reading",
    "count_of",
    "dig",
    "events",
    "fault_of",
    "fault_of_status",
    "is_empty_notice",
    "text_of",
    "told_on_stderr",
    "whole_object",
]

_SHOWN = 300


class Fault(Record, frozen=True, kw_only=True):
    """What a provider, or the CLI for it, said went wrong."""

    kind: ProviderFaultKind
    why: str
    retry_after_s: float | None = None


class Reading(Record, frozen=True, kw_only=True):
    """What the output of one attempt says.

    answer   the final answer's text; "" where none was found
    ended    the CLI's own sign that its work ended of its own accord was there
    fault    what it says went wrong, also where its exit status says nothing of it
    models   every id that was reported, with what proves it
    echo     what it sent back of the input, where it does
    foreign  lines that are no part of the promised format (banners); `broken` says what made it unreadable
    """

    answer: str = ""
    ended: bool = False
    fault: Fault | None = None
    models: tuple[ModelSeen, ...] = ()
    tools: tuple[ToolAttempt, ...] = ()
    usage: ChatUsage = ChatUsage()
    echo: Echo = Echo.NOT_OFFERED
    foreign: int = 0
    broken: str = ""


class Event(Record, frozen=True, kw_only=True):
    """One JSON object of a stream; `line` is the text it stood in."""

    value: dict[str, Any]
    line: bytes

    @property
    def type(self) -> str:
        return text_of(self.value.get("type"))

    def model(self, where: str, id: object, *, served: bool) -> tuple[ModelSeen, ...]:
        """The id it reports, if it is one."""
        told = text_of(id).strip()
        if not told:
            return ()
        return (ModelSeen(id=told, where=where, fragment=digest(self.line), served=served),)


class Stream(Record, frozen=True, kw_only=True):
    """The events of an output, in order. `cut`: the last line was begun as JSON and not ended."""

    events: tuple[Event, ...]
    foreign: int
    cut: bool


def events(out: bytes) -> Stream:
    """One event per line that holds a JSON object; other lines are counted."""
    found: list[Event] = []
    foreign, cut = 0, False
    lines = [line for line in out.split(b"\n") if line.strip()]
    for number, line in enumerate(lines):
        value = _object(line)
        if value is not None:
            found.append(Event(value=value, line=line))
            continue
        foreign += 1
        cut = number == len(lines) - 1 and line.lstrip().startswith(b"{")
    return Stream(events=tuple(found), foreign=foreign, cut=cut)


def whole_object(out: bytes) -> dict[str, Any] | None:
    """The one JSON object at the end of an output, after any banner; None if there is none."""
    text = out.decode("utf-8", "replace")
    for start in _starts(text):
        value = _object(text[start:].strip().encode("utf-8", "surrogatepass"))
        if value is not None:
            return value
    return None


def _starts(text: str) -> Iterator[int]:
    if text.lstrip().startswith("{"):
        yield text.index("{")
    yield from (found.start() + 1 for found in re.finditer(r"\n\{", text))


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line.decode("utf-8", "replace").strip().lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


# ------------------------------------------------------------------ values of unknown shape


def text_of(value: object) -> str:
    """A text; "" for anything else."""
    return value if isinstance(value, str) else ""


def count_of(value: object) -> int | None:
    """A count; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def dig(value: object, *path: str | int) -> Any:
    """What stands at `path` of nested objects and lists, or None."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


# ------------------------------------------------------------------ faults


_K = ProviderFaultKind
_STATUS = {
    400: _K.BAD_REQUEST, 401: _K.AUTH, 402: _K.SPENT, 403: _K.AUTH, 404: _K.BAD_REQUEST,
    408: _K.SERVER, 413: _K.BAD_REQUEST, 422: _K.BAD_REQUEST, 429: _K.RATE_LIMIT, 529: _K.SERVER,
}  # fmt: skip
_WORDS = (
    (_K.SPENT, r"quota|credit balance|usage limit|insufficient_quota|billing|allowance|exhausted"),
    (_K.RATE_LIMIT, r"rate.?limit|too many requests|resource_exhausted"),
    (_K.AUTH, r"unauthori[sz]ed|authenticat|invalid.{0,12}api.?key|api key|not logged in|/login|forbidden"),
    (_K.BAD_REQUEST, r"too long|context.?(overflow|length|window)|too large|invalid_request|unknown model|"
     r"model.{0,20}not (found|exist)"),
    (_K.LIMIT, r"max.?(session.?)?turns|max_budget|turn limit|maximum.{0,20}(turns|steps)|max.{0,8}steps"),
    (_K.REFUSED, r"\brefus(al|ed by)\b|content.?filter"),
    (_K.UNREACHABLE, r"econnrefused|enotfound|connection (refused|error|reset)|fetch failed|"
     r"unable to connect|network"),
    (_K.SERVER, r"overloaded|high demand|internal server|server.?error|bad gateway|unavailable|stream"
     r".{0,40}(disconnected|ended|closed|before)|api error|api_error|^terminated|side closed"),
)  # fmt: skip
_WORD_PATTERNS = tuple((kind, re.compile(words, re.IGNORECASE)) for kind, words in _WORDS)
_CODE = re.compile(r"(?:status|code|error|http)\D{0,12}\b([45]\d\d)\b|^\W*([45]\d\d)\b", re.IGNORECASE)
_AFTER = re.compile(
    r"(?:retry|try again|resets?)[^\d\n]{0,20}(\d+(?:\.\d+)?)\s*(ms|s|sec|seconds|m|min)\b", re.I
)
_UNITS = {"ms": 0.001, "m": 60.0, "min": 60.0}


def fault_of_status(status: int, why: str = "") -> Fault:
    """The fault that an HTTP status means."""
    known = _STATUS.get(status, _K.SERVER if 500 <= status < 600 else _K.OTHER)
    if known is _K.RATE_LIMIT and _WORD_PATTERNS[0][1].search(why):
        known = _K.SPENT
    return Fault(kind=known, why=why[:_SHOWN] or f"status {status}", retry_after_s=_retry_after(why))


def told_on_stderr(err: bytes) -> Fault | None:
    """The fault that standard error names; None where its words are none that we know."""
    lines = [line.strip() for line in err.decode("utf-8", "replace").splitlines()]
    for line in reversed(lines):
        if re.search(r"error|fail|exceed|limit|denied|unauthor", line, re.IGNORECASE):
            fault = fault_of(line)
            if fault.kind is not _K.OTHER:
                return fault
    return None


def fault_of(text: str, status: object = None) -> Fault:
    """The fault that the words of an error message tell; its HTTP status counts first where there is one."""
    told = status if isinstance(status, int) and 400 <= status < 600 else None
    code = _CODE.search(text)
    if told is None and code is not None:
        told = int(code[1] or code[2])
    if told is not None:
        return fault_of_status(told, text)
    kind = next((kind for kind, words in _WORD_PATTERNS if words.search(text)), _K.OTHER)
    return Fault(kind=kind, why=text[:_SHOWN], retry_after_s=_retry_after(text))


def is_empty_notice(text: str) -> bool:
    """Whether a CLI's complaint is that the model said nothing: an empty answer, not a provider's fault."""
    return bool(re.search(r"empty response|returned nothing|no text", text, re.IGNORECASE))


def _retry_after(text: str) -> float | None:
    found = _AFTER.search(text)
    return float(found[1]) * _UNITS.get(found[2].lower(), 1.0) if found else None

"""One JSON object in what a model wrote. Pure.

Tolerant about what surrounds the object (a byte order mark, prose, a fence), strict about there being one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, NoReturn

__all__ = ["AnswerFault", "Unreadable", "one_object"]


class AnswerFault(StrEnum):
    """Why a text holds no answer."""

    EMPTY = "empty"
    NO_OBJECT = "no_object"
    TWO_OBJECTS = "two_objects"
    NOT_JSON = "not_json"
    WRONG_SHAPE = "wrong_shape"


class Unreadable(Exception):
    """A text that holds no answer, and why."""

    def __init__(self, fault: AnswerFault, why: str) -> None:
        super().__init__(why)
        self.fault, self.why = fault, why


def one_object(text: str) -> dict[str, Any]:
    """The one object in `text`, fenced or bare. Raises Unreadable."""
    text = text.removeprefix("\ufeff").strip()
    if not text:
        raise Unreadable(AnswerFault.EMPTY, "an empty answer")
    found: list[dict[str, Any]] = []
    for before, span in _spans(text):
        value = _parse(span)
        if value is not None:
            if before.endswith("["):
                raise Unreadable(AnswerFault.WRONG_SHAPE, "a list instead of one object")
            found.append(value)
    if len(found) > 1:
        raise Unreadable(AnswerFault.TWO_OBJECTS, f"{len(found)} JSON objects instead of one")
    if not found:
        raise Unreadable(AnswerFault.NO_OBJECT, "no JSON object in the answer")
    return found[0]


def _spans(text: str) -> Iterator[tuple[str, str]]:
    """Each outermost `{...}` with the text before it; braces within JSON strings don't count.

    Looking for the outermost only means that no object inside a broken one is ever taken for the answer.
    """
    start = depth = 0
    in_string = False
    for found in re.finditer(r'\\.|["{}]', text, re.DOTALL):
        sign = found[0]
        if depth and sign == '"':
            in_string = not in_string
        elif in_string or sign not in "{}":
            continue
        elif sign == "{":
            start = start if depth else found.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield text[:start].rstrip(), text[start : found.end()]
    if depth:
        raise Unreadable(AnswerFault.NOT_JSON, "a JSON object that does not end")


def _parse(span: str) -> dict[str, Any] | None:
    """The object; None for braces in prose and for an empty object, which can be no answer."""
    try:
        value = json.loads(span, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        if '"' not in span:
            return None
        raise Unreadable(AnswerFault.NOT_JSON, f"not JSON: {error}") from None
    return value or None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise Unreadable(AnswerFault.NOT_JSON, "the same field twice in one object")
    return fields


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")

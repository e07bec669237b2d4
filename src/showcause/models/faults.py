"""From what a client library raises to a typed failure, by table.

`openai` and `anthropic` share one generator and one HTTP library, so their exceptions are told apart by
attributes and class names: nothing here imports either.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from showcause.canon import printable
from showcause.models.masking import mask
from showcause.records import ChatFailure, ChatFailureKind

__all__ = [
    "AnswerCut",
    "AnswerTooLarge",
    "AnswerUnreadable",
    "DeclinedByModel",
    "failure_of",
    "retry_after_s",
]

_SHOWN = 500  # characters of a provider's own words


class AnswerCut(Exception):
    """The answer had begun and ended in the middle."""


class AnswerTooLarge(Exception):
    """The answer is larger than any sensible one."""


class AnswerUnreadable(Exception):
    """The answer is not in the format that the API promises."""


class DeclinedByModel(Exception):
    """The model says that it will not answer."""


_OWN: dict[type[Exception], ChatFailureKind] = {
    AnswerCut: ChatFailureKind.CUT,
    AnswerTooLarge: ChatFailureKind.MALFORMED,
    AnswerUnreadable: ChatFailureKind.MALFORMED,
    DeclinedByModel: ChatFailureKind.REFUSED,
}
_BY_STATUS = {
    401: ChatFailureKind.AUTH,
    402: ChatFailureKind.SPENT,
    403: ChatFailureKind.AUTH,
    407: ChatFailureKind.AUTH,
    408: ChatFailureKind.SERVER_FAULT,
    409: ChatFailureKind.SERVER_FAULT,
    429: ChatFailureKind.RATE_LIMIT,
}
_SPENT = re.compile(
    r"insufficient_quota|exceeded your current quota|credit balance|billing_hard_limit|insufficient balance"
    r"|usage limit (is )?reached",
    re.IGNORECASE,
)


def failure_of(error: Exception, secrets: Mapping[str, str]) -> ChatFailure:
    """The typed failure for an exception of a client library, or one of ours."""
    said = _said(error)
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and type(error) not in _OWN:
        told = (said, *(str(getattr(error, name, "")) for name in ("code", "type")))
        kind = _kind_of_status(status, " ".join(told))
        headers = getattr(getattr(error, "response", None), "headers", {})
        wait_s = retry_after_s(headers)
    else:
        kind, status, wait_s = _kind_of(error), None, None
    message = mask(said, secrets)[0][:_SHOWN]
    return ChatFailure(kind=kind, message=message, status=status, retry_after_s=wait_s)


def _kind_of_status(status: int, said: str) -> ChatFailureKind:
    if status < 500 and _SPENT.search(said):
        return ChatFailureKind.SPENT
    if status >= 500:
        return ChatFailureKind.SERVER_FAULT
    return ChatFailureKind.MALFORMED if status < 300 else _BY_STATUS.get(status, ChatFailureKind.BAD_REQUEST)


def _kind_of(error: Exception) -> ChatFailureKind:
    if type(error) in _OWN:
        return _OWN[type(error)]
    names = {base.__name__ for link in _chain(error) for base in type(link).__mro__}
    if names & {"TimeoutException", "APITimeoutError", "TimeoutError"}:
        return ChatFailureKind.TIMEOUT
    if names & {"APIConnectionError", "TransportError", "ConnectionError"}:
        return ChatFailureKind.UNREACHABLE
    if names & {"APIResponseValidationError", "JSONDecodeError", "DecodingError"}:
        return ChatFailureKind.MALFORMED
    return ChatFailureKind.FAULT


def _chain(error: BaseException) -> list[BaseException]:
    links = [error]
    while (below := links[-1].__cause__ or links[-1].__context__) is not None and below not in links:
        links.append(below)
    return links


def _said(error: Exception) -> str:
    """What the error says, in one line: the provider's own words, and the reason below a bare
    "Connection error."."""
    if isinstance(error, ModuleNotFoundError):
        return f"{error}: pip install 'showcause[models]'"
    links = _chain(error)
    parts = [" ".join(str(link).split()) for link in (links[0], links[-1])]
    text = ": ".join(dict.fromkeys(part for part in parts if part)) or type(error).__name__
    if type(error) in _OWN or getattr(error, "status_code", None) is not None:
        return printable(text)
    return printable(f"{type(links[-1]).__name__}: {text}")


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that a provider asks to wait: `retry-after-ms`, `retry-after` in seconds or as a date."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    told = headers.get("retry-after")
    if (seconds := _number(told)) is not None:
        return seconds
    try:
        when = parsedate_to_datetime(told or "")
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None

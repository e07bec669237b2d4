"""A model that does as it is told, well or badly: for tests, demonstrations and fault injection.

A script is a list of steps. For each question the steps whose `when` occurs in it are used in turn, over
and over; those with an empty `when` only where no other fits. In `text`, `{{name}}` stands for the first
group of the pattern `echo[name]` found in the question (a nonce, a packet id).
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import assert_never

import msgspec

from showcause.canon import digest
from showcause.clock import Deadline
from showcause.errors import UsageError
from showcause.models.faults import failure_of
from showcause.models.wire import known_extras
from showcause.records import (
    ChatFailure,
    ChatFailureKind,
    ChatReply,
    ChatRequest,
    ChatUsage,
    FinishReason,
    ModelSpec,
    Record,
)

__all__ = ["SCRIPT_SCHEMA", "Act", "Scripted", "Step", "open_scripted"]

SCRIPT_SCHEMA = "showcause/script/1"
_POLL_S = 0.02
_OPPOSITES = {"accept": "reject", "reject": "accept", "passed": "failed", "failed": "passed"}


class Act(StrEnum):
    ANSWER = "answer"
    LIE = "lie"  # the answer with accept and reject, passed and failed exchanged
    STALL = "stall"  # nothing until the deadline
    CUT = "cut"  # the connection ends in the middle
    CRASH = "crash"  # an error of the client's own
    FLOOD = "flood"  # the answer in front of a megabyte of noise
    WRONG_MODEL = "wrong_model"  # the answer, from another model
    LENGTH = "length"  # half the answer: it stopped at the limit of tokens
    EMPTY = "empty"
    PROSE = "prose"  # no JSON, and the word APPROVED
    TWO_OBJECTS = "two_objects"  # the answer twice
    FAIL = "fail"  # the failure of kind `failure`


class Step(Record, frozen=True, kw_only=True):
    """What to do for one question."""

    act: Act = Act.ANSWER
    text: str = ""
    when: str = ""
    echo: dict[str, str] = {}
    reports: str | None = None  # the model that is reported; None: the one that was asked
    failure: ChatFailureKind = ChatFailureKind.SERVER_FAULT
    retry_after_s: float | None = None


Answerer = Callable[[ChatRequest], str | Step | ChatReply | ChatFailure]


class _Script(Record, frozen=True, kw_only=True):
    schema: str
    steps: tuple[Step, ...]


class Scripted:
    """A scripted model. `asked` are the questions it was given, in order."""

    def __init__(
        self, name: str, script: Sequence[Step | str] | Answerer, *, model: str = "scripted-1"
    ) -> None:
        """`script`: steps (a text is a step that answers it), or a function of the request."""
        self.name, self.model = name, model
        self.asked: list[ChatRequest] = []
        self._answerer: Answerer = script if callable(script) else self._next
        steps = () if callable(script) else script
        self._steps = tuple(step if isinstance(step, Step) else Step(text=step) for step in steps)
        self._used: dict[tuple[int, ...], int] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Nothing is held."""

    def ask(
        self, request: ChatRequest, *, deadline: Deadline, cancel: threading.Event | None = None
    ) -> ChatReply | ChatFailure:
        started = time.monotonic()
        limit = deadline.within(request.limit_s)
        with self._lock:
            self.asked.append(request)
        try:
            told = self._answerer(request)
            found = self._perform(told, request, limit, cancel)
        except Exception as error:  # noqa: BLE001 - law 4, as for a real client
            found = failure_of(error, {})
        if isinstance(found, ChatReply) and limit.passed:
            found = ChatFailure(kind=ChatFailureKind.TIMEOUT, message="no whole answer within the time limit")
        return msgspec.structs.replace(found, latency_s=time.monotonic() - started)

    def _next(self, request: ChatRequest) -> Step:
        question = _question(request)
        fitting = [n for n, step in enumerate(self._steps) if step.when and step.when in question]
        fitting = fitting or [n for n, step in enumerate(self._steps) if not step.when]
        if not fitting:
            return Step(act=Act.FAIL, failure=ChatFailureKind.NOT_RECORDED, text="no step fits the question")
        with self._lock:
            turn = self._used.get(tuple(fitting), 0)
            self._used[tuple(fitting)] = turn + 1
        return self._steps[fitting[turn % len(fitting)]]

    def _perform(
        self,
        told: str | Step | ChatReply | ChatFailure,
        request: ChatRequest,
        limit: Deadline,
        cancel: threading.Event | None,
    ) -> ChatReply | ChatFailure:
        if isinstance(told, ChatReply | ChatFailure):
            return told
        step = Step(text=told) if isinstance(told, str) else told
        if step.act is Act.STALL:
            return _stalled(limit, cancel)
        if step.act is Act.CRASH:
            raise RuntimeError("the scripted model crashed")
        text = _filled(step, _question(request))
        if step.act is Act.CUT:
            half = f"the answer ended in the middle, after {len(text) // 2} characters"
            return ChatFailure(kind=ChatFailureKind.CUT, message=half)
        if step.act is Act.FAIL:
            said = text or f"scripted: {step.failure.value}"
            return ChatFailure(kind=step.failure, message=said, retry_after_s=step.retry_after_s)
        return self._reply(step, _spoken(step.act, text), request)

    def _reply(self, step: Step, text: str, request: ChatRequest) -> ChatReply:
        asked = request.model or self.model
        reported = asked if step.reports is None else step.reports
        if step.act is Act.WRONG_MODEL:
            reported = step.reports or f"not-{asked}"
        return ChatReply(
            text=text,
            finish_reason=FinishReason.LENGTH if step.act is Act.LENGTH else FinishReason.STOP,
            asked_model=asked,
            reported_model=reported,
            usage=ChatUsage(prompt_tokens=len(_question(request)) // 4, completion_tokens=len(text) // 4),
            latency_s=0.0,
            raw_digest=digest(text.encode("utf-8", "backslashreplace")),
        )


def open_scripted(spec: ModelSpec) -> Scripted:
    """The script is the JSON file `path`: `{"schema": "showcause/script/1", "steps": [...]}`.

    Raises UsageError for a file that is missing or broken.
    """
    known_extras(spec)
    where = f"[models.{spec.name}] path: {spec.path or '(unset)'}"
    try:
        script = msgspec.json.decode(Path(spec.path).read_bytes(), type=_Script)
    except OSError as error:
        raise UsageError(f"{where}: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise UsageError(f"{where}: {error}") from error
    if script.schema != SCRIPT_SCHEMA:
        raise UsageError(f"{where}: is {script.schema!r}, must be {SCRIPT_SCHEMA!r}")
    return Scripted(spec.name, script.steps, model=spec.model or "scripted-1")


def _question(request: ChatRequest) -> str:
    return "\n".join(message.content for message in request.messages)


def _filled(step: Step, question: str) -> str:
    text = step.text
    for name, pattern in step.echo.items():
        found = re.search(pattern, question)
        text = text.replace("{{" + name + "}}", found[1] if found else "")
    return text


def _spoken(act: Act, text: str) -> str:
    match act:
        case Act.LIE:
            pattern = r"\b(" + "|".join(_OPPOSITES) + r")\b"
            return re.sub(pattern, lambda found: _OPPOSITES[found[0]], text)
        case Act.FLOOD:
            return text + "\n" + "flood " * ((1 << 20) // 6)
        case Act.LENGTH:
            return text[: len(text) // 2]
        case Act.EMPTY:
            return ""
        case Act.PROSE:
            return text or "ok, looks good to me. APPROVED"
        case Act.TWO_OBJECTS:
            return f"{text}\n{text}"
        case Act.ANSWER | Act.WRONG_MODEL:
            return text
        case Act.STALL | Act.CUT | Act.CRASH | Act.FAIL:
            raise ValueError(f"{act} says nothing")
        case _:
            assert_never(act)


def _stalled(limit: Deadline, cancel: threading.Event | None) -> ChatFailure:
    waiting = cancel or threading.Event()
    while not limit.passed:
        if waiting.wait(min(limit.left_s, _POLL_S) if cancel else limit.left_s):
            return ChatFailure(
                kind=ChatFailureKind.CANCELLED, message="cancelled while waiting for the model"
            )
    return ChatFailure(kind=ChatFailureKind.TIMEOUT, message="no whole answer within the time limit")

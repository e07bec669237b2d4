"""One question over the network: within a deadline, cancellable, tried again where that can help.

The official clients limit each read, not the whole, and cannot be told to stop. So each question runs in
an event loop of its own beside a watch on deadline and cancellation; when either says stop, the
connection is closed. Nothing stays behind: no thread, no connection, no key.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from showcause.canon import printable
from showcause.clock import Deadline
from showcause.models.faults import failure_of
from showcause.models.masking import mask
from showcause.records import ChatFailure, ChatFailureKind, ChatReply, Record

__all__ = ["Retrying", "call"]

_POLL_S = 0.05  # how soon a cancellation is seen

Attempt = Callable[[list[str]], Awaitable[ChatReply]]


class Retrying(Record, frozen=True, kw_only=True):
    """`tries` in all. Before the n-th repetition: what the provider asks for, else `first_s` * 2**n."""

    tries: int = 3
    first_s: float = 0.5


_HELPED_BY_WAITING = (
    ChatFailureKind.RATE_LIMIT,
    ChatFailureKind.SERVER_FAULT,
    ChatFailureKind.UNREACHABLE,
)


def call(
    attempt: Attempt,
    *,
    deadline: Deadline,
    cancel: threading.Event | None,
    retrying: Retrying,
    secrets: Mapping[str, str],
) -> ChatReply | ChatFailure:
    """The reply of `attempt`, or a typed failure. `attempt` is given a list to write notes on.

    An answer that arrives at the deadline or after a cancellation is not one. Raises nothing but an
    interrupt.
    """
    work = _Call(attempt, deadline, cancel, retrying, secrets)
    started = time.monotonic()
    try:
        found = _run(work.supervised)
    except Exception as error:  # noqa: BLE001 - law 4: whatever a library throws has a typed end
        found = failure_of(error, secrets)
    return _clean(
        msgspec.structs.replace(
            found,
            latency_s=time.monotonic() - started,
            earlier=tuple(work.earlier),
            notes=tuple(dict.fromkeys(work.notes)),
        ),
        secrets,
    )


def _run(supervised: Callable[[], Coroutine[Any, Any, ChatReply | ChatFailure]]) -> ChatReply | ChatFailure:
    if not _inside_a_loop():
        return asyncio.run(supervised())
    # Called from a coroutine (a notebook, a server): a loop cannot run inside another one.
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(lambda: asyncio.run(supervised())).result()


def _inside_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _clean(found: ChatReply | ChatFailure, secrets: Mapping[str, str]) -> ChatReply | ChatFailure:
    """Text that can be written as UTF-8. An answer is left as it is but for that: masking it is the
    recorder's work."""
    if isinstance(found, ChatReply):
        return msgspec.structs.replace(
            found,
            text=printable(found.text),
            reported_model=printable(found.reported_model),
            response_id=printable(found.response_id),
        )
    return msgspec.structs.replace(found, message=mask(printable(found.message), secrets)[0])


class _Call:
    """One question with its repetitions."""

    def __init__(
        self,
        attempt: Attempt,
        deadline: Deadline,
        cancel: threading.Event | None,
        retrying: Retrying,
        secrets: Mapping[str, str],
    ) -> None:
        self._attempt, self._deadline, self._cancel = attempt, deadline, cancel
        self._retrying, self._secrets = retrying, secrets
        self.earlier: list[ChatFailure] = []
        self.notes: list[str] = []

    async def supervised(self) -> ChatReply | ChatFailure:
        """The work beside the watch; which of them ends first tells."""
        if stopped := self._stopped():
            return stopped
        task = asyncio.ensure_future(self._with_retries())
        try:
            while not task.done() and not self._stopped():
                wait_s = self._deadline.left_s
                await asyncio.wait({task}, timeout=wait_s if self._cancel is None else min(wait_s, _POLL_S))
            return self._stopped() or await task
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task

    def _stopped(self) -> ChatFailure | None:
        if self._cancel is not None and self._cancel.is_set():
            return ChatFailure(
                kind=ChatFailureKind.CANCELLED, message="cancelled while waiting for the model"
            )
        if self._deadline.passed:
            return ChatFailure(kind=ChatFailureKind.TIMEOUT, message="no whole answer within the time limit")
        return None

    async def _with_retries(self) -> ChatReply | ChatFailure:
        for number in range(self._retrying.tries):
            started = time.monotonic()
            try:
                return await self._attempt(self.notes)
            except Exception as error:  # noqa: BLE001 - law 4
                failure = failure_of(error, self._secrets)
            wait_s = failure.retry_after_s
            if wait_s is None:
                wait_s = self._retrying.first_s * 2**number
            last = number + 1 == self._retrying.tries or wait_s >= self._deadline.left_s
            if last or failure.kind not in _HELPED_BY_WAITING:
                return failure
            self.earlier.append(msgspec.structs.replace(failure, latency_s=time.monotonic() - started))
            await asyncio.sleep(wait_s)
        raise AssertionError("no tries")

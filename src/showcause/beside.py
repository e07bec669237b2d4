"""Work beside the caller, in threads. `concurrent.futures` costs 4 ms of imports on every start."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

__all__ = ["Beside", "Pending"]

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Pending(Generic[_T]):
    """A call that is under way in a thread of its own."""

    def __init__(self, call: Callable[[], _T]) -> None:
        self._call = call
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._value = self._call()
        except BaseException as error:  # noqa: BLE001  raised again where the result is asked for
            self._error = error

    def wait(self) -> None:
        """Return once the call is over, however it ended."""
        self._thread.join()

    def result(self) -> _T:
        """What the call returned, once it is over. Raises what the call raised."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._value


class Beside:
    """Calls beside the caller; leaving the block waits for all of them, and raises none of their errors."""

    def __init__(self) -> None:
        self._started: list[Pending[object]] = []

    def submit(self, call: Callable[_P, _T], /, *args: _P.args, **named: _P.kwargs) -> Pending[_T]:
        """Start `call(*args, **named)` at once."""
        pending = Pending(lambda: call(*args, **named))
        self._started.append(pending)  # type: ignore[arg-type]  # only waited for
        return pending

    def __enter__(self) -> Beside:
        return self

    def __exit__(self, *_: object) -> None:
        for pending in self._started:
            pending.wait()

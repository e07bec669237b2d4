"""The process that was started, its three pipes, and the loop that feeds and drains them."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Callable
from typing import Protocol

from showcause.process.nouns import Command, Stream
from showcause.process.strays import KILL_GRACE_S

__all__ = ["Child", "Talk"]

_CHUNK = 1 << 18
_POLL_S = 0.02  # how soon an end is seen where there are no pidfds
_DRAIN_GRACE_S = 0.5  # what a dead tree wrote is in the pipe already: only a survivor writes for longer


Talk = Callable[[bytes], bytes | None]
"""Given what the child wrote, what to write to it next; None: nothing any more, its input is closed."""


class Spawned(Protocol):
    """What a tree says about the start of its direct child."""

    argv: list[str]
    env: dict[str, str]
    pass_fds: tuple[int, ...]

    def spawned(self, child: Child) -> None:
        """The child was started: from now on the tree can be killed."""


class _Drain:
    """One output pipe: everything is read, head and tail are kept."""

    def __init__(self, fd: int, keep: int | None) -> None:
        self._fd, self._keep = fd, keep
        self._head, self._tail, self._total = bytearray(), bytearray(), 0
        self.last = b""  # what the last turn brought
        os.set_blocking(fd, False)

    def take(self) -> bool | None:
        """Read once. True: more may come. False: nothing there now. None: the pipe has ended."""
        try:
            data = os.read(self._fd, _CHUNK)
        except BlockingIOError:
            return False
        self.last = data
        if not data:
            return None
        self._total += len(data)
        room = len(data) if self._keep is None else self._keep - len(self._head)
        self._head += data[:room]
        if self._keep is not None and len(data) > room:
            self._tail += data[room:]
            if len(self._tail) > self._keep + _CHUNK:
                del self._tail[: -self._keep or None]
        return True

    def kept(self) -> Stream:
        tail = self._tail if self._keep is None else self._tail[max(0, len(self._tail) - self._keep) :]
        return Stream(head=bytes(self._head), tail=bytes(tail), total_bytes=self._total)


class Child:
    """The process that was started, its three pipes, and whether it has ended."""

    def __init__(self, command: Command, tree: Spawned, talk: Talk | None = None) -> None:
        self._talk = talk
        self._popen = subprocess.Popen(
            tree.argv,
            cwd=command.cwd,
            env=tree.env,
            stdin=subprocess.PIPE if command.stdin or talk else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            close_fds=True,
            pass_fds=tree.pass_fds,
        )
        self.pid = self._popen.pid
        self.ended = False
        self.accepted = 0
        self._input = memoryview(command.stdin)
        self._selector = selectors.DefaultSelector()
        self._pidfd = -1
        try:
            self._watch_all(command, tree)
        except BaseException:  # no descriptor left, or an interrupt: nothing may stay behind
            self._popen.kill()
            self._popen.wait()
            self.close()
            raise

    def _watch_all(self, command: Command, tree: Spawned) -> None:
        tree.spawned(self)
        self.stdout = self._output(self._popen.stdout.fileno(), command, self._hear)  # type: ignore[union-attr]
        self.stderr = self._output(self._popen.stderr.fileno(), command)  # type: ignore[union-attr]
        if self._popen.stdin is not None:
            os.set_blocking(self._popen.stdin.fileno(), False)
            self._selector.register(self._popen.stdin, selectors.EVENT_WRITE, self._feed)
        with contextlib.suppress(AttributeError, OSError):  # elsewhere than Linux: the child is polled
            self._pidfd = os.pidfd_open(self.pid)
            self._selector.register(self._pidfd, selectors.EVENT_READ, self._end)

    def on_readable(self, fd: int, react: Callable[[], None]) -> None:
        self._selector.register(fd, selectors.EVENT_READ, react)

    def forget(self, fd: int) -> None:
        self._selector.unregister(fd)

    def serve(self, wait_s: float) -> None:
        """Wait for something to happen, `wait_s` at most, and react to it."""
        for key, _ in self._selector.select(wait_s if self._pidfd >= 0 else min(wait_s, _POLL_S)):
            key.data()
        if self._pidfd < 0:
            self.ended = self._popen.poll() is not None

    def reap(self) -> int | None:
        """The child's return code as `subprocess` writes it; None if it would not die."""
        try:
            return self._popen.wait(KILL_GRACE_S)
        except subprocess.TimeoutExpired:
            return None

    def drain_rest(self) -> bool:
        """Take what the dead tree left in the pipes; whether both ended, so that nobody holds them."""
        until, ends = time.monotonic() + _DRAIN_GRACE_S, 0
        for drain in (self.stdout, self.stderr):
            more = drain.take()
            while more and time.monotonic() < until:
                more = drain.take()
            ends += more is None
        return ends == 2

    def close(self) -> None:
        self._popen.poll()  # one that died late, after its reaping was given up
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if pipe is not None:
                pipe.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)
        self._selector.close()

    def _output(self, fd: int, command: Command, hear: Callable[[bytes], None] | None = None) -> _Drain:
        drain = _Drain(fd, command.keep_bytes)

        def react() -> None:
            taken = drain.take()
            if taken is None:
                self.forget(fd)
            if taken is not False and hear is not None:
                hear(drain.last)

        self.on_readable(fd, react)
        return drain

    def _end(self) -> None:
        self.ended = True

    def _hear(self, data: bytes) -> None:
        """Let the other side of a conversation answer what was written; its end closes the input."""
        pipe = self._popen.stdin
        if self._talk is None or pipe is None or pipe.closed:
            return
        answer = self._talk(data)
        was_idle = self.accepted == len(self._input)
        if answer is None:
            self._talk = None
        self._input = memoryview(bytes(self._input) + (answer or b""))
        if was_idle and (answer or answer is None):
            self._selector.register(pipe, selectors.EVENT_WRITE, self._feed)

    def _feed(self) -> None:
        pipe = self._popen.stdin
        if pipe is None:
            return
        with contextlib.suppress(BlockingIOError):
            try:
                if self.accepted < len(self._input):
                    piece = self._input[self.accepted : self.accepted + _CHUNK]
                    self.accepted += os.write(pipe.fileno(), piece)
            except BrokenPipeError:
                self._input = self._input[: self.accepted]  # it reads no more; what it took is counted
                self._talk = None
        if self.accepted == len(self._input):
            self.forget(pipe.fileno())
            if self._talk is None:
                pipe.close()

"""The tree of processes below a command, and how each kind of tree is brought to its end."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import time
from pathlib import Path

from showcause.process import strays
from showcause.process.boot import boot
from showcause.process.child import Child
from showcause.process.nouns import Command, How, Reap
from showcause.process.strays import KILL_GRACE_S, MARKER

__all__ = ["MARKER", "TREES", "Group"]

_CONFINING = Path(__file__).parent.parent / "sandbox"  # where the reaper's code lies

_Status = tuple[How, int | None, int | None, str]


class Group:
    """A process group. What leaves it by setsid is found by the marker, once something looks odd."""

    def __init__(self, command: Command) -> None:
        self._marker = os.urandom(8).hex()
        self._pgid = 0
        self.argv = list(command.argv)
        self.env = {**command.env, MARKER: self._marker}
        self.pass_fds = command.pass_fds

    def spawned(self, child: Child) -> None:
        self._pgid = child.pid

    def kill(self) -> None:
        """Tell all to die. The group's number is ours as long as its leader has not been reaped."""
        if self._pgid:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pgid, signal.SIGKILL)

    def status(self, code: int | None) -> _Status:
        """What the child's return code says about the command."""
        if code is None:
            return How.SIGNALLED, None, None, "killed, but it did not die"
        return (How.EXITED, code, None, "") if code >= 0 else (How.SIGNALLED, None, -code, "")

    def settle(self) -> int:
        """Wait until what was told to die is dead; how many would not."""
        until = time.monotonic() + KILL_GRACE_S
        while left := strays.in_group(self._pgid):
            if time.monotonic() > until:
                return left
            time.sleep(0.001)
        return 0

    def sweep(self, *, suspect: bool) -> int:
        """Look for strays, if there is a reason to (a sweep costs milliseconds); how many would not die."""
        return strays.sweep(self._marker) if suspect else 0

    def close(self) -> None:
        """Give back what this tree holds."""


class _Namespace(Group):
    """A pid namespace made by bwrap: once its init is dead, the kernel has killed all that was in it."""

    def __init__(self, command: Command) -> None:
        super().__init__(command)
        self._info, self._told = os.pipe()
        self._text = b""
        self._init = -1
        self._child: Child | None = None
        self.argv = [command.argv[0], "--info-fd", str(self._told), *command.argv[1:]]
        self.env = command.env  # nothing enters a confined environment
        self.pass_fds = (*command.pass_fds, self._told)

    def spawned(self, child: Child) -> None:
        super().spawned(child)
        self._child = child
        os.close(self._told)
        self._told = -1
        child.on_readable(self._info, self._read)

    def kill(self) -> None:
        # bwrap names the init within milliseconds of its start. Killed before that, it might leave an init
        # which waits for ever for a parent that is gone.
        until = time.monotonic() + 1.0
        while self._child and self._info >= 0 > self._init and time.monotonic() < until:
            self._child.serve(0.01)
        if self._init >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init, signal.SIGKILL)
            strays.wait_for(self._init, KILL_GRACE_S)
        super().kill()

    def status(self, code: int | None) -> _Status:
        # bwrap reports a command that died of signal n as 128 + n.
        return super().status(code if code is None or not 128 < code <= 192 else 128 - code)

    def settle(self) -> int:
        return int(self._init >= 0 and not strays.wait_for(self._init, KILL_GRACE_S))

    def sweep(self, *, suspect: bool) -> int:
        return 0

    def close(self) -> None:
        for fd in (self._info, self._told, self._init):
            if fd >= 0:
                os.close(fd)

    def _read(self) -> None:
        data = os.read(self._info, 4096)
        self._text += data
        found = re.search(rb'"child-pid":\s*(\d+)\D', self._text)
        if found is not None and self._init < 0:
            with contextlib.suppress(OSError):  # gone already: there is nothing left to kill
                self._init = os.pidfd_open(int(found[1]))
        if data or self._child is None:
            return  # bwrap writes in pieces, and would die of a pipe that nobody reads
        self._child.forget(self._info)
        os.close(self._info)
        self._info = -1


class _Subreaper(Group):
    """A tree below the reaper process, which forwards the end of the command once all are dead."""

    def __init__(self, command: Command) -> None:
        super().__init__(command)
        self._life_theirs, self._life = os.pipe()
        self._status, self._status_theirs = os.pipe()
        self._clean = False
        fds = (str(self._life_theirs), str(self._status_theirs))
        self.argv = [*boot(sys.executable, "reaper", str(_CONFINING)), *fds, *command.argv]
        self.pass_fds = (*command.pass_fds, self._life_theirs, self._status_theirs)

    def spawned(self, child: Child) -> None:
        super().spawned(child)
        os.close(self._life_theirs)
        os.close(self._status_theirs)
        self._life_theirs = self._status_theirs = -1

    def kill(self) -> None:
        """Let go of the life line: the reaper ends the tree, then itself."""
        if self._life >= 0:
            os.close(self._life)
            self._life = -1

    def status(self, code: int | None) -> _Status:
        os.set_blocking(self._status, False)
        try:
            told = os.read(self._status, 4096).decode().split(maxsplit=2)
        except BlockingIOError:
            told = []
        match told:
            case ["exit", number, _]:
                self._clean = True
                return super().status(int(number))
            case ["signal", number, _]:
                self._clean = True
                return super().status(-int(number))
            case ["spawn", _, text]:
                self._clean = True
                return How.SPAWN_FAILED, None, None, text
            case _:
                return super().status(code)

    def settle(self) -> int:
        super().kill()  # the reaper's own group: itself, if it hangs
        return super().settle()

    def sweep(self, *, suspect: bool) -> int:
        # A reaper that reported has seen that no child was left. One that was killed has not.
        return super().sweep(suspect=not self._clean)

    def close(self) -> None:
        for fd in (self._life_theirs, self._life, self._status, self._status_theirs):
            if fd >= 0:
                os.close(fd)


TREES: dict[Reap, type[Group]] = {
    Reap.GROUP: Group,
    Reap.NAMESPACE: _Namespace,
    Reap.SUBREAPER: _Subreaper,
}

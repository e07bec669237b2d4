"""A process that stands above an untrusted tree where no pid namespace is to be had.

`main` is given: the read end of a life line, the write end of a status pipe, and the command. Orphans
of the tree come to us, since we are a child subreaper. Once the command has ended, or nobody holds the
other end of the life line any more, all direct children are killed, again and again, until none is left:
whoever a killed process leaves behind becomes a direct child. Then one line goes to the status pipe:
`exit N -`, `signal N -` or `spawn ERRNO text`.

Not done: a process of the same user may kill this one; where Landlock scopes signals it cannot.
"""

from __future__ import annotations

import os
import select
import sys

from showcause.sandbox.inside.kernel import initial_environment, prctl, restore_signals

__all__ = ["main"]

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_SIGKILL = 9  # the module `signal` costs more to import than all else here
_TIDY_MS = 1000  # how long a dead orphan may wait to be reaped


def main(args: list[str]) -> None:
    life, status, argv = int(args[0]), int(args[1]), args[2:]
    for fd in (life, status):
        os.set_inheritable(fd, False)
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    child, problem = _start(argv)
    _let_go_of_standard_streams()
    if problem:
        os.waitpid(child, 0)
        _tell(status, f"spawn {problem} {argv[0]}: {os.strerror(problem)}")
    ended = _wait(child, life)
    for pid, code in _end_all():
        if pid == child:
            ended = code
    _tell(status, f"exit {ended} -" if ended >= 0 else f"signal {-ended} -")


def _tell(status: int, line: str) -> None:
    os.write(status, os.fsencode(line))
    os._exit(0)  # an orderly end of the interpreter takes 3 ms


def _start(argv: list[str]) -> tuple[int, int]:
    """Start the command in its own session; its pid, and the errno if it could not be executed."""
    reader, writer = os.pipe()  # closed by a successful exec
    above = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            prctl(_PR_SET_PDEATHSIG, _SIGKILL)
            restore_signals()
            if os.getppid() == above:
                os.execvpe(argv[0], argv, initial_environment())  # noqa: S606 - this is what the reaper is for
        except OSError as error:
            os.write(writer, str(error.errno).encode())
        finally:
            os._exit(127)
    os.close(writer)
    problem = os.read(reader, 16)
    os.close(reader)
    return child, int(problem or 0)


def _let_go_of_standard_streams() -> None:
    # Our copies would keep the command's pipes open for its whole life.
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)


def _wait(child: int, life: int) -> int:
    """Reap until the command has ended; its return code, or -SIGKILL once the life line is gone."""
    ended = os.pidfd_open(child)
    poll = select.poll()
    poll.register(life, select.POLLIN)
    poll.register(ended, select.POLLIN)
    while not poll.poll(_TIDY_MS):
        code = _reap_dead(child)
        if code is not None:
            return code
    code = _reap_dead(child)
    return -_SIGKILL if code is None else code


def _reap_dead(child: int) -> int | None:
    """Reap whoever is dead; the command's return code if it was among them."""
    while (pair := os.waitpid(-1, os.WNOHANG))[0]:
        if pair[0] == child:
            return os.waitstatus_to_exitcode(pair[1])
    return None


def _end_all() -> list[tuple[int, int]]:
    """Kill and reap direct children until there are none; whom, with return codes."""
    reaped: list[tuple[int, int]] = []
    while True:
        for pid in _children():
            try:
                os.kill(pid, _SIGKILL)
            except OSError:
                continue  # dead by now; whoever may not be killed keeps us here, and we are found so
        try:
            pid, code = os.waitpid(-1, 0)
        except ChildProcessError:
            return reaped
        reaped.append((pid, os.waitstatus_to_exitcode(code)))


def _children() -> list[int]:
    me = os.getpid()
    try:
        with open(f"/proc/self/task/{me}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except FileNotFoundError:
        return [pid for pid in _all_processes() if _parent(pid) == me]


def _all_processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


if __name__ == "__main__":
    main(sys.argv[1:])

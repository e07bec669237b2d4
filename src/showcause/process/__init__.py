"""The only door that starts processes.

`run` gives a command a finite standard input (empty unless bytes are given), a required limit, only
the environment that was named, and returns once the whole tree of processes it started is dead.
Output is always drained; of each stream the head, the tail and the byte count are kept.

One thread, one selector: nothing here waits for the end of a pipe, because a daemon that inherited it
may hold it for hours after the command itself is over.
"""

from __future__ import annotations

import contextlib
import threading
import time

from showcause.clock import Deadline
from showcause.process.child import Child, Talk
from showcause.process.nouns import Command, Finished, How, Reap, Stream
from showcause.process.strays import kill_naming
from showcause.process.trees import MARKER, TREES, Group

__all__ = ["MARKER", "Command", "Finished", "How", "Reap", "Stream", "Talk", "kill_naming", "run"]

_POLL_S = 0.02  # how soon a cancellation is seen; an Event cannot be selected


def run(
    command: Command,
    *,
    deadline: Deadline | None = None,
    cancel: threading.Event | None = None,
    talk: Talk | None = None,
) -> Finished:
    """Run `command` to its end, or to the earlier of its own limit and `deadline`, or until `cancel`.

    With `talk` it is a conversation: after the command's `stdin`, what `talk` answers to its output is
    written to it, until that is None.

    Every end is a value: a command that could not be started is `spawn_failed` with the system's reason.
    The limits are looked at again after the command was reaped, so one that ended at that moment is not
    taken for a success. Raises ValueError for a limit that is none; an interrupt passes through once the
    tree is dead.
    """
    limit = Deadline.after(command.limit_s)
    if deadline is not None and deadline.at_s < limit.at_s:
        limit = deadline
    if stopped := _stopped(limit, cancel):
        return _unstarted(command, stopped, "not started: its time was over already")
    started = time.monotonic()
    with contextlib.ExitStack() as cleanup:
        try:
            tree = TREES[command.reap](command)
            cleanup.callback(tree.close)
            child = Child(command, tree, talk)
            cleanup.callback(child.close)
        except (OSError, ValueError) as error:
            return _unstarted(command, How.SPAWN_FAILED, f"{command.argv[0]}: {error}")
        try:
            return _watch(command, child, tree, limit, cancel, started)
        except BaseException:
            tree.kill()
            child.reap()
            raise


def _watch(
    command: Command,
    child: Child,
    tree: Group,
    limit: Deadline,
    cancel: threading.Event | None,
    started: float,
) -> Finished:
    """Serve the child until it has ended or is stopped, then see to it that its tree is dead."""
    stopped: How | None = None
    while not child.ended and stopped is None:
        child.serve(limit.left_s if cancel is None else min(limit.left_s, _POLL_S))
        stopped = None if child.ended else _stopped(limit, cancel)
    tree.kill()
    status = tree.status(child.reap())
    wall_s = time.monotonic() - started
    stopped = stopped or _stopped(limit, cancel)
    left = tree.settle()
    at_end = child.drain_rest()
    leaked = left + tree.sweep(suspect=stopped is not None or not at_end)
    how, exit_status, by_signal, why = status
    if stopped is not None and how is not How.SPAWN_FAILED:
        how, exit_status, by_signal, why = stopped, None, None, f"stopped after {wall_s:.3f} s"
    return Finished(
        argv=command.argv,
        how=how,
        exit_status=exit_status,
        signal=by_signal,
        stdout=child.stdout.kept(),
        stderr=child.stderr.kept(),
        stdin_accepted=child.accepted,
        wall_s=wall_s,
        leaked=leaked,
        why=why,
    )


def _stopped(limit: Deadline, cancel: threading.Event | None) -> How | None:
    if cancel is not None and cancel.is_set():
        return How.CANCELLED
    return How.TIMEOUT if limit.passed else None


def _unstarted(command: Command, how: How, why: str) -> Finished:
    empty = Stream(head=b"", tail=b"", total_bytes=0)
    return Finished(
        argv=command.argv, how=how, exit_status=None, signal=None, stdout=empty, stderr=empty,
        stdin_accepted=0, wall_s=0.0, leaked=0, why=why,
    )  # fmt: skip

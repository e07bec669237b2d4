"""Several tools in one confined run: each is told apart from the others, however one of them ends."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence

import msgspec

from showcause import process
from showcause.checks.workbench import Workbench
from showcause.records import Record, Side
from showcause.sandbox.mounts import interpreter

__all__ = ["Turn", "in_turn"]

_GRACE_S = 10.0  # for the start of the sandbox and of the program that runs the tools
_MOST_BYTES = 16 << 20  # of each stream of a tool: one that writes more has gone astray


_HOW = {
    "exited": process.How.EXITED,
    "signalled": process.How.SIGNALLED,
    "timeout": process.How.TIMEOUT,
    "unstarted": process.How.SPAWN_FAILED,
}


class Turn(Record, frozen=True, kw_only=True):
    """A program, what must be mounted for it, and its own limit."""

    argv: tuple[str, ...]
    readable: tuple[str, ...] = ()
    limit_s: float


def in_turn(
    bench: Workbench, side: Side, turns: Sequence[Turn], out_dir: str
) -> tuple[process.Finished, ...]:
    """Run the programs on a side, one after the other; how each ended. Only `out_dir` outlives them.

    One that was not reached, because the run around them ended first, ended as that run did.
    Raises Cancelled.
    """
    job = os.path.join(out_dir, "turns")
    with open(job, "wb") as file:
        words = [word for turn in turns for word in (f"{turn.limit_s}", f"{len(turn.argv)}", *turn.argv)]
        file.write(b"\0".join(map(os.fsencode, [f"{_MOST_BYTES}", *words])))
    python, _ = interpreter()
    argv = (python, "-I", "-S", os.path.join(bench.inside, "showcause_turns.py"), job)
    readable = (bench.inside, *(path for turn in turns for path in turn.readable))
    around = bench.tool(
        side,
        argv,
        readable=readable,
        out_dir=out_dir,
        limit_s=sum(turn.limit_s for turn in turns) + _GRACE_S,
        keep_bytes=(2 * _MOST_BYTES + 200) * len(turns),
    )
    told = list(itertools.islice(_read(around.stdout.kept), len(turns)))
    return tuple(
        msgspec.structs.replace(told[number], argv=turn.argv) if number < len(told) else _unreached(around)
        for number, turn in enumerate(turns)
    )


def _read(output: bytes) -> Iterator[process.Finished]:
    """The ends that are told whole, each as if the program had been started alone."""
    while (line := output.partition(b"\n"))[1]:
        how, number, wall_s, *sizes = line[0].decode().split(" ")
        first, second = map(int, sizes)
        if len(line[2]) < first + second:
            return
        stdout, stderr = line[2][:first], line[2][first : first + second]
        yield process.Finished(
            argv=(),
            how=_HOW[how],
            exit_status=int(number) if how == "exited" else None,
            signal=int(number) if how == "signalled" else None,
            stdout=_whole(stdout),
            stderr=_whole(stderr),
            stdin_accepted=0,
            wall_s=float(wall_s),
            leaked=0,
            why=os.fsdecode(stderr) if how == "unstarted" else "",
        )
        output = line[2][first + second :]


def _whole(data: bytes) -> process.Stream:
    return process.Stream(head=data, tail=b"", total_bytes=len(data))


def _unreached(around: process.Finished) -> process.Finished:
    """Never a success: the program around the tools ended before this one's turn was over."""
    if around.how is not process.How.EXITED:
        return around
    return msgspec.structs.replace(around, exit_status=around.exit_status or 1)

"""One command timed, two of them in turn, and the table of what came out."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

# Of this environment's Python settings none counts: without caches of byte code, for one, each start of
# either side would compile everything.
_ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

_PR_SET_CHILD_SUBREAPER = 36

__all__ = ["Row", "Spread", "Taken", "adopt_orphans", "cpu", "in_turn", "machine", "table", "timed", "wall"]


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What a command took. `cpu_s` counts all processes below it."""

    wall_s: float
    cpu_s: float
    stdout: bytes = b""

    def __add__(self, other: Taken) -> Taken:
        return Taken(wall_s=self.wall_s + other.wall_s, cpu_s=self.cpu_s + other.cpu_s)


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Numbers of several rounds."""

    values: tuple[float, ...]

    @property
    def middle(self) -> float:
        return median(self.values)

    def over(self, other: Spread) -> Spread:
        """Round by round: what slows the machine down for a while slows both."""
        return Spread(values=tuple(a / b for a, b in zip(self.values, other.values, strict=True)))

    def less(self, other: Spread) -> Spread:
        return Spread(values=tuple(a - b for a, b in zip(self.values, other.values, strict=True)))

    def times(self, factor: float) -> Spread:
        return Spread(values=tuple(value * factor for value in self.values))

    def told(self, digits: int = 2) -> str:
        shown = (min(self.values), self.middle, max(self.values))
        return " / ".join(f"{value:.{digits}f}" for value in shown)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table. `measure` is what the budget speaks of: a ratio, or milliseconds."""

    what: str
    ours: str
    against: str
    measure: Spread
    unit: str
    budget: float
    cpu: str = ""

    @property
    def verdict(self) -> str:
        return "yes" if self.measure.middle <= self.budget else "**no**"


def adopt_orphans() -> None:
    """Make this process the parent of whatever outlives its own: what runs below a pid namespace is
    waited for by nobody else, and would not be counted."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def timed(argv: Sequence[str], *, cwd: str | Path, allowed: tuple[int, ...] = (0,)) -> Taken:
    """Run `argv` to its end. Raises RuntimeError for an exit status that is not `allowed`: a figure
    from a command that failed would be none."""
    read, write = os.pipe()
    started = time.perf_counter()
    child = subprocess.Popen(
        argv, cwd=cwd, env=_ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=write, stderr=subprocess.STDOUT
    )
    os.close(write)
    with open(read, "rb") as pipe:
        stdout = pipe.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall_s = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in allowed:
        text = stdout.decode(errors="replace")[-2000:]
        raise RuntimeError(f"{' '.join(argv)} ended with {child.returncode}:\n{text}")
    return Taken(wall_s=wall_s, cpu_s=usage.ru_utime + usage.ru_stime + _orphans_s(), stdout=stdout)


def _orphans_s() -> float:
    """CPU of what the command left to us; it is dead, or dies now."""
    total_s = 0.0
    with contextlib.suppress(ChildProcessError):
        while True:
            _, _, usage = os.wait4(-1, 0)
            total_s += usage.ru_utime + usage.ru_stime
    return total_s


def in_turn(
    rounds: int, ours: Callable[[int], Taken], against: Callable[[int], Taken]
) -> tuple[list[Taken], list[Taken]]:
    """Both, one after the other, `rounds` times; each is given the number of the round."""
    pairs = [(ours(number), against(number)) for number in range(rounds)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def wall(taken: Sequence[Taken]) -> Spread:
    return Spread(values=tuple(one.wall_s for one in taken))


def cpu(taken: Sequence[Taken]) -> Spread:
    return Spread(values=tuple(one.cpu_s for one in taken))


def machine() -> str:
    """What the figures hold for. Nothing that names this machine."""
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        f"{os.cpu_count()} cores, {platform.system()} {platform.release().split('-')[0]}, "
        f"{platform.python_implementation()} {platform.python_version()}, load {load}"
    )


def table(rows: Sequence[Row]) -> str:
    """A markdown table; spreads are min / median / max, and the median is held against the budget."""
    lines = [
        "| what | ours, s | against, s | measure | budget | met | CPU |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        digits = 2 if row.unit == "x" else 0
        lines.append(
            f"| {row.what} | {row.ours} | {row.against} | {row.measure.told(digits)} {row.unit} "
            f"| {row.budget:g} {row.unit} | {row.verdict} | {row.cpu} |"
        )
    return "\n".join(lines)

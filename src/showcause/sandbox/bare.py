"""Level 4: nothing confines. Untrusted code is refused unless the user has said otherwise."""

from __future__ import annotations

import sys

import msgspec

from showcause.errors import SandboxFault
from showcause.process import Command, Reap
from showcause.records import Enforced, Enforcement, SandboxReport
from showcause.sandbox import Confinement

__all__ = ["BareSandbox"]


class BareSandbox:
    """Confines nothing; `why` names what was tried before and what would cure it."""

    def __init__(self, why: str, *, allowed: bool) -> None:
        nothing = Enforced(state=Enforcement.NONE, why=why)
        self.report = SandboxReport(
            level=4, tree="copy", fs=nothing, net=nothing, pid=nothing, memory=nothing, processes=nothing
        )
        self._why, self._allowed = why, allowed

    def confine(self, command: Command, confinement: Confinement) -> Command:
        """The command as it is, below a reaper. Raises SandboxFault unless running unconfined was allowed."""
        if not self._allowed:
            raise SandboxFault(
                f"this code may not run unconfined ({self._why})",
                cure="follow the cure named, or say --allow-unsandboxed if you trust the code",
            )
        if confinement.layers != (confinement.target,):
            raise SandboxFault("without a sandbox a tree must be a finished copy, used in place")
        reap = Reap.SUBREAPER if sys.platform == "linux" else Reap.GROUP
        return msgspec.structs.replace(command, reap=reap)

"""What a review looks for while it does something else."""

from __future__ import annotations

from showcause.beside import Pending
from showcause.process import Command
from showcause.records import SandboxReport
from showcause.sandbox import Confinement, Sandbox

__all__ = ["EarlySandbox"]


class EarlySandbox:
    """A sandbox that is still being tried, which takes a confined run: the first question waits for it."""

    def __init__(self, found: Pending[Sandbox]) -> None:
        self._found = found

    @property
    def report(self) -> SandboxReport:
        return self._found.result().report

    def confine(self, command: Command, confinement: Confinement) -> Command:
        return self._found.result().confine(command, confinement)

"""One file per CLI: how it is called at its strictest, and how its output is read."""

from __future__ import annotations

from showcause.contract.adapters.base import Adapter, Composed, Job
from showcause.contract.adapters.command import CommandAdapter
from showcause.records.contract import ReviewerKind

__all__ = ["ADAPTERS", "Adapter", "Composed", "Job"]

ADAPTERS: dict[ReviewerKind, Adapter] = {one.kind: one for one in (CommandAdapter(),)}

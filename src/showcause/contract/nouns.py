"""What is asked of one attempt, and what it needs for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from showcause.clock import Deadline
from showcause.contract.adapters.base import Adapter
from showcause.contract.classify import Conclusion, Facts, classify
from showcause.contract.deliver import Parcel
from showcause.process import Command, Finished, Talk, run
from showcause.records import Chat, Record
from showcause.records.contract import (
    AttemptJournal,
    AttemptRecord,
    Pool,
    ReviewerKind,
    ReviewerSpec,
    Role,
    TurnIds,
)
from showcause.sandbox import Sandbox

__all__ = ["Attempted", "Door", "Means", "Order", "Runtime"]

OUTPUT_BYTES = 16 << 20  # of standard output that are read for an answer


class Order(Record, frozen=True, kw_only=True):
    """One attempt that is wanted. `refused` says why nothing may be spawned for it, should that be so.

    `repository` is the top of the repository that must not change, "" without one.
    """

    spec: ReviewerSpec
    role: Role
    parcel: Parcel
    ids: TurnIds
    primary_pool: Pool
    pool: Pool
    settings: str
    repository: str = ""
    output_bytes: int = OUTPUT_BYTES
    refused: Conclusion | None = None


class Door(Protocol):
    """`showcause.process.run`, or something around it that a scan watches with."""

    def __call__(
        self,
        command: Command,
        *,
        deadline: Deadline | None = None,
        cancel: threading.Event | None = None,
        talk: Talk | None = None,
    ) -> Finished: ...


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """The two places where a runtime can be wrong: how it runs a process, and how it judges the facts.
    The boundary scan puts broken ones here and must catch each."""

    door: Door = run
    conclude: Callable[[Facts], Conclusion] = classify


@dataclass(frozen=True, kw_only=True)
class Means:
    """What an attempt works with. `tree` gives the state of the repository, the same as long as nobody
    wrote to it; `chat` is there for the kind `model` only; `secrets` are masked in all that is kept."""

    sandbox: Sandbox
    journal: AttemptJournal
    adapters: Mapping[ReviewerKind, Adapter]
    tree: Callable[[], str] = str
    chat: Chat | None = None
    secrets: Mapping[str, str] = field(default_factory=dict)
    runtime: Runtime = Runtime()


class Attempted(Record, frozen=True, kw_only=True):
    """An attempt that has ended, and the id of its receipt."""

    receipt: str
    record: AttemptRecord

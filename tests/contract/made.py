"""Orders, means and a journal for the tests of the contract."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from showcause.contract import Attempted, Means, Order, attempt, pool_of, reviewer_pool
from showcause.contract.adapters import ADAPTERS
from showcause.contract.critique import instructions
from showcause.contract.deliver import Parcel, pack
from showcause.contract.memory import MemoryJournal
from showcause.contract.standing import Plan, stand_in
from showcause.records.contract import (
    ReviewerKind,
    ReviewerSpec,
    Role,
    TurnIds,
)
from showcause.sandbox.bare import BareSandbox

IDS = TurnIds(task="t" * 64, candidate="c" * 64, conversation="conv-1", turn="turn-1")
PRIMARY = pool_of("anthropic/team-a")


Journal = MemoryJournal


def packet(size: int = 0) -> str:
    """A small packet, filled up to about `size` characters of material."""
    filler = "".join(f"line {number} of the material\n" for number in range(max(0, size) // 27 + 1))
    return f"PACKET p-0123\nform: turn\n\n{filler[:size]}\nEND OF PACKET p-0123 nonce {'ab' * 12}\n"


def parcel(size: int = 200) -> Parcel:
    return pack(instructions(), packet(size), id="p-0123", nonce="ab" * 12)


def spec(kind: ReviewerKind = ReviewerKind.COMMAND, **more: Any) -> ReviewerSpec:
    told = {"name": "other", "model": "gpt-5", "pool": "team-b", "deadline_s": 20.0}
    return ReviewerSpec(kind=kind, **{**told, **more})


def order(reviewer: ReviewerSpec, **more: Any) -> Order:
    told: dict[str, Any] = {
        "spec": reviewer,
        "role": Role.REVIEWER,
        "parcel": parcel(),
        "ids": IDS,
        "primary_pool": PRIMARY,
        "pool": reviewer_pool(reviewer),
        "settings": "s" * 64,
    }
    return Order(**{**told, **more})


def means(**more: Any) -> Means:
    told: dict[str, Any] = {
        "sandbox": BareSandbox("a test", allowed=True),
        "journal": Journal(),
        "adapters": ADAPTERS,
    }
    return Means(**{**told, **more})


def made(folder: Path, plan: Plan, *, reviewer: ReviewerSpec | None = None, **more: Any) -> Attempted:
    """One attempt with a stand-in that follows `plan`."""
    base = reviewer or spec()
    standing = stand_in(base, ADAPTERS[base.kind], plan, folder)
    with_means = {name: more.pop(name) for name in tuple(more) if name in Means.__dataclass_fields__}
    running = {name: more.pop(name) for name in ("deadline", "cancel") if name in more}
    done = attempt(order(standing, **more), means(**with_means), **running)
    assert msgspec.structs.replace(done.record) == done.record
    return done

"""Stand-ins for a reviewer's CLI: a real process that speaks its format and fails as it is told to.

Part of the product: the boundary scan and the tests use the same ones. The plan is a file, so that the
stand-in is started by the adapter's own command line, flags and all.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from showcause.contract.adapters.base import Adapter
from showcause.records.contract import ReviewerKind, ReviewerSpec

__all__ = ["Plan", "stand_in"]

_PROGRAM = Path(__file__).with_name("standin.py")


class Plan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a stand-in does. Bytes and seconds; None and 0: not.

    read          how many bytes it reads before it closes its input; None: all
    close         whether it then closes its input, or leaves it open unread
    wait_s        between reading and writing; `linger_s` after writing
    out           what it writes, in place of a valid answer; `cut` after so many characters
    pad           to how many bytes its output is filled up
    daemon        seconds for which a process that it leaves behind would live
    write         files that it tries to write
    known         marks of the packet that it knows without having read them: a liar
    """

    read: int | None = None
    close: bool = True
    wait_s: float = 0
    linger_s: float = 0
    out: str | None = None
    cut: int | None = None
    pad: int | None = None
    exit: int = 0
    signal: int = 0
    daemon: float = 0
    ignore_term: bool = False
    stderr_bytes: int = 0
    write: tuple[str, ...] = ()
    known: dict[str, Any] = {}
    findings: tuple[dict[str, str], ...] = ()


def stand_in(spec: ReviewerSpec, adapter: Adapter, plan: Plan, folder: Path) -> ReviewerSpec:
    """The reviewer with a stand-in for its program. `folder` must outlive it and holds its plan."""
    told = msgspec.to_builtins(plan) | {
        "in_argv": spec.kind is ReviewerKind.KIMI,
        "acp": spec.kind is ReviewerKind.ACP,
    }
    if plan.out is None:
        told["out"] = _output(adapter, spec.model)
    if plan.pad is not None:
        told["out"] += "@PAD@" if plan.out else "\n@PAD@"
    path = folder / "plan.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    return msgspec.structs.replace(spec, command=(sys.executable, str(_PROGRAM), str(path)))


def _output(adapter: Adapter, model: str) -> str:
    """A valid output of this CLI with a place for the answer, written as the format wants it."""
    marker = "@ANSWER@"
    raw = adapter.speak(marker, model).decode()
    if adapter.kind is ReviewerKind.ACP:  # the first two answers are given while it reads
        raw = raw.split("\n", 2)[2]
    return raw if raw.strip() == marker else raw.replace(marker, "@ANSWER_IN_JSON@")

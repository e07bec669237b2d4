"""The boundary scan: every condition of the contract, tried against one adapter with real children.

A stand-in that speaks the CLI's format cuts its input, ends badly, floods, hangs, lies; the runtime must give
each its typed end. The same rows are then run by three runtimes that are broken on purpose (cut input is
accepted; nothing is looked at after reaping; the exit status is ignored): a scan that would not notice them
shows nothing. The case exactly at the deadline is reported, not judged.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from showcause import process
from showcause.canon import digest
from showcause.contract.adapters.base import Adapter
from showcause.contract.attempt import attempt
from showcause.contract.classify import Conclusion, Facts, classify
from showcause.contract.critique import instructions
from showcause.contract.deliver import Parcel, pack
from showcause.contract.memory import MemoryJournal
from showcause.contract.nouns import Door, Means, Order, Runtime
from showcause.contract.pools import pool_of, reviewer_pool
from showcause.contract.standing import Plan, stand_in
from showcause.process import Command, Finished, How
from showcause.records import Record
from showcause.records.contract import (
    AttemptEnd,
    Echo,
    ReviewerKind,
    ReviewerSpec,
    Role,
    TurnIds,
)
from showcause.sandbox import Sandbox

__all__ = ["BoundaryReport", "BoundaryRow", "BrokenRuntime", "scan"]

_MODEL, _OTHER_MODEL = "gpt-5", "gpt-4-other"
_BUDGET = 200_000
_LARGE, _SMALL = 400_000, 2_000
_LIMIT_S, _SHORT_S = 60.0, 1.0
_END = AttemptEnd


class BoundaryRow(Record, frozen=True, kw_only=True):
    """One condition. `expected` None: reported only."""

    group: str
    name: str
    expected: AttemptEnd | None
    found: AttemptEnd
    why: str

    @property
    def holds(self) -> bool:
        return self.expected is None or self.expected is self.found

    @property
    def is_false_completion(self) -> bool:
        return self.found is _END.COMPLETED and self.expected not in (None, _END.COMPLETED)


class BrokenRuntime(Record, frozen=True, kw_only=True):
    """A runtime that is broken on purpose, and the rows that show it."""

    name: str
    shown_by: tuple[str, ...]

    @property
    def is_caught(self) -> bool:
        return bool(self.shown_by)


class BoundaryReport(Record, frozen=True, kw_only=True):
    """What a scan found. `left_out` names rows that make no sense for this kind of CLI, and why."""

    kind: ReviewerKind
    rows: tuple[BoundaryRow, ...]
    broken: tuple[BrokenRuntime, ...]
    left_out: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return all(row.holds for row in self.rows) and all(one.is_caught for one in self.broken)


class _Case(Record, frozen=True, kw_only=True):
    """One row to be tried: a plan for the stand-in, and what differs from a plain order."""

    group: str
    name: str
    expected: AttemptEnd | None
    plan: Plan = Plan()
    size: int = _SMALL
    limit_s: float = _LIMIT_S
    cancel_s: float | None = None
    late: str = ""  # "cancel" or "deadline": what happens between reaping and counting
    primary: str = "anthropic/scan-a"
    pool: str = "scan-b"
    flags: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    mutates: bool = False


def scan(adapter: Adapter, sandbox: Sandbox, folder: Path) -> BoundaryReport:
    """Try every row, then the broken runtimes. `folder` is an empty one for plans; nothing of it is kept
    by the scan. It takes about half a minute."""
    cases, left_out = _cases(adapter)
    rows = tuple(_try(case, adapter, sandbox, folder, classify) for case in cases)
    broken = []
    for name, conclude, groups in _BROKEN:
        tried = [_try(case, adapter, sandbox, folder, conclude) for case in cases if case.group in groups]
        shown = tuple(f"{row.group}: {row.name}" for row in tried if row.is_false_completion)
        broken.append(BrokenRuntime(name=name, shown_by=shown))
    return BoundaryReport(kind=adapter.kind, rows=rows, broken=tuple(broken), left_out=left_out)


# ------------------------------------------------------------------ the rows


def _cases(adapter: Adapter) -> tuple[tuple[_Case, ...], tuple[str, ...]]:
    found = [*_control(), *_output(), *_endings(adapter), *_life(), *_refused(adapter)]
    left_out = []
    if adapter.kind is ReviewerKind.KIMI:
        left_out.append("cut input, cancelled while writing: the packet is a word of the command line")
        found = [case for case in found if case.name != "child that does not read"]
    else:
        found += [*_cut(), *_writing()]
    if not adapter.forbidden:
        left_out.append("unsafe argv: any command line is the user's own")
    if not _shows_model(adapter):
        left_out.append("another model: this CLI does not say which one served")
    return tuple(found), tuple(left_out)


def _control() -> Iterator[_Case]:
    yield _Case(group="control", name="valid review", expected=_END.COMPLETED)
    yield _Case(group="control", name="valid review of a large packet", expected=_END.COMPLETED, size=100_000)


def _cut() -> Iterator[_Case]:
    """Readers that stop early, honest (they answer with what they had) and lying (they know the marks)."""
    parcel = _parcel(_LARGE)
    known = {"packet": parcel.id, "codes": list(parcel.codes), "nonce": parcel.nonce}
    total = len(parcel.data)
    for name, read in (
        ("1%", total // 100),
        ("50%", total // 2),
        ("99%", total * 99 // 100),
        ("all but one", -1),
    ):
        yield _Case(
            group="cut input",
            name=name,
            expected=_END.INPUT_DELIVERY_FAILED,
            plan=Plan(read=read),
            size=_LARGE,
        )
    for name, read in (("1%, marks known", total // 100), ("50%, marks known", total // 2)):
        plan = Plan(read=read, known=known)
        yield _Case(group="cut input", name=name, expected=_END.INPUT_DELIVERY_FAILED, plan=plan, size=_LARGE)


def _writing() -> Iterator[_Case]:
    plan = Plan(read=0, close=False, wait_s=600)
    yield _Case(
        group="cancel", name="while writing", expected=_END.CANCELLED, plan=plan, size=_LARGE, cancel_s=0.5
    )


def _output() -> Iterator[_Case]:
    for share, expected in ((0.8, _END.COMPLETED), (1.0, _END.COMPLETED), (1.2, _END.OUTPUT_TRUNCATED)):
        yield _Case(
            group="output", name=f"{share} of the budget", expected=expected,
            plan=Plan(pad=int(_BUDGET * share)),
        )  # fmt: skip


def _endings(adapter: Adapter) -> Iterator[_Case]:
    malformed = "{ this is no answer"
    for exit_status in (0, 1):
        crash = _END.PROCESS_CRASH if exit_status else None
        for name, out, end in (
            ("valid", None, _END.COMPLETED),
            ("empty", "", _END.EMPTY_RESPONSE),
            ("malformed", malformed, _END.MALFORMED_OUTPUT),
        ):
            yield _Case(
                group="exit and output", name=f"exit {exit_status}, {name}", expected=crash or end,
                plan=Plan(exit=exit_status, out=out),
            )  # fmt: skip
    yield _Case(
        group="exit and output", name="SIGTERM, valid", expected=_END.PROCESS_CRASH, plan=Plan(signal=15)
    )
    if _shows_model(adapter):
        out = adapter.speak("@ANSWER_IN_JSON@", _OTHER_MODEL).decode()
        yield _Case(
            group="model", name="another model served", expected=_END.MODEL_MISMATCH, plan=Plan(out=out)
        )


def _life() -> Iterator[_Case]:
    slow = Plan(wait_s=600)
    yield _Case(group="cancel", name="while reading", expected=_END.CANCELLED, plan=slow, cancel_s=0.5)
    yield _Case(group="cancel", name="while counting", expected=_END.CANCELLED, late="cancel")
    for name, plan in (
        ("child that does not read", Plan(read=0, close=False, wait_s=600)),
        ("child that does not write", slow),
        ("child that ignores SIGTERM", Plan(wait_s=600, ignore_term=True)),
        ("child that stays after its answer", Plan(linger_s=600)),
    ):
        yield _Case(group="deadline", name=name, expected=_END.TIMEOUT, plan=plan, limit_s=_SHORT_S)
    yield _Case(
        group="deadline",
        name="passed while counting",
        expected=_END.TIMEOUT,
        late="deadline",
        limit_s=3.0,
    )
    yield _Case(
        group="deadline", name="exactly at it (reported)", expected=None, plan=Plan(wait_s=_SHORT_S),
        limit_s=_SHORT_S,
    )  # fmt: skip
    yield _Case(group="life", name="double fork", expected=_END.COMPLETED, plan=Plan(daemon=600))
    yield _Case(group="life", name="repository changed", expected=_END.MUTATED, mutates=True)


def _refused(adapter: Adapter) -> Iterator[_Case]:
    yield _Case(group="pools", name="same pool", expected=_END.SAME_POOL, pool="scan-a")
    yield _Case(group="pools", name="alias of the same pool", expected=_END.SAME_POOL, pool="openai/Scan-A ")
    yield _Case(group="pools", name="same provider", expected=_END.SAME_POOL, primary="chatgpt/scan-a")
    yield _Case(group="pools", name="unknown provider", expected=_END.UNKNOWN_POOL, primary="house/scan-a")
    yield _Case(group="pools", name="unknown account", expected=_END.UNKNOWN_POOL, pool="")
    yield _Case(
        group="spawn", name="no such program", expected=_END.SPAWN_FAILED, command=("/no/such/program",)
    )
    for rule in adapter.forbidden:
        for flag in rule.flags:
            yield _Case(group="argv", name=flag, expected=_END.UNSAFE_ARGV, flags=(flag, "write"))


def _shows_model(adapter: Adapter) -> bool:
    reading = adapter.read(adapter.speak("x", "shown-model"), b"", "")
    return any(one.served for one in reading.models)


# ------------------------------------------------------------------ trying one


def _try(
    case: _Case, adapter: Adapter, sandbox: Sandbox, folder: Path, conclude: Callable[[Facts], Conclusion]
) -> BoundaryRow:
    parcel = _parcel(case.size)
    spec = _spec(case, adapter, folder, len(parcel.data))
    cancel = threading.Event()
    trees = iter(("before", "after" if case.mutates else "before"))
    means = Means(
        sandbox=sandbox,
        journal=MemoryJournal(),
        adapters={adapter.kind: adapter},
        tree=lambda: next(trees),
        runtime=Runtime(door=_door(case, cancel), conclude=conclude),
    )
    order = Order(
        spec=spec,
        role=Role.REVIEWER,
        parcel=parcel,
        ids=TurnIds(task=digest(b"scan"), candidate=digest(b"scan"), conversation="", turn="scan"),
        primary_pool=pool_of(case.primary),
        pool=reviewer_pool(spec),
        settings=digest(b"scan"),
        output_bytes=_BUDGET if case.group == "output" else 16 << 20,
    )
    timer = threading.Timer(case.cancel_s or 0, cancel.set)
    if case.cancel_s is not None:
        timer.start()
    record = attempt(order, means, cancel=cancel).record
    timer.cancel()
    return BoundaryRow(
        group=case.group, name=case.name, expected=case.expected, found=record.ended, why=record.why
    )


def _spec(case: _Case, adapter: Adapter, folder: Path, size: int) -> ReviewerSpec:
    base = ReviewerSpec(
        name="scan", kind=adapter.kind, model=_MODEL, pool=case.pool, deadline_s=case.limit_s,
        context_tokens=1_000_000,
    )  # fmt: skip
    plan = case.plan if case.plan.read != -1 else msgspec.structs.replace(case.plan, read=size - 1)
    spec = stand_in(base, adapter, plan, folder)
    command = case.command or (*spec.command, *case.flags)
    return msgspec.structs.replace(spec, command=command)


def _parcel(size: int) -> Parcel:
    """Always the same one of a size, so that a liar can know its marks."""
    id, nonce = "p-5ca9", digest(b"scan")[:24]
    lines = "".join(f"line {number} of what is under review\n" for number in range(size // 36 + 1))[:size]
    packet = f"PACKET {id}\nform: turn\n\n{lines}\nEND OF PACKET {id} nonce {nonce}"
    codes = [digest(f"{size} {number}".encode())[:8] for number in range(max(3, size // 40_000))]
    return pack(instructions(), packet, id=id, nonce=nonce, codes=codes)


def _door(case: _Case, cancel: threading.Event) -> Door:
    """The process door; for rows about counting, something happens right after it closed."""

    def door(command: Command, **how: Any) -> Finished:
        finished = process.run(command, **how)
        if case.late == "cancel":
            cancel.set()
        while case.late == "deadline" and not how["deadline"].passed:
            time.sleep(0.01)
        return finished

    return door


# ------------------------------------------------------------------ broken on purpose


def _cut_accepted(facts: Facts) -> Conclusion:
    delivery = msgspec.structs.replace(
        facts.delivery,
        accepted_bytes=facts.delivery.total_bytes,
        echo=Echo.NOT_OFFERED,
        codes_back=facts.delivery.codes,
        nonce_back=True,
    )
    return classify(msgspec.structs.replace(facts, delivery=delivery))


def _not_looked_again(facts: Facts) -> Conclusion:
    return classify(msgspec.structs.replace(facts, late=False, cancelled=False))


def _status_ignored(facts: Facts) -> Conclusion:
    finished = facts.finished
    if finished.how in (How.EXITED, How.SIGNALLED):
        finished = msgspec.structs.replace(finished, how=How.EXITED, exit_status=0, signal=None)
    return classify(msgspec.structs.replace(facts, finished=finished, status_fault=None))


_BROKEN: tuple[tuple[str, Callable[[Facts], Conclusion], tuple[str, ...]], ...] = (
    ("cut input accepted", _cut_accepted, ("cut input",)),
    ("no check at reaping", _not_looked_again, ("cancel", "deadline")),
    ("exit status ignored", _status_ignored, ("exit and output",)),
)

"""A thousand faulty attempts, fifty at once: each has one terminal row of its kind, and nothing is left."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from showcause.contract import attempt
from showcause.contract.adapters import ADAPTERS
from showcause.contract.standing import Plan, stand_in
from showcause.records.contract import AttemptEnd, ReviewerKind, ReviewerSpec
from showcause.store.attempts import open_attempts
from tests.contract.made import means, order, parcel, spec

END = AttemptEnd
LARGE = parcel(200_000)
FAULTS: list[tuple[AttemptEnd, Plan, float]] = [
    (END.EMPTY_RESPONSE, Plan(out=""), 300),
    (END.MALFORMED_OUTPUT, Plan(out="APPROVED, looks good"), 300),
    (END.PROCESS_CRASH, Plan(exit=1), 300),
    (END.PROCESS_CRASH, Plan(signal=11), 300),
    (END.INPUT_DELIVERY_FAILED, Plan(read=1000), 300),
    (END.INPUT_DELIVERY_FAILED, Plan(read=len(LARGE.data) - 1), 300),
    (END.TIMEOUT, Plan(wait_s=600, ignore_term=True), 1),
    (END.TIMEOUT, Plan(read=0, close=False, wait_s=600, daemon=600), 1),
    (END.OUTPUT_TRUNCATED, Plan(pad=60_000), 300),
    (END.CANCELLED, Plan(wait_s=600, daemon=600), 300),
]


def _many(folder: Path, count: int, at_once: int, kinds: list[ReviewerKind]) -> None:
    attempts = open_attempts(folder / "store" / "store.sqlite3")
    plans: list[tuple[AttemptEnd, ReviewerSpec]] = []
    for number, (kind, (end, plan, limit)) in enumerate(itertools.product(kinds, FAULTS)):
        place = folder / f"plan{number}"
        place.mkdir()
        base = spec(kind, deadline_s=float(limit), context_tokens=1_000_000)
        plans.append((end, stand_in(base, ADAPTERS[kind], plan, place)))

    def one(number: int) -> tuple[AttemptEnd, AttemptEnd, int, str]:
        end, reviewer = plans[number % len(plans)]
        cancel = threading.Event()
        timer = threading.Timer(1.0, cancel.set)
        if end is END.CANCELLED:
            timer.start()
        done = attempt(
            order(reviewer, parcel=LARGE, output_bytes=50_000), means(journal=attempts), cancel=cancel
        )
        timer.cancel()
        left = done.record.launched.left if done.record.launched else -1
        return end, done.record.ended, left, done.receipt

    with ThreadPoolExecutor(at_once) as pool:
        found = list(pool.map(one, range(count)))
    assert [row for row in found if row[0] is not row[1]] == []
    assert {left for *_, left, _ in found} == {0}
    kept = [one.id for one in attempts.page(limit=10 * count)]
    assert sorted(kept) == sorted(id for *_, id in found)
    assert attempts.interrupt_dead() == ()
    assert _naming(folder) == []


def _naming(folder: Path) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder).encode() in (entry / "cmdline").read_bytes():
                found.append(entry.name)
        except OSError:
            continue
    return found


def test_one_of_each_at_once(tmp_path: Path) -> None:
    _many(tmp_path, len(FAULTS), 5, [ReviewerKind.COMMAND])


@pytest.mark.slow
def test_a_thousand_fifty_at_once(tmp_path: Path) -> None:
    _many(tmp_path, 1000, 50, [ReviewerKind.COMMAND, ReviewerKind.CODEX, ReviewerKind.QWEN])

"""How long a review takes from the command line, as ratios in one run: ours and theirs in turn."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import (
    Row,
    Spread,
    Taken,
    adopt_orphans,
    cpu,
    in_turn,
    machine,
    table,
    timed,
    wall,
)
from benchmarks.subjects import GENERATED, Edit, Subject, generated, released
from benchmarks.trees import second_tree

__all__ = ["main"]

_COLD, _CACHED, _TREE_MS, _START_MS, _SETTLED_MS = 1.25, 1.2, 50.0, 60.0, 100.0
_SHORT_S, _WHOLE_S = 2.0, 60.0  # budgets for tests: one file, and as many as are related
_UNCERTAIN = 3


@dataclass(frozen=True, kw_only=True)
class Case:
    """Reviews of a subject; `budget_s` for tests bounds which files are chosen."""

    subject: Subject
    budget_s: float

    def review(self, *, fresh: bool = True) -> Taken:
        options = ["--format", "json", "--set", f"suite.time_budget_s={self.budget_s:g}"]
        options += ["--set", f"suite.python={self.subject.python}", *(["--fresh"] if fresh else [])]
        argv = [sys.executable, "-m", "showcause", "review", *options]
        return timed(argv, cwd=self.subject.folder, allowed=(_UNCERTAIN,))

    def cold(self) -> Taken:
        """A review in a repository that showcause never saw."""
        self.subject.forget()
        return self.review()

    def bare(self, files: tuple[str, ...]) -> Taken:
        """One run of pytest."""
        argv = [str(self.subject.python), "-m", "pytest", "-q", *files]
        return timed(argv, cwd=self.subject.folder, allowed=(0, 1))

    def chosen(self, edit: Edit) -> tuple[str, ...]:
        """The test files that a review chose, by its receipt; caches that pytest keeps are warm then."""
        self.subject.patch(edit)
        checks = json.loads(self.cold().stdout)["checks"]
        ids = [item["id"] for check in checks if check["id"] == "suite" for item in check["items"]]
        files = tuple(sorted({test_id.partition("::")[0] for test_id in ids}))
        self.bare(files)
        return files


def _cases(work: Path) -> Iterator[Case]:
    yield Case(subject=released("click", work), budget_s=_SHORT_S)
    yield Case(subject=released("click", work), budget_s=_WHOLE_S)
    yield Case(subject=released("requests", work), budget_s=_SHORT_S)


def _cold(work: Path, rounds: int) -> Iterator[Row]:
    for case in _cases(work):
        for kind, edit in (("harmless", case.subject.harmless), ("breaking", case.subject.breaking)):
            files = case.chosen(edit)

            def cold(_: int, case: Case = case) -> Taken:
                return case.cold()

            def twice(_: int, case: Case = case, files: tuple[str, ...] = files) -> Taken:
                return case.bare(files) + case.bare(files)

            name = f"cold review, {kind} patch, {case.subject.name}, {_count(files)}; over two bare runs"
            yield _ratio(name, *in_turn(rounds, cold, twice), _COLD)


def _cached(work: Path, rounds: int) -> Iterator[Row]:
    for case in _cases(work):
        files = case.chosen(case.subject.harmless)

        def edited(number: int, case: Case = case) -> Taken:
            case.subject.patch(case.subject.harmless, number + 1)
            return case.review()

        def once(_: int, case: Case = case, files: tuple[str, ...] = files) -> Taken:
            return case.bare(files)

        name = f"second review after an edit, {case.subject.name}, {_count(files)}; over one bare run"
        yield _ratio(name, *in_turn(rounds, edited, once), _CACHED)


def _trees(work: Path, rounds: int) -> Iterator[Row]:
    python = released("click", work).python
    for size in GENERATED:
        subject = generated(size, work, python)
        ours, bare = second_tree(subject, rounds)
        name = f"second tree, {subject.name}; over a bare confined command"
        yield _difference(name, wall(ours), wall(bare), _TREE_MS)


def _start(work: Path, rounds: int) -> Iterator[Row]:
    def version(_: int) -> Taken:
        return timed([sys.executable, "-m", "showcause", "--version"], cwd=work)

    def nothing(_: int) -> Taken:
        return timed([sys.executable, "-c", "pass"], cwd=work)

    version(0)
    ours, bare = in_turn(5 * rounds, version, nothing)
    yield _difference("CPU of `showcause --version`; over `python -c pass`", cpu(ours), cpu(bare), _START_MS)


def _settled(work: Path, rounds: int) -> Iterator[Row]:
    click = released("click", work)
    for subject in (click, *(generated(size, work, click.python) for size in GENERATED)):
        case = Case(subject=subject, budget_s=_SHORT_S)
        subject.patch(subject.harmless)
        case.cold()
        taken = [case.review(fresh=False) for _ in range(3 * rounds)]
        if len({json.loads(one.stdout)["receipt"] for one in taken}) != 1:
            raise RuntimeError("a review was made anew, not answered from the store")
        yield Row(
            what=f"settled review answered again, {subject.name}",
            ours=wall(taken).told(3),
            against="",
            measure=wall(taken).times(1000),
            unit="ms",
            budget=_SETTLED_MS,
            cpu=f"{cpu(taken).times(1000).told(0)} ms",
        )


_ROWS: dict[str, Callable[[Path, int], Iterator[Row]]] = {
    "cold": _cold,
    "cached": _cached,
    "trees": _trees,
    "start": _start,
    "settled": _settled,
}


def _count(files: tuple[str, ...]) -> str:
    return f"{len(files)} test file{'s' if len(files) > 1 else ''}"


def _ratio(name: str, ours: list[Taken], bare: list[Taken], budget: float) -> Row:
    return Row(
        what=name,
        ours=wall(ours).told(),
        against=wall(bare).told(),
        measure=wall(ours).over(wall(bare)),
        unit="x",
        budget=budget,
        cpu=f"{cpu(ours).over(cpu(bare)).told()} x",
    )


def _difference(name: str, ours: Spread, bare: Spread, budget: float) -> Row:
    return Row(
        what=name,
        ours=ours.told(3),
        against=bare.told(3),
        measure=ours.less(bare).times(1000),
        unit="ms",
        budget=budget,
    )


def main(argv: list[str]) -> int:
    """Measure, and print the table as markdown. The exit status says nothing about the budgets."""
    parser = argparse.ArgumentParser(prog="scripts/bench gate", description=__doc__)
    parser.add_argument("--work", type=Path, help="where downloads and repositories stay; default: nowhere")
    parser.add_argument("--quick", action="store_true", help="3 rounds instead of 9")
    parser.add_argument("--only", nargs="+", choices=_ROWS, default=list(_ROWS), help="these rows only")
    given = parser.parse_args(argv)
    rounds = 3 if given.quick else 9
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="bench-gate-") as folder:
        work = (given.work or Path(folder)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        print(f"`scripts/bench gate{' --quick' if given.quick else ''}`: {rounds} rounds; {machine()}\n")
        rows = [row for name in given.only for row in _ROWS[name](work, rounds)]
    print(table(rows))
    print(f"\nmin / median / max; CPU counts all processes. Load at the end: {os.getloadavg()[0]:.1f}.")
    return 0

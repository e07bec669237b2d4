"""Which of base's test files to run for a patch, and in which order (pure: a tree in, a list out).

Most telling first: tests that the patch edits; tests that use a touched module directly; tests with
its name; tests whose text mentions what changed; tests that reach it through other modules; tests
that mention a touched file which is no module. Only as many as fit the time budget by estimate are
selected. Every other test file of the tree is listed as left out, with the reason.

Work is bounded by counts, not by the clock, so that the same tree and patch give the same list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from showcause.checks.selection_names import DEFAULT_PATTERNS, Layout, test_files
from showcause.checks.selection_search import ORDER, Limits, Search, Tier, Touched
from showcause.project import BaseTree
from showcause.records import Record

__all__ = [
    "DEFAULT_PATTERNS",
    "Layout",
    "Left",
    "LeftOut",
    "Limits",
    "Selected",
    "Selection",
    "Tier",
    "Touched",
    "select_tests",
    "test_files",
]


class Left(StrEnum):
    """Why a test file was not selected."""

    BUDGET = "budget"  # no time left
    UNRELATED = "unrelated"  # nothing leads from it to the patch
    NOT_EXAMINED = "not_examined"  # the search ended before: whether it is related is not known


class Selected(Record, frozen=True, kw_only=True):
    """A test file to run. `distance` counts imports to the nearest touched module, None: not by imports."""

    path: str
    tier: Tier
    distance: int | None
    why: str
    estimate_s: float


class LeftOut(Record, frozen=True, kw_only=True):
    """A test file not to run. `tier` is None where none was found."""

    path: str
    reason: Left
    tier: Tier | None
    why: str


class Selection(Record, frozen=True, kw_only=True):
    """The whole answer: every test file of the tree is in exactly one of the two lists."""

    selected: tuple[Selected, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
    estimate_s: float
    budget_s: float


def select_tests(
    base: BaseTree,
    touched: Sequence[Touched],
    layout: Layout,
    *,
    budget_s: float,
    durations: Mapping[str, float] | None = None,
    limits: Limits | None = None,
) -> Selection:
    """Order base's test files by how likely they are to tell something of the patch, cut at the budget.

    `durations` are seconds per test file, as earlier runs took. The first file is always selected,
    even where its estimate alone exceeds the budget: the runner stops by itself.
    """
    search = Search(base, touched, layout, durations or {}, limits or Limits())
    search.edited()
    search.direct()
    search.named_and_mentioned()
    search.conftests_touched()
    if search.estimate_s < budget_s:
        search.reaching(budget_s)
    else:
        search.cut_short("the nearer tests already fill the time budget")
    search.data()
    return _answer(search, budget_s)


def _answer(search: Search, budget_s: float) -> Selection:
    ordered = sorted(
        search.found.items(),
        key=lambda pair: (ORDER[pair[1].tier], pair[1].rank, search.slowness(pair[0]), pair[0]),
    )
    selected: list[Selected] = []
    left: list[LeftOut] = []
    spent = 0.0
    for path, found in ordered:
        cost = search.estimate(path)
        if selected and spent + cost > budget_s:
            left.append(LeftOut(path=path, reason=Left.BUDGET, tier=found.tier, why=found.why))
            continue
        spent += cost
        selected.append(
            Selected(path=path, tier=found.tier, distance=found.distance, why=found.why, estimate_s=cost)
        )
    reason = Left.UNRELATED if search.complete else Left.NOT_EXAMINED
    why = "nothing leads from it to the patch" if search.complete else search.notes[-1]
    left += [
        LeftOut(path=p, reason=reason, tier=None, why=why) for p in search.tests if p not in search.found
    ]
    return Selection(
        selected=tuple(selected),
        left_out=tuple(left),
        notes=tuple(dict.fromkeys(search.notes)),
        estimate_s=spent,
        budget_s=budget_s,
    )

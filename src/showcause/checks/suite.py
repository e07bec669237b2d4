"""The project's own tests, from base, on base's and on head's sources."""

from __future__ import annotations

from collections.abc import Iterator

from showcause.checks.contested import contested_by
from showcause.checks.selection import Layout, Left, Selection, Touched, select_tests
from showcause.checks.workbench import Plan, Workbench
from showcause.gate import SUITE
from showcause.project import BaseTree
from showcause.records import (
    ChangeKind,
    CheckResult,
    NotChecked,
    Outcome,
    Policy,
    RegressionRule,
    Stage,
)

__all__ = ["choose_tests", "durations_of", "left_out", "rerun_tests", "suite_check"]

_SHARE = 0.5  # of the budget goes to tests chosen by estimate: estimates of unseen files are poor
_REPEATS, _REPEATS_IF_IT_REJECTS = 2, 5
_WHY = {
    Left.BUDGET: "no time left within the budget",
    Left.UNRELATED: "nothing leads from it to the patch",
    Left.NOT_EXAMINED: "not examined: the nearer tests fill the time budget",
}


def choose_tests(bench: Workbench, base: BaseTree, *, budget_s: float) -> Selection:
    """The base test files worth running for the patch, most relevant first."""
    touched = [
        Touched(path=change.old_path or change.path)
        for change in bench.trees.patch.changes
        if change.kind not in (ChangeKind.ADDED, ChangeKind.GITLINK)
    ]
    project = bench.kit.project
    layout = Layout(
        sources=project.sources, patterns=project.runner.patterns, test_paths=project.runner.test_paths
    )
    return select_tests(
        base, touched, layout, budget_s=budget_s * _SHARE, durations=bench.kit.store.durations_get()
    )


def suite_check(bench: Workbench, selection: Selection, *, policy: Policy, budget_s: float) -> CheckResult:
    """Run the chosen files on both sides."""
    paths = (chosen.path for chosen in selection.selected)
    return rerun_tests(bench, bench.kit.running.selectable(paths), policy=policy, budget_s=budget_s)


def rerun_tests(bench: Workbench, select: tuple[str, ...], *, policy: Policy, budget_s: float) -> CheckResult:
    """Run files or ids on both sides. Where a regression may reject alone, it must hold longer."""
    running = bench.kit.running
    rejects = policy.regression is RegressionRule.REJECT
    plan = Plan(
        check=SUITE,
        stage=Stage.EXECUTION,
        runner=running.runner,
        select=select,
        budget_s=budget_s,
        repeats=_REPEATS_IF_IT_REJECTS if rejects else _REPEATS,
        config=running.config,
        workdir=running.workdir,
    )
    self_hosted = bench.kit.project.runner.self_hosted
    return bench.compare(plan, contested=contested_by(bench.trees), self_hosted=self_hosted)


def left_out(selection: Selection, result: CheckResult) -> Iterator[NotChecked]:
    """What was not run, in a few lines: files by reason, tests that the budget cut."""
    by_reason: dict[Left, list[str]] = {}
    for left in selection.left_out:
        by_reason.setdefault(left.reason, []).append(left.path)
    for reason, paths in by_reason.items():
        yield NotChecked(what=_names(paths, "test file"), why=_WHY[reason])
    for note in selection.notes:
        yield NotChecked(what="test selection", why=note)
    cut = [item.id for item in result.items if item.base is Outcome.NOT_RUN and item.head is Outcome.NOT_RUN]
    if cut:
        yield NotChecked(what=_names(cut, "test"), why="not run on either side, within the time budget")


def _names(names: list[str], what: str) -> str:
    shown = ", ".join(names[:3])
    many = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{len(names)} {what}{'s' if len(names) > 1 else ''}: {shown}{many}"


def durations_of(bench: Workbench, selection: Selection, result: CheckResult) -> dict[str, float]:
    """Test file -> seconds on base, for the files that the result speaks of by path."""
    chosen = {c.path for c in selection.selected}
    seconds: dict[str, float] = {}
    for item in result.items:
        path = bench.kit.running.path_of(item.id)
        if path in chosen and item.runs:
            seconds[path] = seconds.get(path, 0.0) + item.runs[0].duration_s
    return seconds

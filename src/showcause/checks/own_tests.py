"""The author's own tests: what the patch adds or edits on the test surface, run on base's sources too.

They are testimony. A test that passes without the patch as well does not test the change; one that
fails with it contradicts its author. Run as handed in, with the author's conftest and configuration, so
a report that the controls do not bear out shows here. Nothing of this decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from posixpath import basename

from showcause.attribution import BAD
from showcause.checks.contested import contested_by
from showcause.checks.workbench import Plan, Workbench
from showcause.gate import OWN_TESTS
from showcause.records import CheckResult, Outcome, Side, Stage, Tampering
from showcause.trees import SurfaceKind, Trees

__all__ = ["own_test_files", "own_tests_check", "vanished"]


def own_test_files(trees: Trees, patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Test files that the patch adds or edits, as head has them."""
    there = trees.sides[Side.HEAD_HEAD]
    return tuple(
        sorted(
            path
            for path, kind in trees.surface.items()
            if kind is SurfaceKind.TEST
            and there.get(path) is not None
            and any(fnmatchcase(basename(path), pattern) for pattern in patterns)
        )
    )


def own_tests_check(bench: Workbench, files: tuple[str, ...], *, budget_s: float) -> CheckResult:
    """Run `files` as the author has them, on base's sources and on head's.

    Items that the patch added or edited are marked `contested`; the rest of a file is not the author's.
    """
    running = bench.kit.running
    plan = Plan(
        check=OWN_TESTS,
        stage=Stage.EXECUTION,
        runner=running.runner,
        select=running.selectable(files),
        budget_s=budget_s,
        repeats=1,
        config=running.config,
        workdir=running.workdir,
    )
    contested = contested_by(bench.trees)
    return bench.compare(plan, base=Side.BASE_HEAD, head=Side.HEAD_HEAD, contested=contested)


def vanished(suite: CheckResult, own: CheckResult, bench: Workbench) -> Iterator[Tampering]:
    """Tests of base that the author's version of their file no longer has, or now skips."""
    edited = {path for path, kind in bench.trees.surface.items() if kind is SurfaceKind.TEST}
    now = {item.id: item.head for item in own.items}
    for item in suite.items:
        path = bench.kit.running.path_of(item.id)
        if item.base is Outcome.NOT_RUN or path not in edited:
            continue
        if now.get(item.id, Outcome.NOT_RUN) is Outcome.NOT_RUN:
            yield Tampering(path=path, what=f"no longer has the test {item.id}")
        elif now[item.id] is Outcome.SKIPPED and item.base in BAD | {Outcome.PASSED}:
            yield Tampering(path=path, what=f"now skips the test {item.id}")

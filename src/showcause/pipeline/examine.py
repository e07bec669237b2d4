"""The order of the checks, and nothing else: trees in, check results out."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import msgspec

from showcause.checks.build import build_check
from showcause.checks.command import command_check
from showcause.checks.imports import imports_check
from showcause.checks.official import OfficialSuite, official_check
from showcause.checks.own_tests import own_test_files, own_tests_check, vanished
from showcause.checks.static import StaticFindings, static_check
from showcause.checks.suite import choose_tests, durations_of, left_out, suite_check
from showcause.checks.tampering import tampering
from showcause.checks.workbench import Workbench
from showcause.errors import EnvironmentFault, SandboxFault
from showcause.gate import FAIL_TO_PASS, PASS_TO_PASS, SUITE, official_verdict
from showcause.pipeline.effect import effect_of
from showcause.pipeline.findings import Findings
from showcause.records import (
    ChangeKind,
    CheckResult,
    LoadedState,
    NotChecked,
    Outcome,
    RunState,
    Tampering,
)
from showcause.trees import SurfaceKind, TreeReader, Trees

__all__ = ["OFFICIAL_BUDGET_S", "examine", "settled", "tampering", "untestable"]

OFFICIAL_BUDGET_S = 300.0
"""Seconds for an official suite unless the settings say otherwise: cut short it decides nothing."""

_COMPILED = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".pyx", ".pxd", ".rs", ".go", ".f", ".f90")


def examine(
    bench: Workbench, reader: TreeReader, *, official: OfficialSuite | None, budget_s: float
) -> Findings:
    """Run every check that applies to the patch. Raises Cancelled and EnvironmentFault."""
    with ThreadPoolExecutor(1) as beside:
        static = beside.submit(_static, bench, reader)
        effect = beside.submit(effect_of, bench.trees)
        found = _running(bench, reader, official, budget_s)
        told, evidence = static.result(), effect.result()
    return msgspec.structs.replace(
        found,
        checks=(*told.checks, *found.checks),
        tampering=(*found.tampering, *told.tampering),
        not_checked=(*found.not_checked, *told.not_checked),
        why_copying=bench.places.why_copying,
        evidence=evidence,
    )


def _static(bench: Workbench, reader: TreeReader) -> StaticFindings:
    """The static stage; where a tool of it is missing, that is named and the other checks go on."""
    try:
        return static_check(bench, reader)
    except SandboxFault:
        raise
    except EnvironmentFault as error:
        cure = f" (cure: {error.cure})" if error.cure else ""
        return StaticFindings(checks=(), not_checked=(NotChecked(what="static", why=f"{error}{cure}"),))


def _running(
    bench: Workbench, reader: TreeReader, official: OfficialSuite | None, budget_s: float
) -> Findings:
    """Every check that runs the project's own code, one after the other."""
    trees, kit = bench.trees, bench.kit
    checks: list[CheckResult] = []
    missing: list[NotChecked] = [*trees.not_checked]
    compiled = sorted(path for path in trees.patch.paths if path.endswith(_COMPILED))
    if compiled:
        built, notes = _build(bench, compiled)
        checks += built
        missing += notes
    if official is not None:
        kit.say("official suite")
        own_s = kit.settings.suite.time_budget_s
        checks += official_check(bench, official, budget_s=own_s or max(budget_s, OFFICIAL_BUDGET_S))
        missing += _untold(checks)
    if official_verdict(checks) is None:
        suite, notes = _suite(bench, reader, budget_s)
        checks += suite
        missing += notes
    modules = tuple(path for path in _importable(trees) if path not in _loaded(checks))
    if modules:
        kit.say(f"importing {len(modules)} touched modules")
        checks.append(imports_check(bench, modules))
    missing += _not_loaded(checks)
    command = kit.settings.suite.command
    if command:
        kit.say("running the project's own command before and after")
        checks.append(command_check(bench, command, budget_s=budget_s))
    own, tampered = _own_tests(bench, checks, budget_s)
    checks += own
    return Findings(
        checks=tuple(checks),
        tampering=(*tampering(trees), *tampered),
        not_checked=(*missing, *bench.places.not_checked),
        why_copying=bench.places.why_copying,
    )


def _suite(
    bench: Workbench, reader: TreeReader, budget_s: float
) -> tuple[list[CheckResult], list[NotChecked]]:
    selection = choose_tests(bench, reader, budget_s=budget_s)
    if not selection.selected:
        why = "no test file leads to the change" if selection.left_out else "the base tree has no test files"
        return [], [NotChecked(what="the project's tests", why=why)]
    bench.kit.say(
        f"running {len(selection.selected)} test files before and after, with {bench.kit.running.runner}"
    )
    result = suite_check(bench, selection, policy=bench.kit.settings.policy, budget_s=budget_s)
    bench.kit.store.durations_put(durations_of(bench, selection, result))
    return [result], list(left_out(selection, result))


def _own_tests(
    bench: Workbench, checks: list[CheckResult], budget_s: float
) -> tuple[list[CheckResult], tuple[Tampering, ...]]:
    files = own_test_files(bench.trees, bench.kit.project.runner.patterns)
    if not files:
        return [], ()
    bench.kit.say(f"running the author's own {len(files)} test files, without and with the patch")
    own = own_tests_check(bench, files, budget_s=budget_s)
    suites = [check for check in checks if check.id == SUITE]
    return [own], tuple(told for suite in suites for told in vanished(suite, own, bench))


def _importable(trees: Trees) -> tuple[str, ...]:
    """Touched Python sources that both trees have under the same name."""
    return tuple(
        change.path
        for change in trees.patch.changes
        if change.path.endswith(".py")
        and change.kind in (ChangeKind.MODIFIED, ChangeKind.MODE, ChangeKind.BINARY)
        and trees.surface.get(change.path, SurfaceKind.NONE) is SurfaceKind.NONE
    )


def _build(bench: Workbench, compiled: list[str]) -> tuple[list[CheckResult], list[NotChecked]]:
    """Build both trees, or say that no run saw the compiled sources that the patch touches."""
    command = bench.kit.settings.suite.build
    checks: list[CheckResult] = []
    if not command:
        why = "there is no [suite] build command"
    elif bench.places.is_copying:
        why = f"no build without overlays ({bench.places.why_copying})"
    else:
        bench.kit.say("building both trees")
        checks.append(build_check(bench, command))
        if checks[0].state is RunState.COMPLETE and checks[0].items[0].head is Outcome.PASSED:
            return checks, []
        why = "the build failed"
    shown = ", ".join(compiled[:3])
    why = f"not built: {why}; every run used the compiled parts that lie in the checkout"
    return checks, [NotChecked(what=f"compiled sources: {shown}", why=why, caps=True)]


def _untold(checks: list[CheckResult]) -> Iterator[NotChecked]:
    """Official tests of which a side told nothing."""
    for item in (item for check in checks for item in check.items):
        untold = [run for run in item.runs if run.outcome is Outcome.NOT_RUN]
        if untold and Outcome.NOT_RUN in (item.base, item.head):
            yield NotChecked(what=f"official test {item.id}", why=untold[-1].told_by, caps=True)


def _loaded(checks: list[CheckResult]) -> frozenset[str]:
    """Touched sources that a run on head loaded whole: they are known to import."""
    return frozenset(
        loaded.path for check in checks for loaded in check.loaded if loaded.state is LoadedState.MATCHES
    )


def _not_loaded(checks: list[CheckResult]) -> Iterator[NotChecked]:
    """Touched sources that no run of any check loaded."""
    seen: dict[str, bool] = {}
    for check in checks:
        for loaded in check.loaded:
            is_loaded = loaded.state is not LoadedState.NOT_LOADED
            seen[loaded.path] = seen.get(loaded.path, False) or is_loaded
    for path, is_loaded in seen.items():
        if not is_loaded:
            yield NotChecked(what=path, why="no run loaded it")


def untestable(checks: tuple[CheckResult, ...]) -> str:
    """Why the project's tests tell nothing here, whatever the patch: base does not run either. Else ""."""
    for check in checks:
        is_tests = check.id in (SUITE, FAIL_TO_PASS, PASS_TO_PASS)
        base_ran = any(item.base is Outcome.PASSED for item in check.items)
        if is_tests and check.state is RunState.ENVIRONMENT and not base_ran:
            return check.why
    return ""


def settled(checks: tuple[CheckResult, ...]) -> bool:
    """Whether a second look could not tell more: every check ran whole and nothing was flaky."""
    return all(
        check.state is RunState.COMPLETE and all(item.head is not Outcome.MIXED for item in check.items)
        for check in checks
    )

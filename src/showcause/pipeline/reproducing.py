"""Run the causes of a receipt again, on the very trees it is bound to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import msgspec

from showcause import git
from showcause.checks.build import BUILD, build_check
from showcause.checks.imports import imports_check
from showcause.checks.official import kept_suite, official_check
from showcause.checks.running import how_to_run
from showcause.checks.static import static_check
from showcause.checks.suite import rerun_tests
from showcause.checks.workbench import GRACE_S, Kit, Workbench
from showcause.clock import Deadline
from showcause.errors import EnvironmentFault, UsageError
from showcause.gate import decide, probe_cause
from showcause.git import Repo
from showcause.patch import parse
from showcause.pipeline.folder import working_folder
from showcause.pipeline.intake import WORKTREE
from showcause.pipeline.reviewing import store_of
from showcause.probes import run_probes
from showcause.project import find_project
from showcause.receipt import Receipt
from showcause.records import Cause, CheckResult, Patch, Record, ReviewRecord, Rule
from showcause.sandbox import find_sandbox
from showcause.settings import FILE, PYPROJECT, Settings, load_settings, override
from showcause.store import Store
from showcause.trees import TreeReader, Trees, make_trees, surface_files

__all__ = ["Reproduced", "reproduce"]

BUDGET_S = 120.0


class Reproduced(Record, frozen=True, kw_only=True):
    """One cause that was run again. `now` is the same cause as found now, None if it does not show."""

    cause: Cause
    now: Cause | None
    checks: tuple[CheckResult, ...]


def reproduce(
    directory: str,
    reference: str,
    *,
    say: Callable[[str], None] = lambda _line: None,
    cancel: threading.Event | None = None,
) -> tuple[Receipt, tuple[Reproduced, ...]]:
    """Run again what `reference` names: a receipt id (all its causes), or `ID#N` (its Nth cause).

    Raises UsageError for an unknown receipt or number and for a receipt without causes,
    EnvironmentFault if the trees are gone or nothing can be run.
    """
    cancel = cancel or threading.Event()
    repo = git.open_repo(directory, cancel=cancel)
    prefix, _, number = reference.partition("#")
    store = store_of(repo)
    try:
        receipt = store.get(prefix)
        causes = _chosen(receipt, number)
        bench = _Bench(repo, receipt.body, store, say, cancel)
        return receipt, tuple(bench.again(cause) for cause in causes)
    finally:
        store.close()


def _chosen(receipt: Receipt, number: str) -> tuple[Cause, ...]:
    causes = receipt.body.causes
    if not causes:
        raise UsageError(f"review {receipt.id} has no cause: it rejected nothing")
    if not number:
        return causes
    if not number.isdigit() or not 1 <= int(number) <= len(causes):
        raise UsageError(f"review {receipt.id} has causes 1 to {len(causes)}, not {number!r}")
    return (causes[int(number) - 1],)


class _Bench:
    """The trees and settings of a past review, for running again."""

    def __init__(
        self,
        repo: Repo,
        record: ReviewRecord,
        store: Store,
        say: Callable[[str], None],
        cancel: threading.Event,
    ) -> None:
        self.repo, self.record, self.store, self.say, self.cancel = repo, record, store, say, cancel
        self.reader = TreeReader(repo, record.bound_to.base_tree)
        held = self.reader.read((FILE, PYPROJECT))
        told = {key: msgspec.json.decode(text) for key, text in record.overrides.items()}
        self.settings: Settings = override(load_settings(held.get(FILE), held.get(PYPROJECT)), told)

    def again(self, cause: Cause) -> Reproduced:
        patch = self._patch()
        if cause.rule is Rule.NO_CHANGE:
            return Reproduced(cause=cause, now=cause if patch.is_empty else None, checks=())
        with working_folder(self.repo.top) as folder:
            bench = Workbench(self._trees(patch), self._kit(), folder)
            if cause.rule in (Rule.PROBE, Rule.GUARD, Rule.REVIEWER):
                return self._probe_again(cause, bench)
            checks = self._run(cause, patch, bench)
        decision = decide(
            patch_is_empty=False,
            task_given=True,
            checks=checks,
            policy=self.settings.policy,
            review_id="again",
        )
        found = (now for now in decision.causes if (now.rule, now.item) == (cause.rule, cause.item))
        return Reproduced(cause=cause, now=next(found, None), checks=checks)

    def _patch(self) -> Patch:
        bound = self.record.bound_to
        data = git.diff(self.repo, bound.base_tree, bound.head_tree)
        patch = parse(data, base_tree=bound.base_tree, head_tree=bound.head_tree)
        if patch.digest != bound.patch:
            raise EnvironmentFault(
                "the trees of that review give another patch now: its objects were changed"
            )
        return patch

    def _trees(self, patch: Patch) -> Trees:
        return make_trees(self.repo, worktree=git.snapshot(self.repo, WORKTREE).tree, patch=patch)

    def _probe_again(self, cause: Cause, bench: Workbench) -> Reproduced:
        """One generated test, as the receipt has it."""
        witnesses = self.record.review.witnesses if self.record.review else ()
        kept = [*self.record.probes, *(one.result for one in witnesses if one.result)]
        probe = next((one.probe for one in kept if one.probe.id == cause.item), None)
        if probe is None:
            raise UsageError("this rejection rests on the votes of a reviewer alone: no test shows it again")
        budget_s = self.settings.probe.time_budget_s
        probed = run_probes(bench, self.reader, [probe], self.record.asked, budget_s=budget_s)
        (result,) = probed.results
        now = probe_cause(result, cause.rule, cause.stage, "") if result.is_failing else None
        return Reproduced(cause=cause, now=now, checks=(probed.check,) if probed.check else ())

    def _run(self, cause: Cause, patch: Patch, bench: Workbench) -> tuple[CheckResult, ...]:
        match cause.rule:
            case Rule.IMPORT_ERROR:
                paths = tuple(sorted(path for path in patch.paths if path.endswith(".py")))
                return (imports_check(bench, paths),)
            case Rule.STATIC if cause.item == BUILD:
                return (build_check(bench, self.settings.suite.build),)
            case Rule.STATIC:
                return static_check(bench, self.reader).checks
            case Rule.OFFICIAL_SUITE:
                suite = kept_suite(self.repo, self.record.official)
                return official_check(bench, suite, budget_s=BUDGET_S, select=(cause.item,))
            case Rule.REGRESSION:
                return (rerun_tests(bench, (cause.item,), policy=self.settings.policy, budget_s=BUDGET_S),)
            case _:
                raise UsageError(f"a cause of rule {cause.rule.value} cannot be run again by this version")

    def _kit(self) -> Kit:
        project = find_project(Path(self.repo.top), self.reader, self.settings)
        for fault in project.faults:
            raise fault.error()
        return Kit(
            sandbox=find_sandbox(allow_unsandboxed=self.settings.sandbox.allow_unsandboxed),
            project=project,
            running=how_to_run(project, self.reader),
            settings=self.settings,
            store=self.store,
            deadline=Deadline.after(4 * (BUDGET_S + GRACE_S)),
            cancel=self.cancel,
            surface=surface_files(self.reader.paths()),
            say=self.say,
            use_cache=False,
        )

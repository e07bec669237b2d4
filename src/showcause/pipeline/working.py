"""The work of one review, from two trees to a decision. Imported only where there is work to do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import msgspec

from showcause.beside import Beside
from showcause.checks.official import OfficialSuite, keep_suite
from showcause.checks.running import how_to_run
from showcause.checks.workbench import GRACE_S, Kit, Workbench
from showcause.clock import Deadline
from showcause.gate import decide
from showcause.git import Repo
from showcause.pipeline.cascade import Cascade, Given, cascade
from showcause.pipeline.desk import Desk
from showcause.pipeline.early import EarlySandbox
from showcause.pipeline.examine import OFFICIAL_BUDGET_S, examine
from showcause.pipeline.folder import working_folder
from showcause.pipeline.request import Request
from showcause.project import Project
from showcause.records import CheckResult, Decision, Powers, ProbeResult, Record, Rule, SandboxReport
from showcause.sandbox import Sandbox, find_sandbox
from showcause.settings import Settings
from showcause.store import Store
from showcause.trees import TreeReader, Trees, surface_files

__all__ = ["Case", "Work"]


class Case(Record, frozen=True, kw_only=True):
    """What a review works with. `review_id` goes into the commands that show causes again.

    `powers` are the reviewer's, with the words for what they rest on; `powerless` rules only inform.
    """

    review_id: str
    repo: Repo
    request: Request
    settings: Settings
    reader: TreeReader
    store: Store
    official: OfficialSuite | None
    say: Callable[[str], None]
    cancel: threading.Event
    powers: tuple[Powers, str]
    powerless: frozenset[Rule]

    @property
    def issue(self) -> str:
        return (self.request.issue or b"").decode("utf-8", "replace")


class Work:
    """Runs the checks of a case, and what follows them. `sandbox` is what confined them, once it is known."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.sandbox: SandboxReport | None = None

    def examine(self, trees: Trees, project: Project) -> Cascade:
        """Everything from checks to reviewer. Raises Cancelled, EnvironmentFault, UsageError."""
        for fault in project.faults:
            raise fault.error()
        allowed = self.case.settings.sandbox.allow_unsandboxed
        with Beside() as beside:  # a sandbox is tried while the tests are chosen
            sandbox = EarlySandbox(beside.submit(find_sandbox, allow_unsandboxed=allowed))
            try:
                done = self._examine_in(sandbox, trees, project)
            finally:
                self.sandbox = sandbox.report
        if why := done.findings.why_copying:
            self.sandbox = msgspec.structs.replace(sandbox.report, tree="copy", tree_why=why)
        return done

    def decide(
        self,
        checks: Sequence[CheckResult],
        *,
        patch_is_empty: bool = False,
        probes: Sequence[ProbeResult] = (),
    ) -> Decision:
        """The gate, under the policy of the case."""
        return decide(
            patch_is_empty=patch_is_empty,
            task_given=bool(self.case.request.issue) or self.case.official is not None,
            checks=checks,
            policy=self.case.settings.policy,
            review_id=self.case.review_id,
            probes=probes,
            powerless=self.case.powerless,
        )

    def _examine_in(self, sandbox: Sandbox, trees: Trees, project: Project) -> Cascade:
        case = self.case
        budget_s = case.settings.suite.time_budget_s or case.request.budget_s
        kit = Kit(
            sandbox=sandbox,
            project=project,
            running=how_to_run(project, case.reader),
            settings=case.settings,
            store=case.store,
            deadline=Deadline.after(4 * (max(budget_s, OFFICIAL_BUDGET_S) + GRACE_S) + 60 + self._stages_s()),
            cancel=case.cancel,
            surface=surface_files(case.reader.paths()),
            say=case.say,
        )
        if case.official is not None:
            keep_suite(case.repo, case.official)
        desk = Desk(case.settings, record=case.request.record, replay=case.request.replay)
        with working_folder(case.repo.top) as folder, desk:
            bench = Workbench(trees, kit, folder)
            found = examine(bench, case.reader, official=case.official, budget_s=budget_s)
            return cascade(desk, bench, case.reader, found, self._given())

    def _given(self) -> Given:
        return Given(
            review_id=self.case.review_id,
            issue=self.case.issue,
            probes=self.case.request.probes,
            decide=lambda checks, probes: self.decide(checks, probes=probes),
            powers=self.case.powers,
            only_packet=self.case.request.only_packet,
        )

    def _stages_s(self) -> float:
        """Seconds that probes and reviewer may take besides."""
        probe, review = self.case.settings.probe, self.case.settings.review
        rounds = 8 * (1 + probe.repairs + review.witnesses)
        return probe.limit_s + review.limit_s + rounds * (probe.time_budget_s + GRACE_S)

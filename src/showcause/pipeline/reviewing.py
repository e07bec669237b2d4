"""One review from request to receipt, from top to bottom.

What runs checks and judges them is imported where it is used: a review that was settled before is
answered without it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from showcause import __version__, git
from showcause.beside import Beside, Pending
from showcause.canon import digest, digest_record
from showcause.clock import now_text
from showcause.errors import Cancelled, EnvironmentFault, Unappliable, UsageError
from showcause.git import Repo
from showcause.pipeline.intake import WORKTREE, Intake, base_of, take_in
from showcause.pipeline.request import Request, Reviewed
from showcause.project import CONFIG_FILES, Project, find_project
from showcause.receipt import exit_status
from showcause.records import (
    BoundTo,
    ChangeKind,
    Decision,
    Ended,
    NotChecked,
    Packet,
    Powers,
    Record,
    ReviewRecord,
    Rule,
)
from showcause.sandbox.identity import sandbox_identity
from showcause.sandbox.mounts import is_within
from showcause.settings import (
    FILE,
    PYPROJECT,
    Settings,
    load_settings,
    override,
    with_models,
    with_user_file,
)
from showcause.store import About, Started, Store, open_store
from showcause.trees import TreeReader, Trees, make_trees, moved

if TYPE_CHECKING:
    from showcause.checks.official import OfficialSuite
    from showcause.pipeline.cascade import Cascade
    from showcause.pipeline.working import Case, Work

__all__ = ["STORE_FILE", "review", "settings_of", "store_of"]

STORE_FILE = "store.sqlite3"

Say = Callable[[str], None]


def review(
    request: Request, *, say: Say = lambda _line: None, cancel: threading.Event | None = None
) -> Reviewed:
    """Review a patch; the receipt is stored before this returns.

    An interrupted review, a patch that does not apply, and trouble with the environment that is met
    after the start end in a receipt of that kind. Raises UsageError and EnvironmentFault for what is
    wrong before there is anything to review.
    """
    began = time.monotonic()
    watch = _Watch(say=say, cancel=cancel or threading.Event(), began=began)
    repo = git.open_repo(request.directory, cancel=watch.cancel)
    base = base_of(repo, request)
    with Beside() as beside:  # the checkout is taken in while base is read
        taken = beside.submit(take_in, repo, request, base)
        # settings are quickly read, and tell where the receipt of an interrupted intake goes
        reader = TreeReader(msgspec.structs.replace(repo, cancel=None), base.tree)
        settings = settings_of(reader, request)
        project = beside.submit(find_project, Path(repo.top), reader, settings)
        store = store_of(repo, settings)
        try:
            return _Review(repo, request, settings, reader, store, watch).run(base, taken, project)
        finally:
            store.close()


def store_of(repo: Repo, settings: Settings | None = None) -> Store:
    """The store of a repository, where its settings say; those of HEAD, unless given."""
    settings = settings or settings_of(TreeReader(repo, repo.head_tree), Request())
    return open_store(settings.store.url or os.path.join(repo.private, STORE_FILE), cancel=repo.cancel)


def settings_of(reader: TreeReader, request: Request) -> Settings:
    """The settings as base has them, with those of the command line over them."""
    held = reader.read((FILE, *CONFIG_FILES))  # all that will be asked for, in one process
    settings = with_user_file(load_settings(held.get(FILE), held.get(PYPROJECT)))
    return override(with_models(settings, request.models), request.overrides)


class _Watch(Record, frozen=True, kw_only=True):
    """Who looks on: where progress goes, what interrupts, and when it began (monotonic seconds)."""

    say: Say
    cancel: threading.Event
    began: float


class _Review:
    """The state that the steps of one review share."""

    def __init__(
        self,
        repo: Repo,
        request: Request,
        settings: Settings,
        reader: TreeReader,
        store: Store,
        watch: _Watch,
    ) -> None:
        self.repo, self.request, self.settings, self.reader = repo, request, settings, reader
        self.store, self.watch = store, watch
        self.notes: list[str] = [*settings.notes, *([store.note] if store.note else []), *_elsewhere(repo)]
        self.work: Work | None = None
        self.powers: tuple[Powers, str] = (Powers(accept=False, reject=False), "")
        self.powerless: frozenset[Rule] = frozenset()
        self.official: OfficialSuite | None = None
        self.packet: Packet | None = None

    def run(self, base: git.Revision, taken: Pending[Intake], found_project: Pending[Project]) -> Reviewed:
        try:
            intake = taken.result()
        except Unappliable as error:
            return self._without_head(base, Ended.UNAPPLIABLE, f"the patch does not apply: {error}")
        except Cancelled as error:
            return self._without_head(base, Ended.INTERRUPTED, str(error))
        self.notes += intake.notes
        path = self._official_path(intake)
        if path:
            from showcause.checks.official import read_suite

            self.official = read_suite(path, self.repo, base.tree)
        project = found_project.result()
        self.notes += project.warnings
        self._check_models()
        self._weigh_powers()
        about = self._about(intake, project)
        key = self._key(about, intake)
        anew = self.request.fresh or self.request.only_packet
        found = None if anew else self.store.find_settled(key)
        if found is not None:
            return Reviewed(receipt=found, from_store=True, notes=tuple(self.notes))
        started = self.store.start_review(about)
        record, is_settled = self._record(started, intake, project)
        receipt = self.store.finish_review(started, record, key if is_settled else "")
        return Reviewed(receipt=receipt, from_store=False, notes=tuple(self.notes), packet=self.packet)

    def _check_models(self) -> None:
        """Models that the settings name and do not have are the user's mistake, said before the work."""
        names = (*self.settings.probe.models, self.settings.review.reviewer)
        if any(names):
            from showcause.pipeline.desk import Desk

            with Desk(self.settings, record=self.request.record, replay=self.request.replay) as desk:
                for name in filter(None, names):
                    desk.chat(name)

    def _weigh_powers(self) -> None:
        """What has to be looked up is imported and read only where the settings ask for it."""
        if self.settings.review.reviewer or self.settings.gate.min_precision is not None:
            from showcause.pipeline.earning import powerless_of, powers_of

            self.powers = powers_of(self.settings, self.store)
            self.powerless = powerless_of(self.settings, self.store)

    # ---------------------------------------------------------------- what it is about

    def _official_path(self, intake: Intake) -> str:
        """Where the official suite is. One that the settings name is the repository's, never the patch's."""
        named = self.settings.suite.official
        if self.request.official or not named:
            return self.request.official
        added = {change.path for change in intake.patch.changes if change.kind is ChangeKind.ADDED}
        if os.path.normpath(named) in added:
            raise UsageError(f'[suite] official = "{named}": base has no such file; a patch may not bring it')
        return os.path.join(self.repo.top, named)

    def _about(self, intake: Intake, project: Project) -> About:
        patch = intake.patch
        bound = BoundTo(
            base_tree=patch.base_tree,
            head_tree=patch.head_tree,
            patch=patch.digest,
            policy=digest_record(self.settings.policy),
        )
        return About(
            bound_to=bound,
            issue=digest(self.request.issue) if self.request.issue else "",
            settings=self.settings.digest,
            environment=project.digest,
        )

    def _key(self, about: About, intake: Intake) -> str:
        """What a settled review holds for: one changed byte of any of it asks for a new one."""
        suite = self.official.digest if self.official else ""
        probes = [probe.id for probe in self.request.probes]
        asked = [suite, self.request.budget_s, probes, [probe.quote for probe in self.request.probes]]
        power = [self.powers[0], sorted(self.powerless)]
        told = [about, intake.not_checked, *asked, power, sandbox_identity(), __version__]
        return digest_record(told)

    # ---------------------------------------------------------------- the work

    def _record(self, started: Started, intake: Intake, project: Project) -> tuple[ReviewRecord, bool]:
        """The record, and whether it may answer for equal reviews."""
        from showcause.pipeline.working import Work

        self.work = work = Work(self._case(started))
        if intake.patch.is_empty:
            from showcause.pipeline.ending import unseen

            if lacking := unseen(intake.not_checked):  # what a task asked for may lie there
                why = f"nothing changed in what was seen, but {lacking}"
                return self._made(started, intake, Ended.UNDECIDED, why), True
            decision = work.decide((), patch_is_empty=True)
            ended = Ended.DECIDED if decision.verdict else Ended.NOTHING_TO_REVIEW
            return self._made(started, intake, ended, decision=decision), True
        trees: Trees | None = None
        try:
            trees = make_trees(self.repo, worktree=intake.worktree, patch=intake.patch)
            self._look_for_interrupt()
            done = work.examine(trees, project)
            there = moved(self.repo, intake.worktree, name=WORKTREE)
            self._look_for_interrupt()
        except Cancelled as error:
            return self._made(started, intake, Ended.INTERRUPTED, str(error), trees=trees), False
        except EnvironmentFault as error:
            why = f"{error} (cure: {error.cure})" if error.cure else str(error)
            return self._made(started, intake, Ended.ENVIRONMENT, why, trees=trees), False
        from showcause.pipeline.ending import ending_of, is_settled

        if there:
            why = f"the checkout changed during the review: {', '.join(there[:3])}"
            return self._made(started, intake, Ended.MOVED, why, trees=trees, done=done), False
        self.packet = done.packet
        decision, ended, why = ending_of(done, intake.not_checked)
        made = self._made(started, intake, ended, why, trees=trees, done=done, decision=decision)
        return made, is_settled(done) and not self.request.only_packet

    def _case(self, started: Started) -> Case:
        from showcause.pipeline.working import Case

        return Case(
            review_id=started.id,
            repo=self.repo,
            request=self.request,
            settings=self.settings,
            reader=self.reader,
            store=self.store,
            official=self.official,
            say=self.watch.say,
            cancel=self.watch.cancel,
            powers=self.powers,
            powerless=self.powerless,
        )

    def _look_for_interrupt(self) -> None:
        if self.watch.cancel.is_set():
            raise Cancelled("interrupted")

    # ---------------------------------------------------------------- the record

    def _made(
        self,
        started: Started,
        intake: Intake,
        ended: Ended,
        why: str = "",
        *,
        trees: Trees | None = None,
        done: Cascade | None = None,
        decision: Decision | None = None,
    ) -> ReviewRecord:
        from showcause.pipeline.examine import tampering

        findings = done.findings if done else None
        verdict = decision.verdict if decision else None
        return ReviewRecord(
            verdict=verdict,
            ended=ended,
            why=why,
            exit_status=exit_status(ended, verdict, allow_uncertain=False),
            decided_by=decision.decided_by if decision else None,
            causes=decision.causes if decision else (),
            evidence=decision.evidence if decision else (),
            checks=findings.checks if findings else (),
            tampering=findings.tampering if findings else tampering(trees) if trees else (),
            not_checked=(*intake.not_checked, *(findings.not_checked if findings else ())),
            changes=intake.patch.changes,
            bound_to=started.about.bound_to,
            sandbox=self.work.sandbox if self.work else None,
            issue=started.about.issue,
            settings=started.about.settings,
            environment=started.about.environment,
            started=started.started,
            wall_s=round(time.monotonic() - self.watch.began, 3),
            overrides=_as_text(self.request.overrides),
            official=self.official.digest if self.official else "",
            asked=self.work.case.issue if self.work and done and (done.probes or done.review) else "",
            probes=done.probes if done else (),
            written=done.written if done else (),
            review=done.review if done else None,
        )

    def _without_head(self, base: git.Revision, ended: Ended, why: str) -> Reviewed:
        """The receipt of a review that never got a head tree."""
        policy = digest_record(self.settings.policy)
        given = self.request.diff
        patch = digest(given) if given is not None else ""
        bound = BoundTo(base_tree=base.tree, head_tree="", patch=patch, policy=policy)
        started = self.store.start_review(About(bound_to=bound, settings=self.settings.digest))
        record = ReviewRecord(
            verdict=None,
            ended=ended,
            why=why,
            exit_status=exit_status(ended, None, allow_uncertain=False),
            decided_by=None,
            causes=(),
            evidence=(),
            checks=(),
            tampering=(),
            not_checked=(NotChecked(what="the whole patch", why=why, caps=True),),
            changes=(),
            bound_to=bound,
            sandbox=None,
            issue=digest(self.request.issue) if self.request.issue else "",
            settings=self.settings.digest,
            environment="",
            started=now_text(),
            wall_s=round(time.monotonic() - self.watch.began, 3),
        )
        receipt = self.store.finish_review(started, record)
        return Reviewed(receipt=receipt, from_store=False, notes=tuple(self.notes))


def _elsewhere(repo: Repo) -> tuple[str, ...]:
    """A line for the user where nothing can be written into the git directory."""
    if is_within(repo.private, repo.common_dir):
        return ()
    return (f"{repo.common_dir} cannot be written: receipts and objects are kept in {repo.private}",)


def _as_text(overrides: dict[str, object]) -> dict[str, str]:
    return {key: msgspec.json.encode(value).decode() for key, value in overrides.items()}

"""Where a check does its work: it makes one plan run on two sides at once, and joins what they tell.

A plan is run once on each side; ids that differ are run again, alone, until `repeats` runs a side
are there. A test that ends the interpreter or never ends is set aside, and the rest run without it,
so that one such test does not silence a suite. Every run is kept.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import msgspec

from showcause import process
from showcause.attribution import attribute, charge_unstarted, worst_state
from showcause.canon import digest_record
from showcause.checks.leftovers import Asked, read_regular
from showcause.checks.places import Place, Places
from showcause.checks.plan import Plan, ids_of, killers, killers_of
from showcause.checks.plan import again as ids_again
from showcause.checks.running import Running
from showcause.clock import Deadline
from showcause.errors import Cancelled
from showcause.project import Project
from showcause.records import (
    CheckResult,
    Record,
    RunReport,
    RunState,
    Side,
)
from showcause.runners import RUNNERS, Job
from showcause.sandbox import Confinement, Network, Sandbox, setup_failure
from showcause.sandbox.mounts import is_within
from showcause.settings import Settings
from showcause.store import BaseKey, Store
from showcause.trees import SurfaceKind, Trees, disk_digest

__all__ = ["EVENTS", "GRACE_S", "Kit", "Plan", "Workbench"]

GRACE_S = 20.0
"""Seconds that a run may last beyond its budget: start, collection, and the test that is under way."""

EVENTS = "events.jsonl"
"""Name of the file in which a script of ours writes its events."""

_SET_ASIDE_ROUNDS = 2
_SAMPLE = 20  # ids repeated where head cannot start: the second start tells the same of every test
_TOOL_BYTES = 16 << 20  # of each end of a tool's output: a tool of which more is to be read has gone astray


class _Run(Record, frozen=True, kw_only=True):
    """A run that is over, and the job it was, so that its report can be asked for once more."""

    runner: str
    job: Job
    argv: tuple[str, ...]
    finished: process.Finished
    refused: str


class Kit(Record, frozen=True, kw_only=True):
    """What all runs of a review share. `surface` lists the files of base that belong to its tests;
    without `use_cache` base runs anew, whatever the store remembers."""

    sandbox: Sandbox
    project: Project
    running: Running
    settings: Settings
    store: Store
    deadline: Deadline
    cancel: threading.Event
    surface: tuple[str, ...] = ()
    say: Callable[[str], None] = lambda _line: None
    use_cache: bool = True


class Workbench:
    """The trees of one review on disk, below `folder`, and runs in them."""

    def __init__(self, trees: Trees, kit: Kit, folder: str) -> None:
        self.trees = trees
        self.kit = kit
        self.folder = folder
        self.inside = self._copy_inside()
        self.places = Places(trees, kit.sandbox, folder)
        self._lock = threading.Lock()
        self._runs = 0

    # -------------------------------------------------------------- for checks

    def with_trees(self, trees: Trees, name: str) -> Workbench:
        """A bench with the same kit over other trees, in the folder `name` of this one."""
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        return Workbench(trees, self.kit, folder)

    def compare(
        self,
        plan: Plan,
        *,
        base: Side = Side.BASE,
        head: Side = Side.HEAD,
        contested: Callable[[str], str] = lambda _id: "",
        self_hosted: bool = False,
    ) -> CheckResult:
        """Run `plan` on both sides as the module says. Raises Cancelled, and SandboxFault."""
        told, main = self._first_round(plan, base, head)
        join = partial(attribute, contested=contested, self_hosted=self_hosted)
        items = join(told[base], told[head])
        for number in range(1, plan.repeats):
            again = ids_again(items, plan)
            if any(report.unstarted for report in told[head]):
                again = again[:_SAMPLE]
            if not again:
                break
            self.kit.say(f"{plan.check}: {len(again)} differ, run {number + 1} of each")
            select = plan.select if plan.repeat_whole else again[:: -1 if plan.repeat_backwards else 1]
            repeat = msgspec.structs.replace(plan, select=select, expect=again, skip=())
            for side, report in self._both(repeat, base, head, number).items():
                told[side].append(report)
            items = join(told[base], told[head])
        reports = [*told[base], *told[head]]
        worst = self._worst(main, reports)
        return CheckResult(
            id=plan.check,
            stage=plan.stage,
            version=RUNNERS[plan.runner].version,
            state=worst.state,
            why=worst.why,
            items=items,
            loaded=main[head].loaded,
            argv=main[head].argv,
            wall_s=round(sum(report.wall_s for report in reports), 3),
            leaked=sum(report.leaked for report in reports),
        )

    # -------------------------------------------------------------- rounds

    def _first_round(
        self, plan: Plan, base: Side, head: Side
    ) -> tuple[dict[Side, list[RunReport]], dict[Side, RunReport]]:
        """All runs by side, and of each side the one that speaks for the whole plan."""
        main = self._both(plan, base, head, 0)
        told = {side: [report] for side, report in main.items()}
        for _ in range(_SET_ASIDE_ROUNDS):
            ended_early = [side for side in main if killers(main[side])]
            if not ended_early:
                break
            skip = {side: killers_of(told[side]) for side in ended_early}
            expect = ids_of(told[base])
            without = [msgspec.structs.replace(plan, skip=skip[side], expect=expect) for side in ended_early]
            with ThreadPoolExecutor(len(ended_early)) as pool:
                for side, run in zip(ended_early, pool.map(self._execute, without, ended_early), strict=True):
                    main[side] = self._report(run)
                    told[side].append(main[side])
        return told, main

    def _both(self, plan: Plan, base: Side, head: Side, number: int) -> dict[Side, RunReport]:
        """One run a side, both at once; base's from the store if it was made before.

        Head must account for every id that base knows: a test whose file cannot be collected any
        more has no id of its own there.
        """
        key = self._cache_key(plan, base, number)
        cached = self.kit.store.cache_get(key) if self.kit.use_cache else None
        wanted = (head,) if cached else (base, head)
        with ThreadPoolExecutor(len(wanted)) as pool:
            runs = dict(zip(wanted, pool.map(partial(self._execute, plan), wanted), strict=True))
        on_base = cached[0] if cached else self._report(runs[base])
        if not cached and on_base.state is RunState.COMPLETE and not killers(on_base):
            self.kit.store.cache_put(key, (on_base,))
        on_head = self._report(runs[head], expect=tuple(result.id for result in on_base.results))
        return {base: on_base, head: charge_unstarted(on_head, on_base)}

    def _cache_key(self, plan: Plan, side: Side, number: int) -> BaseKey:
        touched = self._touched_names()
        told = [plan, number, touched, self.places.is_copying, str(self.kit.settings.sandbox.network)]
        return BaseKey(
            tree=self.trees.composite_id(side),
            check=f"{plan.check}:{digest_record(told)[:32]}",
            version=RUNNERS[plan.runner].version,
            environment=self.kit.project.digest,
        )

    @staticmethod
    def _worst(main: dict[Side, RunReport], reports: Sequence[RunReport]) -> RunReport:
        """A run that may not be believed spoils all; otherwise the runs that speak for the whole plan."""
        spoilt = [r for r in reports if r.state in (RunState.ENVIRONMENT, RunState.TAMPERED)]
        return worst_state([*spoilt, *main.values()])

    # -------------------------------------------------------------- one tool

    def tool(
        self,
        side: Side,
        argv: tuple[str, ...],
        *,
        readable: tuple[str, ...] = (),
        out_dir: str = "",
        limit_s: float,
        keep_bytes: int = _TOOL_BYTES,
    ) -> process.Finished:
        """Run a program in the tree of a side, with no network; its output is kept whole, or
        `keep_bytes` of each end.

        `readable` are the paths it needs besides the project's own; only `out_dir` outlives it.
        A program that could not be started in the sandbox ended as `spawn_failed`. Raises Cancelled.
        """
        place = self.places.of(side)
        interpreter = os.path.dirname(self.kit.project.python)
        env = {"PATH": f"{interpreter}:/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
        command = process.Command(argv=argv, cwd=place.root, env=env, limit_s=limit_s, keep_bytes=keep_bytes)
        confinement = self._confinement(
            place, readable=readable, writable=(out_dir,) if out_dir else (), network=Network.NONE
        )
        finished, refused = self._confined(command, confinement)
        if "mount overlay" in refused and self.places.without_overlay(refused):
            return self.tool(
                side, argv, readable=readable, out_dir=out_dir, limit_s=limit_s, keep_bytes=keep_bytes
            )
        if refused:
            why = f"the sandbox could not start it: {refused}"
            return msgspec.structs.replace(finished, how=process.How.SPAWN_FAILED, exit_status=None, why=why)
        return finished

    def script(self, side: Side, name: str, job: dict[str, Any], *, limit_s: float) -> Asked:
        """Run `runners/inside/NAME` with the project's interpreter on a side. Raises Cancelled."""
        out_dir = self.new_out_dir()
        argv = self.script_argv(name, job, out_dir)
        try:
            finished = self.tool(side, argv, readable=(self.inside,), out_dir=out_dir, limit_s=limit_s)
            told = read_regular(os.path.join(out_dir, EVENTS))
        finally:
            shutil.rmtree(out_dir, ignore_errors=True)
        return Asked(finished=finished, events=told)

    def script_argv(self, name: str, job: dict[str, Any], out_dir: str) -> tuple[str, ...]:
        """The command line that runs `runners/inside/NAME`; its events are to be found in `out_dir`."""
        events, job_file = os.path.join(out_dir, EVENTS), os.path.join(out_dir, "job.json")
        with open(job_file, "w", encoding="ascii") as file:  # names that are not UTF-8 are escaped
            json.dump(job | {"events": events, "out_dir": out_dir}, file)
        return self.kit.project.python, os.path.join(self.inside, name), job_file

    def digests(self, side: Side, paths: Sequence[str]) -> dict[str, str]:
        """Path -> SHA-256 of what lies there on a side, "" where nothing does."""
        place = self.places.of(side)
        return {p: disk_digest(self.trees, side, p, place.folder, is_export=place.is_copy) for p in paths}

    def new_out_dir(self) -> str:
        """An empty folder for what one run leaves."""
        with self._lock:
            self._runs += 1
            out_dir = os.path.join(self.folder, f"out-{self._runs}")
        os.mkdir(out_dir)
        return out_dir

    def _confined(self, command: process.Command, confinement: Confinement) -> tuple[process.Finished, str]:
        """The finished run, and why the sandbox did not start it."""
        confined = self.kit.sandbox.confine(command, confinement)
        finished = process.run(confined, deadline=self.kit.deadline, cancel=self.kit.cancel)
        if finished.how is process.How.CANCELLED:
            raise Cancelled("interrupted")
        return finished, setup_failure(finished)

    def build(self, side: Side, command: tuple[str, ...], *, limit_s: float) -> process.Finished:
        """Run `command` in the tree of a side; what it writes lies on top of that side in later runs.

        Only where trees are overlays. A command that could not be started ended as `spawn_failed`.
        """
        place, upper = self.places.of(side), self.new_out_dir()
        interpreter = os.path.dirname(self.kit.project.python)
        env = {"PATH": f"{interpreter}:/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
        env |= self.kit.settings.suite.env
        network = Network(self.kit.settings.sandbox.network)
        confinement = self._confinement(place, readable=(), writable=(), network=network)
        confinement = msgspec.structs.replace(confinement, upper_dir=upper)
        run = process.Command(argv=command, cwd=place.root, env=env, limit_s=limit_s)
        finished, refused = self._confined(run, confinement)
        if refused:
            return msgspec.structs.replace(
                finished, how=process.How.SPAWN_FAILED, exit_status=None, why=refused
            )
        self.places.put_on_top(side, os.path.join(upper, "up"))
        return finished

    # -------------------------------------------------------------- one run

    def _execute(self, plan: Plan, side: Side) -> _Run:
        with self.places.lent(side) as place:
            job = self._job(plan, side, place, self.new_out_dir())
            launch = RUNNERS[plan.runner].launch(job)
            command = process.Command(
                argv=launch.argv, cwd=launch.cwd, env=launch.env, limit_s=plan.budget_s + GRACE_S
            )
            network = Network(self.kit.settings.sandbox.network)
            confinement = self._confinement(
                place, readable=(job.inside_dir,), writable=(job.out_dir,), network=network
            )
            finished, refused = self._confined(command, confinement)
        if "mount overlay" in refused and self.places.without_overlay(refused):
            return self._execute(plan, side)
        return _Run(runner=plan.runner, job=job, argv=launch.argv, finished=finished, refused=refused)

    def _report(self, run: _Run, expect: tuple[str, ...] = ()) -> RunReport:
        wanted = tuple(dict.fromkeys((*run.job.expect, *expect)))
        job = msgspec.structs.replace(run.job, expect=wanted)
        report = RUNNERS[run.runner].report(job, run.finished)
        report = msgspec.structs.replace(report, argv=run.argv)
        shutil.rmtree(run.job.out_dir, ignore_errors=True)
        if run.refused:
            why = f"the sandbox could not start the run: {run.refused}"
            return msgspec.structs.replace(report, state=RunState.ENVIRONMENT, why=why)
        return report

    def _job(self, plan: Plan, side: Side, place: Place, out_dir: str) -> Job:
        return Job(
            side=side,
            root=place.root,
            python=self.kit.project.python,
            select=plan.select,
            expect=plan.expect,
            skip=plan.skip,
            touched=self._touched(side),
            surface=self.kit.surface,
            sources=self.kit.project.sources,
            out_dir=out_dir,
            inside_dir=self.inside,
            nonce=os.urandom(8).hex(),
            budget_s=plan.budget_s,
            workdir=plan.workdir,
            config=plan.config,
            extra_env=dict(self.kit.settings.suite.env),
        )

    def _confinement(
        self, place: Place, *, readable: tuple[str, ...], writable: tuple[str, ...], network: Network
    ) -> Confinement:
        limits = self.kit.settings.sandbox
        common = self.trees.repo.common_dir
        git = () if is_within(common, self.trees.repo.top) else (common,)
        return Confinement(
            target=place.root,
            layers=place.layers,
            readable=(*self.kit.project.mounts, *git, *readable, *place.readable, *limits.readable),
            writable=writable,
            network=network,
            memory_bytes=limits.memory_mb << 20,
            processes=limits.processes,
            upper_bytes=limits.upper_mb << 20,
        )

    def _touched_names(self) -> list[str]:
        """What provenance is asked for: the Python sources that the patch touches."""
        kinds = self.trees.surface
        names = (path for path in self.trees.patch.paths if path.endswith(".py"))
        return sorted(path for path in names if kinds.get(path, SurfaceKind.NONE) is SurfaceKind.NONE)

    def _touched(self, side: Side) -> dict[str, str]:
        return self.digests(side, self._touched_names())

    def _copy_inside(self) -> str:
        """Our own side of the runners, away from the checkout: it may be the very tree under review."""
        folder = os.path.join(self.folder, "inside")
        source = os.path.join(os.path.dirname(os.path.dirname(__file__)), "runners", "inside")
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))
        return folder

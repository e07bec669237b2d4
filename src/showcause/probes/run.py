"""Run probes on base and on head, side by side, and judge each.

Probes whose files get along share a run; in the second round their order is turned round. One of which a
shared run told nothing gets a run of its own. They run without any network, whatever the settings say of
the project's own tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from showcause import git
from showcause.attribution import BAD
from showcause.checks.plan import Plan
from showcause.checks.workbench import Workbench
from showcause.probes.given import unusable
from showcause.probes.qualify import dropped, items_of, judge
from showcause.probes.weak import touched_names, weakness
from showcause.records import (
    Attribution,
    CheckResult,
    Item,
    Outcome,
    Probe,
    ProbeResult,
    ProbeState,
    Record,
    RunState,
    Stage,
)
from showcause.trees import TreeReader, lay_over

__all__ = ["PROBES", "Probed", "run_probes"]

PROBES = "probes"
_SEED = {"PYTHONHASHSEED": "0"}  # sets print in one order: the same failure has the same words


class Probed(Record, frozen=True, kw_only=True):
    """What came of all probes, and the runs as a check: one item a test."""

    results: tuple[ProbeResult, ...]
    check: CheckResult | None


def run_probes(
    bench: Workbench, reader: TreeReader, probes: Sequence[Probe], issue: str, *, budget_s: float
) -> Probed:
    """Judge each of `probes`, in their order; none is left out. Raises Cancelled, and SandboxFault."""
    runner = _Runner(bench, reader, issue, budget_s)
    unique = list({probe.id: probe for probe in probes}.values())
    found = {probe.id: runner.refused(probe) for probe in unique}
    usable = [probe for probe in unique if found[probe.id] is None]
    checks = []
    for batch in _batches(usable):
        check = runner.run(batch)
        checks.append(check)
        for probe in batch:
            found[probe.id] = runner.judged(probe, check)
        silent = [probe for probe in batch if _is_silent(found[probe.id])] if len(batch) > 1 else []
        for probe in silent:
            checks.append(runner.run([probe]))
            found[probe.id] = runner.judged(probe, checks[-1])
    results = tuple(result for result in found.values() if result is not None)
    return Probed(results=results, check=_joined(checks, results))


def _batches(probes: Sequence[Probe]) -> list[list[Probe]]:
    """Probes that name the same path with another content do not share a run."""
    batches: list[list[Probe]] = []
    for probe in probes:
        for batch in batches:
            held = {path: text for other in batch for path, text in other.files.items()}
            if all(held.get(path, text) == text for path, text in probe.files.items()):
                batch.append(probe)
                break
        else:
            batches.append([probe])
    return batches


def _is_silent(result: ProbeResult | None) -> bool:
    return result is not None and Outcome.NOT_RUN in (result.base, result.head)


class _Runner:
    """Runs batches of probes; each batch has trees of its own."""

    def __init__(self, bench: Workbench, reader: TreeReader, issue: str, budget_s: float) -> None:
        self.bench, self.issue, self.budget_s = bench, issue, budget_s
        self.taken = {*reader.paths(), *bench.trees.patch.paths}
        self.touched = touched_names(bench.trees.patch)

    def refused(self, probe: Probe) -> ProbeResult | None:
        """A probe whose files cannot be laid over the trees."""
        why = unusable(probe, self.taken)
        if not why:
            return None
        return dropped(probe, ProbeState.UNUSABLE, why, self.issue)

    def run(self, batch: Sequence[Probe]) -> CheckResult:
        files = {path: text for probe in batch for path, text in probe.files.items()}
        over = self._over(files)
        running = over.kit.running
        tests = tuple(dict.fromkeys(test for probe in batch for test in probe.tests))
        plan = Plan(
            check=PROBES,
            stage=Stage.PROBES,
            runner=running.runner,
            select=tests,
            expect=tests,
            budget_s=self.budget_s,
            repeats=2,
            repeat_failures=True,
            repeat_backwards=True,
            config=running.config,
            workdir=running.workdir,
        )
        over.kit.say(f"running {len(tests)} probes before and after")
        return over.compare(plan)

    def judged(self, probe: Probe, check: CheckResult) -> ProbeResult:
        return judge(probe, check, self.issue, weak=weakness(probe, self.touched))

    def _over(self, files: Mapping[str, str]) -> Workbench:
        """A bench whose trees have `files` besides, as test surface, and no network."""
        folder = self.bench.new_out_dir()
        texts = Path(folder) / "files"
        for path, text in files.items():
            place = texts / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode("utf-8", "surrogateescape"))
        entries = git.store_files(self.bench.trees.repo, str(texts))
        kit, settings = self.bench.kit, self.bench.kit.settings
        sandbox = msgspec.structs.replace(settings.sandbox, network="none")
        suite = msgspec.structs.replace(settings.suite, env=_SEED | settings.suite.env)
        kit = msgspec.structs.replace(
            kit,
            settings=msgspec.structs.replace(settings, sandbox=sandbox, suite=suite),
            surface=(*kit.surface, *files),
        )
        return Workbench(lay_over(self.bench.trees, entries), kit, folder)


# ------------------------------------------------------------------ the runs as a check


def _joined(checks: Sequence[CheckResult], results: Sequence[ProbeResult]) -> CheckResult | None:
    """All batches as one check, with the items of probes that qualified: a dropped one is no evidence.

    A failure on both sides is no trouble of before: it is what is missing.
    """
    if not checks:
        return None
    worst = max(checks, key=lambda check: [*RunState].index(check.state))
    kept = [result.probe for result in results if result.is_qualified]
    items = {
        item.id: _said(item)
        for check in checks
        for item in check.items
        if any(item in items_of(probe, check) for probe in kept)
    }
    return msgspec.structs.replace(
        worst, items=tuple(items.values()), wall_s=round(sum(check.wall_s for check in checks), 3)
    )


def _said(item: Item) -> Item:
    is_missing = item.base in BAD and item.head in BAD and item.attribution is Attribution.PRE_EXISTING
    return msgspec.structs.replace(item, attribution=Attribution.UNCHANGED) if is_missing else item

"""Probes of one review: given, or written by models, run, and those that did not qualify mended."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

import msgspec

from showcause.checks.running import Running
from showcause.checks.workbench import Workbench
from showcause.clock import Deadline
from showcause.evidence import SUITE
from showcause.packet import Material, around, beginning
from showcause.pipeline.desk import Desk
from showcause.pipeline.findings import Findings
from showcause.probes import Commission, Probed, repair_probes, run_probes, write_probes
from showcause.project import Project
from showcause.records import (
    CheckResult,
    CodeExcerpt,
    Packet,
    PacketForm,
    Probe,
    ProbeResult,
    ProbeRole,
    ProbeState,
    Written,
)
from showcause.trees import TreeReader

__all__ = ["Writers", "code_around", "spelling"]

_MENDABLE = (
    ProbeState.UNUSABLE,
    ProbeState.NOT_RUN,
    ProbeState.SKIPPED,
    ProbeState.PASSES_ON_BASE,
    ProbeState.FAILS_ON_BASE,
    ProbeState.NOT_BEHAVIOURAL,
)
_EXAMPLES = 2


class Writers:
    """The models that write probes, and what they were asked. `written` grows with each request."""

    def __init__(self, desk: Desk, bench: Workbench, reader: TreeReader, issue: str) -> None:
        self.desk, self.bench, self.reader, self.issue = desk, bench, reader, issue
        self.settings = desk.settings.probe
        self.written: list[Written] = []
        self.deadline = Deadline.after(self.settings.limit_s)

    def probe(self, given: Sequence[Probe], found: Findings) -> Probed:
        """Run `given` and what the models write; mend what did not qualify, and run that."""
        commission = self._commission(found) if self.settings.models else None
        probes = [*given]
        if commission is not None:
            probes += self._ask_all(commission)
        probed = self._run(probes)
        if commission is not None:
            for _ in range(self.settings.repairs):
                mended = self._mended(probed, commission)
                if not mended:
                    break
                probed = _replaced(probed, mended, self._run([*mended.values()]))
        return probed

    def _run(self, probes: Sequence[Probe]) -> Probed:
        if not probes:
            return Probed(results=(), check=None)
        return run_probes(self.bench, self.reader, probes, self.issue, budget_s=self.settings.time_budget_s)

    def _ask_all(self, commission: Commission) -> list[Probe]:
        probes: list[Probe] = []
        for name in self.settings.models:
            self.bench.kit.say(f"asking {name} for probes")
            chat = self.desk.chat(name)
            said, found = write_probes(chat, commission, deadline=self.deadline, cancel=self.bench.kit.cancel)
            self.written.append(said)
            probes += found
        return probes

    def _mended(self, probed: Probed, commission: Commission) -> dict[str, Probe]:
        """Id of a probe that did not qualify -> its better version. Only writers mend, each its own."""
        mended: dict[str, Probe] = {}
        for name in self.settings.models:
            mine = [one for one in probed.results if one.probe.generator == name and _is_mendable(one)]
            if mine:
                self.bench.kit.say(f"asking {name} to mend {len(mine)} probes")
                said, found = repair_probes(
                    self.desk.chat(name),
                    commission,
                    mine,
                    deadline=self.deadline,
                    cancel=self.bench.kit.cancel,
                )
                self.written.append(said)
                known = {one.probe.id for one in probed.results}
                mended |= {old: probe for old, probe in found.items() if probe.id not in known}
        return mended

    def _commission(self, found: Findings) -> Commission:
        return Commission(
            packet=self._packet(found.checks),
            spelling=spelling(self.bench.kit.running, self.bench.kit.project),
            probes=self.settings.per_model,
            guards=self.settings.guards,
            limit_s=self.settings.limit_s,
        )

    def _packet(self, checks: Sequence[CheckResult]) -> Packet:
        code = code_around(self.bench, self.reader, checks)
        material = Material(patch=self.bench.trees.patch, issue=self.issue, code=code)
        return self.desk.packet(material, PacketForm.PATCH, readers=self.settings.models)


def code_around(
    bench: Workbench, reader: TreeReader, checks: Sequence[CheckResult]
) -> tuple[CodeExcerpt, ...]:
    """Code of base around the patch, and the beginnings of the nearest existing tests."""
    patch = bench.trees.patch
    sources = reader.read([change.old_path or change.path for change in patch.changes])
    items = (item.id for check in checks if check.id == SUITE for item in check.items)
    tests = dict.fromkeys(_file_of(bench.kit.running, item) for item in items)
    held = reader.read([path for path in tests if path][:_EXAMPLES])
    return (*around(patch, sources), *(beginning(path, text) for path, text in held.items()))


def spelling(running: Running, project: Project) -> str:
    """How the project's runner spells the id of a test, in one line for a writer."""
    where = f" (tests are started in the folder {running.workdir})" if running.workdir else ""
    folders = ", ".join(project.runner.test_paths) or "beside the existing tests"
    match running.runner:
        case "pytest":
            example = "tests/test_new.py::test_name, or tests/test_new.py::TestClass::test_name"
            return f"Runner: pytest{where}. Ids: {example}. Put files in: {folders}."
        case "django":
            example = "package.tests.TestClass.test_name, of a new package with __init__.py and tests.py"
            return f"Runner: Django's{where}. Ids: {example}, beside the existing test packages."
        case _:
            return f"Runner: unittest{where}. Ids: package.module.TestClass.test_name. Files in: {folders}."


def _file_of(running: Running, item: str) -> str:
    """The file of a test id; dotted ids have no path of their own, so none is claimed."""
    path = running.path_of(item)
    return path if posixpath.splitext(path)[1] == ".py" else ""


def _is_mendable(result: ProbeResult) -> bool:
    lacks_quote = result.is_qualified and not result.is_quoted and result.probe.role is ProbeRole.PROBE
    return result.state in _MENDABLE or lacks_quote


def _replaced(before: Probed, mended: dict[str, Probe], after: Probed) -> Probed:
    """Each mended probe in the place of its first version, which is kept as an earlier one."""
    new = {result.probe.id: result for result in after.results}
    results = []
    for result in before.results:
        probe = mended.get(result.probe.id)
        if probe is None or probe.id not in new:
            results.append(result)
        else:
            earlier = (*result.earlier, msgspec.structs.replace(result, earlier=()))
            results.append(msgspec.structs.replace(new[probe.id], earlier=earlier))
    checks = [probed.check for probed in (before, after) if probed.check is not None]
    if len(checks) < 2:
        return Probed(results=tuple(results), check=checks[0] if checks else None)
    items = {item.id: item for check in checks for item in check.items}
    return Probed(
        results=tuple(results),
        check=msgspec.structs.replace(checks[1], items=tuple(items.values())),
    )

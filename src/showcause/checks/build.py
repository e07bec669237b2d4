"""`[suite] build`: the project's build command in both trees, each in a layer of its own.

What it writes lies over the side in all later runs and never in the checkout. Base builds and head does
not, twice each: that is an error which the patch caused, as sound as a file that does not compile.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import msgspec

from showcause.attribution import BAD, attribute, worst_state
from showcause.checks.workbench import Workbench
from showcause.records import CheckResult, Outcome, RunReport, Side, Stage
from showcause.runners.command import CommandRunner, report_of

__all__ = ["BUILD", "build_check"]

BUILD = "build"
_LIMIT_S = 600.0


def build_check(bench: Workbench, command: tuple[str, ...]) -> CheckResult:
    """Build both sides at once, and once more each if only head fails. Raises Cancelled."""
    runs: dict[Side, list[RunReport]] = {Side.BASE: [], Side.HEAD: []}
    for _ in range(2):
        with ThreadPoolExecutor(2) as pool:
            told = dict(zip(runs, pool.map(partial(_build, bench, command), runs), strict=True))
        for side, report in told.items():
            runs[side].append(report)
        items = attribute(runs[Side.BASE], runs[Side.HEAD])
        if not (items[0].base is Outcome.PASSED and items[0].head in BAD):
            break
    reports = [*runs[Side.BASE], *runs[Side.HEAD]]
    worst = worst_state(reports)
    return CheckResult(
        id=BUILD,
        stage=Stage.STATIC,
        version=CommandRunner.version,
        state=worst.state,
        why=worst.why,
        items=items,
        argv=command,
        wall_s=round(sum(report.wall_s for report in reports), 3),
        leaked=sum(report.leaked for report in reports),
    )


def _build(bench: Workbench, command: tuple[str, ...], side: Side) -> RunReport:
    finished = bench.build(side, command, limit_s=_LIMIT_S)
    return msgspec.structs.replace(report_of(finished, side, BUILD), argv=command)

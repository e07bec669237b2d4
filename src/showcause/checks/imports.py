"""Import smoke: each touched module that both trees have is imported, on both.

A module that could be imported before the patch and cannot be now is an error that the patch caused:
no change that was asked for makes the project's own module impossible to load. Only failures raised
by the repository's own code count; a missing third-party module is the environment's.
"""

from __future__ import annotations

import msgspec

from showcause.checks.workbench import Plan, Workbench
from showcause.gate import IMPORTS
from showcause.records import Attribution, CheckResult, FailureKind, Item, Origin, Stage

__all__ = ["BUDGET_S", "imports_check"]

BUDGET_S = 20.0
_OWN_FAULT = (FailureKind.EXCEPTION, FailureKind.MISSING_NAME, FailureKind.ASSERTION)


def imports_check(bench: Workbench, paths: tuple[str, ...]) -> CheckResult:
    """Import the modules at `paths` on base and on head."""
    plan = Plan(
        check=IMPORTS,
        stage=Stage.EXECUTION,
        runner="imports",
        select=paths,
        budget_s=BUDGET_S,
        repeats=2,
        repeat_whole=True,
    )
    result = bench.compare(plan)
    return msgspec.structs.replace(result, items=tuple(map(_own_fault_only, result.items)))


def _own_fault_only(item: Item) -> Item:
    """Failures that another package or the machine may explain are not the patch's doing for certain."""
    failures = [run.failure for run in item.runs if run.failure]
    if item.attribution is not Attribution.PATCH_CAUSED or all(
        f.kind in _OWN_FAULT and f.origin is Origin.SOURCE for f in failures
    ):
        return item
    note = "the failure was not raised by the repository's own code"
    return msgspec.structs.replace(item, attribution=Attribution.UNATTRIBUTED, note=note)

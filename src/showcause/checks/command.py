"""The project's own test command (`[suite] command`), run on both trees. Evidence, never a cause."""

from __future__ import annotations

from showcause.checks.workbench import Plan, Workbench
from showcause.records import CheckResult, Stage
from showcause.runners.command import ITEM

__all__ = ["command_check"]


def command_check(bench: Workbench, command: tuple[str, ...], *, budget_s: float) -> CheckResult:
    """Run `command` twice a side where the sides differ. Its exit status is all that counts."""
    plan = Plan(
        check="command",
        stage=Stage.EXECUTION,
        runner="command",
        select=(ITEM,),
        expect=(ITEM,),
        budget_s=budget_s,
        repeats=2,
        config=command,
        workdir=bench.kit.settings.suite.workdir,
    )
    return bench.compare(plan)

"""Power is earned: how often each rule was right here, and what that says elsewhere. Pure.

A rule's published precision holds at its own base rate (the share of defective patches among those it
saw). What is carried over is the likelihood ratio, under the assumption that the rule finds and falsely
alarms as often at the other base rate:

    odds(precision there) = odds(precision here) / odds(base rate here) * odds(base rate there)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from showcause.intervals import Rate, rate
from showcause.records import Policy, Record, ReviewRecord, Rule, Stage, Verdict

__all__ = ["ENOUGH", "Flow", "Judged", "RulePrecision", "by_rule", "carried", "flow", "powerless"]

ENOUGH = 5
"""Judged reviews before a rule can lose its power: fewer say nothing."""


class Judged(Record, frozen=True, kw_only=True):
    """One decided review and whether its verdict turned out right."""

    verdict: Verdict
    rules: tuple[Rule, ...]
    is_right: bool

    @property
    def is_defective(self) -> bool:
        """What the patch turned out to be."""
        return (self.verdict is Verdict.REJECT) is self.is_right


class RulePrecision(Record, frozen=True, kw_only=True):
    """How often rejections of one rule were right. `carried` is at the base rate that was asked for, None
    where there is nothing to carry."""

    rule: Rule
    right: Rate
    carried: float | None


class Flow(Record, frozen=True, kw_only=True):
    """Where the reviews of one month ended: stage -> how many it decided; the rest was left open."""

    month: str
    reviews: int
    decided: dict[str, int]
    uncertain: int
    other: int


def by_rule(judged: Sequence[Judged], base_rate: float | None = None) -> tuple[RulePrecision, ...]:
    """Each rule that rejected and was judged. A rejection of two rules counts for both."""
    here = rate(sum(one.is_defective for one in judged), len(judged)).value
    found = []
    for rule in Rule:
        mine = [one for one in judged if one.verdict is Verdict.REJECT and rule in one.rules]
        if mine:
            right = rate(sum(one.is_right for one in mine), len(mine))
            there = _carried(right.value, here, base_rate)
            found.append(RulePrecision(rule=rule, right=right, carried=there))
    return tuple(found)


def _carried(precision: float | None, here: float | None, there: float | None) -> float | None:
    if precision is None or here is None or there is None or not 0 < here < 1:
        return None
    return carried(precision, at=here, to=there)


def carried(precision: float, *, at: float, to: float) -> float:
    """`precision` of a rule that was measured where a share `at` is defective, where that share is `to`.

    Raises ValueError for base rates that are not between 0 and 1.
    """
    if not (0 < at < 1 and 0 < to < 1 and 0 <= precision <= 1):
        raise ValueError(f"no rates: {precision}, at {at}, to {to}")
    if precision == 1:
        return 1.0
    odds = precision / (1 - precision) / (at / (1 - at)) * (to / (1 - to))
    return odds / (1 + odds)


def powerless(judged: Iterable[Judged], policy: Policy) -> frozenset[Rule]:
    """Rules that were right less often than the policy wants, of at least `ENOUGH` times."""
    if policy.min_precision is None:
        return frozenset()
    least = policy.min_precision
    return frozenset(
        one.rule
        for one in by_rule([*judged])
        if one.right.n >= ENOUGH and one.right.value is not None and one.right.value < least
    )


def flow(bodies: Mapping[str, ReviewRecord]) -> tuple[Flow, ...]:
    """Receipt id -> record, by month of their start, the earliest first."""
    months: dict[str, list[ReviewRecord]] = {}
    for body in bodies.values():
        months.setdefault(body.started[:7], []).append(body)
    return tuple(_month(month, found) for month, found in sorted(months.items()))


def _month(month: str, found: Sequence[ReviewRecord]) -> Flow:
    decided = {stage.value: sum(body.decided_by is stage for body in found) for stage in Stage}
    uncertain = sum(body.decided_by is None and body.exit_status == 3 for body in found)
    return Flow(
        month=month,
        reviews=len(found),
        decided={stage: count for stage, count in decided.items() if count},
        uncertain=uncertain,
        other=len(found) - sum(decided.values()) - uncertain,
    )

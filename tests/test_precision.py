"""Exact intervals, precision by rule, and what a precision says at another base rate."""

from __future__ import annotations

import pytest

from showcause.intervals import clopper_pearson, rate
from showcause.precision import Judged, by_rule, carried, powerless
from showcause.records import Policy, Rule, Verdict


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [
        (8, 20, 0.191, 0.639),
        (9, 11, 0.482, 0.977),
        (37, 37, 0.905, 1.0),
        (0, 10, 0.0, 0.308),
        (0, 0, 0.0, 1.0),
        (44, 62, 0.581, 0.818),
    ],
)
def test_exact_intervals(right: int, n: int, low: float, high: float) -> None:
    assert clopper_pearson(right, n) == pytest.approx((low, high), abs=6e-4)


def test_no_rate_where_nothing_was_counted() -> None:
    assert rate(0, 0).value is None
    with pytest.raises(ValueError, match="no rate"):
        clopper_pearson(3, 2)


def test_a_published_precision_at_another_base_rate() -> None:
    """9 of 11 at 89 of 121 defective is a likelihood ratio of about 1.6: 0.29 where a fifth is defective."""
    ratio = (9 / 2) / (89 / 32)
    assert ratio == pytest.approx(1.6, abs=0.05)
    assert carried(9 / 11, at=89 / 121, to=0.2) == pytest.approx(0.29, abs=0.005)
    assert carried(9 / 11, at=0.5, to=0.5) == pytest.approx(9 / 11)
    assert carried(1.0, at=0.5, to=0.1) == 1.0
    with pytest.raises(ValueError, match="no rates"):
        carried(0.5, at=1.0, to=0.5)


def judged(rule: Rule, *, right: int, wrong: int) -> list[Judged]:
    return [
        Judged(verdict=Verdict.REJECT, rules=(rule,), is_right=number < right)
        for number in range(right + wrong)
    ]


def test_precision_by_rule() -> None:
    told = [*judged(Rule.PROBE, right=3, wrong=1), *judged(Rule.STATIC, right=2, wrong=0)]
    told.append(Judged(verdict=Verdict.ACCEPT, rules=(), is_right=True))
    found = {one.rule: one for one in by_rule(told, base_rate=0.2)}
    assert (found[Rule.PROBE].right.right, found[Rule.PROBE].right.n) == (3, 4)
    assert found[Rule.STATIC].carried == 1.0
    at = 5 / 7  # of the seven judged, five were defective
    assert found[Rule.PROBE].carried == pytest.approx(carried(0.75, at=at, to=0.2))
    assert set(found) == {Rule.PROBE, Rule.STATIC}


def test_a_rule_loses_its_power_only_after_enough() -> None:
    policy = Policy(min_precision=0.8)
    assert powerless(judged(Rule.PROBE, right=1, wrong=3), policy) == frozenset()
    assert powerless(judged(Rule.PROBE, right=2, wrong=3), policy) == {Rule.PROBE}
    assert powerless(judged(Rule.PROBE, right=8, wrong=2), policy) == frozenset()
    assert powerless(judged(Rule.PROBE, right=0, wrong=9), Policy()) == frozenset()

"""Exact intervals for a rate. Pure.

Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
Biometrika 26 (1934): the limits are where the binomial tail has half of what may be missed. By bisection
over exact sums, since the library that has it ready costs more to start than a review; a test compares.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb, fsum

from showcause.records.base import Record

__all__ = ["Rate", "clopper_pearson", "rate"]

_STEPS = 60  # halvings of (0, 1): below what a double can tell apart


class Rate(Record, frozen=True, kw_only=True):
    """`right` of `n`, with the limits of its interval. `value` is None where n is 0: there is no rate."""

    right: int
    n: int
    low: float
    high: float
    level: float

    @property
    def value(self) -> float | None:
        return self.right / self.n if self.n else None


def rate(right: int, n: int, *, level: float = 0.95) -> Rate:
    """A rate with its exact interval."""
    low, high = clopper_pearson(right, n, level=level)
    return Rate(right=right, n=n, low=low, high=high, level=level)


def clopper_pearson(right: int, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """The interval of `right` successes in `n` tries; (0, 1) where there were none.

    Raises ValueError for counts or a level that make no sense.
    """
    if not 0 <= right <= n or not 0 < level < 1:
        raise ValueError(f"no rate: {right} of {n} at {level}")
    tail = (1 - level) / 2
    low = _root(lambda p: 1 - _at_most(right - 1, n, p) - tail) if right else 0.0
    high = _root(lambda p: tail - _at_most(right, n, p)) if right < n else 1.0
    return low, high


def _at_most(count: int, n: int, p: float) -> float:
    return fsum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(count + 1))


def _root(rising: Callable[[float], float]) -> float:
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2

"""How a budget is shared where not everything fits. Pure."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["shares"]


def shares(wanted: Mapping[str, int], budget: int) -> dict[str, int]:
    """What each gets of `budget`: all where everything fits.

    Else nobody who wants no more than an equal share goes short, and those who want more share the rest
    equally. Whoever comes first in `wanted` gets what rounding leaves.
    """
    given = dict.fromkeys(wanted, 0)
    left = max(0, budget)
    open_to = sorted(wanted, key=lambda name: wanted[name])
    while open_to:
        name = open_to.pop(0)
        given[name] = min(wanted[name], left // (len(open_to) + 1))
        left -= given[name]
    for name in wanted:
        more = min(wanted[name] - given[name], left)
        given[name] += more
        left -= more
    return given

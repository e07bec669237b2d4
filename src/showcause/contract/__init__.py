"""The review contract: an agent of another pool reviews a finished turn, and no failure reads as approval.

`attempt` makes one attempt under all its conditions; `review_turn` is what people call. The answer is a
critique (findings, or no finding) or a typed end; never accept or reject.
"""

from __future__ import annotations

from showcause.contract.attempt import attempt
from showcause.contract.nouns import Attempted, Means, Order, Runtime
from showcause.contract.pools import eligible, pool_of, reviewer_pool
from showcause.contract.turn import Turn, review_turn, run_primary

__all__ = [
    "Attempted",
    "Means",
    "Order",
    "Runtime",
    "Turn",
    "attempt",
    "eligible",
    "pool_of",
    "review_turn",
    "reviewer_pool",
    "run_primary",
]

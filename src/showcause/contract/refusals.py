"""Why nothing is spawned: found before, each with its typed end. Pure but for looking at the program."""

from __future__ import annotations

import re

from showcause.contract.adapters.base import Adapter
from showcause.contract.audit import unsafe
from showcause.contract.classify import Conclusion
from showcause.contract.deliver import too_large
from showcause.contract.nouns import Order
from showcause.contract.pools import WORDS, eligible
from showcause.contract.program import Program
from showcause.records.contract import AttemptEnd, ReviewerSpec, Role, WhyNot

__all__ = ["asked_model", "before_looking", "input_too_large", "misbehaves", "unsafe_argv"]

_UNKNOWN = (
    WhyNot.PRIMARY_PROVIDER_UNKNOWN,
    WhyNot.REVIEWER_PROVIDER_UNKNOWN,
    WhyNot.PRIMARY_ACCOUNT_UNKNOWN,
    WhyNot.REVIEWER_ACCOUNT_UNKNOWN,
)


def before_looking(order: Order) -> Conclusion | None:
    """What needs no look at the machine: what the caller found, then the pools."""
    if order.refused is not None:
        return order.refused
    if order.role is Role.PRIMARY:
        return None
    reasons = eligible(order.primary_pool, order.pool)
    if not reasons:
        return None
    is_unknown = all(one in _UNKNOWN or one is WhyNot.PROVIDER_CONTRADICTED for one in reasons)
    end = AttemptEnd.UNKNOWN_POOL if is_unknown else AttemptEnd.SAME_POOL
    return Conclusion(ended=end, why="; ".join(WORDS[one] for one in reasons))


def misbehaves(adapter: Adapter, program: Program) -> Conclusion | None:
    """A version that is known not to do what its exit status and output say."""
    for one in adapter.misbehaving:
        if program.version and re.fullmatch(one.pattern, program.version):
            why = f"{program.real} is version {program.version}: {one.why}"
            return Conclusion(ended=AttemptEnd.REFUSED_VERSION, why=why)
    return None


def unsafe_argv(adapter: Adapter, spec: ReviewerSpec, argv: tuple[str, ...]) -> Conclusion | None:
    """A command line that gives the reviewer powers."""
    found = unsafe(adapter, spec, argv)
    return Conclusion(ended=AttemptEnd.UNSAFE_ARGV, why="; ".join(found)) if found else None


def input_too_large(adapter: Adapter, order: Order) -> Conclusion | None:
    """A packet that the model's window or the CLI would cut."""
    limits = adapter.limits
    why = too_large(
        order.parcel,
        context_tokens=order.spec.context_tokens or limits.context_tokens,
        characters=limits.characters,
        size=limits.size,
    )
    return Conclusion(ended=AttemptEnd.INPUT_TOO_LARGE, why=why) if why else None


def asked_model(spec: ReviewerSpec) -> str:
    """The model id that is asked for."""
    return spec.asks.model if spec.asks is not None else spec.model

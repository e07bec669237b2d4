"""Who may review whom: provider families from model ids, pools as told. Pure.

A pool is a provider and an account. Both must differ: two accounts of one provider are not two providers,
and two providers behind one account share its allowance. What is unknown is not taken to differ.
"""

from __future__ import annotations

from showcause.models import UNKNOWN_FAMILY, family_of
from showcause.records.contract import Pool, ReviewerSpec, WhyNot

__all__ = ["WORDS", "eligible", "pool_of", "reviewer_pool"]

WORDS = {
    WhyNot.SAME_PROVIDER: "both are of one provider",
    WhyNot.SAME_ACCOUNT: "both draw on one account",
    WhyNot.PRIMARY_PROVIDER_UNKNOWN: "the primary's provider is unknown",
    WhyNot.REVIEWER_PROVIDER_UNKNOWN: "the reviewer's provider is unknown",
    WhyNot.PRIMARY_ACCOUNT_UNKNOWN: "the primary's account is unknown",
    WhyNot.REVIEWER_ACCOUNT_UNKNOWN: "the reviewer's account is unknown",
    WhyNot.PROVIDER_CONTRADICTED: "a pool names another provider than its model has",
}


def pool_of(told: str, *, model: str = "", base_url: str = "") -> Pool:
    """The pool "ACCOUNT" or "PROVIDER/ACCOUNT", where a model id may stand for the provider.

    The family comes from `model`. Without one it comes from the words before the last "/"; where both
    are there and disagree, the family is unknown.
    """
    named, _, account = told.strip().rpartition("/")
    said = family_of(named) if named else ""
    family = family_of(model, base_url) if model or base_url else said or UNKNOWN_FAMILY
    if said and said != family:
        family = UNKNOWN_FAMILY
    return Pool(provider=family, account=account.strip().casefold(), told=told)


def reviewer_pool(spec: ReviewerSpec) -> Pool:
    """The pool of a reviewer of the settings: its model id tells, its name and its kind do not."""
    if spec.asks is not None:
        return pool_of(spec.pool, model=spec.asks.model, base_url=spec.asks.base_url)
    return pool_of(spec.pool, model=spec.model, base_url=spec.base_url)


def eligible(primary: Pool, reviewer: Pool) -> tuple[WhyNot, ...]:
    """Why `reviewer` may not review what `primary` did; empty: it may."""
    found = []
    if _contradicts(primary) or _contradicts(reviewer):
        found.append(WhyNot.PROVIDER_CONTRADICTED)
    if primary.provider == UNKNOWN_FAMILY:
        found.append(WhyNot.PRIMARY_PROVIDER_UNKNOWN)
    if reviewer.provider == UNKNOWN_FAMILY:
        found.append(WhyNot.REVIEWER_PROVIDER_UNKNOWN)
    if not primary.account:
        found.append(WhyNot.PRIMARY_ACCOUNT_UNKNOWN)
    if not reviewer.account:
        found.append(WhyNot.REVIEWER_ACCOUNT_UNKNOWN)
    if primary.provider == reviewer.provider != UNKNOWN_FAMILY:
        found.append(WhyNot.SAME_PROVIDER)
    if primary.account and primary.account == reviewer.account:
        found.append(WhyNot.SAME_ACCOUNT)
    return tuple(found)


def _contradicts(pool: Pool) -> bool:
    """Whether the words of a pool name a family that its model does not have."""
    named = family_of(pool.told.rpartition("/")[0])
    return named not in (UNKNOWN_FAMILY, pool.provider)

"""Powers: what reviewers showed on known cases, and what turned out about verdicts of this repository."""

from __future__ import annotations

import threading
from collections.abc import Callable

from showcause import git
from showcause.calibrate import Known, Terms, calibrate, calibration_key
from showcause.packet import Material
from showcause.pipeline.desk import Desk
from showcause.pipeline.request import Request
from showcause.pipeline.reviewing import settings_of, store_of
from showcause.precision import Judged, powerless
from showcause.receipt import Receipt
from showcause.records import Calibration, Packet, PacketForm, Powers, Rule, Verdict
from showcause.reviewer import Voting
from showcause.settings import Settings
from showcause.store import Judged as Turned
from showcause.store import Store
from showcause.trees import TreeReader

__all__ = ["calibrate_reviewer", "judged_of", "powerless_of", "powers_of", "receipts_of"]


def calibrate_reviewer(
    request: Request,
    name: str,
    cases: tuple[Known, ...],
    *,
    say: Callable[[str], None] = lambda _line: None,
    cancel: threading.Event | None = None,
) -> Calibration:
    """Ask the model `name` of the settings about `cases`, and keep what it earns.

    Raises UsageError for an unknown model or folders that make no sense.
    """
    repo = git.open_repo(request.directory, cancel=cancel)
    settings = settings_of(TreeReader(repo, repo.head_tree), request)
    store = store_of(repo, settings)
    try:
        with Desk(settings, record=request.record, replay=request.replay) as desk:

            def packet(material: Material) -> Packet:
                return desk.packet(material, PacketForm.CASCADE, readers=[name])

            terms = Terms(voting=_voting(settings), min_precision=settings.review.min_precision)
            found = calibrate(desk.chat(name), cases, terms, packet, say=say, cancel=cancel)
        store.calibration_put(_key(settings, name), found)
        return found
    finally:
        store.close()


def powers_of(settings: Settings, store: Store) -> tuple[Powers, str]:
    """What the reviewer of the settings may decide, and on what that rests."""
    name = settings.review.reviewer
    if not name:
        return Powers(accept=False, reject=False), ""
    found = store.calibration_get(_key(settings, name))
    if found is None:
        return Powers(accept=False, reject=False), f"not calibrated: showcause calibrate {name}"
    return found.powers, f"calibrated {found.created[:10]}: {'; '.join(found.why)}"


def powerless_of(settings: Settings, store: Store) -> frozenset[Rule]:
    """Rules that were wrong here too often. The store is read only where the settings ask for it."""
    policy = settings.policy
    return frozenset() if policy.min_precision is None else powerless(judged_of(store), policy)


def judged_of(store: Store) -> tuple[Judged, ...]:
    """All decided reviews of which somebody said how they turned out; the last word counts."""
    latest = {one.receipt: one.judged for one in store.judgements()}
    bodies = {id: store.get(id).body for id in latest}
    return tuple(
        Judged(
            verdict=bodies[id].verdict or Verdict.UNCERTAIN,
            rules=tuple(dict.fromkeys(cause.rule for cause in bodies[id].causes)),
            is_right=turned is Turned.RIGHT,
        )
        for id, turned in latest.items()
        if bodies[id].verdict in (Verdict.ACCEPT, Verdict.REJECT)
    )


def receipts_of(store: Store) -> dict[str, Receipt]:
    """All reviews of the store, by id."""
    return {row.id: store.get(row.id) for row in store.page(limit=store.count())}


def _voting(settings: Settings) -> Voting:
    chosen = settings.review
    return Voting(
        votes=chosen.votes,
        temperature=chosen.temperature,
        at_once=chosen.at_once,
        limit_s=chosen.limit_s,
    )


def _key(settings: Settings, name: str) -> str:
    return calibration_key(settings.model(name), _voting(settings))

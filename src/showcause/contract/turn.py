"""One turn: an instruction, a primary's final answer, and a reviewer of another pool that reads both."""

from __future__ import annotations

import os
import threading

from showcause.canon import digest, digest_record
from showcause.clock import Deadline
from showcause.contract.adapters import ADAPTERS
from showcause.contract.asking import window_of
from showcause.contract.attempt import attempt
from showcause.contract.classify import Conclusion
from showcause.contract.critique import instructions
from showcause.contract.deliver import AROUND, Parcel, pack
from showcause.contract.nouns import Attempted, Means, Order
from showcause.contract.pools import reviewer_pool
from showcause.errors import UsageError
from showcause.packet import Material, build_packet, estimate_tokens
from showcause.records import PacketForm, Patch, Record
from showcause.records.contract import (
    Allowance,
    AttemptEnd,
    Pool,
    ReviewerKind,
    ReviewerSpec,
    Role,
    TurnIds,
)

__all__ = ["Turn", "review_turn", "run_primary"]

_NOTHING = Patch(data=b"", digest=digest(b""), base_tree="", head_tree="", changes=())


class Turn(Record, frozen=True, kw_only=True):
    """What was asked, and what the primary answered in the end; its patch if it made one.

    `author` is the primary's pool. `conversation` and `turn` are the caller's ids; a turn without one is
    named by its content. `repository` is the top of the repository that must not change.
    """

    instruction: str
    answer: str
    author: Pool
    patch: Patch = _NOTHING
    conversation: str = ""
    turn: str = ""
    repository: str = ""

    @property
    def ids(self) -> TurnIds:
        texts = (self.instruction, self.answer)
        task, candidate = (digest(text.encode("utf-8", "surrogatepass")) for text in texts)
        turn = self.turn or f"turn-{digest_record([task, candidate, self.patch.digest])[:12]}"
        return TurnIds(task=task, candidate=candidate, conversation=self.conversation, turn=turn)


def review_turn(
    turn: Turn,
    reviewer: ReviewerSpec,
    means: Means,
    *,
    allowance: Allowance | None = None,
    deadline: Deadline | None = None,
    cancel: threading.Event | None = None,
) -> Attempted:
    """Have `reviewer` review a finished turn. Advice: it neither accepts nor rejects.

    Every failure is a typed end of the record; only `completed`, and `is_eligible` with it, is a review.
    Raises StoreFault if the attempt cannot be kept, and passes interrupts on.
    """
    refused = _refused(turn, reviewer, means, allowance or Allowance())
    parcel = _NO_PARCEL
    if refused is None:
        parcel, refused = _parcel(turn, reviewer, means)
    order = Order(
        spec=reviewer,
        role=Role.REVIEWER,
        parcel=parcel,
        ids=turn.ids,
        primary_pool=turn.author,
        pool=reviewer_pool(reviewer),
        settings=settings_digest(reviewer),
        repository=turn.repository,
        refused=refused,
    )
    return attempt(order, means, deadline=deadline, cancel=cancel)


def run_primary(
    instruction: str,
    primary: ReviewerSpec,
    means: Means,
    *,
    turn: str = "",
    allowance: Allowance | None = None,
    deadline: Deadline | None = None,
    cancel: threading.Event | None = None,
) -> Attempted:
    """Have `primary` answer an instruction, under the same conditions: it gets no tools and writes nothing.

    An agent that is to change files is run by its user, and its finished turn reviewed.
    """
    task = digest(instruction.encode("utf-8", "surrogatepass"))
    ids = TurnIds(task=task, candidate="", conversation="", turn=turn or f"turn-{os.urandom(6).hex()}")
    pool = reviewer_pool(primary)
    order = Order(
        spec=primary,
        role=Role.PRIMARY,
        parcel=Parcel(id=f"t-{task[:16]}", text=instruction, codes=(), nonce=""),
        ids=ids,
        primary_pool=pool,
        pool=pool,
        settings=settings_digest(primary),
        refused=_spent(means, pool, ids.turn, allowance or Allowance()),
    )
    return attempt(order, means, deadline=deadline, cancel=cancel)


def settings_digest(spec: ReviewerSpec) -> str:
    """What of the settings an attempt rests on."""
    return digest_record(spec)


_NO_PARCEL = Parcel(id="", text="", codes=(), nonce="")


def _refused(turn: Turn, reviewer: ReviewerSpec, means: Means, allowance: Allowance) -> Conclusion | None:
    if not turn.answer.strip():
        why = "the turn has no final answer: there is nothing to review"
        return Conclusion(ended=AttemptEnd.PRIMARY_INCOMPLETE, why=why)
    return _spent(means, reviewer_pool(reviewer), turn.ids.turn, allowance)


def _spent(means: Means, pool: Pool, turn: str, allowance: Allowance) -> Conclusion | None:
    """Budgets are looked at before anything is spawned."""
    spent, why = means.journal.spent(pool, turn), ""
    if spent.turn >= allowance.per_turn:
        why = f"{spent.turn} attempts were made for this turn already, {allowance.per_turn} are allowed"
    elif spent.hour >= allowance.per_hour:
        why = f"{spent.hour} attempts in an hour from {pool.told}, {allowance.per_hour} are allowed"
    elif spent.limited_until:
        why = f"the provider asks to be left alone until {spent.limited_until}"
    return Conclusion(ended=AttemptEnd.BUDGET_SPENT, why=why) if why else None


def _parcel(turn: Turn, reviewer: ReviewerSpec, means: Means) -> tuple[Parcel, Conclusion | None]:
    """The packet of the turn, whole; or why it would not be whole."""
    told = instructions()
    room = _window(reviewer) - AROUND - estimate_tokens(told)
    material = Material(patch=turn.patch, issue=turn.instruction, answer=turn.answer)
    try:
        packet = build_packet(
            material,
            PacketForm.TURN,
            budget=max(room, 1),
            nonce=os.urandom(12).hex(),
            secrets=means.secrets,
        )
    except UsageError as error:
        return _NO_PARCEL, Conclusion(ended=AttemptEnd.INPUT_TOO_LARGE, why=str(error))
    if not packet.is_complete:
        why = f"the window leaves out {', '.join(packet.missing[:3])}"
        return _NO_PARCEL, Conclusion(ended=AttemptEnd.INPUT_TOO_LARGE, why=why)
    return pack(told, packet.text, id=packet.id, nonce=packet.nonce), None


def _window(reviewer: ReviewerSpec) -> int:
    if reviewer.kind is ReviewerKind.MODEL:
        return window_of(reviewer)
    return reviewer.context_tokens or ADAPTERS[reviewer.kind].limits.context_tokens

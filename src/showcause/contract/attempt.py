"""One attempt, from its STARTED row to its typed end.

    STARTED (committed) -> refused before any spawn -> typed end
                        -> spawned -> written, read, reaped, looked at once more -> typed end

Every way out has exactly one terminal row, an error of our own and an interrupt included. A process that
is killed leaves the STARTED row; the next start finds it and writes `interrupted`.
"""

from __future__ import annotations

import threading
import time

import msgspec

from showcause.clock import Deadline, now_text
from showcause.contract import refusals
from showcause.contract.asking import ask
from showcause.contract.classify import Conclusion, Facts, exit_status_of, phase_of
from showcause.contract.critique import hear
from showcause.contract.eligibility import why_not
from showcause.contract.nouns import Attempted, Means, Order
from showcause.contract.performing import Performed, perform
from showcause.contract.sources import sources_digest
from showcause.records import ChatUsage
from showcause.records.contract import (
    AttemptAbout,
    AttemptEnd,
    AttemptRecord,
    AttemptStarted,
    ModelsTold,
    Phase,
    ReviewerKind,
    Role,
    Timing,
)

__all__ = ["attempt"]


def attempt(
    order: Order, means: Means, *, deadline: Deadline | None = None, cancel: threading.Event | None = None
) -> Attempted:
    """Make the attempt. Its end is a value; nothing of it is left alive.

    The attempt's own deadline runs from its spawn and never lies after `deadline`. Raises StoreFault if it
    cannot be kept, and passes an interrupt on once its terminal row is there.
    """
    started = means.journal.start_attempt(_about(order))
    began = time.monotonic()
    try:
        record = _made(order, means, started, deadline, cancel or threading.Event())
    except Exception as error:  # noqa: BLE001  law 4: an error of our own is a typed end, and is shown
        record = _ended(order, started, began, Conclusion(ended=AttemptEnd.FAULT, why=_told(error)))
    except BaseException:
        why = Conclusion(ended=AttemptEnd.CANCELLED, why="interrupted")
        means.journal.finish_attempt(started, _ended(order, started, began, why))
        raise
    return Attempted(receipt=means.journal.finish_attempt(started, record), record=record)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300]


def _about(order: Order) -> AttemptAbout:
    return AttemptAbout(
        role=order.role,
        reviewer=order.spec.name,
        kind=order.spec.kind,
        ids=order.ids,
        primary_pool=order.primary_pool,
        pool=order.pool,
        deadline_s=order.spec.deadline_s,
        settings=order.settings,
        sources=sources_digest(),
    )


def _made(
    order: Order,
    means: Means,
    started: AttemptStarted,
    outer: Deadline | None,
    cancel: threading.Event,
) -> AttemptRecord:
    began = time.monotonic()
    if refused := refusals.before_looking(order):
        return _ended(order, started, began, refused)
    before = means.tree()
    limit = Deadline.after(order.spec.deadline_s)
    if outer is not None and outer.at_s < limit.at_s:
        limit = outer
    doing = ask if order.spec.kind is ReviewerKind.MODEL else perform
    done = doing(order, means, deadline=limit, cancel=cancel)
    if isinstance(done, Conclusion):
        return _ended(order, started, began, done)
    heard = None if order.role is Role.PRIMARY else hear(done.reading.answer, order.parcel)
    delivery = done.delivery
    if heard is not None:
        delivery = msgspec.structs.replace(delivery, codes_back=heard.codes_back, nonce_back=heard.nonce_back)
    after = means.tree()
    facts = Facts(
        role=order.role,
        finished=done.finished,
        late=limit.passed,
        cancelled=cancel.is_set(),
        delivery=delivery,
        output=done.output,
        reading=done.reading,
        status_fault=done.status_fault,
        heard=heard,
        models=done.models,
        tree_before=before,
        tree_after=after,
    )
    return _judged(order, means, started, began, done, facts)


def _judged(
    order: Order, means: Means, started: AttemptStarted, began: float, done: Performed, facts: Facts
) -> AttemptRecord:
    found = means.runtime.conclude(facts)
    record = _ended(order, started, began, found)
    is_complete = found.ended is AttemptEnd.COMPLETED
    timing = msgspec.structs.replace(
        record.timing, deadline_passed=facts.late, cancelled=facts.cancelled, phase=phase_of(facts)
    )
    record = msgspec.structs.replace(
        record,
        launched=done.launched,
        timing=timing,
        delivery=facts.delivery,
        output=facts.output,
        models=facts.models,
        tools=facts.reading.tools,
        usage=facts.reading.usage,
        tree_before=facts.tree_before,
        tree_after=facts.tree_after,
        critique=facts.heard.critique if facts.heard and is_complete else None,
        answer=facts.reading.answer if order.role is Role.PRIMARY and is_complete else "",
        notes=done.notes,
    )
    return msgspec.structs.replace(record, why_not=why_not(record))


def _ended(order: Order, started: AttemptStarted, began: float, found: Conclusion) -> AttemptRecord:
    """The record of an attempt that came to `found`, with nothing else known of it."""
    record = AttemptRecord(
        ended=found.ended,
        why=found.why,
        exit_status=exit_status_of(found.ended),
        fault=found.fault.kind if found.fault else None,
        retry_after_s=found.fault.retry_after_s if found.fault else None,
        role=order.role,
        reviewer=order.spec.name,
        kind=order.spec.kind,
        ids=order.ids,
        primary_pool=order.primary_pool,
        pool=order.pool,
        launched=None,
        timing=Timing(
            started=started.started,
            ended=now_text(),
            wall_s=time.monotonic() - began,
            deadline_s=order.spec.deadline_s,
            deadline_passed=False,
            cancelled=found.ended is AttemptEnd.CANCELLED,
            phase=Phase.BEFORE,
        ),
        delivery=None,
        output=None,
        models=ModelsTold(asked=refusals.asked_model(order.spec), main="undisclosed", reported=()),
        tools=(),
        usage=ChatUsage(),
        tree_before="",
        tree_after="",
        critique=None,
        answer="",
        settings=order.settings,
        sources=started.about.sources,
    )
    return msgspec.structs.replace(record, why_not=why_not(record))

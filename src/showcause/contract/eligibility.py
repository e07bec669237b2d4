"""Whether an attempt counts, computed from the fields of its record and from nothing else. Pure.

It is a second look, on purpose apart from `classify`: a record says `completed`, and this asks each field
whether that can be. What is missing does not speak for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from showcause.contract.classify import same_model
from showcause.contract.pools import eligible
from showcause.records.contract import (
    AttemptEnd,
    AttemptRecord,
    Delivery,
    Launched,
    OutputTaken,
    ReviewerKind,
    Role,
    WhyNot,
)

__all__ = ["why_not"]


def why_not(record: AttemptRecord) -> tuple[WhyNot, ...]:
    """Why the attempt does not count as a complete review by another pool; empty: it does."""
    pools = eligible(record.primary_pool, record.pool) if record.role is not Role.PRIMARY else ()
    return tuple(dict.fromkeys((*pools, *_own(record))))


def _own(record: AttemptRecord) -> Iterator[WhyNot]:
    if record.ended is not AttemptEnd.COMPLETED or record.fault is not None:
        yield WhyNot.NOT_COMPLETED
    if record.timing.deadline_passed:
        yield WhyNot.LATE
    if record.timing.cancelled:
        yield WhyNot.CANCELLED
    if record.tree_before != record.tree_after:
        yield WhyNot.TREE_CHANGED
    if _is_other_model(record):
        yield WhyNot.OTHER_MODEL
    if record.launched is None or record.delivery is None or record.output is None:
        yield WhyNot.FIELD_MISSING
    else:
        yield from _launched(record, record.launched)
        yield from _delivered(record, record.delivery)
        yield from _output(record, record.output)
    if not all((record.settings, record.sources, record.timing.started, record.timing.ended)):
        yield WhyNot.FIELD_MISSING


def _launched(record: AttemptRecord, launched: Launched) -> Iterator[WhyNot]:
    is_process = record.kind is not ReviewerKind.MODEL
    if is_process and not launched.audited:
        yield WhyNot.ARGV_NOT_AUDITED
    if launched.exit_status != 0 or launched.signal is not None:
        yield WhyNot.EXIT_STATUS
    if launched.left:
        yield WhyNot.PROCESSES_LEFT
    if is_process and not all((launched.argv_digest, launched.spawned, launched.program_digest)):
        yield WhyNot.FIELD_MISSING


def _delivered(record: AttemptRecord, delivery: Delivery) -> Iterator[WhyNot]:
    if not delivery.is_whole or not delivery.total_bytes:
        yield WhyNot.INPUT_INCOMPLETE
    if record.role is not Role.PRIMARY and (not delivery.codes or not delivery.is_received):
        yield WhyNot.RECEIPT_NOT_SHOWN
    if not delivery.digest:
        yield WhyNot.FIELD_MISSING


def _output(record: AttemptRecord, output: OutputTaken) -> Iterator[WhyNot]:
    if not output.is_whole:
        yield WhyNot.OUTPUT_CUT
    if record.role is Role.PRIMARY and not record.answer.strip():
        yield WhyNot.NO_CRITIQUE
    if record.role is not Role.PRIMARY and record.critique is None:
        yield WhyNot.NO_CRITIQUE
    if not output.answer_digest or not output.stdout_digest:
        yield WhyNot.FIELD_MISSING


def _is_other_model(record: AttemptRecord) -> bool:
    asked, served = record.models.asked, [one.id for one in record.models.reported if one.served]
    return bool(asked and served) and not any(same_model(asked, id) for id in served)

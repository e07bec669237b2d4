"""What happened -> the one typed end of an attempt. Pure: the same facts always end the same.

The order of the rules is the contract: what the machine knows (a changed repository, processes left, the
deadline, the exit status) comes before anything the reviewer says, so no answer outweighs a fault.
"""

from __future__ import annotations

import re
from typing import assert_never

from showcause.contract.critique import Heard
from showcause.contract.reading import Fault, Reading
from showcause.models import UNKNOWN_FAMILY, family_of
from showcause.process import Finished, How
from showcause.records import Record
from showcause.records.contract import (
    AttemptEnd,
    Delivery,
    ModelsTold,
    OutputTaken,
    Phase,
    ProviderFaultKind,
    Role,
)

__all__ = [
    "Conclusion",
    "Facts",
    "classify",
    "exit_status_of",
    "is_limit",
    "main_model",
    "phase_of",
    "same_model",
]


class Facts(Record, frozen=True, kw_only=True):
    """All that is known of an attempt once its tree is dead.

    `late` and `cancelled` are looked at after reaping. `status_fault` is what the adapter's table says of
    the exit status; `heard` is None for a primary, whose answer is read by its reviewer.
    """

    role: Role
    finished: Finished
    late: bool
    cancelled: bool
    delivery: Delivery
    output: OutputTaken
    reading: Reading
    status_fault: Fault | None
    heard: Heard | None
    models: ModelsTold
    tree_before: str
    tree_after: str


class Conclusion(Record, frozen=True, kw_only=True):
    """How it ended, and why. `fault` is set where a provider's fault is known."""

    ended: AttemptEnd
    why: str
    fault: Fault | None = None


def classify(facts: Facts) -> Conclusion:
    """The end of an attempt."""
    for rule in (_machine, _stopped, _process, _stream, _model, _answer):
        if found := rule(facts):
            return found
    return Conclusion(ended=AttemptEnd.COMPLETED, why="")


def _machine(facts: Facts) -> Conclusion | None:
    """What nothing that was said could outweigh."""
    if facts.tree_before != facts.tree_after:
        return Conclusion(ended=AttemptEnd.MUTATED, why="the repository is no longer what it was before")
    if facts.finished.leaked:
        why = f"{facts.finished.leaked} processes would not die"
        return Conclusion(ended=AttemptEnd.LEFT_PROCESSES, why=why)
    return None


def _stopped(facts: Facts) -> Conclusion | None:
    """The deadline and the cancellation, as the process door saw them and once more after reaping."""
    how = facts.finished.how
    if how is How.SPAWN_FAILED:
        return Conclusion(ended=AttemptEnd.SPAWN_FAILED, why=facts.finished.why)
    if how is How.CANCELLED or facts.cancelled:
        return Conclusion(ended=AttemptEnd.CANCELLED, why=f"cancelled while {phase_of(facts).value}")
    if how is How.TIMEOUT or facts.late:
        return Conclusion(ended=AttemptEnd.TIMEOUT, why=f"its time was over while {phase_of(facts).value}")
    return None


def phase_of(facts: Facts) -> Phase:
    """What was going on when it was stopped."""
    if facts.finished.how in (How.EXITED, How.SIGNALLED):
        return Phase.COUNTING
    whole = facts.delivery.accepted_bytes == facts.delivery.total_bytes
    return Phase.READING if whole else Phase.WRITING


def _process(facts: Facts) -> Conclusion | None:
    """The exit status, whatever was said (law 5); a fault that is told in spite of status 0; then whether
    all of the input was taken."""
    finished, told = facts.finished, facts.status_fault or facts.reading.fault
    match finished.how:
        case How.SIGNALLED if facts.status_fault is not None:
            fault = facts.status_fault
            return Conclusion(ended=AttemptEnd.PROVIDER_FAULT, why=fault.why, fault=fault)
        case How.SIGNALLED:
            return Conclusion(ended=AttemptEnd.PROCESS_CRASH, why=f"died of signal {finished.signal}")
        case How.EXITED if finished.exit_status != 0:
            if told is not None:
                return Conclusion(ended=AttemptEnd.PROVIDER_FAULT, why=told.why, fault=told)
            why = f"exit status {finished.exit_status}{_unread(facts.delivery)}"
            return Conclusion(ended=AttemptEnd.PROCESS_CRASH, why=why)
        case How.EXITED if facts.reading.fault is not None:
            fault = facts.reading.fault
            return Conclusion(ended=AttemptEnd.PROVIDER_FAULT, why=fault.why, fault=fault)
        case How.EXITED:
            return _input(facts.delivery)
        case How.TIMEOUT | How.CANCELLED | How.SPAWN_FAILED:
            raise ValueError(f"{finished.how} was looked at before")
        case _:
            assert_never(finished.how)


def _unread(delivery: Delivery) -> str:
    if delivery.accepted_bytes == delivery.total_bytes:
        return ""
    return f", having taken {delivery.accepted_bytes} of {delivery.total_bytes} bytes"


def _input(delivery: Delivery) -> Conclusion | None:
    if delivery.accepted_bytes == delivery.total_bytes:
        return None
    why = f"{delivery.accepted_bytes} of {delivery.total_bytes} bytes were taken"
    return Conclusion(ended=AttemptEnd.INPUT_DELIVERY_FAILED, why=why)


def _stream(facts: Facts) -> Conclusion | None:
    """What the output is, before what it says."""
    output, reading = facts.output, facts.reading
    if not output.is_whole:
        why = f"{output.stdout_bytes} bytes of output, {output.budget_bytes} are read"
        return Conclusion(ended=AttemptEnd.OUTPUT_TRUNCATED, why=why)
    if not output.stdout_bytes:
        return Conclusion(ended=AttemptEnd.EMPTY_RESPONSE, why="exit status 0, and not a byte of output")
    if reading.broken:
        return Conclusion(ended=AttemptEnd.MALFORMED_OUTPUT, why=reading.broken)
    if not reading.ended:
        why = "the stream stopped before its end"
        return Conclusion(ended=AttemptEnd.OUTPUT_TRUNCATED, why=why)
    if not facts.delivery.is_whole:
        why = f"what came back of the input is {facts.delivery.echo.value}"
        return Conclusion(ended=AttemptEnd.INPUT_DELIVERY_FAILED, why=why)
    if not reading.answer.strip():
        return Conclusion(ended=AttemptEnd.EMPTY_RESPONSE, why="exit status 0, and no answer")
    return None


def _model(facts: Facts) -> Conclusion | None:
    """Ids that came with the answer, none of which can be the model that was asked for."""
    asked, served = facts.models.asked, [one for one in facts.models.reported if one.served]
    if not asked or not served or any(same_model(asked, one.id) for one in served):
        return None
    told = ", ".join(f"{one.id} ({one.where})" for one in served)
    return Conclusion(ended=AttemptEnd.MODEL_MISMATCH, why=f"asked for {asked}, served was {told}"[:300])


def same_model(asked: str, served: str) -> bool:
    """Whether a served id can be the asked one: equal, a dated form of it, or what a bare alias names.

    A smaller model of the same family is another model.
    """
    ours, theirs = (one.casefold().rpartition("/")[2] for one in (asked, served))
    if ours == theirs or _undated(ours) == _undated(theirs):
        return True
    is_alias = ours.isalpha() and family_of(ours) != UNKNOWN_FAMILY
    return is_alias and ours in re.split(r"[^a-z]+", theirs)


def _undated(id: str) -> str:
    return re.sub(r"[-@:](?:\d{4}-\d\d-\d\d|\d{8}|latest)$", "", id)


def main_model(told: ModelsTold) -> str:
    """The id that wrote the answer; "undisclosed" where only what was asked for is known."""
    served = [one.id for one in told.reported if one.served]
    fitting = [id for id in served if same_model(told.asked, id)]
    return (fitting or served or ["undisclosed"])[-1]


def _answer(facts: Facts) -> Conclusion | None:
    """What a reviewer said; a primary's answer is its own."""
    heard = facts.heard
    if heard is None:
        return None
    if heard.is_empty:
        return Conclusion(ended=AttemptEnd.EMPTY_RESPONSE, why=heard.why)
    if heard.critique is None:
        return Conclusion(ended=AttemptEnd.MALFORMED_OUTPUT, why=heard.why)
    delivery = facts.delivery
    if not delivery.is_received:
        end = "" if delivery.nonce_back else ", not the word of the last line"
        why = f"{delivery.codes_back} of {delivery.codes} return codes came back{end}"
        return Conclusion(ended=AttemptEnd.INPUT_DELIVERY_FAILED, why=why)
    return None


def exit_status_of(ended: AttemptEnd) -> int:
    """The exit status of `turn`: 0 for a completed attempt only."""
    match ended:
        case AttemptEnd.COMPLETED:
            return 0
        case AttemptEnd.CANCELLED | AttemptEnd.INTERRUPTED:
            return 130
        case AttemptEnd.SPAWN_FAILED | AttemptEnd.REFUSED_VERSION | AttemptEnd.FAULT:
            return 4
        case (
            AttemptEnd.SAME_POOL | AttemptEnd.UNKNOWN_POOL | AttemptEnd.UNSAFE_ARGV
            | AttemptEnd.INPUT_TOO_LARGE | AttemptEnd.PRIMARY_INCOMPLETE | AttemptEnd.BUDGET_SPENT
            | AttemptEnd.INPUT_DELIVERY_FAILED | AttemptEnd.TIMEOUT | AttemptEnd.PROCESS_CRASH
            | AttemptEnd.EMPTY_RESPONSE | AttemptEnd.MALFORMED_OUTPUT | AttemptEnd.OUTPUT_TRUNCATED
            | AttemptEnd.PROVIDER_FAULT | AttemptEnd.MODEL_MISMATCH | AttemptEnd.MUTATED
            | AttemptEnd.LEFT_PROCESSES
        ):  # fmt: skip
            return 3
        case _:
            assert_never(ended)


def is_limit(kind: ProviderFaultKind) -> bool:
    """Whether waiting may help: a breaker opens until then."""
    return kind in (ProviderFaultKind.RATE_LIMIT, ProviderFaultKind.SPENT)

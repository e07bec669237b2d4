"""Runs a reviewer that is a program: composed, audited, confined, started by the one door, read."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import threading

import msgspec

from showcause.canon import digest
from showcause.clock import Deadline
from showcause.contract import refusals
from showcause.contract.adapters.base import Composed, Job
from showcause.contract.audit import spawned_as_audited
from showcause.contract.classify import Conclusion, main_model
from showcause.contract.launch import argv_digest, command_of, environment, masked, network_of, place
from showcause.contract.nouns import Means, Order
from showcause.contract.program import NotFound, Program, find_program
from showcause.contract.reading import Fault, Reading
from showcause.models import mask
from showcause.process import Command, Finished, How
from showcause.records import Record
from showcause.records.contract import AttemptEnd, Delivery, Launched, ModelsTold, OutputTaken
from showcause.sandbox import setup_failure

__all__ = ["Performed", "delivery_of", "models_of", "output_of", "perform"]

_TAIL = 2000
_ERRNO = re.compile(r"\[Errno (\d+)\]")


class Performed(Record, frozen=True, kw_only=True):
    """What came of running a reviewer, before anything was judged."""

    finished: Finished
    launched: Launched
    delivery: Delivery
    output: OutputTaken
    reading: Reading
    status_fault: Fault | None
    models: ModelsTold
    notes: tuple[str, ...] = ()


def perform(
    order: Order, means: Means, *, deadline: Deadline, cancel: threading.Event
) -> Performed | Conclusion:
    """Run it to its end, or say why nothing was spawned. Raises UsageError, SandboxFault."""
    adapter, spec = means.adapters[order.spec.kind], order.spec
    try:
        program = find_program(spec.command or (adapter.program,))
    except NotFound as error:
        return Conclusion(ended=AttemptEnd.SPAWN_FAILED, why=str(error))
    if refused := refusals.misbehaves(adapter, program) or refusals.input_too_large(adapter, order):
        return refused
    with place(spec) as there:
        job = Job(
            spec=spec, role=order.role, parcel=order.parcel, program=program.argv, home=there.home,
            folder=there.folder, repository=order.repository if spec.repository else "",
            key=os.environ.get(spec.api_key_env, "") if spec.api_key_env else "",
        )  # fmt: skip
        composed = adapter.compose(job)
        if refused := refusals.unsafe_argv(adapter, spec, composed.argv):
            return refused
        command = command_of(job, program, composed, means.sandbox, keep_bytes=order.output_bytes)
        finished = means.runtime.door(command, deadline=deadline, cancel=cancel, talk=composed.talk)
        names = tuple(sorted(environment(spec, program, composed, there.home)))
    run = _Run(program=program, composed=composed, command=command, finished=_started(finished), names=names)
    return _performed(order, means, run)


class _Run(Record, frozen=True, kw_only=True):
    """What was started, and how that went."""

    program: Program
    composed: Composed
    command: Command
    finished: Finished
    names: tuple[str, ...]


def _started(finished: Finished) -> Finished:
    """With a sandbox that could not start the command told as what it is."""
    if finished.how is How.EXITED and (why := setup_failure(finished)):
        return msgspec.structs.replace(finished, how=How.SPAWN_FAILED, exit_status=None, why=why)
    return finished


def _performed(order: Order, means: Means, run: _Run) -> Performed:
    adapter, finished = means.adapters[order.spec.kind], run.finished
    err, status = finished.stderr.kept, _status(finished)
    reading = adapter.read(finished.stdout.head, err, order.parcel.text)
    return Performed(
        finished=finished,
        launched=_launched(order, means, run),
        delivery=_delivered(order, run, reading),
        output=output_of(order, finished, reading, means),
        reading=reading,
        status_fault=adapter.status(status, err) if status else None,
        models=models_of(order, reading),
    )


def _status(finished: Finished) -> int | None:
    """As a shell has it. Some CLIs end with the low byte of an HTTP status, which reads like a signal."""
    return finished.exit_status if finished.signal is None else 128 + finished.signal


def _delivered(order: Order, run: _Run, reading: Reading) -> Delivery:
    if run.composed.in_argv:  # a command line is taken whole, or nothing is started
        size = len(order.parcel.data)
        taken = 0 if run.finished.how is How.SPAWN_FAILED else size
        return delivery_of(order, size, taken, reading)
    talk = run.composed.talk
    total = len(run.composed.stdin) if talk is None else talk.total
    return delivery_of(order, total, run.finished.stdin_accepted, reading)


def _launched(order: Order, means: Means, run: _Run) -> Launched:
    argv, finished, spec = run.composed.argv, run.finished, order.spec
    return Launched(
        argv=masked(argv, means.secrets),
        argv_digest=argv_digest(argv),
        spawned=argv_digest(run.command.argv),
        audited=spawned_as_audited(argv, finished.argv),
        program=run.program.real,
        program_digest=run.program.digest,
        version=run.program.version,
        environment=run.names,
        network=network_of(spec).value,
        confined=means.sandbox.report,
        readable=(*run.program.readable, *((order.repository,) if spec.repository else ())),
        exit_status=finished.exit_status,
        signal=finished.signal,
        errno=_errno(finished),
        left=finished.leaked,
    )


def _errno(finished: Finished) -> int | None:
    if finished.how is not How.SPAWN_FAILED:
        return None
    if found := _ERRNO.search(finished.why):
        return int(found[1])
    known = (number for number in errno.errorcode if os.strerror(number) in finished.why)
    with contextlib.suppress(StopIteration):
        return next(known)
    return None


def delivery_of(order: Order, total: int, accepted: int, reading: Reading) -> Delivery:
    """The account of the input; codes and nonce are looked at once the answer was read."""
    return Delivery(
        packet=order.parcel.id,
        total_bytes=total,
        accepted_bytes=accepted,
        echo=reading.echo,
        codes=len(order.parcel.codes),
        codes_back=0,
        nonce_back=False,
        digest=order.parcel.digest,
    )


def output_of(order: Order, finished: Finished, reading: Reading, means: Means) -> OutputTaken:
    err = finished.stderr.kept[-_TAIL:].decode("utf-8", "replace")
    return OutputTaken(
        stdout_bytes=finished.stdout.total_bytes,
        stderr_bytes=finished.stderr.total_bytes,
        budget_bytes=order.output_bytes,
        stdout_digest=digest(finished.stdout.kept),
        stderr_digest=digest(finished.stderr.kept),
        answer_digest=digest(reading.answer.encode("utf-8", "surrogatepass")) if reading.answer else "",
        stderr_tail=mask(err, means.secrets)[0],
    )


def models_of(order: Order, reading: Reading) -> ModelsTold:
    told = ModelsTold(asked=refusals.asked_model(order.spec), main="", reported=reading.models)
    return msgspec.structs.replace(told, main=main_model(told))

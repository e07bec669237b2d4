"""`showcause turn run` and `turn review`: a second provider's agent reads a finished turn.

Exit status 0 only for a complete review; 3 for any typed failure, 4 where nothing could be started, 130
where it was interrupted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from showcause.cli.common import cancellation, tell
from showcause.cli.options import directory_option

if TYPE_CHECKING:
    from showcause.contract import Attempted

__all__ = ["turn_command"]

_SCHEMA = "showcause/turn/1"
_FORMAT = click.option(
    "--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True
)
_TASK = click.option("--task", required=True, metavar="FILE|-", help="The instruction of the turn.")
_REVIEWER = click.option(
    "--reviewer", default="", metavar="NAME", help="A [reviewers.NAME]; default: [review] reviewer."
)
_UNSANDBOXED = click.option("--allow-unsandboxed", is_flag=True, help="Run even where nothing confines.")


@click.group("turn")
def turn_command() -> None:
    """Have an agent of another provider and another account review a turn.

    The answer is findings or no finding, or a typed failure; never accept or reject.
    """


@turn_command.command("review")
@_TASK
@click.option("--answer", default="", metavar="FILE|-", help="The primary's final answer.")
@click.option("--trace", default="", metavar="FILE", help="Its record, which ends with the answer.")
@click.option(
    "--author-pool", default="", metavar="P",
    help="What the primary draws on: PROVIDER/ACCOUNT (a model id may stand for the provider).",
)  # fmt: skip
@_REVIEWER
@directory_option
@_UNSANDBOXED
@_FORMAT
def _review(**told: Any) -> int:
    """Review a finished turn."""
    from showcause.cli.contracting import means_for, repository, reviewer_named, settings_at
    from showcause.contract import Turn, pool_of, review_turn
    from showcause.errors import UsageError

    if bool(told["answer"]) == bool(told["trace"]):
        raise UsageError("a finished turn is given by --answer or by --trace, one of them")
    if told["task"] == told["answer"] == "-":
        raise UsageError("only one of --task and --answer can come from standard input")
    with cancellation() as cancel:
        repo = repository(told["directory"])
        settings = settings_at(repo)
        spec = reviewer_named(settings, told["reviewer"] or settings.review.reviewer)
        turn = Turn(
            instruction=_text(told["task"]),
            answer=_text(told["answer"]) if told["answer"] else _answer_of(told["trace"]),
            author=pool_of(told["author_pool"] or settings.review.author_pool),
            repository=repo.top,
        )
        with means_for(repo, settings, (spec,), allow_unsandboxed=told["allow_unsandboxed"]) as (means,):
            done = review_turn(turn, spec, means, cancel=cancel)
    _print(done, None, told["format_"])
    return done.record.exit_status


@turn_command.command("run")
@click.option("--primary", required=True, metavar="NAME", help="The [reviewers.NAME] that answers.")
@_TASK
@_REVIEWER
@directory_option
@_UNSANDBOXED
@_FORMAT
def _run(**told: Any) -> int:
    """Have a primary answer, and another provider's agent review the answer."""
    from showcause.cli.contracting import means_for, repository, reviewer_named, settings_at
    from showcause.contract import Turn, review_turn, reviewer_pool, run_primary

    with cancellation() as cancel:
        repo = repository(told["directory"])
        settings = settings_at(repo)
        primary = reviewer_named(settings, told["primary"])
        spec = reviewer_named(settings, told["reviewer"] or settings.review.reviewer)
        task, allow = _text(told["task"]), told["allow_unsandboxed"]
        with means_for(repo, settings, (primary, spec), allow_unsandboxed=allow) as (first, second):
            answered = run_primary(task, primary, first, cancel=cancel)
            turn = Turn(
                instruction=task,
                answer=answered.record.answer,
                author=reviewer_pool(primary),
                turn=answered.record.ids.turn,
                repository=repo.top,
            )
            done = review_turn(turn, spec, second, cancel=cancel)
    _print(done, answered, told["format_"])
    return done.record.exit_status


def _text(name: str) -> str:
    """A file's text, or standard input's. Raises UsageError."""
    from showcause.errors import UsageError

    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}") from error
    return data.decode("utf-8", "backslashreplace")


def _answer_of(name: str) -> str:
    from showcause.contract.trace import final_answer

    answer = final_answer(_text(name).encode())
    if not answer:
        tell(f"{name} does not end with an answer of the agent")
    return answer


# ------------------------------------------------------------------ saying it


def _print(done: Attempted, answered: Attempted | None, format_: str) -> None:
    if format_ == "json":
        from showcause.canon import canonical_json

        told = {"schema": _SCHEMA, **_plain(done)}
        if answered is not None:
            told["primary"] = _plain(answered)
        click.echo(canonical_json(told).decode())
        return
    if answered is not None:
        _say(answered)
        if answered.record.answer:
            _block(answered.record.answer)
    _say(done)
    _findings(done)


def _plain(done: Attempted) -> dict[str, Any]:
    from showcause.canon import plain

    record = done.record
    return {
        "attempt": plain(record),
        "state": record.ended.value,
        "eligible": record.is_eligible,
        "why_not": [one.value for one in record.why_not],
        "findings": [plain(one) for one in record.critique.findings] if record.critique else [],
        "receipt": done.receipt,
    }


def _say(done: Attempted) -> None:
    from showcause.report.words import visible

    record = done.record
    why = f": {visible(record.why, 300)}" if record.why else ""
    click.echo(f"{record.role.value} {record.reviewer}: {record.ended.value}{why}")
    if record.why_not and record.is_eligible is False and not record.why:
        click.echo(f"  does not count: {', '.join(one.value for one in record.why_not)}")
    click.echo(f"  model {visible(record.models.main)}; {record.timing.wall_s:.1f} s; receipt {done.receipt}")


def _findings(done: Attempted) -> None:
    from showcause.report.words import visible

    critique = done.record.critique
    if critique is None:
        click.echo("  This is not a review, and no approval.")
        return
    if not critique.findings:
        click.echo("  No finding. This is advice: it neither accepts nor rejects.")
    for number, one in enumerate(critique.findings, 1):
        click.echo(f"  {number}. {visible(one.place)}: {visible(one.wrong)}")
        if one.trigger:
            click.echo(f"     when: {visible(one.trigger)}")


def _block(text: str) -> None:
    from showcause.report.words import visible

    for line in text.splitlines():
        click.echo(f"  | {visible(line)}")

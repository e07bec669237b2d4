"""`showcause outcome`, `precision` and `calibrate`: how power is earned and lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from showcause.cli.common import cancellation, opened_store, progress, tell
from showcause.cli.options import directory_option

if TYPE_CHECKING:
    from showcause.intervals import Rate
    from showcause.precision import Flow, RulePrecision
    from showcause.records import Calibration, Share

__all__ = ["calibrate_command", "outcome_command", "precision_command"]

_format = click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text")


@click.command("outcome")
@click.argument("receipt")
@click.option("--right", "is_right", flag_value=True, type=bool, help="The verdict turned out right.")
@click.option("--wrong", "is_right", flag_value=False, type=bool, help="It turned out wrong.")
@click.option("--note", default="", help="How it turned out.")
@directory_option
def outcome_command(receipt: str, is_right: bool | None, note: str, directory: str) -> int:
    """Note how the verdict of RECEIPT turned out. The last word counts; all are kept."""
    from showcause.errors import UsageError
    from showcause.records import Verdict
    from showcause.store import Judged

    if is_right is None:
        raise UsageError("say --right or --wrong")
    with opened_store(directory) as store:
        found = store.get(receipt)
        if found.body.verdict not in (Verdict.ACCEPT, Verdict.REJECT):
            raise UsageError(f"review {found.id} decided nothing: there is no verdict to be right or wrong")
        store.judge(found.id, Judged.RIGHT if is_right else Judged.WRONG, note)
    click.echo(f"{found.id}: {found.body.verdict.value} was {'right' if is_right else 'wrong'}")
    return 0


@click.command("precision")
@click.option(
    "--base-rate",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Share of defective patches to carry the figures to.",
)
@click.option("--flow", "with_flow", is_flag=True, help="Also where reviews are decided, by month.")
@directory_option
@_format
def precision_command(base_rate: float | None, with_flow: bool, directory: str, format_: str) -> int:
    """How often each rule was right here, with exact intervals."""
    import msgspec

    from showcause.pipeline.earning import judged_of, receipts_of
    from showcause.precision import by_rule, flow

    with opened_store(directory) as store:
        judged = judged_of(store)
        rules = by_rule(judged, base_rate)
        months = flow({id: one.body for id, one in receipts_of(store).items()}) if with_flow else ()
    if format_ == "json":
        told = {"schema": "showcause/precision/1", "judged": len(judged), "rules": rules, "flow": months}
        click.echo(msgspec.json.format(msgspec.json.encode(told), indent=2).decode())
        return 0
    for line in (*_precision(rules, len(judged), base_rate), *_flow(months)):
        click.echo(line)
    return 0


@click.command("calibrate")
@click.argument("name")
@click.option("--cases", metavar="FILE", help="Known cases of your own, besides the shipped ones.")
@click.option("--record", default="", metavar="DIR", help="Keep every exchange with the model in DIR.")
@click.option("--replay", default="", metavar="DIR", help="Take exchanges from DIR; none is asked.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting.")
@directory_option
@_format
def calibrate_command(
    name: str,
    cases: str | None,
    record: str,
    replay: str,
    settings: tuple[str, ...],
    directory: str,
    format_: str,
) -> int:
    """Ask the reviewer NAME about cases whose answers are known, and grant the powers that it earns."""
    import msgspec

    from showcause.calibrate import read_cases, shipped_cases
    from showcause.cli.common import overrides_of
    from showcause.pipeline import Request
    from showcause.pipeline.earning import calibrate_reviewer

    known = (*shipped_cases(), *(read_cases(cases) if cases else ()))
    request = Request(directory=directory, record=record, replay=replay, overrides=overrides_of(settings))
    with cancellation() as cancel:
        found = calibrate_reviewer(request, name, known, say=progress(), cancel=cancel)
    if cancel.is_set():
        tell("interrupted: what was asked so far is kept as it is")
        return 130
    if format_ == "json":
        told = {"schema": "showcause/calibration/1", **msgspec.to_builtins(found)}
        click.echo(msgspec.json.format(msgspec.json.encode(told), indent=2).decode())
    else:
        for line in _calibration(found):
            click.echo(line)
    return 0


# ------------------------------------------------------------------ words


def _precision(rules: tuple[RulePrecision, ...], judged: int, base_rate: float | None) -> Iterator[str]:
    if not rules:
        yield f"no rejection was judged yet ({judged} judged): showcause outcome RECEIPT --right|--wrong"
        return
    there = f"  at a base rate of {base_rate:.2f}" if base_rate is not None else ""
    yield f"{'rule':16}{'right':>8}  precision  95 % interval{there}"
    for one in rules:
        carried = "" if base_rate is None else "  -" if one.carried is None else f"  {one.carried:.2f}"
        yield f"{one.rule.value:16}{one.right.right:>4}/{one.right.n:<4} {_value(one.right)}{carried}"


def _value(rate: Rate) -> str:
    value = "   -" if rate.value is None else f"{rate.value:.2f}"
    return f"{value:>8}   {rate.low:.2f}-{rate.high:.2f}"


def _flow(months: tuple[Flow, ...]) -> Iterator[str]:
    for month in months:
        stages = ", ".join(f"{count} by {stage}" for stage, count in month.decided.items()) or "none"
        left = f"{month.uncertain} left uncertain, {month.other} ended otherwise"
        yield f"{month.month}: {month.reviews} reviews; decided: {stages}; {left}"


def _calibration(found: Calibration) -> Iterator[str]:
    yield f"reviewer {found.reviewer} ({found.model or 'a person'}), {len(found.answers)} known answers"
    shares = (
        ("accepts that were right", found.accepts),
        ("rejects that were right", found.rejects),
        ("catch (defective ones rejected)", found.catch),
        ("over-rejection (correct ones rejected)", found.over_rejection),
        ("votes against their own evidence", found.contradicting),
    )
    yield from (f"  {words:40} {_share(share)}" for words, share in shares)
    unread = sum(one.verdict is None for one in found.answers)
    if unread:
        yield f"  {'answers of which no vote could be read':40} {unread} of {len(found.answers)}"
    yield from (f"power to {why}" for why in found.why)


def _share(share: Share) -> str:
    value = f"{share.count / share.n:.2f}" if share.n else "-"
    return f"{share.count} of {share.n} = {value} [{share.low:.2f}, {share.high:.2f}]"

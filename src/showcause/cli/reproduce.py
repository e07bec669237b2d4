"""`showcause reproduce`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from showcause.cli.common import cancellation, progress
from showcause.cli.options import directory_option

if TYPE_CHECKING:
    from showcause.pipeline import Reproduced

__all__ = ["reproduce_command"]


@click.command("reproduce")
@click.argument("receipt")
@directory_option
def reproduce_command(receipt: str, directory: str) -> int:
    """Run the causes of a rejection again: RECEIPT is an id, or ID#N for its Nth cause.

    Exit 1 if every cause shows again, 3 if one does not.
    """
    from showcause.pipeline import reproduce

    with cancellation() as cancel:
        found, again = reproduce(directory, receipt, say=progress(), cancel=cancel)
    numbers = {cause: number for number, cause in enumerate(found.body.causes, 1)}
    for one in again:
        _print(one, f"{found.id}, cause {numbers[one.cause]} of {len(numbers)}")
    return 1 if all(one.now for one in again) else 3


def _print(one: Reproduced, title: str) -> None:
    from showcause.report.words import visible

    cause, now = one.cause, one.now
    click.echo(f"{title}: {visible(cause.rule.value)}: {visible(cause.message)}")
    click.echo(f"  then  base: {visible(cause.base)}")
    click.echo(f"        head: {visible(cause.head)}")
    if now:
        click.echo(f"  now   base: {visible(now.base)}")
        click.echo(f"        head: {visible(now.head)}")
        click.echo("  it shows again")
        return
    item = next((item for check in one.checks for item in check.items if item.id == cause.item), None)
    if item:
        click.echo(f"  now   base: {item.base.value}, head: {item.head.value} ({item.attribution.value})")
    else:
        states = {visible(f"{check.state.value} {check.why}", 500) for check in one.checks}
        click.echo(f"  now   it was not run: {'; '.join(sorted(states)) or 'no check ran'}")
    click.echo("  it does not show again")

"""`showcause show`, `list` and `verify`: reading the store."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from showcause.cli.common import opened_store, wants_colour
from showcause.cli.options import directory_option, format_option, verbose_option

if TYPE_CHECKING:
    from showcause.store import Row

__all__ = ["list_command", "show_command", "verify_command"]


@click.command("show")
@click.argument("receipt", default="")
@directory_option
@verbose_option
@format_option
def show_command(receipt: str, directory: str, verbose: bool, format_: str) -> int:
    """Show a receipt: the last one, or the one whose id starts with RECEIPT."""
    from showcause.errors import UsageError
    from showcause.report import render, text

    with opened_store(directory) as store:
        found = store.get(receipt) if receipt else store.latest()
    if found is None:
        raise UsageError("nothing was reviewed in this repository yet")
    if format_ == "text":
        click.echo(text.render(found, verbose=verbose, color=wants_colour()), nl=False)
    else:
        sys.stdout.buffer.write(render(found, format_))
    return 0


@click.command("list")
@directory_option
@click.option("-n", "--limit", default=20, show_default=True, help="How many, the newest first.")
@format_option
def list_command(directory: str, limit: int, format_: str) -> int:
    """List what was reviewed, the newest first."""
    from showcause.canon import canonical_json

    with opened_store(directory) as store:
        rows = store.page(limit)
        count = store.count()
    if format_ == "json":
        click.echo(canonical_json(list(rows)).decode())
        return 0
    for row in rows:
        click.echo(_line(row))
    if count > len(rows):
        click.echo(f"... {count - len(rows)} older")
    if not count:
        click.echo("nothing was reviewed in this repository yet")
    return 0


def _line(row: Row) -> str:
    from showcause.report.words import outcome_word, visible

    word = outcome_word(row.ended, row.verdict)
    causes = f", {row.causes} cause{'s' if row.causes > 1 else ''}" if row.causes else ""
    why = f"  {visible(row.why, 80)}" if row.why else ""
    return f"{row.id}  {row.created[:19]}Z  {word}{causes}{why}"


@click.command("verify")
@directory_option
@click.option("--head", default="", metavar="DIGEST", help="The digest that must be in the chain.")
@click.option("--key", metavar="FILE", help="The key that receipts are signed with.")
def verify_command(directory: str, head: str, key: str | None) -> int:
    """Check that no receipt was changed, removed or reordered. Exit 1 if one was."""
    from showcause.receipt import read_key
    from showcause.report.words import visible
    from showcause.store import chain

    with opened_store(directory) as store:
        report = chain.verify(store.entries(), head=head, key=read_key(Path(key)) if key else b"")
    for problem in report.problems:
        click.echo(f"{problem.kind.value}: {visible(problem.text)} (receipt {visible(problem.id) or '-'})")
    click.echo(f"{report.count} receipts, {len(report.problems)} problems; head {report.head}")
    for limit in report.limits:
        click.echo(f"not shown by this: {limit}")
    return 0 if report.is_valid else 1

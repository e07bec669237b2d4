"""`showcause demo`: six patches for one issue, reviewed without and with an official suite."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from showcause.cli.common import cancellation, wants_colour
from showcause.errors import Cancelled, UsageError

if TYPE_CHECKING:
    import threading

    from showcause.demo import DemoPatch
    from showcause.receipt import Receipt

__all__ = ["demo_command"]

_COLOURS = {"accept": "green", "reject": "red"}


@click.command("demo")
@click.option("--keep", metavar="DIR", help="Leave the demo's repository in DIR (made new).")
def demo_command(keep: str | None) -> int:
    """Review six patches of a bundled little repository: what each is, and what can be shown of it."""
    from showcause import demo
    from showcause.pipeline.folder import working_folder

    click.echo("The issue:\n")
    click.echo("".join(f"    {line}\n" for line in demo.ISSUE.read_text().splitlines()))
    with cancellation() as cancel, working_folder("/nowhere") as folder:
        if keep:
            _make_new(keep)
        repository = demo.make_demo(keep or folder)
        click.echo(f"{'patch':<22} {'checks alone':<14} {'with an official suite':<24} why")
        for patch in demo.PATCHES:
            alone = _review(repository, patch, "", cancel)
            settled = _review(repository, patch, str(demo.OFFICIAL), cancel)
            _row(patch, alone, settled)
    click.echo("\nNo check accepted anything: without a suite that is declared to be the whole oracle, the")
    click.echo("best a patch can get is `uncertain`. Each rejection has a cause that anyone can run again.")
    if keep:
        click.echo(f"\nTry it: cd {repository}; showcause list; showcause show; showcause reproduce ID#1")
    return 0


def _make_new(folder: str) -> None:
    try:
        os.makedirs(folder)
    except OSError as error:
        raise UsageError(f"--keep {folder}: {error.strerror}") from error


def _review(repository: str, patch: DemoPatch, official: str, cancel: threading.Event) -> Receipt:
    from showcause import demo
    from showcause.pipeline import Request, review
    from showcause.records import Ended

    request = Request(
        directory=repository,
        diff=patch.file.read_bytes(),
        issue=demo.ISSUE.read_bytes(),
        official=official,
        overrides={"suite.python": sys.executable, "suite.runner": "unittest"},
    )
    receipt = review(request, cancel=cancel).receipt
    if receipt.body.ended is Ended.INTERRUPTED:
        raise Cancelled("interrupted")
    return receipt


def _row(patch: DemoPatch, alone: Receipt, settled: Receipt) -> None:
    cells = [f"{patch.title:<22}", _verdict(alone, 14), _verdict(settled, 24), _why(alone, settled)]
    click.echo(" ".join(cells))


def _verdict(receipt: Receipt, width: int) -> str:
    from showcause.report.words import outcome_word

    word = outcome_word(receipt.body.ended, receipt.body.verdict)
    padded = f"{word:<{width}}"
    return click.style(padded, fg=_COLOURS.get(word, "yellow")) if wants_colour() else padded


def _why(alone: Receipt, settled: Receipt) -> str:
    from showcause.report.words import visible

    causes = alone.body.causes or settled.body.causes
    if causes:
        item = causes[0].item.rsplit(".", 1)[-1] if causes[0].rule.value == "official_suite" else ""
        return visible(f"{item} fails" if item else causes[0].message, 60)
    return "" if settled.body.verdict else visible(settled.body.why, 70)

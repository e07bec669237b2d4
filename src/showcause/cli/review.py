"""`showcause review`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from showcause.cli.common import (
    cancellation,
    directory_option,
    format_option,
    overrides_of,
    progress,
    wants_colour,
)
from showcause.errors import UsageError

if TYPE_CHECKING:
    from showcause.pipeline import Reviewed

__all__ = ["review_command"]

_BUDGET_S, _BUDGET_IN_CI_S = 60.0, 300.0


@click.command("review")
@directory_option
@click.option("--issue", metavar="FILE|-|TEXT", help="What was asked for: a file, standard input, or text.")
@click.option("--base", default="", metavar="REV", help="Compare with REV (where the head left it).")
@click.option("--head", default="", metavar="REV", help="Review REV instead of the work tree.")
@click.option("--staged", is_flag=True, help="Review what is staged.")
@click.option("--commit", default="", metavar="REV", help="Review one commit against its parent.")
@click.option("--diff", metavar="FILE|-", help="Review a patch, on base.")
@click.option("--official", default="", metavar="FILE", help="A suite that is the whole oracle.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting, such as suite.python=PATH."
)
@click.option("--allow-unsandboxed", is_flag=True, help="Run code even where it cannot be confined.")
@click.option("--allow-uncertain", is_flag=True, help="Exit 0 where nothing was shown either way.")
@click.option("--fresh", is_flag=True, help="Review again even if these very trees were reviewed before.")
@click.option("-v", "--verbose", is_flag=True, help="Show all, shorten nothing.")
@format_option
def review_command(  # noqa: PLR0913, PLR0917  one parameter per option
    directory: str,
    issue: str | None,
    base: str,
    head: str,
    staged: bool,
    commit: str,
    diff: str | None,
    official: str,
    settings: tuple[str, ...],
    allow_unsandboxed: bool,
    allow_uncertain: bool,
    fresh: bool,
    verbose: bool,
    format_: str,
) -> int:
    """Review a patch: the work tree against where it left the default branch, unless told otherwise."""
    from showcause.pipeline import Request, review

    if issue == "-" and diff == "-":
        raise UsageError("--issue and --diff cannot both come from standard input")
    overrides = overrides_of(settings)
    if allow_unsandboxed:
        overrides["sandbox.allow_unsandboxed"] = True
    request = Request(
        directory=directory,
        base=base,
        head=head,
        staged=staged,
        commit=commit,
        diff=_bytes_of(diff, "--diff") if diff is not None else None,
        issue=_issue(issue) if issue is not None else None,
        official=official,
        overrides=overrides,
        budget_s=_BUDGET_IN_CI_S if os.environ.get("CI") else _BUDGET_S,
        fresh=fresh,
    )
    with cancellation() as cancel:
        reviewed = review(request, say=progress(), cancel=cancel)
    return _print(reviewed, format_, verbose=verbose, allow_uncertain=allow_uncertain)


def _print(reviewed: Reviewed, format_: str, *, verbose: bool, allow_uncertain: bool) -> int:
    from showcause.receipt import exit_status
    from showcause.report import render
    from showcause.report.words import visible

    receipt = reviewed.receipt
    if format_ == "text":
        from showcause.report import text

        for note in reviewed.notes:
            click.echo(f"showcause: {visible(note)}", err=True)
        if reviewed.from_store:
            click.echo("showcause: the same trees were reviewed before; --fresh reviews again", err=True)
        click.echo(text.render(receipt, verbose=verbose, color=wants_colour()), nl=False)
    else:
        sys.stdout.buffer.write(render(receipt, format_))
        sys.stdout.buffer.flush()
    return exit_status(receipt.body.ended, receipt.body.verdict, allow_uncertain)


def _issue(told: str) -> bytes:
    """A file, standard input, or the text itself: a text with white space in it is no file name."""
    if told == "-" or os.path.exists(told):
        return _bytes_of(told, "--issue")
    if not told.strip():
        raise UsageError("--issue is empty")
    if not any(char.isspace() for char in told):
        raise UsageError(f"--issue {told!r}: there is no such file (a text has more than one word)")
    return told.encode("utf-8", "surrogateescape")


def _bytes_of(told: str, option: str) -> bytes:
    if told == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(told).read_bytes()
    except OSError as error:
        raise UsageError(f"{option} {told}: {error.strerror}") from error

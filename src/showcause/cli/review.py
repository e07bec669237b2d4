"""`showcause review`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from showcause.cli.common import cancellation, overrides_of, progress, tell, wants_colour
from showcause.errors import UsageError

if TYPE_CHECKING:
    from showcause.pipeline import Request, Reviewed
    from showcause.records import Probe

__all__ = ["request_of", "review"]

_BUDGET_S, _BUDGET_IN_CI_S = 60.0, 300.0


def review(  # noqa: PLR0913  one parameter per option of `table.REVIEW`
    *,
    directory: str,
    issue: str | None,
    base: str,
    head: str,
    staged: bool,
    commit: str,
    diff: str | None,
    official: str,
    probe: tuple[str, ...],
    record: str,
    replay: str,
    settings: tuple[str, ...],
    allow_unsandboxed: bool,
    allow_uncertain: bool,
    fresh: bool,
    verbose: bool,
    format_: str,
) -> int:
    """Review a patch: the work tree against where it left the default branch, unless told otherwise."""
    from showcause import pipeline

    request = request_of(
        directory=directory,
        issue=issue,
        base=base,
        head=head,
        staged=staged,
        commit=commit,
        diff=diff,
        official=official,
        probe=probe,
        record=record,
        replay=replay,
        settings=settings,
        allow_unsandboxed=allow_unsandboxed,
        fresh=fresh,
    )
    with cancellation() as cancel:
        reviewed = pipeline.review(request, say=progress(), cancel=cancel)
    return _print(reviewed, format_, verbose=verbose, allow_uncertain=allow_uncertain)


def request_of(  # noqa: PLR0913  one parameter per option
    *,
    directory: str,
    issue: str | None,
    base: str,
    head: str,
    staged: bool,
    commit: str,
    diff: str | None,
    official: str,
    probe: tuple[str, ...],
    record: str,
    replay: str,
    settings: tuple[str, ...],
    allow_unsandboxed: bool,
    fresh: bool,
) -> Request:
    """What the options ask for. Raises UsageError for what cannot be read."""
    from showcause.pipeline import Request

    if issue == "-" and diff == "-":
        raise UsageError("--issue and --diff cannot both come from standard input")
    overrides = overrides_of(settings)
    if allow_unsandboxed:
        overrides["sandbox.allow_unsandboxed"] = True
    return Request(
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
        probes=_probes(probe),
        record=record,
        replay=replay,
    )


def _print(reviewed: Reviewed, format_: str, *, verbose: bool, allow_uncertain: bool) -> int:
    from showcause.receipt import exit_status
    from showcause.report import render

    receipt = reviewed.receipt
    if format_ == "text":
        from showcause.report import text

        for note in reviewed.notes:
            tell(note)
        if reviewed.from_store:
            tell("the same trees were reviewed before; --fresh reviews again")
        print(text.render(receipt, verbose=verbose, color=wants_colour()), end="", flush=True)
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


def _probes(paths: tuple[str, ...]) -> tuple[Probe, ...]:
    if not paths:
        return ()
    from showcause.probes import read_probes

    return tuple(probe for path in paths for probe in read_probes(path))


def _bytes_of(told: str, option: str) -> bytes:
    if told == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(told).read_bytes()
    except OSError as error:
        raise UsageError(f"{option} {told}: {error.strerror}") from error

"""The report as a comment on a pull request: causes first, short, the rest folded away.

All text from outside stands in code spans, where it can neither format, link, mention nor close them.
The first line is a marker by which the comment of an earlier review is found and replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from showcause.receipt import Receipt, ending
from showcause.records import Cause, ReviewRecord
from showcause.report.judging import probe_lines, review_lines
from showcause.report.tally import in_words
from showcause.report.words import headline, plural, short_id, visible

__all__ = ["MARKER", "code", "render"]

MARKER = "<!-- showcause review -->"
_CAUSES, _LISTED = 5, 10
_WIDE, _LONG = 240, 800


def render(receipt: Receipt) -> str:
    """A receipt as GitHub-flavoured Markdown with a final newline."""
    return "\n".join(_lines(receipt)).rstrip() + "\n"


def code(text: str, limit: int = _WIDE) -> str:
    """`text` as one code span, whatever backticks it holds."""
    line = visible(text, limit) or " "
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _lines(receipt: Receipt) -> Iterator[str]:
    body = receipt.body
    end = ending(body.ended, body.verdict)
    title, _, why = headline(receipt).partition(": ")
    yield from (MARKER, f"### showcause: {title}", "")
    yield f"{code(why) if body.why else why}{f' {end.note}' if end.note else ''}"
    for number, cause in enumerate(body.causes[:_CAUSES], 1):
        yield from ("", *_cause(receipt.id, number, cause))
    if len(body.causes) > _CAUSES:
        yield from ("", f"... and {plural(len(body.causes) - _CAUSES, 'more cause')}.")
    yield from _folded("Evidence", _evidence(body))
    yield from _folded(
        "The patch edits what judges it", [f"{code(t.path)}: {code(t.what)}" for t in body.tampering]
    )
    yield from _folded("Probes", [code(line, _LONG) for line in probe_lines(body)])
    if body.review is not None:
        yield from _folded("Reviewer", [code(line, _LONG) for line in review_lines(body.review)])
    yield from _folded(
        "Not checked",
        [
            f"{code(n.what)}: {code(n.why)}{' (caps the verdict)' if n.caps else ''}"
            for n in sorted(body.not_checked, key=lambda note: not note.caps)
        ],
    )
    yield from _folded(
        "Checks", [f"{code(check.id)}: {code(in_words(check), _LONG)}" for check in body.checks]
    )
    yield from ("", _foot(receipt))


def _cause(id: str, number: int, cause: Cause) -> Iterator[str]:
    place = f" at {code(f'{cause.path}:{cause.line}' if cause.line else cause.path)}" if cause.path else ""
    yield f"**{number}. {cause.rule.value}**{place}: {code(cause.message)}"
    yield from (f"- base: {code(cause.base or 'nothing recorded')}", f"- head: {code(cause.head)}")
    yield f"- run it again: {code(f'showcause reproduce {id}#{number}')}"


def _evidence(body: ReviewRecord) -> list[str]:
    caused = {cause.item for cause in body.causes}
    return [
        f"{one.kind.value}, {code(one.state)}: {code(one.text)}"
        for one in body.evidence
        if not one.items or not caused.issuperset(one.items)
    ]


def _folded(title: str, entries: Sequence[str]) -> Iterable[str]:
    if not entries:
        return
    yield from ("", f"<details><summary>{title} ({len(entries)})</summary>", "")
    yield from (f"- {entry}" for entry in entries[:_LISTED])
    if len(entries) > _LISTED:
        yield f"- ... and {len(entries) - _LISTED} more"
    yield from ("", "</details>")


def _foot(receipt: Receipt) -> str:
    bound = receipt.body.bound_to
    sandbox = receipt.body.sandbox
    confined = f"sandbox level {sandbox.level} of 4" if sandbox else "nothing was run"
    return (
        f"<sub>receipt {code(receipt.id)} · base {code(short_id(bound.base_tree))} · "
        f"head {code(short_id(bound.head_tree))} · {confined} · "
        f"{receipt.body.wall_s:.1f} s · exit status {receipt.body.exit_status}</sub>"
    )

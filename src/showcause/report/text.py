"""The report for a person at a terminal.

Without colour it is plain text that says all; colour only repeats it. Lists and messages are cut, and
say so; `verbose` does not cut them. All text from outside passes through `words.visible` or
`words.paragraph`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from showcause.receipt import Receipt, ending
from showcause.records import (
    Cause,
    CheckResult,
    Enforced,
    Enforcement,
    Evidence,
    NotChecked,
    ReviewRecord,
    RunState,
    SandboxReport,
    Verdict,
)
from showcause.report.judging import probe_files, probe_lines, review_lines
from showcause.report.tally import in_words
from showcause.report.words import headline, paragraph, short_id, visible

__all__ = ["render"]

_CAUSES, _LINES, _EVIDENCE, _TAMPERING, _GROUPS, _NAMES, _PROBES = 10, 6, 6, 5, 5, 3, 8
_ALL = 1_000_000_000
_NAME = 80
_WIDE = 200
_LABEL = 10

Span = tuple[str, str]  # text, style
Line = tuple[Span, ...]


def render(receipt: Receipt, *, verbose: bool = False, color: bool = False) -> str:
    """A receipt as text with a final newline; `color` adds ANSI codes and changes no character."""
    lines = list(_lines(receipt, verbose))
    return _styled(lines) if color else _plain(lines)


def _lines(receipt: Receipt, verbose: bool) -> Iterator[Line]:
    body = receipt.body
    more = _More(receipt.id, verbose)
    yield from _head(receipt)
    rejected = ending(body.ended, body.verdict).verdict is Verdict.REJECT
    title = "Causes" if rejected else "Found, but it does not count"
    yield from _section(title, len(body.causes), _causes(receipt, more))
    evidence = _beside_causes(body)
    yield from _section("Evidence", len(evidence), _evidence(evidence, more))
    touched = [f"{visible(edit.path)}: {visible(edit.what)}" for edit in body.tampering]
    title = "The patch edits what judges it"
    yield from _section(title, len(touched), more.cut(map(_bullet, touched), len(touched), _TAMPERING))
    yield from _section("Probes", len(body.probes) + len(body.written), _probes(body, more))
    if body.review is not None:
        lines = review_lines(body.review)
        yield from _section("Reviewer", len(body.review.ballot.votes), map(_bullet, lines))
    yield from _section("Not checked", len(body.not_checked), _not_checked(body.not_checked, more))
    yield from _section("Checks", len(body.checks), _checks(body.checks, verbose))
    yield ()
    yield from _foot(receipt)


class _More:
    """Cuts lists, and says where the rest is."""

    def __init__(self, id: str, verbose: bool) -> None:
        self.verbose = verbose
        self.where = f"showcause show {visible(id)} --verbose"

    def limit(self, count: int) -> int:
        return _ALL if self.verbose else count

    def paragraph(self, text: str, lines: int) -> list[str]:
        return paragraph(text, self.limit(lines), self.limit(_WIDE))

    def cut(self, lines: Iterable[Line], count: int, limit: int) -> Iterator[Line]:
        """The first `limit` of `count` one-line entries, and how many more there are."""
        for number, line in enumerate(lines):
            if number == self.limit(limit):
                break
            yield line
        yield from self.rest(count, limit)

    def rest(self, count: int, limit: int) -> Iterator[Line]:
        if count > self.limit(limit):
            yield (("  ", ""), (f"and {count - limit} more ({self.where})", "dim"))


def _section(title: str, count: int, lines: Iterable[Line]) -> Iterator[Line]:
    if count:
        yield ()
        yield ((f"{title} ({count})", "bold"),)
        yield from lines


def _bullet(text: str) -> Line:
    return ((f"  - {text}", ""),)


# ------------------------------------------------------------------ the verdict


def _head(receipt: Receipt) -> Iterator[Line]:
    end = ending(receipt.body.ended, receipt.body.verdict)
    title, colon, why = headline(receipt).partition(": ")
    yield ((title, _verdict_style(end.verdict, end.exit_status)), (colon + why, "bold"))
    if end.note:
        yield ((end.note, ""),)


def _verdict_style(verdict: Verdict | None, status: int) -> str:
    if status in (4, 130):
        return "bold magenta"
    return {Verdict.ACCEPT: "bold green", Verdict.REJECT: "bold red", None: "bold"}.get(
        verdict, "bold yellow"
    )


def _causes(receipt: Receipt, more: _More) -> Iterator[Line]:
    causes = receipt.body.causes
    for number, cause in enumerate(causes[: more.limit(_CAUSES)], 1):
        yield from _cause(receipt.id, number, cause, more)
    yield from more.rest(len(causes), _CAUSES)


def _cause(id: str, number: int, cause: Cause, more: _More) -> Iterator[Line]:
    place = visible(cause.path) + (f":{cause.line}" if cause.line is not None else "")
    named = [cause.rule.value, visible(cause.item), place if place not in cause.item else ""]
    yield ((f"  {number}. ", "bold"), ("  ".join(filter(None, named)), "red"))
    for line in more.paragraph(cause.message, _LINES):
        yield ((f"     | {line}", ""),)
    for side, told in (("base", cause.base), ("head", cause.head)):
        first, *rest = more.paragraph(told, _LINES) or ["nothing recorded"]
        yield ((f"     {side}: ", "bold"), (first, ""))
        yield from (((f"         | {line}", ""),) for line in rest)
    yield (("     reproduce: ", "bold"), (f"showcause reproduce {visible(id)}#{number}", "cyan"))


# ------------------------------------------------------------------ what else was seen


def _beside_causes(body: ReviewRecord) -> list[Evidence]:
    """Evidence less what the causes above say already."""
    caused = {cause.item for cause in body.causes}
    return [one for one in body.evidence if not one.items or not caused.issuperset(one.items)]


def _evidence(evidence: Sequence[Evidence], more: _More) -> Iterator[Line]:
    for one in evidence[: more.limit(_EVIDENCE)]:
        first, *rest = more.paragraph(one.text, 2) or ["(no text)"]
        yield (("  - ", ""), (f"[{one.kind.value}, {visible(one.state)}] ", "dim"), (first, ""))
        yield from (((f"    | {line}", ""),) for line in rest)
    yield from more.rest(len(evidence), _EVIDENCE)


def _probes(body: ReviewRecord, more: _More) -> Iterator[Line]:
    lines = probe_lines(body)
    yield from more.cut(map(_bullet, lines), len(lines), _PROBES)
    for result in body.probes if more.verbose else ():
        yield from (((f"    | {line}", "dim"),) for line in probe_files(result))


def _not_checked(left: Sequence[NotChecked], more: _More) -> Iterator[Line]:
    """Grouped by reason; what caps the verdict comes first, so that no cut can hide it."""
    groups: dict[tuple[bool, str], list[str]] = {}
    for one in sorted(left, key=lambda one: not one.caps):
        groups.setdefault((one.caps, one.why), []).append(visible(one.what))
    lines = [_group(caps, why, names, more) for (caps, why), names in groups.items()]
    capping = sum(caps for caps, _ in groups)
    yield from more.cut(lines, len(lines), max(_GROUPS, capping))


def _group(caps: bool, why: str, names: Sequence[str], more: _More) -> Line:
    shown = names[: more.limit(_NAMES)]
    rest = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    line = (f"  - {', '.join(shown)}{rest}: {visible(why)}", "")
    return (line, (" (so the verdict can be no better than uncertain)", "yellow")) if caps else (line,)


def _checks(checks: Sequence[CheckResult], verbose: bool) -> Iterator[Line]:
    width = max(len(visible(check.id, _NAME)) for check in checks)
    for check in checks:
        style = "" if check.state is RunState.COMPLETE else "yellow"
        yield ((f"  {visible(check.id, _NAME):<{width}}  ", ""), (in_words(check), style))
        for item in check.items if verbose else ():
            told = f"base {item.base.value}, head {item.head.value}: {item.attribution.value}"
            note = f" ({visible(item.note)})" if item.note else ""
            yield ((f"    {visible(item.id)}  {told}{note}", "dim"),)


# ------------------------------------------------------------------ what the verdict rests on


def _foot(receipt: Receipt) -> Iterator[Line]:
    body = receipt.body
    yield from _sandbox(body.sandbox, ran=bool(body.checks))
    bound = body.bound_to
    parts = (("base", bound.base_tree), ("head", bound.head_tree), ("patch", bound.patch))
    yield _labelled("Bound to", ", ".join(f"{name} {short_id(id)}" for name, id in parts))
    status = f"exit status {body.exit_status}"
    if body.exit_status == 0 and ending(body.ended, body.verdict).exit_status == 3:
        status += " because --allow-uncertain was given"
    yield _labelled("Receipt", f"{visible(receipt.id)}, {body.wall_s:.1f} s, {status}")


def _sandbox(report: SandboxReport | None, ran: bool) -> Iterator[Line]:
    if report is None:
        text, style = (
            ("what confined the runs was not recorded", "bold red") if ran else ("nothing was run", "")
        )
        yield _labelled("Sandbox", text, style)
        return
    found = (
        ("files", report.fs),
        ("network", report.net),
        ("process tree", report.pid),
        ("memory", report.memory),
        ("number of processes", report.processes),
    )
    held = [name for name, one in found if one.state is Enforcement.ENFORCED]
    yield _labelled(
        "Sandbox", f"level {report.level} of 4 (1 is best); enforced: {', '.join(held) or 'nothing'}"
    )
    loose = [(name, one) for name, one in found if one.state is not Enforcement.ENFORCED]
    yield from (_loose(name, one) for name, one in loose)


def _loose(name: str, one: Enforced) -> Line:
    is_partial = one.state is Enforcement.PARTIAL
    why = f" ({visible(one.why)})" if one.why else ""
    only, style = ("partly", "yellow") if is_partial else ("NOT", "bold red")
    return _labelled("", f"{only} enforced: {name}{why}", style)


def _labelled(label: str, text: str, style: str = "") -> Line:
    return ((f"{label:<{_LABEL}}", "bold"), (text, style))


# ------------------------------------------------------------------ lines -> text


def _plain(lines: Sequence[Line]) -> str:
    return "".join("".join(text for text, _ in line) + "\n" for line in lines)


def _styled(lines: Sequence[Line]) -> str:
    """Through rich, but never through its markup: text from outside is no markup."""
    from io import StringIO

    from rich.console import Console
    from rich.text import Text

    console = Console(
        file=StringIO(), force_terminal=True, color_system="standard", width=1000, legacy_windows=False
    )
    for line in lines:
        console.print(Text.assemble(*line), soft_wrap=True, highlight=False, markup=False, emoji=False)
    assert isinstance(console.file, StringIO)  # noqa: S101
    return console.file.getvalue()

"""What was found -> items of a check result. Pure; every finding of head is counted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from showcause.checks.static.nouns import Fate, Finding, Matched
from showcause.checks.static.rules import kind_of
from showcause.records import (
    Attribution,
    Failure,
    FailureKind,
    Item,
    ItemRun,
    Origin,
    Outcome,
    Record,
    Side,
)

__all__ = ["Judged", "items_of", "unattributed"]


class Judged(Record, frozen=True, kw_only=True):
    """A finding with what became of it. `cause` says what confirms it; "": it may not reject, see `note`."""

    matched: Matched
    cause: str
    note: str


def items_of(judged: Sequence[Judged], version: str) -> tuple[Item, ...]:
    """One item for each place in a file, rule and name; those that base has alike in one item together."""
    groups: dict[tuple[str, bool], list[Judged]] = {}
    old: list[Finding] = []
    for one in judged:
        if one.matched.fate in (Fate.CARRIED, Fate.MOVED):
            old.append(one.matched.finding)
        else:
            groups.setdefault((_id(one.matched.finding), one.matched.fate is Fate.NEW), []).append(one)
    return (*(_item(group, version) for group in groups.values()), *_also_on_base(old, version))


def unattributed(findings: Iterable[Finding], version: str, why: str) -> tuple[Item, ...]:
    """Head's findings where base's are not known: nothing can be said of whose doing they are."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(_id(finding), []).append(finding)
    return tuple(
        Item(
            id=id,
            base=Outcome.ERROR,
            head=Outcome.FAILED,
            attribution=Attribution.UNATTRIBUTED,
            runs=tuple(_run(finding, version, "") for finding in group),
            note=why,
        )
        for id, group in groups.items()
    )


def _id(finding: Finding) -> str:
    return f"{finding.path}: {finding.rule} {finding.symbol}".rstrip()


def _item(group: Sequence[Judged], version: str) -> Item:
    """The item of some findings of one rule and name in one file; one that may reject speaks for all."""
    first = next((one for one in group if one.cause), group[0])
    new = first.matched.fate is Fate.NEW
    on_base = Outcome.PASSED if new else Outcome.FAILED
    attribution = Attribution.PATCH_CAUSED if first.cause else Attribution.UNATTRIBUTED
    ordered = [first, *(one for one in group if one is not first)]
    return Item(
        id=_id(first.matched.finding),
        base=on_base,
        head=Outcome.FAILED,
        attribution=attribution if new else Attribution.PRE_EXISTING,
        runs=(
            ItemRun(side=Side.BASE, outcome=on_base, told_by=version),
            *(_run(one.matched.finding, version, one.cause) for one in ordered),
        ),
        note=first.note,
    )


def _run(finding: Finding, version: str, confirmed: str) -> ItemRun:
    words = kind_of(finding).words
    said = f"{words}: {finding.message}" if words and finding.rule != "syntax" else finding.message
    failure = Failure(
        kind=FailureKind.EXCEPTION,
        message=f"{said}; {confirmed}" if confirmed else said,
        frame=f"{finding.path}:{finding.line}",
        origin=Origin.SOURCE,
    )
    return ItemRun(side=Side.HEAD, outcome=Outcome.FAILED, told_by=version, failure=failure)


def _also_on_base(findings: Sequence[Finding], version: str) -> tuple[Item, ...]:
    if not findings:
        return ()
    rules = Counter(finding.rule for finding in findings)
    told = ", ".join(f"{rule} {count}" for rule, count in sorted(rules.items()))
    return (
        Item(
            id=f"{version.split(maxsplit=1)[0]}: what base has too",
            base=Outcome.FAILED,
            head=Outcome.FAILED,
            attribution=Attribution.PRE_EXISTING,
            runs=(),
            note=f"{len(findings)} findings: {told}",
        ),
    )

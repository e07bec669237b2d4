"""Evidence and check results -> what a packet shows of them, with ids. Pure.

What the patch did not cause never stands among failing evidence, and what it printed is left out: an
unrelated error beside a correct patch makes reviewers reject it. The official suite stays out (law 15),
but for the two forms that exist to measure what knowing it would be worth.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set

from showcause.attribution import BAD
from showcause.evidence import OWN_TESTS, failure_words
from showcause.records import (
    Attribution,
    CheckResult,
    Evidence,
    EvidenceKind,
    Exhibit,
    ExhibitState,
    Item,
    NotChecked,
    Outcome,
    PacketForm,
    RunState,
    Stage,
    Tampering,
)

__all__ = ["OFFICIAL_WITHHELD", "exhibits", "names_any", "official_ids"]

OFFICIAL_WITHHELD = "the official suite is run, never shown"
_NAMED = 5
_STATES = {
    Attribution.PRE_EXISTING.value: ExhibitState.PRE_EXISTING,
    Attribution.ENVIRONMENT.value: ExhibitState.ENVIRONMENT,
    Attribution.FLAKY.value: ExhibitState.FLAKY,
    Attribution.UNATTRIBUTED.value: ExhibitState.UNATTRIBUTED,
    RunState.TAMPERED.value: ExhibitState.TAMPERED,
    RunState.CRASHED.value: ExhibitState.ERROR,
    RunState.TIMEOUT.value: ExhibitState.ERROR,
    RunState.CANCELLED.value: ExhibitState.ERROR,
    "error": ExhibitState.ERROR,
    "passed": ExhibitState.PASSED,
    "failed": ExhibitState.FAILED,
}
_ORDER = (
    ExhibitState.FAILED,
    ExhibitState.TAMPERED,
    ExhibitState.SKIPPED,
    ExhibitState.NOTED,
    ExhibitState.PASSED,
    ExhibitState.SAID,
)


def exhibits(
    evidence: Sequence[Evidence],
    checks: Sequence[CheckResult],
    tampering: Sequence[Tampering],
    *,
    form: PacketForm,
    clean: Callable[[str], str],
) -> tuple[tuple[Exhibit, ...], tuple[NotChecked, ...]]:
    """All that is shown, numbered, failures first, and what is withheld."""
    hidden = official_ids(checks)
    withheld: list[NotChecked] = []
    found = []
    for one in evidence:
        if one.stage is Stage.OFFICIAL or names_any(one.text, hidden) or hidden & set(one.items):
            withheld.append(NotChecked(what=f"evidence {one.id}", why=OFFICIAL_WITHHELD))
        else:
            found.append(_of_evidence(one, checks))
    for check in checks:
        if check.stage is Stage.OFFICIAL:
            withheld.append(NotChecked(what=f"check {check.id}", why=OFFICIAL_WITHHELD))
            found += _upper_bound(check, form)
        else:
            found += _of_check(check, hidden)
    for edit in tampering:
        text = f"{edit.path}: {edit.what}"
        if not names_any(text, hidden):
            found.append(_exhibit(text, ExhibitState.TAMPERED, Stage.CHANGE))
    return _numbered(found, clean), tuple(withheld)


def official_ids(checks: Iterable[CheckResult]) -> frozenset[str]:
    """Ids that only the official suite has: one of the project's own tests is no secret."""
    official, own = set[str](), set[str]()
    for check in checks:
        (official if check.stage is Stage.OFFICIAL else own).update(item.id for item in check.items)
    return frozenset(official - own)


def names_any(text: str, hidden: Set[str]) -> bool:
    """Whether one of these ids stands in `text`, and not as part of a longer word."""
    return any(one in text and re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text) for one in hidden)


def _exhibit(
    text: str,
    state: ExhibitState,
    stage: Stage,
    kind: EvidenceKind = EvidenceKind.GROUNDED,
    source: str = "",
) -> Exhibit:
    return Exhibit(id="", source=source, kind=kind, state=state, stage=stage, text=text, sent=True)


def _numbered(found: Iterable[Exhibit], clean: Callable[[str], str]) -> tuple[Exhibit, ...]:
    ours: list[Exhibit] = []
    others: list[Exhibit] = []
    for one in found:
        (others if one.state.is_not_caused else ours).append(one)
    ours.sort(key=lambda one: _ORDER.index(one.state))
    marked = [*((f"ev-{n}", one) for n, one in enumerate(ours, 1))]
    marked += [(f"nc-{n}", one) for n, one in enumerate(others, 1)]
    return tuple(
        Exhibit(
            id=id,
            source=one.source,
            kind=one.kind,
            state=one.state,
            stage=one.stage,
            text=clean(one.text),
            sent=True,
        )
        for id, one in marked
    )


# ------------------------------------------------------------------ from evidence


def _of_evidence(one: Evidence, checks: Sequence[CheckResult]) -> Exhibit:
    state = _state(one, checks)
    text = _without_output(one) if state.is_not_caused else one.text
    return _exhibit(text, state, one.stage, one.kind, one.id)


def _state(one: Evidence, checks: Sequence[CheckResult]) -> ExhibitState:
    if one.kind is EvidenceKind.TESTIMONY:
        return ExhibitState.SAID
    if one.state != Attribution.PATCH_CAUSED.value:
        return _STATES.get(one.state, ExhibitState.NOTED)
    heads = {i.head for c in checks if c.stage is one.stage for i in c.items if i.id in one.items}
    if heads and not heads & BAD:
        return ExhibitState.SKIPPED if Outcome.SKIPPED in heads else ExhibitState.PASSED
    return ExhibitState.FAILED


def _without_output(one: Evidence) -> str:
    """The first line: ids and how they ended on both sides, without what was printed."""
    return one.text.strip().split("\n", 1)[0] if one.text.strip() else ""


# ------------------------------------------------------------------ from checks


def _of_check(check: CheckResult, hidden: Set[str]) -> Iterator[Exhibit]:
    """What no evidence says: what passes, what probes say one by one, what was wrong before."""
    items = [item for item in check.items if item.id not in hidden]
    if check.state is RunState.COMPLETE and check.id != OWN_TESTS and check.stage is not Stage.STATIC:
        yield from _passes(check, items)
    for attribution in (Attribution.PRE_EXISTING, Attribution.ENVIRONMENT, Attribution.UNATTRIBUTED):
        wrong = [i for i in items if i.attribution is attribution and i.head in BAD and i.runs]
        if wrong:
            count = f"{len(wrong)} of {len(items)}"
            text = f"{check.id}: {count} end badly on head, {_WHY[attribution]}: {_some(wrong)}"
            yield _exhibit(text, _STATES[attribution.value], check.stage)


_WHY = {
    Attribution.PRE_EXISTING: "and did so before the patch",
    Attribution.ENVIRONMENT: "for want of something in this environment",
    Attribution.UNATTRIBUTED: "and nothing shows that the patch is why",
}


def _passes(check: CheckResult, items: Sequence[Item]) -> Iterator[Exhibit]:
    new = [i for i in items if i.head is Outcome.PASSED and i.base in BAD]
    same = [i for i in items if i.head is Outcome.PASSED and i.base is Outcome.PASSED]
    if new:
        text = f"{check.id}: {len(new)} of {len(items)} fail without the patch and pass with it: {_some(new)}"
        yield _exhibit(text, ExhibitState.PASSED, check.stage)
    if same:
        text = f"{check.id}: {len(same)} of {len(items)} pass with and without the patch"
        yield _exhibit(text, ExhibitState.PASSED, check.stage)


def _some(items: Sequence[Item]) -> str:
    named = ", ".join(item.id for item in items[:_NAMED])
    return f"{named} and {len(items) - _NAMED} more" if len(items) > _NAMED else named


def _upper_bound(check: CheckResult, form: PacketForm) -> Iterator[Exhibit]:
    """The official suite, for the forms that may show it: counts, or ids and output."""
    if not form.is_upper_bound:
        return
    bad = [item for item in check.items if item.head in BAD]
    good = [item for item in check.items if item.head is Outcome.PASSED]
    state = ExhibitState.FAILED if bad else ExhibitState.PASSED if good else ExhibitState.NOTED
    lines = [f"{check.id}: {len(bad)} fail, {len(good)} pass of {len(check.items)} on head"]
    if form is PacketForm.GROUNDED_ORACLE:
        for item in bad:
            failure = next((run.failure for run in reversed(item.runs) if run.failure), None)
            said = failure_words(failure.exception, failure.message) if failure else "no message"
            lines.append(f"{item.id}: {item.base.value} on base, {item.head.value} on head: {said}")
    yield _exhibit("\n".join(lines), state, check.stage)

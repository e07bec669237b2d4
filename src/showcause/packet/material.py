"""All that a packet may be made of, and which of it a form shows. Pure."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from showcause.packet.exhibits import exhibits, names_any, official_ids
from showcause.packet.frame import quoted
from showcause.records import (
    CheckResult,
    CodeExcerpt,
    Evidence,
    Exhibit,
    NotChecked,
    PacketForm,
    Patch,
    Record,
    Tampering,
)

__all__ = ["Material", "Text", "exhibits_of", "not_checked_of", "texts_of"]

_WITHOUT_EVIDENCE = (PacketForm.PATCH, PacketForm.TRACE, PacketForm.TURN)
_NAMED, _WIDE = 20, 200


class Material(Record, frozen=True, kw_only=True):
    """All that a packet may be made of. What a form does not use is withheld.

    issue          what was asked for; the instruction of a turn
    evidence       what the gate and the checks say, official items included: they are sorted out here
    code           excerpts from base, most useful first
    testimony      what the author says (a pull request's text, comments): only with `show_testimony`
    trace          the agent's record, for the form `trace`
    answer         the final answer, for the form `turn`
    test_dirs      folders named `test` or `testing` that base really keeps tests in
    """

    patch: Patch
    issue: str = ""
    evidence: tuple[Evidence, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    tampering: tuple[Tampering, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    code: tuple[CodeExcerpt, ...] = ()
    testimony: str = ""
    show_testimony: bool = False
    trace: str = ""
    answer: str = ""
    test_dirs: frozenset[str] = frozenset()


class Text(Record, frozen=True, kw_only=True):
    """One text that is to be sent: `must` means whole or not at all, `is_extra` that its loss is none."""

    what: str
    title: str
    text: str
    must: bool = False
    is_extra: bool = False


def texts_of(
    given: Material, form: PacketForm, clean: Callable[[str], str]
) -> tuple[tuple[Text, ...], tuple[NotChecked, ...]]:
    """Everything but patch and evidence, in the order in which it is shown; and what is withheld."""
    is_turn = form is PacketForm.TURN
    title = "the instruction of this turn" if is_turn else "the issue: the state before the patch"
    said = (
        ("issue", title, given.issue, True),
        ("trace", "testimony: the agent's record of its own work", given.trace, form is PacketForm.TRACE),
        ("answer", "testimony: the final answer of this turn", given.answer, is_turn),
        ("testimony", "testimony: what the author says", given.testimony, given.show_testimony),
    )
    texts = [
        Text(what=what, title=words, text=text.replace("\r\n", "\n"), must=is_turn)
        for what, words, text, wanted in said
        if wanted and text
    ]
    why = f"not part of the form {form.value}"
    withheld = tuple(NotChecked(what=what, why=why) for what, _, text, wanted in said if text and not wanted)
    texts += [
        Text(
            what=f"code {number} {one.path}",
            title=f"code {number}, from base",
            text=f"{quoted(one.path)}\n{one.text}",
            is_extra=True,
        )
        for number, one in enumerate(given.code, 1)
    ]
    cleaned = (msgspec.structs.replace(one, text=clean(one.text)) for one in texts)
    return tuple(cleaned), withheld


def exhibits_of(
    given: Material, form: PacketForm, clean: Callable[[str], str]
) -> tuple[tuple[Exhibit, ...], tuple[NotChecked, ...]]:
    """The evidence that `form` shows, numbered; and what is withheld."""
    if form in _WITHOUT_EVIDENCE:
        why = f"not part of the form {form.value}"
        return (), tuple(NotChecked(what=f"evidence {one.id}", why=why) for one in given.evidence)
    return exhibits(given.evidence, given.checks, given.tampering, form=form, clean=clean)


def not_checked_of(given: Material, form: PacketForm, clean: Callable[[str], str]) -> str:
    """What the checks left out, a line each; only forms with evidence speak of checks."""
    if form in _WITHOUT_EVIDENCE:
        return ""
    hidden = official_ids(given.checks)
    told = [f"{one.what}: {one.why}" for one in given.not_checked]
    shown = [clean(" ".join(one.split()))[:_WIDE] for one in told if not names_any(one, hidden)]
    more = [f"and {len(shown) - _NAMED} more"] if len(shown) > _NAMED else []
    return "\n".join([*shown[:_NAMED], *more])

"""Each vote beside the packet it was given on: does it say what the evidence says? Pure.

A vote that contradicts its evidence, misquotes it, or accepts on passes alone loses its vote (laws 1, 8);
the other classes are marks. Nothing is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from showcause.canon import finding_id
from showcause.records import (
    AuditClass,
    Cite,
    EvidenceKind,
    Exhibit,
    ExhibitState,
    Finding,
    FindingAudit,
    Packet,
    Reason,
    Sent,
    Verdict,
    Vote,
    VoteAudit,
)
from showcause.reviewer.claims import (
    Claim,
    asks_for_a_person,
    claims_about,
    general_claims,
    is_environmental,
    is_on_pass,
    is_vacuous,
    of_state,
)

__all__ = ["audit_vote", "audit_votes", "is_shown_by"]

_WHOLE_TEXT = ("issue", "patch", "code", "trace", "answer", "testimony")
_SHOWS = (ExhibitState.FAILED, ExhibitState.TAMPERED, ExhibitState.SKIPPED, ExhibitState.NOTED)
_SPEAKS_AGAINST = {
    Claim.PASSED: (ExhibitState.FAILED, ExhibitState.SKIPPED, ExhibitState.PRE_EXISTING),
    Claim.FAILED: (ExhibitState.PASSED,),
}


def audit_votes(votes: Iterable[Vote], packet: Packet) -> tuple[VoteAudit, ...]:
    """One audit for each vote, in their order."""
    return tuple(audit_vote(vote, packet) for vote in votes)


def audit_vote(vote: Vote, packet: Packet) -> VoteAudit:
    """The classes of a vote and whether it counts. An invalid vote has none, and does not count."""
    if vote.decision is None:
        findings = tuple(_finding(one, packet, "the vote is invalid") for one in vote.findings)
        return VoteAudit(number=vote.number, classes=(), why=(), findings=findings, counts=False)
    found = list(_Look(vote, packet).classes())
    classes = tuple(dict.fromkeys(one for one, _ in found)) or (AuditClass.CONSISTENT,)
    lost = [one for one in classes if one.takes_the_vote]
    spoilt = f"the vote {lost[0].value.replace('_', ' ')}" if lost else ""
    return VoteAudit(
        number=vote.number,
        classes=classes,
        why=tuple(f"{one.value}: {why}" for one, why in found),
        findings=tuple(_finding(one, packet, spoilt) for one in vote.findings),
        counts=not lost,
    )


def is_shown_by(one: Exhibit) -> bool:
    """Whether this can ground a rejection: an independent run saw something, and it was no pass."""
    return one.sent and one.kind is EvidenceKind.GROUNDED and one.state in _SHOWS


# ------------------------------------------------------------------ findings


def _finding(one: Finding, packet: Packet, spoilt: str) -> FindingAudit:
    why = spoilt or _ungrounded(one, packet)
    return FindingAudit(
        id=finding_id("reviewer", one.place, f"{one.trigger}\n{one.wrong}\n{one.text}"),
        grounded=not why,
        why=why or "names place, trigger and wrong result, and evidence of this packet",
    )


def _ungrounded(one: Finding, packet: Packet) -> str:
    named = {"place": one.place, "trigger": one.trigger, "wrong result": one.wrong}
    absent = [name for name, text in named.items() if not text.strip()]
    if absent:
        return f"a note: it names no {', no '.join(absent)}"
    cited = {id.strip().casefold() for id in one.cites}
    if not cited:
        return "it cites no evidence"
    known = [shown for shown in packet.exhibits if shown.id in cited and shown.sent]
    if not known:
        return f"it cites no evidence of this packet: {', '.join(sorted(cited))}"
    if not any(map(is_shown_by, known)):
        return "what it cites passed, is only said, or is not the patch's doing"
    return ""


# ------------------------------------------------------------------ classes


class _Look:
    """One vote beside its packet."""

    def __init__(self, vote: Vote, packet: Packet) -> None:
        self.vote, self.packet = vote, packet
        self.shown = {one.id: one for one in packet.exhibits if one.sent}

    def classes(self) -> Iterator[tuple[AuditClass, str]]:
        """Each class but `consistent` with the reason, worst first."""
        looks = (
            (AuditClass.CONTRADICTS_EVIDENCE, self.contradiction),
            (AuditClass.MISQUOTES, self.misquote),
            (AuditClass.ACCEPTS_ON_PASS, self.accepts_on_pass),
            (AuditClass.SELECTIVE, self.selective),
            (AuditClass.DECIDES_ON_ENVIRONMENT, self.decides_on_environment),
            (AuditClass.CITES_UNKNOWN, self.cites_unknown),
            (AuditClass.ASKS_MANUAL, self.asks_manual),
        )
        for one, look in looks:
            if why := look():
                yield one, why

    @cached_property
    def cites(self) -> tuple[Cite, ...]:
        return tuple(cite for reason in self.vote.reasons for cite in reason.cites)

    @cached_property
    def cited(self) -> frozenset[str]:
        """Ids cited anywhere, also in running text."""
        named = [cite.id for cite in self.cites]
        named += [id for finding in self.vote.findings for id in finding.cites]
        named += [id for text in self.texts for id in re.findall(r"\b(?:ev|nc)-\d+\b", text.casefold())]
        return frozenset(id.strip().casefold() for id in named)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        said = [reason.text for reason in self.vote.reasons]
        said += [text for one in self.vote.findings for text in (one.text, one.trigger, one.wrong)]
        return tuple(said)

    @property
    def _faults(self) -> tuple[Finding, ...]:
        """Findings that name a place, a trigger and a wrong result."""
        return tuple(one for one in self.vote.findings if one.place and one.trigger and one.wrong)

    def contradiction(self) -> str:
        return self._false_claim() or self._rejects_on_pass()

    def _rejects_on_pass(self) -> str:
        """A rejection whose only evidence is what passed says of it what it does not say."""
        shown = [self.shown[id] for id in self.cited if id in self.shown]
        is_on_pass = bool(shown) and all(one.state is ExhibitState.PASSED for one in shown)
        rests_on = {self._rests_on(reason) for reason in self.vote.reasons}
        if self.vote.decision is Verdict.REJECT and is_on_pass and rests_on == {"pass"} and not self._faults:
            return "the reject rests on evidence that passed"
        return ""

    def _false_claim(self) -> str:
        claims = [(cite.id.strip().casefold(), of_state(cite.state)) for cite in self.cites]
        claims += [pair for text in self.texts for pair in claims_about(text)]
        for id, claim in claims:
            one = self.shown.get(id)
            if one is not None and claim is not None and one.state in _SPEAKS_AGAINST[claim]:
                return f"it says that {id} {claim.value}; its state is {one.state.value}"
        ours = {one.state for one in self.shown.values() if one.kind is EvidenceKind.GROUNDED}
        for claim in (claim for text in self.texts for claim in general_claims(text)):
            if claim is Claim.FAILED and ExhibitState.PASSED in ours and not ours & set(_SHOWS):
                if not any(one.state.is_not_caused for one in self.shown.values()):
                    return "it says that checks fail; none did"
            elif claim is Claim.PASSED and ExhibitState.FAILED in ours:
                return "it says that all checks pass; not all did"
        return ""

    def misquote(self) -> str:
        for cite in self.cites:
            if cite.quote.strip() and not self._holds(cite):
                return f"the text quoted from {cite.id} is not in it"
        return ""

    def _holds(self, cite: Cite) -> bool:
        one = self.shown.get(cite.id.strip().casefold())
        if one is not None:
            return _is_quoted(cite.quote, f"{one.id} | {one.kind} | {one.state} | {one.stage}\n{one.text}")
        is_known = cite.id.strip().casefold() in self._known
        return not is_known or _is_quoted(cite.quote, self.packet.text)

    def accepts_on_pass(self) -> str:
        if self.vote.decision is not Verdict.ACCEPT:
            return ""
        kinds = [self._rests_on(reason) for reason in self.vote.reasons]
        if "pass" in kinds and "other" not in kinds:
            return "the accept rests on passes alone, and a pass decides nothing"
        return ""

    def selective(self) -> str:
        """It leaves out what speaks against it: failures for an accept, passes for a reject on evidence."""
        decision, grounded = self.vote.decision, [*filter(_is_grounded, self.shown.values())]
        failed = [one.id for one in grounded if one.state is ExhibitState.FAILED]
        left = [id for id in failed if id not in self.cited]
        if decision is Verdict.ACCEPT and left:
            return f"the accept does not mention {', '.join(left[:3])}, which failed"
        cited = [self.shown[id] for id in self.cited if id in self.shown and id.startswith("ev-")]
        passed = [one.id for one in grounded if one.state is ExhibitState.PASSED]
        against = decision is Verdict.REJECT and cited and not any(map(is_shown_by, cited))
        if against and passed and not set(passed) & self.cited:
            return f"the reject picks evidence and does not mention {', '.join(passed[:3])}, which passed"
        return ""

    def decides_on_environment(self) -> str:
        if self.vote.decision is Verdict.UNCERTAIN:
            return ""
        kinds = [self._rests_on(reason) for reason in self.vote.reasons]
        if "environment" in kinds and not {"other", "pass"} & set(kinds) and not self._faults:
            return "it decides on what could not run, or what the patch did not cause"
        return ""

    def _rests_on(self, reason: Reason) -> str:
        """`pass`, `environment`, `other`, or `nothing` that could be looked up."""
        ids = {cite.id.strip().casefold() for cite in reason.cites}
        shown = [self.shown[id] for id in ids if id in self.shown]
        if ids & self._known & set(_WHOLE_TEXT) or any(map(is_shown_by, shown)):
            return "other"
        if any(one.state in (ExhibitState.PASSED, ExhibitState.SAID) for one in shown):
            return "pass"
        if shown:
            return "environment"
        if is_on_pass(reason.text):
            return "pass"
        if is_environmental(reason.text):
            return "environment"
        return "nothing" if is_vacuous(reason.text) else "other"

    @cached_property
    def _known(self) -> frozenset[str]:
        """Ids that this packet has."""
        parts = {one.what.split()[0] for one in self.packet.parts if one.sent is not Sent.NOT_SENT}
        return frozenset({"patch"} | (parts & set(_WHOLE_TEXT)) | self.shown.keys())

    def cites_unknown(self) -> str:
        unknown = sorted(self.cited - self._known)
        return f"not in this packet: {', '.join(unknown[:3])}" if unknown else ""

    def asks_manual(self) -> str:
        asks = any(asks_for_a_person(reason.text) for reason in self.vote.reasons)
        return "it asks somebody to look or to act" if asks else ""


def _is_grounded(one: Exhibit) -> bool:
    return one.kind is EvidenceKind.GROUNDED


def _is_quoted(quote: str, text: str) -> bool:
    """Whether all pieces of a quote, between its ellipses, stand in `text` in their order.

    White space and case don't matter; from a diff the signs may be left out.
    """
    pieces = [_level(piece) for piece in re.split(r"\[?(?:\.{3}|…)\]?", quote)]
    unsigned = re.sub(r"(?m)^[+\- ]", "", text)
    return any(_in_order([p for p in pieces if p], _level(held)) for held in (text, unsigned))


def _level(text: str) -> str:
    return " ".join(text.casefold().split()).strip("\"'`“”‘’ ")


def _in_order(pieces: list[str], text: str) -> bool:
    at = 0
    for piece in pieces:
        at = text.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True

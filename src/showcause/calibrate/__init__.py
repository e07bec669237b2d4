"""A reviewer over cases whose answers are known, and the powers that this earns it (DESIGN 9)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence

from showcause.calibrate.cases import Known, KnownPatch, patches_of, read_cases, shipped_cases
from showcause.canon import digest_record
from showcause.clock import Deadline, now_text
from showcause.intervals import rate
from showcause.packet import Material
from showcause.records import (
    AuditClass,
    Calibration,
    Chat,
    KnownAnswer,
    ModelSpec,
    Packet,
    Powers,
    Record,
    Share,
    Verdict,
)
from showcause.reviewer import Voting, audit_votes, hold_ballot, instructions, majority

__all__ = ["Known", "Terms", "calibrate", "calibration_key", "read_cases", "shipped_cases"]

_ENOUGH = 10  # cases of each kind: fewer earn nothing
_MOST_CONTRADICTING = 0.1  # share of votes that speak against what they were given


class Terms(Record, frozen=True, kw_only=True):
    """How the reviewer votes, and what it must show: the lower end of an exact interval, 0 to 1."""

    voting: Voting
    min_precision: float


MakePacket = Callable[[Material], Packet]


def calibration_key(spec: ModelSpec, voting: Voting) -> str:
    """What a calibration holds for: another model, prompt or way of voting is another reviewer."""
    model = [spec.name, spec.kind, spec.base_url, spec.model, spec.sha256, spec.extra]
    return digest_record([model, instructions().digest, voting.votes, voting.temperature])


def calibrate(
    chat: Chat,
    cases: Sequence[Known],
    terms: Terms,
    make_packet: MakePacket,
    *,
    say: Callable[[str], None] = lambda _line: None,
    cancel: threading.Event | None = None,
) -> Calibration:
    """Ask about both answers of every case. What a majority of counted votes says is the answer."""
    answers = []
    for case in cases:
        for known in patches_of(case):
            say(f"{case.id}: {'defective' if known.is_defective else 'correct'} answer")
            answers.append(_answer(chat, known, terms, make_packet, cancel))
    return _summed(chat, answers, terms)


def _answer(
    chat: Chat, known: KnownPatch, terms: Terms, make_packet: MakePacket, cancel: threading.Event | None
) -> KnownAnswer:
    packet = make_packet(Material(patch=known.patch, issue=known.issue, code=known.code))
    limit = Deadline.after(terms.voting.limit_s * terms.voting.votes)
    ballot = hold_ballot(chat, packet, terms.voting, deadline=limit, cancel=cancel)
    audits = audit_votes(ballot.votes, packet)
    decision, counted = majority(ballot.votes, {one.number for one in audits if not one.counts})
    lost = (AuditClass.CONTRADICTS_EVIDENCE, AuditClass.MISQUOTES)
    return KnownAnswer(
        case=known.case,
        is_defective=known.is_defective,
        verdict=decision if any(vote.is_valid for vote in ballot.votes) else None,
        why=counted,
        votes=len(ballot.votes),
        invalid=sum(not vote.is_valid for vote in ballot.votes),
        contradicting=sum(bool(set(audit.classes) & set(lost)) for audit in audits),
    )


def _summed(chat: Chat, answers: Sequence[KnownAnswer], terms: Terms) -> Calibration:
    bad = [one for one in answers if one.is_defective]
    good = [one for one in answers if not one.is_defective]
    accepted = [one for one in answers if one.verdict is Verdict.ACCEPT]
    rejected = [one for one in answers if one.verdict is Verdict.REJECT]
    valid = sum(one.votes - one.invalid for one in answers)
    accepts = _share((not one.is_defective for one in accepted), len(accepted))
    rejects = _share((one.is_defective for one in rejected), len(rejected))
    contradicting = _counted(sum(one.contradicting for one in answers), valid)
    too_few = min(len(bad), len(good)) < _ENOUGH
    held = "" if not too_few else f"fewer than {_ENOUGH} cases of each kind"
    if not held and valid and contradicting.count / valid > _MOST_CONTRADICTING:
        held = f"{contradicting.count} of {valid} votes speak against what they were given"
    return Calibration(
        reviewer=chat.name,
        model=chat.model,
        answers=tuple(answers),
        accepts=accepts,
        rejects=rejects,
        catch=_share((one.verdict is Verdict.REJECT for one in bad), len(bad)),
        over_rejection=_share((one.verdict is Verdict.REJECT for one in good), len(good)),
        contradicting=contradicting,
        powers=Powers(
            accept=not _refused("accept", accepts, terms, held),
            reject=not _refused("reject", rejects, terms, held),
        ),
        why=tuple(
            f"{what}: {_refused(what, share, terms, held) or 'granted'}"
            for what, share in (("accept", accepts), ("reject", rejects))
        ),
        created=now_text(),
    )


def _refused(what: str, share: Share, terms: Terms, held: str) -> str:
    """Why the power is not granted, or ""."""
    if held:
        return f"refused, {held}"
    if share.n == 0:
        return f"refused, it {what}s nothing"
    if share.low < terms.min_precision:
        right = f"{share.count} of {share.n} {what}s were right"
        return f"refused, {right}: at least {share.low:.2f}, and {terms.min_precision:.2f} is asked for"
    return ""


def _share(hits: Iterable[bool], n: int) -> Share:
    return _counted(sum(hits), n)


def _counted(count: int, n: int) -> Share:
    found = rate(min(count, n), n)
    return Share(count=count, n=n, low=found.low, high=found.high)

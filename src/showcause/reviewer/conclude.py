"""What a ballot comes to, given its audit, the packet, and what the reviewer may decide. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from showcause.records import Ballot, Conclusion, Packet, Powers, Verdict, Vote, VoteAudit, WitnessRule
from showcause.reviewer.audit import is_shown_by
from showcause.reviewer.ballot import majority

__all__ = ["conclude"]

_NAMED = 3
Rejecting = tuple[Vote, VoteAudit]


def conclude(
    ballot: Ballot,
    audits: Sequence[VoteAudit],
    packet: Packet,
    powers: Powers,
    *,
    witness: WitnessRule = WitnessRule.REQUIRED,
    witnessed: Collection[str] = (),
) -> Conclusion:
    """The verdict, and why. None: no vote could be read, which is a failure and never an approval.

    An incomplete packet caps the outcome at `uncertain`, whatever the votes say (law 6). Votes that their
    audit sets aside count for nothing. A rejection needs a finding whose witness held (ids in `witnessed`);
    with WitnessRule.OPTIONAL evidence that a rejecting vote cites will do, if the reviewer has the power
    to reject. An accept needs the power to accept, and no witness may hold against it.
    Raises ValueError for audits or a packet of another ballot.
    """
    if ballot.packet != packet.id or [a.number for a in audits] != [v.number for v in ballot.votes]:
        raise ValueError("ballot, audits and packet do not belong together")
    if not any(vote.is_valid for vote in ballot.votes):
        faults = ", ".join(sorted({vote.fault.value for vote in ballot.votes if vote.fault}))
        return Conclusion(verdict=None, why=f"none of {len(ballot.votes)} votes could be read ({faults})")
    valid = {vote.number for vote in ballot.votes if vote.is_valid}
    aside = {audit.number for audit in audits if not audit.counts} & valid
    decision, counted = majority(ballot.votes, aside)
    rejecting = [
        (vote, audit)
        for vote, audit in zip(ballot.votes, audits, strict=True)
        if vote.decision is Verdict.REJECT and vote.number not in aside
    ]
    claims = {finding.id for _, audit in rejecting for finding in audit.findings}
    why = _incomplete(packet)
    if not why and decision is Verdict.UNCERTAIN:
        why = "no majority"
    if not why and decision is Verdict.ACCEPT:
        why = _why_no_accept(powers, claims & set(witnessed))
    if not why and decision is Verdict.REJECT and not claims & set(witnessed):
        why = _why_no_reject(rejecting, packet, powers, witness)
    if why:
        return Conclusion(verdict=Verdict.UNCERTAIN, why=f"{why} ({counted})")
    return Conclusion(verdict=decision, why=counted)


def _incomplete(packet: Packet) -> str:
    if packet.is_complete:
        return ""
    named = ", ".join(packet.missing[:_NAMED])
    more = len(packet.missing) - _NAMED
    return f"the reviewer was not given everything: {named}{f' and {more} more' if more > 0 else ''}"


def _why_no_accept(powers: Powers, shown: set[str]) -> str:
    if shown:
        return "the reviewer would accept, and a test shows a fault that one of its votes names"
    return "" if powers.accept else "the reviewer would accept, and has not earned the power to accept"


def _why_no_reject(
    rejecting: Sequence[Rejecting], packet: Packet, powers: Powers, witness: WitnessRule
) -> str:
    """Why a rejection without a witness does not stand, or ""."""
    match witness:
        case WitnessRule.REQUIRED:
            return "the reviewer would reject, and no test shows what it claims"
        case WitnessRule.OPTIONAL if not powers.reject:
            return "the reviewer would reject, and has not earned the power to reject without a witness"
        case WitnessRule.OPTIONAL:
            has_ground = _has_ground(rejecting, packet)
            return "" if has_ground else "the reviewer would reject, and no vote shows evidence for it"


def _has_ground(rejecting: Sequence[Rejecting], packet: Packet) -> bool:
    shown = {one.id for one in packet.exhibits if is_shown_by(one)}
    return any(
        any(finding.grounded for finding in audit.findings)
        or any(cite.id.strip().casefold() in shown for reason in vote.reasons for cite in reason.cites)
        for vote, audit in rejecting
    )

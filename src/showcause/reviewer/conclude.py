"""What a ballot comes to, given its audit, the packet, and what the reviewer may decide. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from showcause.records import Ballot, Conclusion, Packet, Powers, Verdict, VoteAudit
from showcause.reviewer.audit import is_shown_by
from showcause.reviewer.ballot import majority

__all__ = ["conclude"]

_NAMED = 3


def conclude(
    ballot: Ballot,
    audits: Sequence[VoteAudit],
    packet: Packet,
    powers: Powers,
    *,
    witnessed: Collection[str] = (),
) -> Conclusion:
    """The verdict, and why. None: no vote could be read, which is a failure and never an approval.

    An incomplete packet caps the outcome at `uncertain`, whatever the votes say (law 6). Votes that their
    audit sets aside count for nothing. A rejection needs evidence that a rejecting vote cites, or a finding
    whose witness held (ids in `witnessed`). Without the power to accept or reject it reads `uncertain`.
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
    why = _why_not(decision, ballot, audits, packet, powers, frozenset(witnessed), aside)
    if why:
        return Conclusion(verdict=Verdict.UNCERTAIN, why=f"{why} ({counted})")
    return Conclusion(verdict=decision, why=counted)


def _why_not(
    decision: Verdict,
    ballot: Ballot,
    audits: Sequence[VoteAudit],
    packet: Packet,
    powers: Powers,
    witnessed: frozenset[str],
    aside: set[int],
) -> str:
    """Why the majority is not the verdict, or ""."""
    if not packet.is_complete:
        named = ", ".join(packet.missing[:_NAMED])
        more = len(packet.missing) - _NAMED
        return f"the reviewer was not given everything: {named}{f' and {more} more' if more > 0 else ''}"
    match decision:
        case Verdict.UNCERTAIN:
            return "no majority"
        case Verdict.ACCEPT if not powers.accept:
            return "the reviewer would accept, and has not earned the power to accept"
        case Verdict.REJECT if not powers.reject:
            return "the reviewer would reject, and has not the power to reject"
        case Verdict.REJECT if not _has_ground(ballot, audits, packet, witnessed, aside):
            return "the reviewer would reject, and no vote shows evidence for it"
        case _:
            return ""


def _has_ground(
    ballot: Ballot,
    audits: Sequence[VoteAudit],
    packet: Packet,
    witnessed: frozenset[str],
    aside: set[int],
) -> bool:
    shown = {one.id for one in packet.exhibits if is_shown_by(one)}
    for vote, audit in zip(ballot.votes, audits, strict=True):
        if vote.decision is not Verdict.REJECT or vote.number in aside:
            continue
        if any(finding.grounded or finding.id in witnessed for finding in audit.findings):
            return True
        if any(cite.id.strip().casefold() in shown for reason in vote.reasons for cite in reason.cites):
            return True
    return False

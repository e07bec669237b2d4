"""The reviewer's stage of one review: packet, ballot, audit, witnesses, conclusion."""

from __future__ import annotations

from collections.abc import Iterator

from showcause.checks.workbench import Workbench
from showcause.clock import Deadline
from showcause.packet import Material
from showcause.pipeline.desk import Desk
from showcause.pipeline.findings import Findings
from showcause.pipeline.probing import code_around, spelling
from showcause.probes import Commission, run_probes, write_witness
from showcause.records import (
    Ballot,
    Chat,
    Decision,
    Finding,
    HeadSays,
    Packet,
    PacketForm,
    Powers,
    ProbeResult,
    ProbeRole,
    ReviewStage,
    Verdict,
    VoteAudit,
    Witness,
)
from showcause.reviewer import Voting, audit_votes, conclude, hold_ballot, instructions
from showcause.trees import TreeReader

__all__ = ["ask_reviewer", "packet_for", "shows"]


def packet_for(
    desk: Desk, bench: Workbench, reader: TreeReader, issue: str, found: Findings, decision: Decision
) -> Packet:
    """Exactly what a reviewer would be given."""
    material = Material(
        patch=bench.trees.patch,
        issue=issue,
        evidence=(*found.evidence, *decision.evidence),
        checks=found.checks,
        tampering=found.tampering,
        not_checked=found.not_checked,
        code=code_around(bench, reader, found.checks),
    )
    name = desk.settings.review.reviewer
    return desk.packet(material, PacketForm.CASCADE, readers=[name] if name else [])


def ask_reviewer(
    desk: Desk,
    bench: Workbench,
    reader: TreeReader,
    issue: str,
    packet: Packet,
    *,
    powers: tuple[Powers, str],
) -> ReviewStage:
    """Hold the ballot on `packet`. `powers` are the reviewer's, with the words for what they rest on.

    Raises UsageError for a reviewer that the settings do not have.
    """
    settings = desk.settings
    chosen = settings.review
    chat, told, deadline = desk.chat(chosen.reviewer), instructions(), Deadline.after(chosen.limit_s)
    voting = Voting(votes=chosen.votes, temperature=chosen.temperature, at_once=chosen.at_once)
    bench.kit.say(f"asking {chosen.reviewer} for {voting.votes} votes")
    cancel = bench.kit.cancel
    ballot = hold_ballot(chat, packet, voting, deadline=deadline, cancel=cancel, told=told)
    audits = audit_votes(ballot.votes, packet)
    claims = dict(_claims(ballot, audits))
    first = list(claims.items())[: chosen.witnesses]
    asking = _Asking(chat, bench, reader, issue, packet, deadline)
    witnesses = tuple(asking.witness(claim, finding) for claim, finding in first)
    return ReviewStage(
        reviewer=chosen.reviewer,
        model=chat.model,
        instructions=told.digest,
        packet=packet,
        ballot=ballot,
        audits=audits,
        powers=powers[0],
        calibration=powers[1],
        witnesses=witnesses,
        conclusion=conclude(
            ballot,
            audits,
            packet,
            powers[0],
            witness=settings.gate.witness,
            witnessed=[one.finding for one in witnesses if one.holds],
        ),
    )


def _claims(ballot: Ballot, audits: tuple[VoteAudit, ...]) -> Iterator[tuple[str, Finding]]:
    """Findings of rejecting votes that count, with their ids. A note without place or result is no claim."""
    for vote, audit in zip(ballot.votes, audits, strict=True):
        if vote.decision is Verdict.REJECT and audit.counts:
            for finding, looked in zip(vote.findings, audit.findings, strict=True):
                if finding.place and finding.wrong:
                    yield looked.id, finding


class _Asking:
    """A reviewer that is asked for tests."""

    def __init__(
        self,
        chat: Chat,
        bench: Workbench,
        reader: TreeReader,
        issue: str,
        packet: Packet,
        deadline: Deadline,
    ) -> None:
        self.chat, self.bench, self.reader, self.issue = chat, bench, reader, issue
        self.deadline = deadline
        self.wanted = Commission(
            packet=packet,
            spelling=spelling(bench.kit.running, bench.kit.project),
            probes=1,
            guards=0,
            limit_s=max(1.0, deadline.left_s),
        )

    def witness(self, claim: str, finding: Finding) -> Witness:
        self.bench.kit.say(f"asking {self.chat.name} for a test that shows {finding.place}")
        said, probe = write_witness(
            self.chat, self.wanted, _words(finding), deadline=self.deadline, cancel=self.bench.kit.cancel
        )
        if probe is None:
            return Witness(finding=claim, request=said.request, result=None, holds=False, why=said.why)
        budget_s = self.bench.kit.settings.probe.time_budget_s
        probed = run_probes(self.bench, self.reader, [probe], self.issue, budget_s=budget_s)
        (result,) = probed.results
        holds, why = shows(result)
        return Witness(finding=claim, request=said.request, result=result, holds=holds, why=why)


def shows(result: ProbeResult) -> tuple[bool, str]:
    """Whether a test shows the claim it was written for, and why not."""
    if not result.is_qualified:
        return False, f"{result.state.value}: {result.why}"
    if result.weak:
        return False, f"weak: {result.weak}"
    if result.probe.role is ProbeRole.PROBE and not result.is_quoted:
        return False, "its quote is not in the issue"
    match result.says:
        case HeadSays.FAILS:
            return True, "it fails with the patch every time"
        case HeadSays.PASSES:
            return False, "it passes with the patch"
        case HeadSays.NOTHING:
            return False, "with the patch it tells nothing"


def _words(finding: Finding) -> str:
    named = (("place", finding.place), ("trigger", finding.trigger), ("wrong result", finding.wrong))
    return "".join(f"{name}: {text}\n" for name, text in (*named, ("words", finding.text)) if text)

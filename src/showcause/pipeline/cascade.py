"""What follows the checks where they leave a patch open: probes, the gate again, then a reviewer.

What the checks decide is never sent to a model (law 7).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from showcause.checks.workbench import Workbench
from showcause.gate import decide_reviewed
from showcause.pipeline.findings import Findings
from showcause.records import (
    CheckResult,
    Decision,
    NotChecked,
    Packet,
    Powers,
    Probe,
    ProbeResult,
    Record,
    ReviewStage,
    Written,
)
from showcause.trees import TreeReader

if TYPE_CHECKING:
    from showcause.pipeline.desk import Desk

__all__ = ["Cascade", "Given", "cascade"]

Decide = Callable[[Sequence[CheckResult], Sequence[ProbeResult]], Decision]


class Given(Record, frozen=True, kw_only=True):
    """What the cascade works with besides the checks.

    `decide` is the gate with policy and receipt id; `powers` are the reviewer's, with what they rest on.
    With `only_packet` the reviewer's packet is made and nobody is asked.
    """

    review_id: str
    issue: str
    probes: tuple[Probe, ...]
    decide: Decide
    powers: tuple[Powers, str]
    only_packet: bool = False


class Cascade(Record, frozen=True, kw_only=True):
    """How the review stands after all of it."""

    findings: Findings
    decision: Decision
    probes: tuple[ProbeResult, ...] = ()
    written: tuple[Written, ...] = ()
    review: ReviewStage | None = None
    packet: Packet | None = None


def cascade(desk: Desk, bench: Workbench, reader: TreeReader, found: Findings, given: Given) -> Cascade:
    """Go on as far as it takes. Raises Cancelled, SandboxFault, and UsageError for unknown models."""
    settings = desk.settings
    decision = given.decide(found.checks, ())
    if decision.verdict is not None:
        return Cascade(findings=found, decision=decision)
    written: tuple[Written, ...] = ()
    results: tuple[ProbeResult, ...] = ()
    if given.probes or (settings.probe.models and given.issue.strip()):
        from showcause.pipeline.probing import Writers

        writers = Writers(desk, bench, reader, given.issue)
        probed = writers.probe(given.probes, found)
        results, written = probed.results, tuple(writers.written)
        checks = (*found.checks, probed.check) if probed.check else found.checks
        found = msgspec.structs.replace(found, checks=checks)
        decision = given.decide(found.checks, results)
    found = msgspec.structs.replace(found, not_checked=(*found.not_checked, *_not_asked(desk, given)))
    done = Cascade(findings=found, decision=decision, probes=results, written=written)
    if decision.verdict is not None or not (settings.review.reviewer or given.only_packet):
        return done
    from showcause.pipeline.asking import ask_reviewer, packet_for

    packet = packet_for(desk, bench, reader, given.issue, found, decision)
    if given.only_packet:
        return msgspec.structs.replace(done, packet=packet)
    review = ask_reviewer(desk, bench, reader, given.issue, packet, powers=given.powers)
    decision = decide_reviewed(decision, review, review_id=given.review_id)
    return msgspec.structs.replace(done, review=review, decision=decision)


def _not_asked(desk: Desk, given: Given) -> list[NotChecked]:
    """What nobody looked at, where a task was given, and how to have it looked at."""
    settings = desk.settings
    is_asked = given.probes or given.only_packet or settings.probe.models or settings.review.reviewer
    if is_asked or not given.issue.strip():
        return []
    why = "no probes were given and no model is configured: --probe FILE, or [models], [probe] and [review]"
    return [NotChecked(what="whether the patch does what the issue asks", why=why)]

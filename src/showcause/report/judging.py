"""Probes and the reviewer's stage of a receipt, in lines of plain text. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from showcause.records import AuditClass, ProbeResult, ReviewRecord, ReviewStage, Witness
from showcause.report.words import visible

__all__ = ["probe_files", "probe_lines", "review_lines"]


def probe_lines(body: ReviewRecord) -> list[str]:
    """One line a probe, qualified ones first; then what writers gave nothing."""
    ordered = sorted(body.probes, key=lambda result: not result.is_qualified)
    silent = [said for said in body.written if said.why]
    return [
        *map(_probe, ordered),
        *(f"{visible(said.generator)} gave nothing: {visible(said.why)}" for said in silent),
    ]


def probe_files(result: ProbeResult) -> Iterator[str]:
    """The text of a generated test, so that a person can judge it."""
    for path, text in result.probe.files.items():
        yield f"{visible(path)}:"
        yield from (visible(line, 400) for line in text.splitlines())


def review_lines(review: ReviewStage) -> list[str]:
    """Who reviewed, how the votes fell, what became of their claims, and what the reviewer was not given."""
    model = f" ({visible(review.model)})" if review.model else ""
    verdict = review.conclusion.verdict.value if review.conclusion.verdict else "no vote"
    lines = [f"{visible(review.reviewer)}{model}: {verdict}; {visible(review.conclusion.why)}"]
    lines += [f"power: {visible(review.calibration)}"] if review.calibration else []
    lines += [_audit(review)] if _audit(review) else []
    lines += [_witness(one) for one in review.witnesses]
    if not review.packet.is_complete:
        lines.append(f"it was not given everything: {visible(', '.join(review.packet.missing[:3]))}")
    return lines


def _probe(result: ProbeResult) -> str:
    probe = result.probe
    name = f"{probe.role.value} {visible(probe.tests[0] if probe.tests else probe.id)}"
    by = f", by {visible(probe.generator)}"
    if not result.is_qualified:
        return f"{name}: dropped, {result.state.value.replace('_', ' ')}: {visible(result.why)}{by}"
    notes = [f"weak: {visible(result.weak)}"] if result.weak else []
    notes += [] if result.is_quoted or result.is_break else ["its quote is not in the issue"]
    mended = [f"mended {len(result.earlier)} times"] if result.earlier else []
    told = f"base {result.base.value}, head {result.head.value}"
    return f"{name}: {'; '.join([told, *notes, *mended])}{by}"


def _audit(review: ReviewStage) -> str:
    marks = Counter(one for audit in review.audits for one in audit.classes)
    marks.pop(AuditClass.CONSISTENT, None)
    told = ", ".join(f"{count} {mark.value.replace('_', ' ')}" for mark, count in marks.most_common())
    return f"looked at beside the evidence: {told}" if told else ""


def _witness(one: Witness) -> str:
    held = "holds" if one.holds else "does not hold"
    return f"claim {visible(one.finding)} {held}: {visible(one.why)}"

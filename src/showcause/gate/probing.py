"""What probes and guards may reject, and on what agreement. Pure.

One failing probe is a weak cause, since a generated test may ask for more than the issue does; agreement
of several that aim at different things is a strong one (docs/decisions/0012).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from showcause.evidence import failure_words
from showcause.records import (
    Cause,
    HeadSays,
    Policy,
    PolicyName,
    ProbeResult,
    Rule,
    Sameness,
    Side,
    Stage,
)

__all__ = ["break_causes", "failing", "passes_accept", "probe_cause", "probe_causes"]

_SAME = {
    Sameness.SAME: "what was asked for is still missing",
    Sameness.DIFFERENT: "it fails in another way than before the patch",
    Sameness.NONE: "it holds before the patch and not with it",
}


def failing(probes: Sequence[ProbeResult]) -> list[ProbeResult]:
    """Qualified probes with a checked quote that still fail: any one corroborates a regression."""
    return [probe for probe in probes if probe.counts and probe.is_failing]


def probe_causes(probes: Sequence[ProbeResult], policy: Policy) -> Iterator[Cause]:
    """The failing probes, if there are enough of them for the policy."""
    qualified = [probe for probe in probes if probe.counts]
    found = failing(probes)
    if found and _is_enough(found, len(qualified), policy):
        agreed = f" ({len(found)} of {len(qualified)} probes fail)"
        yield from (probe_cause(probe, Rule.PROBE, Stage.PROBES, agreed) for probe in found)


def _is_enough(found: Sequence[ProbeResult], qualified: int, policy: Policy) -> bool:
    match policy.name:
        case PolicyName.NOTE | PolicyName.PAPER:
            return True
        case PolicyName.DEFAULT:
            writers = {probe.probe.generator for probe in found}
            enough = qualified >= policy.probe_min and len(writers) >= policy.probe_generators
            return enough and len(found) >= policy.probe_share * qualified


def break_causes(probes: Sequence[ProbeResult]) -> Iterator[Cause]:
    """Guards that hold before the patch and not with it."""
    broken = [probe for probe in probes if probe.is_break and not probe.weak]
    yield from (probe_cause(probe, Rule.GUARD, Stage.PROBES, "") for probe in broken)


def passes_accept(probes: Sequence[ProbeResult], policy: Policy) -> bool:
    """The one policy under which a pass accepts. It exists to be measured, and is no setting."""
    if policy.name is not PolicyName.PAPER:
        return False
    return any(probe.counts and probe.says is HeadSays.PASSES for probe in probes)


def probe_cause(result: ProbeResult, rule: Rule, stage: Stage, agreed: str) -> Cause:
    """The cause that one generated test is."""
    probe = result.probe
    quoted = f'; the issue says: "{" ".join(probe.quote.split())}"' if result.is_quoted else ""
    return Cause(
        rule=rule,
        stage=stage,
        item=probe.id,
        message=f"{probe.tests[0]}: {_SAME[result.sameness]}{agreed}{quoted}",
        path=next(iter(probe.files)),
        line=None,
        base=_told(result, Side.BASE),
        head=_told(result, Side.HEAD),
        reproduce=(),
    )


def _told(result: ProbeResult, side: Side) -> str:
    runs = [run for run in result.runs if run.side is side]
    failure = next((run.failure for run in runs if run.failure), None)
    outcome = result.base if side is Side.BASE else result.head
    text = f"{outcome.value} ({len(runs)} of {len(runs)} runs)"
    return f"{text}: {failure_words(failure.exception, failure.message)}" if failure else text

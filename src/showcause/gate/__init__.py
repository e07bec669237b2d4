"""The gate: checks' outcomes and a policy -> a decision. Pure.

It rejects only with a cause, it never accepts because a check passed, and what nothing settles is
undecided (`verdict` None). The one thing that may accept here is an official suite that the user
declared to be the whole oracle, and only when both its parts ran.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from showcause.evidence import OWN_TESTS, SUITE, evidence_of, lost_power, probe_evidence
from showcause.gate.causes import (
    IMPORTS,
    STATIC,
    import_errors,
    no_change,
    numbered,
    regression_causes,
    static_causes,
)
from showcause.gate.official import FAIL_TO_PASS, OFFICIAL, PASS_TO_PASS, official_verdict
from showcause.gate.probing import break_causes, failing, passes_accept, probe_cause, probe_causes
from showcause.gate.reviewed import decide_reviewed
from showcause.records import (
    Cause,
    CheckResult,
    Decision,
    Evidence,
    Policy,
    ProbeResult,
    RegressionRule,
    Rule,
    Stage,
    Verdict,
)

__all__ = [
    "FAIL_TO_PASS",
    "IMPORTS",
    "OFFICIAL",
    "OWN_TESTS",
    "PASS_TO_PASS",
    "STATIC",
    "SUITE",
    "decide",
    "decide_reviewed",
    "official_verdict",
    "probe_cause",
]


def decide(
    *,
    patch_is_empty: bool,
    task_given: bool,
    checks: Sequence[CheckResult],
    policy: Policy,
    review_id: str,
    probes: Sequence[ProbeResult] = (),
    powerless: Set[Rule] = frozenset(),
) -> Decision:
    """The table of DESIGN 8. `review_id` goes into each cause's `reproduce` command.

    `powerless` are rules that were wrong here too often: what they find is evidence.
    """
    if patch_is_empty and task_given:
        return _decision(Verdict.REJECT, Stage.CHANGE, [no_change()], (), review_id)
    evidence = [*evidence_of(checks, policy), *probe_evidence(probes)]
    official = official_verdict(checks)
    if official is not None:
        verdict, causes = official
        return _decision(verdict, Stage.OFFICIAL, causes, evidence, review_id)
    found = _causes(checks, probes, policy)
    evidence += [lost_power(cause) for cause in found if cause.rule in powerless]
    causes = [cause for cause in found if cause.rule not in powerless]
    if causes:
        return _decision(Verdict.REJECT, causes[0].stage, causes, evidence, review_id)
    if passes_accept(probes, policy):
        return _decision(Verdict.ACCEPT, Stage.PROBES, (), evidence, review_id)
    return Decision(verdict=None, decided_by=None, causes=(), evidence=tuple(evidence))


def _causes(checks: Sequence[CheckResult], probes: Sequence[ProbeResult], policy: Policy) -> list[Cause]:
    """All that may reject under the policy, what is surest first."""
    causes = [*static_causes(checks), *import_errors(checks), *probe_causes(probes, policy)]
    regressions = [*regression_causes(checks)]
    speaks = policy.regression is not RegressionRule.EVIDENCE
    corroborated = policy.regression is RegressionRule.CORROBORATED and failing(probes)
    if policy.regression is RegressionRule.REJECT or corroborated:
        causes += regressions
    if failing(probes) or (speaks and regressions):
        causes += break_causes(probes)
    return causes


def _decision(
    verdict: Verdict, stage: Stage, causes: Sequence[Cause], evidence: Iterable[Evidence], review_id: str
) -> Decision:
    return Decision(
        verdict=verdict,
        decided_by=stage,
        causes=numbered(causes, review_id),
        evidence=tuple(evidence),
    )

"""Every row of the gate's table, and the law that no combination of passes accepts."""

from __future__ import annotations

from itertools import product

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcause.attribution import CONFIRM, attribute, charge_unstarted, differing
from showcause.gate import FAIL_TO_PASS, IMPORTS, PASS_TO_PASS, SUITE, decide
from showcause.records import (
    Attribution,
    CheckResult,
    Decision,
    Failure,
    FailureKind,
    Item,
    ItemRun,
    Origin,
    Outcome,
    Policy,
    RegressionRule,
    Rule,
    RunReport,
    RunState,
    Side,
    Stage,
    TestResult,
    Verdict,
)


def an_item(
    base: Outcome = Outcome.PASSED,
    head: Outcome = Outcome.FAILED,
    attribution: Attribution = Attribution.PATCH_CAUSED,
    *,
    item_id: str = "t.py::test_a",
    contested: bool = False,
    self_hosted: bool = False,
    runs: int = 2,
) -> Item:
    failure = Failure(
        kind=FailureKind.ASSERTION, exception="AssertionError", message="1 == 2", frame="t.py:3"
    )

    def told(side: Side, outcome: Outcome) -> ItemRun:
        return ItemRun(
            side=side,
            outcome=outcome,
            told_by="call",
            failure=None if outcome is Outcome.PASSED else failure,
        )

    return Item(
        id=item_id,
        base=base,
        head=head,
        attribution=attribution,
        runs=(*[told(Side.BASE, base)] * runs, *[told(Side.HEAD, head)] * runs),
        contested=contested,
        self_hosted=self_hosted,
        note="the patch edits it" if contested else "",
    )


def a_check(check_id: str, *items: Item, state: RunState = RunState.COMPLETE) -> CheckResult:
    stage = Stage.OFFICIAL if check_id.startswith("official") else Stage.EXECUTION
    return CheckResult(id=check_id, stage=stage, version="1", state=state, why="", items=items)


def gate(
    *checks: CheckResult, empty: bool = False, task: bool = True, policy: Policy | None = None
) -> Decision:
    return decide(
        patch_is_empty=empty, task_given=task, checks=checks, policy=policy or Policy(), review_id="r1"
    )


FIXED = an_item(Outcome.FAILED, Outcome.PASSED)
KEPT = an_item(Outcome.PASSED, Outcome.PASSED, Attribution.UNCHANGED)
STILL_FAILS = an_item(Outcome.FAILED, Outcome.FAILED, Attribution.PRE_EXISTING)
BROKEN = an_item()


def test_an_empty_patch_where_a_task_was_given_is_rejected() -> None:
    decision = gate(empty=True)
    assert (decision.verdict, decision.causes[0].rule) == (Verdict.REJECT, Rule.NO_CHANGE)


def test_an_empty_patch_without_a_task_is_not_a_defect() -> None:
    assert gate(empty=True, task=False).verdict is None


def test_an_import_the_patch_broke_is_rejected_with_its_place_and_command() -> None:
    decision = gate(a_check(IMPORTS, an_item(item_id="import pkg.mod")))
    (cause,) = decision.causes
    assert (decision.verdict, cause.rule, cause.path, cause.line) == (
        Verdict.REJECT,
        Rule.IMPORT_ERROR,
        "t.py",
        3,
    )
    assert cause.reproduce == ("showcause", "reproduce", "r1#1")
    assert cause.base.startswith("passed")
    assert "AssertionError: 1 == 2" in cause.head


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        (RegressionRule.CORROBORATED, None),
        (RegressionRule.EVIDENCE, None),
        (RegressionRule.REJECT, Verdict.REJECT),
    ],
)
def test_a_regression_alone_is_evidence_unless_the_policy_says_reject(
    rule: RegressionRule, verdict: Verdict | None
) -> None:
    decision = gate(a_check(SUITE, BROKEN), policy=Policy(regression=rule))
    assert decision.verdict is verdict
    assert [e.state for e in decision.evidence] == ["patch_caused"]


@pytest.mark.parametrize("mark", ["contested", "self_hosted"])
@pytest.mark.parametrize("rule", list(RegressionRule))
def test_a_contested_or_self_hosted_regression_is_evidence_under_every_policy(
    mark: str, rule: RegressionRule
) -> None:
    item = an_item(contested=mark == "contested", self_hosted=mark == "self_hosted")
    decision = gate(a_check(SUITE, item), policy=Policy(regression=rule))
    assert decision.verdict is None
    assert decision.evidence


@pytest.mark.parametrize(
    "attribution", [a for a in Attribution if a is not Attribution.PATCH_CAUSED], ids=str
)
def test_only_what_the_patch_caused_may_reject(attribution: Attribution) -> None:
    item = an_item(attribution=attribution)
    policy = Policy(regression=RegressionRule.REJECT)
    assert gate(a_check(SUITE, item), a_check(IMPORTS, item), policy=policy).verdict is None


@pytest.mark.parametrize(
    ("wanted", "kept", "verdict"),
    [
        (FIXED, KEPT, Verdict.ACCEPT),
        (STILL_FAILS, KEPT, Verdict.REJECT),
        (FIXED, BROKEN, Verdict.REJECT),
        (FIXED, STILL_FAILS, Verdict.ACCEPT),  # wrong on base: cannot speak about the patch
        (an_item(Outcome.FAILED, Outcome.MIXED, Attribution.FLAKY), KEPT, None),
        (an_item(Outcome.FAILED, Outcome.NOT_RUN, Attribution.UNATTRIBUTED), KEPT, None),
        (FIXED, an_item(Outcome.PASSED, Outcome.MIXED, Attribution.FLAKY), None),
        (FIXED, an_item(Outcome.PASSED, Outcome.SKIPPED), None),
        (FIXED, an_item(Outcome.NOT_RUN, Outcome.NOT_RUN, Attribution.UNATTRIBUTED), None),
        (FIXED, an_item(Outcome.NOT_RUN, Outcome.PASSED, Attribution.UNATTRIBUTED), None),
    ],
)
def test_the_official_suite_decides_both_ways(wanted: Item, kept: Item, verdict: Verdict | None) -> None:
    assert gate(a_check(FAIL_TO_PASS, wanted), a_check(PASS_TO_PASS, kept)).verdict is verdict


@pytest.mark.parametrize("state", [RunState.ENVIRONMENT, RunState.TAMPERED])
def test_an_official_suite_whose_report_is_not_to_be_believed_decides_nothing(state: RunState) -> None:
    assert gate(a_check(FAIL_TO_PASS, FIXED, state=state), a_check(PASS_TO_PASS, KEPT)).verdict is None


def test_half_an_official_suite_decides_nothing() -> None:
    assert gate(a_check(FAIL_TO_PASS, FIXED)).verdict is None


def test_an_official_suite_of_nothing_accepts_nothing() -> None:
    assert gate(a_check(FAIL_TO_PASS), a_check(PASS_TO_PASS)).verdict is None


PASSING = st.sampled_from([FIXED, KEPT, an_item(Outcome.SKIPPED, Outcome.PASSED, Attribution.UNATTRIBUTED)])


@given(
    st.lists(
        st.builds(
            lambda name, items: a_check(name, *items),
            st.sampled_from([IMPORTS, SUITE, "command", "own_tests", "probes", FAIL_TO_PASS]),
            st.lists(PASSING, max_size=4),
        ),
        max_size=5,
    ),
    st.booleans(),
    st.sampled_from(list(RegressionRule)),
)
def test_no_combination_of_passing_checks_accepts(
    checks: list[CheckResult], task: bool, rule: RegressionRule
) -> None:
    decision = gate(*checks, task=task, policy=Policy(regression=rule))
    assert decision.verdict is None
    assert decision.causes == ()


# ------------------------------------------------------------------ attribution


def a_run(side: Side, outcome: Outcome, state: RunState = RunState.COMPLETE) -> RunReport:
    return RunReport(
        side=side,
        state=state,
        why="",
        results=(TestResult(id="a", outcome=outcome, told_by="call"),),
        loaded=(),
        argv=(),
        exit_status=1,
        signal=None,
        wall_s=0.1,
        leaked=0,
        output_tail="",
    )


def judged(base: list[Outcome], head: list[Outcome]) -> Item:
    (item,) = attribute([a_run(Side.BASE, o) for o in base], [a_run(Side.HEAD, o) for o in head])
    return item


P, F, E, S, N = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.SKIPPED, Outcome.NOT_RUN


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ([P, P], [F, F], Attribution.PATCH_CAUSED),
        ([P, P], [E, E], Attribution.PATCH_CAUSED),
        ([P], [F], Attribution.UNATTRIBUTED),  # once only
        ([P, P], [F, P], Attribution.FLAKY),
        ([P, F], [F, F], Attribution.FLAKY),
        ([F], [F], Attribution.PRE_EXISTING),
        ([E], [F], Attribution.PRE_EXISTING),
        ([P], [P], Attribution.UNCHANGED),
        ([F, F], [P, P], Attribution.PATCH_CAUSED),
        ([N], [F], Attribution.UNATTRIBUTED),
        ([P], [N], Attribution.UNATTRIBUTED),
        ([S], [F], Attribution.UNATTRIBUTED),
        ([P, P], [S, S], Attribution.PATCH_CAUSED),
    ],
)
def test_attribution(base: list[Outcome], head: list[Outcome], expected: Attribution) -> None:
    assert judged(base, head).attribution is expected


@given(
    st.lists(st.sampled_from([P, F, E, S, N]), max_size=5),
    st.lists(st.sampled_from([P, F, E, S, N]), max_size=5),
)
def test_every_run_is_kept(base: list[Outcome], head: list[Outcome]) -> None:
    items = attribute([a_run(Side.BASE, o) for o in base], [a_run(Side.HEAD, o) for o in head])
    assert sum(len(item.runs) for item in items) == len(base) + len(head)


UNSTARTED = Failure(kind=FailureKind.EXCEPTION, exception="E", origin=Origin.SOURCE)


def unstarted() -> RunReport:
    return msgspec.structs.replace(a_run(Side.HEAD, N, RunState.ENVIRONMENT), unstarted=UNSTARTED)


def test_a_run_that_the_patch_keeps_from_starting_is_an_error_of_each_test() -> None:
    charged = charge_unstarted(unstarted(), a_run(Side.BASE, P))
    assert charged.state is RunState.CRASHED
    (item,) = attribute([a_run(Side.BASE, P)] * 2, [charged] * 2)
    assert (item.head, item.attribution, item.runs[-1].failure) == (E, Attribution.PATCH_CAUSED, UNSTARTED)


@pytest.mark.parametrize("state", [s for s in RunState if s is not RunState.COMPLETE], ids=str)
def test_a_run_that_base_cannot_start_either_is_the_environments(state: RunState) -> None:
    assert charge_unstarted(unstarted(), a_run(Side.BASE, N, state)) == unstarted()


def test_what_base_did_not_run_is_not_charged() -> None:
    charged = charge_unstarted(unstarted(), a_run(Side.BASE, N))
    assert [result.outcome for result in charged.results] == [N]


@pytest.mark.parametrize("state", [s for s in RunState if s is not RunState.COMPLETE], ids=str)
def test_a_pass_in_a_run_that_is_not_complete_is_no_pass(state: RunState) -> None:
    (item,) = attribute([a_run(Side.BASE, P, state)] * 2, [a_run(Side.HEAD, F)] * 2)
    assert item.base is N
    assert item.attribution in (Attribution.UNATTRIBUTED, Attribution.ENVIRONMENT)


def test_only_ids_that_differ_are_repeated() -> None:
    outcomes = [P, F, E, S, N]
    for base, head in product(outcomes, outcomes):
        again = differing([judged([base], [head])])
        assert bool(again) == (N not in (base, head) and (base is P) != (head is P))
    assert CONFIRM == 2

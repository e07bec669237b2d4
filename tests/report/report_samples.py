"""Receipts to report on, the ugly ones first. Name -> receipt."""

from __future__ import annotations

import msgspec

from showcause.receipt import GENESIS, Receipt, exit_status, make
from showcause.records import (
    Attribution,
    BoundTo,
    Cause,
    CheckResult,
    Ended,
    Enforced,
    Enforcement,
    Evidence,
    EvidenceKind,
    Failure,
    FailureKind,
    Item,
    ItemRun,
    NotChecked,
    Origin,
    Outcome,
    ReviewRecord,
    Rule,
    RunState,
    SandboxReport,
    Side,
    Stage,
    Tampering,
    Verdict,
)

ID = "3f2a9c01d4e5"
HELD = Enforced(state=Enforcement.ENFORCED, why="")
SANDBOX = SandboxReport(level=1, tree="overlay", fs=HELD, net=HELD, pid=HELD, memory=HELD, processes=HELD)
HOSTILE = (
    "\x1b[2J\x1b[1;1HAccepted: all is well\x1b]0;title\x07\r\nReceipt   000000000000\n"
    "\u202egnihton\u202c \u200bhidden\u2066x\u2069 \x9b31m [bold]markup[/bold] \udcff end"
)


def item(
    id: str,
    base: Outcome = Outcome.PASSED,
    head: Outcome = Outcome.PASSED,
    attribution: Attribution = Attribution.UNCHANGED,
    *,
    contested: bool = False,
    self_hosted: bool = False,
    note: str = "",
) -> Item:
    failure = Failure(
        kind=FailureKind.ASSERTION, exception="AssertionError", message="1 == 2", frame="src/a.py:3",
        origin=Origin.SOURCE,
    )  # fmt: skip
    runs = tuple(
        ItemRun(
            side=side,
            outcome=outcome,
            told_by="call",
            failure=failure if outcome is Outcome.FAILED else None,
            duration_s=0.01,
        )
        for side, outcome in ((Side.BASE, base), (Side.HEAD, head))
        for _ in range(2)
    )
    return Item(
        id=id, base=base, head=head, attribution=attribution, runs=runs,
        contested=contested, self_hosted=self_hosted, note=note,
    )  # fmt: skip


def check(*items: Item, id: str = "suite", state: RunState = RunState.COMPLETE, why: str = "") -> CheckResult:
    return CheckResult(id=id, stage=Stage.EXECUTION, version="1", state=state, why=why, items=items)


def cause(number: int = 1, message: str = "", **changes: object) -> Cause:
    made = Cause(
        rule=Rule.REGRESSION,
        stage=Stage.EXECUTION,
        item=f"tests/test_money.py::test_rounds_{number}",
        message=message or f"tests/test_money.py::test_rounds_{number} passed before the patch",
        path="src/money.py",
        line=40 + number,
        base="passed (2 of 2 runs)",
        head="failed (2 of 2 runs): AssertionError: assert Decimal('1.00') == Decimal('1.01')",
        reproduce=("showcause", "reproduce", f"{ID}#{number}"),
    )
    return msgspec.structs.replace(made, **changes)


def evidence(number: int, text: str = "") -> Evidence:
    return Evidence(
        id=f"f-{number:012x}",
        kind=EvidenceKind.GROUNDED,
        state="patch_caused",
        text=text or f"tests/test_tax.py::test_{number}: passed on base, failed on head",
        stage=Stage.EXECUTION,
        items=(f"tests/test_tax.py::test_{number}",),
    )


def review(ended: Ended, verdict: Verdict | None, *, allow: bool = False, **changes: object) -> ReviewRecord:
    made = ReviewRecord(
        verdict=verdict,
        ended=ended,
        why="",
        exit_status=exit_status(ended, verdict, allow),
        decided_by=None,
        causes=(),
        evidence=(),
        checks=(),
        tampering=(),
        not_checked=(),
        changes=(),
        bound_to=BoundTo(base_tree="1a" * 20, head_tree="2b" * 20, patch="3c" * 32, policy="4d" * 32),
        sandbox=SANDBOX,
        issue="",
        settings="",
        environment="",
        started="2026-01-02T03:04:05.000000+00:00",
        wall_s=12.34,
    )
    return msgspec.structs.replace(made, **changes)


def receipt(record: ReviewRecord, id: str = ID) -> Receipt:
    return make(record, id=id, previous=GENESIS, created="2026-01-02T03:04:17.000000+00:00")


def _all_kinds() -> CheckResult:
    caused = Attribution.PATCH_CAUSED
    failed, passed = Outcome.FAILED, Outcome.PASSED
    return check(
        *(item(f"t::both_{n}") for n in range(12)),
        item("t::broken", passed, failed, caused),
        item("t::edited", passed, failed, caused, contested=True, note="the patch edits tests/test_x.py"),
        item("t::own_runner", passed, failed, caused, self_hosted=True),
        item("t::gone", passed, Outcome.NOT_RUN, caused),
        item("t::skipped_now", passed, Outcome.SKIPPED, caused),
        item("t::fixed", failed, passed, caused),
        item("t::other", failed, Outcome.CRASHED, caused),
        item("t::old", failed, failed, Attribution.PRE_EXISTING),
        item("t::flaky", Outcome.MIXED, passed, Attribution.FLAKY),
        item("t::net", Outcome.ERROR, Outcome.ERROR, Attribution.ENVIRONMENT),
        item("t::unknown", Outcome.TIMEOUT, failed, Attribution.UNATTRIBUTED),
        item("t::idle", Outcome.SKIPPED, Outcome.SKIPPED),
        item("t::same", failed, failed),
    )


def _hostile() -> ReviewRecord:
    bad = HOSTILE
    return review(
        Ended.DECIDED,
        Verdict.REJECT,
        why=bad,
        decided_by=Stage.EXECUTION,
        causes=(cause(message=bad, item=bad, path=f"src/{bad}.py", base=bad, head=bad),),
        evidence=(evidence(1, bad),),
        checks=(check(item(bad, note=bad), id=bad, state=RunState.CRASHED, why=bad),),
        tampering=(Tampering(path=bad, what=bad),),
        not_checked=(NotChecked(what=bad, why=bad),),
        sandbox=msgspec.structs.replace(SANDBOX, fs=Enforced(state=Enforcement.NONE, why=bad)),
    )


def _huge() -> ReviewRecord:
    left = [NotChecked(what=f"tests/test_{n}.py", why="the time budget was used up") for n in range(200)]
    left += [NotChecked(what=f"thing {n}", why=f"reason {n}") for n in range(8)]
    left += [NotChecked(what="vendor/lib", why="a submodule with changes of its own", caps=True)]
    return review(
        Ended.DECIDED,
        Verdict.REJECT,
        why="12 tests of the project pass without the patch and fail with it",
        decided_by=Stage.EXECUTION,
        causes=tuple(cause(n, message="x" * 600 + "\n" + "line\n" * 12) for n in range(1, 13)),
        evidence=tuple(evidence(n, "first\nsecond\nthird\nfourth") for n in range(9)),
        checks=(check(*(item(f"t::{n}") for n in range(40))),),
        tampering=tuple(Tampering(path=f"tests/test_{n}.py", what="edited by the patch") for n in range(9)),
        not_checked=tuple(left),
    )


def _reject() -> ReviewRecord:
    return review(
        Ended.DECIDED,
        Verdict.REJECT,
        why="a test of the project passes without the patch and fails with it",
        decided_by=Stage.EXECUTION,
        causes=(cause(),),
        evidence=(evidence(7),),
        checks=(_all_kinds(), check(item("import:money"), id="imports")),
        tampering=(Tampering(path="tests/conftest.py", what="the patch edits a fixture; base's was used"),),
        not_checked=(NotChecked(what="web/app.ts", why="no check for this language"),),
    )


def _undecided(**changes: object) -> ReviewRecord:
    checks = (check(*(item(f"t::{n}") for n in range(31))), check(item("import:money"), id="imports"))
    return review(Ended.UNDECIDED, None, checks=checks, **changes)


def _unconfined() -> ReviewRecord:
    none = Enforced(state=Enforcement.NONE, why="user namespaces are refused")
    half = Enforced(state=Enforcement.PARTIAL, why="no cgroup can be made")
    sandbox = SandboxReport(level=4, tree="copy", fs=none, net=none, pid=none, memory=half, processes=none)
    stopped = check(
        id="suite", state=RunState.ENVIRONMENT, why="the interpreter of the project did not start"
    )
    return review(Ended.UNDECIDED, Verdict.UNCERTAIN, checks=(stopped,), sandbox=sandbox)


def samples() -> dict[str, Receipt]:
    """Every case that has a golden file."""
    reviewed = review(
        Ended.DECIDED,
        Verdict.REJECT,
        why="3 of 5 votes reject and a witness holds",
        decided_by=Stage.REVIEWER,
        causes=(
            cause(rule=Rule.REVIEWER, stage=Stage.REVIEWER, line=None, base="", head="", item="claim 1"),
        ),
    )
    records = {
        "hostile": _hostile(),
        "huge": _huge(),
        "contradiction": review(Ended.DECIDED, None, why="Accepted"),
        "unconfined": _unconfined(),
        "unappliable": review(
            Ended.UNAPPLIABLE, None, why="git: error: patch failed: src/a.py:3", sandbox=None
        ),
        "moved": review(Ended.MOVED, Verdict.REJECT, causes=(cause(),)),
        "interrupted": review(Ended.INTERRUPTED, None, sandbox=None),
        "environment": review(Ended.ENVIRONMENT, None, why="git is not installed", sandbox=None),
        "undecided": _undecided(),
        "undecided_allowed": _undecided(allow=True),
        "nothing": review(Ended.NOTHING_TO_REVIEW, None, sandbox=None),
        "reject": _reject(),
        "reject_reviewer": reviewed,
        "accept": review(
            Ended.DECIDED,
            Verdict.ACCEPT,
            why="both parts of the official suite ran and pass",
            decided_by=Stage.OFFICIAL,
            checks=(check(item("t::a"), id="official.fail_to_pass"),),
        ),
    }
    return {name: receipt(record) for name, record in records.items()}

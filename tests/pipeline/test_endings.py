"""Every way in which a review can end: verdict, exit status and receipt, through the library and the CLI."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

import pytest
from git_helpers import Files, commit, git, write
from reviews import (
    ISSUE,
    PRICE,
    PYTEST,
    TEST,
    bare_python,
    check_of,
    cli,
    item_of,
    leftovers,
    look,
    receipts,
    shop,
    until,
)

import showcause
from showcause.errors import EnvironmentFault
from showcause.receipt import cause_id
from showcause.records import Attribution, ChangeKind, Ended, Outcome, RegressionRule, Rule, Stage, Verdict

BROKEN_VAT = PRICE.replace(b"19 / 100", b"20 / 100")
UNDEFINED = PRICE + b"\nRATES = [vat_of_germany]\n"


def test_nothing_to_review(tmp_path: Path) -> None:
    record = look(shop(tmp_path / "r"))
    assert (record.verdict, record.ended, record.exit_status) == (None, Ended.NOTHING_TO_REVIEW, 0)
    assert record.causes == ()


def test_an_empty_patch_where_a_task_was_given(tmp_path: Path) -> None:
    record = look(shop(tmp_path / "r"), issue=ISSUE)
    assert (record.verdict, record.decided_by, record.exit_status) == (Verdict.REJECT, Stage.CHANGE, 1)
    assert [cause.rule for cause in record.causes] == [Rule.NO_CHANGE]


def test_an_undefined_name_at_module_level(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": UNDEFINED})
    record = look(top)
    assert (record.verdict, record.exit_status) == (Verdict.REJECT, 1)
    (cause,) = (cause for cause in record.causes if cause.rule is Rule.IMPORT_ERROR)
    assert (cause.path, cause.line) == ("shop/price.py", 8)
    assert "vat_of_germany" in cause.head
    assert cause.base == "passed (2 of 2 runs)"


@pytest.mark.parametrize("rule", list(RegressionRule))
def test_a_regression_under_each_policy(tmp_path: Path, rule: RegressionRule) -> None:
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": BROKEN_VAT})
    record = look(top, settings={"gate.regression": str(rule)})
    item = item_of(record, "test_vat")
    assert item.attribution is Attribution.PATCH_CAUSED
    assert (item.base, item.head) == (Outcome.PASSED, Outcome.FAILED)
    assert item_of(record, "test_total").attribution is Attribution.UNCHANGED
    assert any("test_vat" in told.text for told in record.evidence)
    if rule is RegressionRule.REJECT:
        assert (record.verdict, record.exit_status) == (Verdict.REJECT, 1)
        (cause,) = record.causes
        assert (cause.rule, cause.item) == (Rule.REGRESSION, item.id)
    else:
        assert (record.verdict, record.ended, record.exit_status) == (None, Ended.UNDECIDED, 3)
        assert record.causes == ()


def test_a_test_that_the_patch_edits_is_contested(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": BROKEN_VAT, "tests/test_price.py": TEST.replace(b"19)", b"20)")})
    record = look(top, settings={"gate.regression": "reject"})
    assert (record.verdict, record.exit_status) == (None, 3)
    (item,) = (i for check in record.checks if check.id == "suite" for i in check.items if "vat" in i.id)
    assert item.contested
    assert (item.attribution, item.head) == (Attribution.PATCH_CAUSED, Outcome.FAILED)
    assert [told.path for told in record.tampering] == ["tests/test_price.py"]


FLAKY = b"import time\nimport unittest\n\nfrom shop import price\n\n\nclass FlakyTest(unittest.TestCase):\n"


def flaky(count: int) -> bytes:
    """Tests that go by the microsecond: those of one millisecond would agree with each other."""
    body = b"        assert time.time_ns() // 1000 % 2, price\n"
    return FLAKY + b"\n".join(b"    def test_%d(self):\n" % number + body for number in range(count))


@pytest.mark.parametrize("rule", list(RegressionRule))
def test_f1_a_flaky_test_never_rejects(tmp_path: Path, rule: RegressionRule) -> None:
    """Where a regression may reject, ten runs must agree: this fails once in a thousand times."""
    top = shop(tmp_path / "r", {"tests/test_flaky.py": flaky(1)})
    write(top, {"shop/price.py": PRICE + b"\n# a comment\n"})
    record = look(top, settings={"gate.regression": str(rule)})
    assert (record.verdict, record.causes) == (None, ())


def test_f1_flaky_is_named_and_every_run_is_kept(tmp_path: Path) -> None:
    top = shop(tmp_path / "r", {"tests/test_flaky.py": flaky(24)})
    write(top, {"shop/price.py": PRICE + b"\n# a comment\n"})
    record = look(top)
    items = [item for item in check_of(record, "suite").items if "FlakyTest" in item.id]
    assert len(items) == 24
    mixed = [item for item in items if item.attribution is Attribution.FLAKY]
    assert mixed
    for item in mixed:
        assert len(item.runs) == 4
        assert {run.outcome for run in item.runs} == {Outcome.PASSED, Outcome.FAILED}
    assert record.verdict is None


def test_a_patch_that_does_not_apply(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    diff = b"--- a/shop/price.py\n+++ b/shop/price.py\n@@ -1 +1 @@\n-def sum_of(x):\n+def total(x):\n"
    record = look(top, diff=diff)
    assert (record.verdict, record.ended, record.exit_status) == (None, Ended.UNAPPLIABLE, 3)
    assert "patch failed: shop/price.py:1" in record.why
    assert receipts(top)[0].body == record
    told = cli(top, "review", "--diff", "-", "--allow-uncertain", stdin=diff)
    assert told.status == 3, "what was not reviewed is no allowed uncertainty"


SLOW: Files = {
    "tests/test_slow.py": b"import time\nimport unittest\n\nfrom shop import price\n\n\n"
    b"class SlowTest(unittest.TestCase):\n    def test_slow(self):\n        time.sleep(1.5)\n"
}


def test_a_checkout_that_moves_voids_the_review(tmp_path: Path) -> None:
    top = shop(tmp_path / "r", SLOW)
    write(top, {"shop/price.py": BROKEN_VAT})
    says: list[str] = []

    def edit() -> None:
        until(lambda: any("running" in line for line in says))
        write(top, {"shop/price.py": PRICE, "new.py": b""})

    editor = threading.Thread(target=edit)
    editor.start()
    request = showcause.Request(
        directory=str(top),
        overrides={"suite.python": sys.executable, "suite.runner": "unittest", "gate.regression": "reject"},
    )
    record = showcause.review(request, say=says.append).receipt.body
    editor.join()
    assert (record.verdict, record.ended, record.exit_status) == (None, Ended.MOVED, 3)
    assert "shop/price.py" in record.why
    assert record.causes == ()
    again = look(top)
    assert [change.path for change in again.changes] == ["new.py"]


def test_a_cancelled_review_is_interrupted(tmp_path: Path, own_temporary: Path) -> None:
    top = shop(tmp_path / "r", SLOW)
    write(top, {"shop/price.py": BROKEN_VAT})
    cancel = threading.Event()
    threading.Timer(0.8, cancel.set).start()
    request = showcause.Request(directory=str(top), overrides={"suite.python": sys.executable})
    before = time.monotonic()
    record = showcause.review(request, cancel=cancel).receipt.body
    assert time.monotonic() - before < 10
    assert (record.verdict, record.ended, record.exit_status) == (None, Ended.INTERRUPTED, 130)
    assert leftovers(own_temporary) == []


def test_an_interpreter_that_is_missing(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": UNDEFINED})
    with pytest.raises(EnvironmentFault, match="no such interpreter") as caught:
        look(top, python=".venv/bin/python")
    assert "venv" in caught.value.cure


def test_pytest_is_configured_and_not_installed(tmp_path: Path) -> None:
    top = shop(tmp_path / "r", {"pytest.ini": b"[pytest]\n"})
    write(top, {"shop/price.py": UNDEFINED})
    record = look(top, python=bare_python(tmp_path / "env"), runner="")
    assert (record.verdict, record.ended, record.exit_status) == (None, Ended.ENVIRONMENT, 4)
    assert "pytest is not installed" in record.why
    assert "pip install pytest" in record.why
    assert receipts(top)[0].body == record


def test_g1_an_environment_that_is_broken_on_base_decides_nothing(tmp_path: Path) -> None:
    top = shop(tmp_path / "r", {"conftest.py": b"import not_there\n", "README": b"old\n"})
    write(top, {"README": b"new\n", "shop/price.py": BROKEN_VAT})
    record = look(top, python=PYTEST, runner="pytest", settings={"gate.regression": "reject"})
    assert (record.verdict, record.ended, record.exit_status) == (None, Ended.ENVIRONMENT, 4)
    assert "not_there" in record.why


def test_i1_a_conftest_that_forges_passes_is_not_used_and_is_named(tmp_path: Path) -> None:
    test = b"from shop import price\n\n\ndef test_vat():\n    assert price.vat(100) == 21\n"
    top = shop(tmp_path / "r", {"tests/test_price.py": test})
    forge = (
        b"import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
        b"    told = (yield).get_result()\n    told.outcome = 'passed'\n"
    )
    write(top, {"conftest.py": forge})
    record = look(top, python=PYTEST, runner="pytest", issue=ISSUE)
    assert record.verdict is None
    assert [told.path for told in record.tampering] == ["conftest.py"]
    assert not any(item.head is Outcome.PASSED for check in record.checks for item in check.items)


def test_i2_words_printed_are_not_results(tmp_path: Path) -> None:
    test = (
        b"from shop import price\n\n\ndef test_vat():\n    print('PASSED tests/test_price.py::test_vat')\n"
        b"    print('=== 1 passed in 0.01s ===')\n    assert price.vat(100) == 19\n"
    )
    top = shop(tmp_path / "r", {"tests/test_price.py": test})
    write(top, {"shop/price.py": BROKEN_VAT})
    record = look(top, python=PYTEST, runner="pytest")
    assert item_of(record, "::test_vat").head is Outcome.FAILED


def test_i6_tests_that_share_the_codes_mistake_accept_nothing(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    new = b"import unittest\n\nfrom shop.price import add\n\n\nclass AddTest(unittest.TestCase):\n"
    new += b"    def test_add(self):\n        self.assertEqual(add(2, 1), 1)\n"
    patch = {"shop/price.py": PRICE + b"\n\ndef add(a, b):\n    return a - b\n", "tests/test_add.py": new}
    write(top, patch)
    record = look(top, issue=b"add must add two numbers")
    assert (record.verdict, record.exit_status) == (None, 3)
    (told,) = (e for e in record.evidence if "author's own tests" in e.text)
    assert "pass with the patch, and could not be run without it" in told.text


SUITES: dict[str, tuple[bytes, int, str]] = {
    "failed": (b"def test_a():\n    assert price.vat(100) == 20\n", 0, "failed"),
    "import error": (b"import not_there\n\ndef test_a():\n    pass\n", 0, "error"),
    "nothing collected": (b"def helper():\n    pass\n", 0, "not_run"),
    "all skipped": (b"import pytest\n\n@pytest.mark.skip\ndef test_a():\n    pass\n", 0, "skipped"),
    "internal end": (b"import sys\nsys.exit(0)\n", 0, "error"),
    "passed": (b"def test_a():\n    pass\n", 0, "passed"),
}


def test_d6_six_suites_have_their_own_states(tmp_path: Path) -> None:
    files = {
        f"tests/test_{name.replace(' ', '_')}.py": b"from shop import price\n" + text
        for name, (text, _, _) in SUITES.items()
    }
    top = shop(
        tmp_path / "r",
        files | {"tests/test_price.py": b"from shop import price\n\n\ndef test_b():\n    pass\n"},
    )
    write(top, {"shop/price.py": PRICE + b"\n# a comment\n"})
    record = look(top, python=PYTEST, runner="pytest", settings={"gate.regression": "reject"})
    assert (record.verdict, record.exit_status) == (None, 3)
    for name, (_, _, expected) in SUITES.items():
        file = f"tests/test_{name.replace(' ', '_')}.py"
        (item,) = (item for item in check_of(record, "suite").items if item.id.startswith(file))
        assert item.head.value == expected, name
        assert item.base.value == expected, name


def test_h1_h2_h4_a_change_of_kinds_is_listed(tmp_path: Path) -> None:
    """Rename, carriage returns, bytes that are not UTF-8."""
    top = shop(
        tmp_path / "r",
        {"a.py": b"x = 1\r\ny = 1\r\n", "latin.py": b"# caf\xe9\nz = 1\n", "old.py": b"q = 1\n"},
    )
    write(top, {"a.py": b"x = 1\r\ny = 2\r\n", "latin.py": b"# caf\xe9\nz = 2\n"})
    git(top, "mv", "old.py", "new.py")
    told = cli(top, "review", "--format", "json", env={"LC_ALL": "C"})
    assert told.status == 3
    record = receipts(top)[0].body
    kinds = {
        change.path: (change.kind, change.added_lines, change.deleted_lines) for change in record.changes
    }
    assert kinds == {
        "a.py": (ChangeKind.MODIFIED, 1, 1),
        "latin.py": (ChangeKind.MODIFIED, 1, 1),
        "new.py": (ChangeKind.RENAMED, 0, 0),
    }
    diff = git(top, "diff", "--no-color", "HEAD", "--", "a.py").encode() + b"\n"
    git(top, "checkout", "HEAD", "--", "a.py")
    crlf = look(top, diff=diff.replace(b"\r\n", b"\n").replace(b"1\n", b"1\r\n").replace(b"2\n", b"2\r\n"))
    assert crlf.ended is not Ended.UNAPPLIABLE


def test_h3_a_patch_without_its_binary_part_is_named_and_caps(tmp_path: Path) -> None:
    top = shop(tmp_path / "r", {"b.bin": b"\0\1\2"})
    write(top, {"b.bin": b"\0\3\4", "shop/price.py": PRICE + b"\n# new\n"})
    diff = git(top, "diff", "HEAD").encode() + b"\n"
    git(top, "checkout", "HEAD", "--", ".")
    record = look(top, diff=diff)
    assert record.verdict is None
    assert record.ended in (Ended.UNAPPLIABLE, Ended.UNDECIDED)
    assert "b.bin" in record.why or any("b.bin" in note.what and note.caps for note in record.not_checked)


def test_a5_findings_keep_their_ids(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": UNDEFINED})
    first = look(top, fresh=True)
    second = look(top, fresh=True)
    commit(top, message="the patch")
    git(top, "commit", "-q", "--allow-empty", "-m", "nothing")
    third = look(top, base="HEAD~2", fresh=True)
    ids = [[told.id for told in record.evidence] for record in (first, second, third)]
    assert ids[0]
    assert ids[0] == ids[1] == ids[2]
    causes = [[cause_id(cause) for cause in record.causes] for record in (first, second, third)]
    assert causes[0] == causes[1] == causes[2]
    assert causes[0]


DIES = """\
import ctypes, os, unittest

from shop import price


class A(unittest.TestCase):
    def test_a(self):
        if price.vat(100) == 20:
            WAY

    def test_b(self):
        pass
"""


@pytest.mark.parametrize("way", ["os._exit(0)", "ctypes.string_at(0)"], ids=["exit", "segfault"])
def test_law_4_a_suite_that_crashes_is_no_approval(tmp_path: Path, way: str) -> None:
    dying = DIES.replace("WAY", way).encode()
    top = shop(tmp_path / "r", {"tests/test_dies.py": dying})
    write(top, {"shop/price.py": BROKEN_VAT})
    record = look(top)
    assert (record.verdict, record.exit_status) == (None, 3)
    item = item_of(record, "A.test_a")
    assert (item.base, item.head) == (Outcome.PASSED, Outcome.CRASHED)
    assert item_of(record, "A.test_b").head is Outcome.PASSED, "the rest ran without it"
    suite = {"tests": "files", "fail_to_pass": ["tests.test_dies.A.test_a"], "pass_to_pass": []}
    write(tmp_path, {"suite.json": json.dumps(suite).encode(), "files/tests/test_dies.py": dying})
    official = look(top, official=str(tmp_path / "suite.json"))
    assert official.verdict is Verdict.REJECT
    assert official.causes[0].rule is Rule.OFFICIAL_SUITE


HOOK = b"""
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    yield
"""


def test_a_conftest_that_the_patch_adds_does_not_make_a_regression_contested(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": BROKEN_VAT, "conftest.py": HOOK, "tests/conftest.py": HOOK})
    record = look(top, settings={"gate.regression": "reject"})
    assert (record.verdict, record.causes[0].rule) == (Verdict.REJECT, Rule.REGRESSION)


def test_an_undecided_review_says_what_broke(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": BROKEN_VAT})
    record = look(top)
    assert record.ended is Ended.UNDECIDED
    assert record.why.startswith("1 test of base fails since the patch")


@pytest.mark.slow
def test_a_test_that_never_ends_is_called_so(tmp_path: Path) -> None:
    body = b"    def test_endless(self):\n        import time\n\n        time.sleep(600)\n"
    endless = TEST + b"\n\nclass EndlessTest(unittest.TestCase):\n" + body
    top = shop(tmp_path / "r", {"tests/test_price.py": endless})
    write(top, {"shop/price.py": PRICE + b"\nEXTRA = 1\n"})
    record = look(top, settings={"suite.time_budget_s": 1})
    assert any("timeout on base" in one.text and "test_endless" in one.text for one in record.evidence)

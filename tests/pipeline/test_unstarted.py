"""A patch that keeps the project's tests from starting at all: its doing, where base can start them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from git_helpers import write
from reviews import PRICE, PYTEST, check_of, look, shop

from showcause.records import Attribution, Outcome, Rule, RunState, Verdict

CONFTEST = b"from shop.price import total\n\nEMPTY = total([])\n"
TESTS = b"from shop import price\n\n\ndef test_vat():\n    assert price.vat(100) == 19\n"
FILES = {"conftest.py": CONFTEST, "tests/test_price.py": TESTS}
RENAMED = PRICE.replace(b"def total", b"def sum_of")
RAISES = PRICE.replace(b"return sum(prices)", b"return prices[0] + sum(prices[1:])")


@pytest.mark.parametrize("head", [RENAMED, RAISES], ids=["a name is gone", "it raises"])
def test_what_keeps_the_tests_from_starting_is_an_error_of_each(tmp_path: Path, head: bytes) -> None:
    top = shop(tmp_path / "r", FILES)
    write(top, {"shop/price.py": head})
    record = look(top, python=PYTEST, runner="pytest")
    suite = check_of(record, "suite")
    assert suite.state is RunState.CRASHED, suite.why
    (item,) = (item for item in suite.items if item.id.endswith("::test_vat"))
    assert (item.base, item.head) == (Outcome.PASSED, Outcome.ERROR)
    assert item.attribution is Attribution.PATCH_CAUSED


def test_an_official_suite_rejects_it(tmp_path: Path) -> None:
    top = shop(tmp_path / "r", FILES)
    write(top, {"shop/price.py": RAISES})
    tests = tmp_path / "official" / "tests"
    tests.mkdir(parents=True)
    (tests / "test_new.py").write_bytes(b"def test_it():\n    pass\n")
    told = {"tests": ".", "fail_to_pass": ["tests/test_new.py::test_it"]}
    told["pass_to_pass"] = ["tests/test_price.py::test_vat"]
    suite = tmp_path / "official" / "suite.json"
    suite.write_text(json.dumps(told))
    record = look(top, python=PYTEST, runner="pytest", official=str(suite))
    assert record.verdict is Verdict.REJECT
    assert {cause.rule for cause in record.causes} == {Rule.OFFICIAL_SUITE}


def test_where_base_cannot_start_either_nothing_is_decided(tmp_path: Path) -> None:
    top = shop(tmp_path / "r", FILES | {"shop/price.py": RAISES})
    write(top, {"shop/price.py": RAISES + b"\n\nRATE = 19\n"})
    record = look(top, python=PYTEST, runner="pytest")
    suite = check_of(record, "suite")
    assert suite.state is RunState.ENVIRONMENT
    assert {item.attribution for item in suite.items} <= {Attribution.ENVIRONMENT}
    assert record.verdict is None

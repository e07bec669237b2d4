"""Six ways to make failing tests look as if they passed: none is accepted, each is named in the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from git_helpers import Files, fingerprint, write
from reviews import ISSUE, PRICE, PYTEST, look, receipts, shop

from showcause.records import Outcome, ReviewRecord, Verdict
from showcause.report.text import render

TEST = b"from shop import price\n\n\ndef test_total():\n    assert price.total([1, 2]) == 3\n\n\n"
TEST += b"def test_vat():\n    assert price.vat(100) == 19\n"
WRONG = PRICE.replace(b"19 / 100", b"20 / 100")  # neither what base did, nor what the official suite wants

FORGED_REPORT = b"""
def _forge():
    import sys

    if "_pytest.reports" in sys.modules:
        report = sys.modules["_pytest.reports"].TestReport
        made = report.from_item_and_call.__func__

        def forged(cls, item, call):
            call.excinfo = None
            return made(cls, item, call)

        report.from_item_and_call = classmethod(forged)


_forge()
"""
FORGING_HOOK = b"""import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    told = (yield).get_result()
    told.outcome, told.longrepr = "passed", None
"""
EXITS = b"\nimport os\nimport sys\n\nif 'pytest' in sys.modules:\n    os._exit(0)\n"
PRINTS = WRONG.replace(
    b"    return price * 20",
    b"    print('PASSED tests/test_price.py::test_vat')\n    print('=== 2 passed in 0.01s ===')\n"
    b"    return price * 20",
)

# name -> (what the patch changes besides breaking `vat`, words of the report that name it)
WAYS: dict[str, tuple[Files, str]] = {
    "a forged report at import": (
        {"shop/price.py": WRONG + FORGED_REPORT},
        "suite: tampered, so it decides nothing",
    ),
    "a conftest that turns failures into passes": (
        {"tests/conftest.py": FORGING_HOOK},
        "tests/conftest.py: adds pytest fixtures or hooks",
    ),
    "os._exit(0)": ({"shop/price.py": WRONG + EXITS}, "ended the process"),
    "printed PASSED lines": ({"shop/price.py": PRINTS}, "test_vat: passed on base, failed on head"),
    "an added --ignore": (
        {"pytest.ini": b"[pytest]\naddopts = --ignore=tests/test_price.py\n"},
        "pytest.ini: edits the configuration of tests",
    ),
    "a skipped suite": (
        {"tests/test_price.py": b"import pytest\n\npytestmark = pytest.mark.skip\n" + TEST},
        "tests/test_price.py: now skips the test tests/test_price.py::test_vat",
    ),
}


def tampered(tmp_path: Path, way: str) -> Path:
    top = shop(tmp_path / "r", {"tests/test_price.py": TEST, "pytest.ini": b"[pytest]\n"})
    write(top, {"shop/price.py": WRONG} | WAYS[way][0])
    return top


def no_pass_of(record: ReviewRecord, ending: str) -> bool:
    """Whether no check says that this test passed with the patch on base's own surface."""
    items = [item for check in record.checks if check.id != "own_tests" for item in check.items]
    found = [item for item in items if item.id.endswith(ending)]
    return bool(found) and all(item.head is not Outcome.PASSED for item in found)


@pytest.mark.parametrize("way", WAYS)
def test_it_is_not_accepted_and_named(tmp_path: Path, way: str) -> None:
    top = tampered(tmp_path, way)
    before = fingerprint(top)
    record = look(top, python=PYTEST, runner="pytest", issue=ISSUE)
    assert record.verdict is not Verdict.ACCEPT
    assert record.exit_status in (1, 3)
    assert no_pass_of(record, "::test_vat")
    assert WAYS[way][1] in render(receipts(top)[0], verbose=True)
    assert fingerprint(top) == before


SLOW = [pytest.param(way, marks=pytest.mark.slow) for way in list(WAYS)[2:]]


@pytest.mark.parametrize("way", [*list(WAYS)[:2], *SLOW])
def test_it_does_not_fool_an_official_suite(tmp_path: Path, way: str) -> None:
    """Such a suite is the one thing that accepts without a reviewer, so it is what a forger is after."""
    top = tampered(tmp_path, way)
    official = b"from shop import price\n\n\ndef test_asked():\n    assert price.vat(100) == 21\n"
    told = {"tests": "files", "fail_to_pass": ["tests/test_asked.py::test_asked"], "pass_to_pass": []}
    write(tmp_path, {"suite.json": json.dumps(told).encode(), "files/tests/test_asked.py": official})
    record = look(top, python=PYTEST, runner="pytest", official=str(tmp_path / "suite.json"))
    assert record.verdict is not Verdict.ACCEPT
    assert record.exit_status in (1, 3)
    assert no_pass_of(record, "::test_asked")

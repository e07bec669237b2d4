"""An official suite decides mechanically, both ways, and only if both its parts ran."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from git_helpers import commit, git, write
from reviews import PRICE, check_of, cli, look, receipts, shop

from showcause.errors import UsageError
from showcause.records import Ended, Outcome, Rule, Stage, Verdict

ADDED = b"""\
import time
import unittest

from shop import price


class AddedTest(unittest.TestCase):
    def test_reduced(self):
        self.assertEqual(price.reduced(100), 7)

    def test_total(self):
        self.assertEqual(price.total([1, 1]), 2)

    def test_flaky(self):
        self.assertEqual(price.reduced(100), 7)
        self.assertTrue(int(time.time() * 1000) % 3)

    def test_broken_before(self):
        self.assertEqual(price.vat(100), 0)
"""
NAME = "tests.test_added.AddedTest."
GOOD = PRICE + b"\n\ndef reduced(price):\n    return price * 7 / 100\n"
BAD = GOOD.replace(b"* 7 /", b"* 8 /")
BREAKS = GOOD.replace(b"sum(prices)", b"sum(prices) + 1")


def suite(
    folder: Path, wanted: list[str], kept: list[str], *, tests: str = "files", content: bytes = ADDED
) -> str:
    """Write a suite file; its path."""
    told = {"tests": tests, "fail_to_pass": wanted, "pass_to_pass": kept}
    write(folder, {"suite.json": json.dumps(told).encode(), "files/tests/test_added.py": content})
    return str(folder / "suite.json")


@pytest.mark.parametrize(
    ("source", "verdict", "status"),
    [(GOOD, Verdict.ACCEPT, 0), (BAD, Verdict.REJECT, 1), (BREAKS, Verdict.REJECT, 1)],
    ids=["right", "omits", "breaks"],
)
def test_it_accepts_and_rejects(tmp_path: Path, source: bytes, verdict: Verdict, status: int) -> None:
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": source})
    told = suite(tmp_path / "s", [f"{NAME}test_reduced"], [f"{NAME}test_total", f"{NAME}test_broken_before"])
    record = look(top, official=told)
    assert (record.verdict, record.decided_by, record.exit_status) == (verdict, Stage.OFFICIAL, status)
    assert record.ended is Ended.DECIDED
    assert bool(record.causes) is (verdict is Verdict.REJECT)
    assert {cause.rule for cause in record.causes} <= {Rule.OFFICIAL_SUITE}
    ids = [item.id for check in record.checks for item in check.items if check.stage is Stage.OFFICIAL]
    assert sorted(ids) == sorted(
        f"{NAME}{name}" for name in ("test_reduced", "test_total", "test_broken_before")
    )


def test_a_patch_as_tests(tmp_path: Path) -> None:
    """`tests` may be a patch, in a file or as the text itself; the suite's version of a test counts."""
    top = shop(tmp_path / "r")
    write(top, {"tests/test_added.py": ADDED})
    git(top, "add", "-A")
    diff = git(top, "diff", "--cached") + "\n"
    git(top, "reset", "-q", "--hard")
    write(top, {"shop/price.py": GOOD, "tests/test_added.py": ADDED.replace(b", 7)", b", 99)")})
    for number, tests in enumerate((diff, "tests.diff")):
        folder = tmp_path / f"s{number}"
        write(folder, {"tests.diff": diff.encode()})
        told = suite(folder, [f"{NAME}test_reduced"], [], tests=tests)
        assert look(top, official=told).verdict is Verdict.ACCEPT


def test_a_flaky_part_decides_nothing(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": GOOD})
    flaky = ADDED.replace(b"int(time.time() * 1000) % 3", b"time.time_ns() // 1000 % 2")
    wanted = [f"{NAME}test_reduced", f"{NAME}test_flaky"]
    for number in range(8):
        record = look(top, official=suite(tmp_path / f"s{number}", wanted, [], content=flaky), fresh=True)
        (item,) = (i for i in check_of(record, "official.fail_to_pass").items if i.id.endswith("flaky"))
        if item.head is Outcome.MIXED:
            assert (record.verdict, record.exit_status) == (None, 3)
            return
    pytest.fail("eight times in a row both runs agreed: one time in 256 or so")


def test_half_a_suite_accepts_nothing(tmp_path: Path) -> None:
    """What was to stay right was not seen on base: all else passing shows nothing of it."""
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": GOOD})
    told = suite(tmp_path / "s", [f"{NAME}test_reduced"], [f"{NAME}test_not_there", f"{NAME}test_total"])
    record = look(top, official=told)
    assert (record.verdict, record.exit_status, record.causes) == (None, 3, ())
    assert any("test_not_there" in note.what and note.caps for note in record.not_checked)


def test_an_unknown_wanted_id_accepts_nothing(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": GOOD})
    told = suite(tmp_path / "s", [f"{NAME}test_reduced", f"{NAME}test_not_there"], [])
    assert look(top, official=told).verdict is None


def test_compiled_sources_that_were_not_built_cap_the_verdict(tmp_path: Path) -> None:
    top = shop(tmp_path / "r", {"shop/fast.c": b"int a;\n"})
    write(top, {"shop/price.py": GOOD, "shop/fast.c": b"int b;\n"})
    record = look(top, official=suite(tmp_path / "s", [f"{NAME}test_reduced"], []))
    assert (record.verdict, record.ended, record.exit_status) == (None, Ended.UNDECIDED, 3)
    assert "shop/fast.c" in record.why


WRONG: dict[str, tuple[bytes, str]] = {
    "no json": (b"{", "not an official suite"),
    "no tests": (b'{"fail_to_pass": ["a"]}', "not an official suite"),
    "unknown field": (b'{"tests": "files", "fail_to_pass": ["a"], "extra": 1}', "not an official suite"),
    "nothing wanted": (b'{"tests": "files", "fail_to_pass": []}', "names no test"),
    "a folder that is not there": (b'{"tests": "nowhere", "fail_to_pass": ["a"]}', "cannot be read"),
    "a patch that does not apply": (
        b'{"tests": "--- a/x\\n+++ b/x\\n@@ -1 +1 @@\\n-a\\n+b\\n", "fail_to_pass": ["a"]}',
        "do not go onto base",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_suite_file_that_is_wrong(tmp_path: Path, name: str) -> None:
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": GOOD})
    content, words = WRONG[name]
    write(tmp_path / "s", {"suite.json": content, "files/x": b""})
    with pytest.raises(UsageError, match=words):
        look(top, official=str(tmp_path / "s" / "suite.json"))
    told = cli(top, "review", "--official", str(tmp_path / "s" / "suite.json"))
    assert (told.status, words in told.err) == (2, True)


def test_15_its_ids_and_tests_do_not_lie_in_the_work_tree_afterwards(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    commit(top, {"shop/price.py": GOOD})
    look(top, official=suite(tmp_path / "s", [f"{NAME}test_reduced"], []), commit="HEAD")
    assert not os.path.exists(top / "tests" / "test_added.py")
    assert receipts(top)[0].body.tampering == ()

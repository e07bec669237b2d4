"""What is not done twice: base's outcomes, and settled reviews. And what never answers from the store."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from git_helpers import commit, git, write
from reviews import PRICE, PYTEST, bare_python, check_of, look, reviewed, shop

from showcause.records import Outcome, Verdict

BROKEN = PRICE.replace(b"19 / 100", b"20 / 100")
COUNTS = b"""\
import os
import unittest

from shop import price


class CountsTest(unittest.TestCase):
    def test_count(self):
        with open(os.environ["COUNTER"], "a") as file:
            file.write("%d\\n" % price.vat(100))
"""


def launches(counter: Path) -> list[str]:
    """Which sources the tests were run on since the last look: what `vat(100)` gave."""
    told = counter.read_text().split()
    counter.write_text("")
    return sorted(told)


def test_base_is_run_once(tmp_path: Path) -> None:
    """Counted by the tests themselves, where no sandbox keeps their writing in."""
    top = shop(tmp_path / "r", {"tests/test_counts.py": COUNTS})
    counter = tmp_path / "counter"
    counter.write_text("")
    settings = {"suite.env": {"COUNTER": str(counter)}, "sandbox.allow_unsandboxed": True}

    def go(content: bytes, **request: object) -> list[str]:
        write(top, {"shop/price.py": content})
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SHOWCAUSE_SANDBOX_LEVEL", "4")
            found = look(top, settings=settings, **request)
        assert found.verdict is None
        return launches(counter)

    assert go(PRICE + b"\n# one\n") == ["19", "19"]
    assert go(PRICE + b"\n# two\n") == ["19"], "only head"
    assert go(BROKEN) == ["20"], "only head: this test does not differ"
    git(top, "stash", "-q")
    commit(top, {"README": b"another base\n"})
    git(top, "stash", "pop", "-q")
    assert go(BROKEN + b"\n# three\n") == ["19", "20"], "another base runs anew"


def test_a_changed_environment_runs_base_anew(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    python = bare_python(tmp_path / "env")
    write(top, {"shop/price.py": BROKEN})

    def cached() -> int:
        with sqlite3.connect(top / ".git" / "showcause" / "store.sqlite3") as db:
            (count,) = db.execute("SELECT count(*) FROM base_outcomes").fetchone()
        db.close()
        return int(count)

    look(top, python=python)
    first = cached()
    assert first > 0
    look(top, python=python, fresh=True)
    assert cached() == first
    (site,) = Path(python).parent.parent.glob("lib/python*/site-packages")
    write(site, {"thing-1.dist-info/METADATA": b"Metadata-Version: 2.1\nName: thing\nVersion: 1\n"})
    look(top, python=python)
    assert cached() == 2 * first


def test_q3_an_equal_review_is_answered_from_the_store(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": BROKEN})
    first, second = reviewed(top), reviewed(top)
    assert (first.from_store, second.from_store) == (False, True)
    assert second.receipt == first.receipt
    assert not reviewed(top, fresh=True).from_store


def test_what_is_not_settled_is_reviewed_again(tmp_path: Path) -> None:
    """Where there was no environment the next review may tell more."""
    top = shop(tmp_path / "r", {"conftest.py": b"import not_there\n"})
    write(top, {"shop/price.py": BROKEN})
    settings = {"suite.runner": "pytest", "suite.python": PYTEST}
    assert reviewed(top, settings=settings).receipt.body.verdict is None
    assert not reviewed(top, settings=settings).from_store


def test_a_receipt_that_was_changed_does_not_answer(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": PRICE + b"\nRATES = [undefined]\n"})
    assert reviewed(top).receipt.body.verdict is Verdict.REJECT
    with sqlite3.connect(top / ".git" / "showcause" / "store.sqlite3") as db:
        db.execute("UPDATE receipts SET body = replace(body, '\"reject\"', '\"accept\"')")
    db.close()
    again = reviewed(top)
    assert (again.from_store, again.receipt.body.verdict) == (False, Verdict.REJECT)
    assert Outcome.PASSED in {item.base for item in check_of(again.receipt.body, "imports").items}

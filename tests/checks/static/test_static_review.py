"""The static stage in a whole review: its cause, the same cause again, and evidence of no change."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from git_helpers import Files, make, write
from static_made import SHOP, B

import showcause
from showcause.pipeline import reproduce
from showcause.records import Rule, Stage, Verdict

PYTHON = os.path.realpath(sys.executable)


def review(top: Path, head: Files) -> showcause.Reviewed:
    make(top, SHOP)
    write(top, head)
    overrides = {"suite.python": PYTHON, "suite.runner": "unittest"}
    return showcause.review(showcause.Request(directory=str(top), overrides=overrides))


def test_a_static_cause_is_reproduced(tmp_path: Path) -> None:
    top = tmp_path / "r"
    receipt = review(top, {"shop/b.py": B + b"\n\ndef f():\n    return undefined_one\n"}).receipt
    assert receipt.body.verdict is Verdict.REJECT
    assert receipt.body.decided_by is Stage.STATIC
    (cause,) = receipt.body.causes
    assert (cause.rule, cause.path, cause.line) == (Rule.STATIC, "shop/b.py", 10)
    _, (again,) = reproduce(str(top), f"{receipt.id}#1")
    assert again.now is not None
    assert (again.now.item, again.now.line, again.now.head) == (cause.item, cause.line, cause.head)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ({"shop/b.py": b"# only words\n" + B}, ["1 with comments, formatting or docstrings only"]),
        ({"try_it.py": b"print(1)\n"}, ["1 stray in the root, that nothing refers to"]),
        ({"try_it.py": b"print(1)\n", "shop/b.py": B + b"import try_it\n"}, []),
    ],
)
def test_no_effective_change_is_evidence(head: Files, said: list[str], tmp_path: Path) -> None:
    body = review(tmp_path / "r", head).receipt.body
    assert body.verdict is None
    told = [e.text for e in body.evidence if e.state == "no_code_change"]
    assert told == [f"the patch changes no code that runs: {words}" for words in said]

"""Each complaint about reviews by machine that this version answers has a test that bears its id."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
IDS = (
    "a1", "a2", "a3", "a5", "a6",
    "b1", "b2", "b3",
    "c1", "c2", "c5", "c7", "c8",
    "d1", "d2", "d3", "d4", "d6",
    "e1", "e2", "e3", "e5",
    "f1",
    "g1", "g2",
    "h1", "h2", "h3", "h4", "h6", "h8",
    "i1", "i2", "i5", "i6",
    "j1", "j2", "j4",
    "l1", "l3", "l4",
    "m3", "m4",
    "o3",
    "q3",
)  # fmt: skip


def names() -> Iterator[str]:
    """The names of all test functions that pytest collects."""
    for path in HERE.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield node.name


def ids_of(name: str) -> list[str]:
    """`test_c5_l3_what` -> c5, l3."""
    found = re.match(r"test((?:_[a-q]\d{1,2})+)_", name)
    return found[1].split("_")[1:] if found else []


NAMED = {each for name in names() for each in ids_of(name)}


@pytest.mark.parametrize("pain", IDS)
def test_each_complaint_has_its_test(pain: str) -> None:
    assert pain in NAMED

"""docs/exit-status.md names every status and every word that a caller may meet, and no other."""

from __future__ import annotations

import re
from enum import StrEnum
from itertools import product
from pathlib import Path

import pytest

from showcause.checks.tampering import TAMPERING_WORDS
from showcause.receipt import exit_status
from showcause.records import Attribution, Ended, Outcome, Rule, RunState, Stage, Verdict

TEXT = (Path(__file__).parents[1] / "docs" / "exit-status.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"(?ms)^## ([^\n(]+?)(?: \([^\n]*\))?\n(.*?)(?=^## |\Z)", TEXT))
WORDS: dict[str, type[StrEnum]] = {
    "How a review ended": Ended,
    "Verdicts": Verdict,
    "What can reject": Rule,
    "Who decided": Stage,
    "Whether a check counts": RunState,
    "How an item ended": Outcome,
    "Whose doing it is": Attribution,
}
BESIDE_PATHS = ("no longer has the test", "now skips the test", "adds a comment that silences a checker")


def rows(section: str) -> dict[str, list[str]]:
    """First cell of each row -> the other cells."""
    lines = [line for line in SECTIONS[section].splitlines() if line.startswith("| ")][2:]
    cells = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]
    assert len({first for first, *_ in cells}) == len(cells)
    return {first.strip("`"): rest for first, *rest in cells}


@pytest.mark.parametrize("section", WORDS)
def test_every_word_has_its_row(section: str) -> None:
    assert set(rows(section)) == {word.value for word in WORDS[section]}
    assert all(all(cells) for cells in rows(section).values())


def test_statuses_are_those_that_endings_have() -> None:
    every = {exit_status(ended, verdict, False) for ended, verdict in product(Ended, (*Verdict, None))}
    assert set(map(int, rows("Exit status"))) == every | {2}
    for ended, (statuses, _) in rows("How a review ended").items():
        told = set(map(int, statuses.split(" or ")))
        real = {exit_status(Ended(ended), verdict, False) for verdict in (*Verdict, None)}
        contradictions = {4} if ended != Ended.ENVIRONMENT else set()
        uncertain = {3} if ended == Ended.DECIDED else set()
        assert real - contradictions - uncertain == told, ended


def test_every_way_to_tamper_is_named() -> None:
    said = SECTIONS["Edits of the patch to what judges it"]
    assert [line[2:] for line in said.splitlines() if line.startswith("- ") and "`" not in line] == list(
        TAMPERING_WORDS.values()
    )
    source = Path(__file__).parents[1] / "src" / "showcause"
    code = "".join(path.read_text() for path in source.glob("checks/**/*.py"))
    for words in BESIDE_PATHS:
        assert f"`{words}`" in said
        assert words in code
    assert code.count("Tampering(path=") == len(BESIDE_PATHS) + 1, (
        "another way to tamper: name it on the page"
    )

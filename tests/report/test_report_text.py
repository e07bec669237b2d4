"""The report for people, against golden files. SHOWCAUSE_REBUILD=1 writes them anew."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

import pytest
from report_samples import HOSTILE, cause, check, item, receipt, review, samples

from showcause.receipt import ending
from showcause.records import Attribution, Ended, NotChecked, Outcome, Verdict
from showcause.report.tally import in_words, tally
from showcause.report.text import render
from showcause.report.words import headline, outcome_word, paragraph, status_line, visible

GOLDEN = Path(__file__).parent.parent / "golden" / "report"
SAMPLES = samples()
WAYS = {"txt": False, "verbose.txt": True}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("ending", WAYS)
def test_golden(name: str, ending: str) -> None:
    text = render(SAMPLES[name], verbose=WAYS[ending])
    file = GOLDEN / f"{name}.{ending}"
    if os.environ.get("SHOWCAUSE_REBUILD"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_no_golden_file_is_left_over() -> None:
    assert {file.name for file in GOLDEN.glob("*.txt")} == {
        f"{name}.{way}" for name in SAMPLES for way in WAYS
    }


# ------------------------------------------------------------------ nothing from outside acts


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("verbose", [False, True])
def test_no_character_steers_a_terminal(name: str, verbose: bool) -> None:
    for text in (render(SAMPLES[name], verbose=verbose), status_line(SAMPLES[name]) + "\n"):
        hidden = {char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")}
        assert hidden == {"\n"}


def test_text_from_outside_never_starts_a_line() -> None:
    lines = render(SAMPLES["hostile"], verbose=True).splitlines()
    assert [line for line in lines if line.startswith("Accepted")] == []
    assert [line for line in lines if line.startswith("Receipt")] == [
        "Receipt   3f2a9c01d4e5, 12.3 s, exit status 1"
    ]
    assert "[bold]markup[/bold]" in lines[0]


@pytest.mark.parametrize("name", SAMPLES)
def test_colour_changes_no_character(name: str) -> None:
    coloured = render(SAMPLES[name], color=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(SAMPLES[name])
    assert "\x1b[" in coloured


def test_how_hidden_characters_are_shown() -> None:
    assert visible("a\x1b[0m\x7f\x9b\u200b\u202e\udcff\ud800\U000e0041é漢") == (
        "a\\x1b[0m\\x7f\\x9b\\u200b\\u202e\\xff\\ud800\\U000e0041é漢"
    )
    assert visible(" a\r\n\tb\u2028c ") == "a b c"
    assert visible("x" * 301) == "x" * 300 + "... (+1 characters)"
    assert visible("some words of a sentence", 14) == "some words of... (+11 characters)", "not mid-word"
    assert visible("some words of a sentence", 13) == "some words of... (+11 characters)"
    assert visible("a " + "x" * 30, 20) == "a " + "x" * 18 + "... (+12 characters)", "one word is too long"
    assert paragraph("a\r\nb\n\n\tc\n", 2, 80) == ["a", "b", "... 1 more line"]
    assert paragraph("\n \n", 2, 80) == []
    assert "\n" not in visible(HOSTILE)


# ------------------------------------------------------------------ what must not be misread


@pytest.mark.parametrize("name", SAMPLES)
def test_the_first_line_is_the_verdict_and_only_acceptance_reads_as_approval(name: str) -> None:
    first = render(SAMPLES[name]).splitlines()[0]
    assert first == headline(SAMPLES[name])
    assert first.startswith("Accepted") == (name == "accept")
    body = SAMPLES[name].body
    quiet = body.ended is Ended.NOTHING_TO_REVIEW or body.verdict in (Verdict.ACCEPT, Verdict.REJECT)
    if not quiet or body.ended is Ended.MOVED:
        assert "This is not an approval." in render(SAMPLES[name])


def test_each_cause_can_be_run_again() -> None:
    text = render(SAMPLES["huge"], verbose=True)
    assert all(f"reproduce: showcause reproduce 3f2a9c01d4e5#{n}\n" in text for n in range(1, 13))


def test_what_caps_the_verdict_is_never_cut() -> None:
    left = [NotChecked(what=f"t{n}", why=f"w{n}") for n in range(20)]
    left += [NotChecked(what=f"c{n}", why=f"x{n}", caps=True) for n in range(9)]
    text = render(receipt(review(Ended.UNDECIDED, None, not_checked=tuple(left))))
    assert all(f"c{n}: x{n} (so the verdict" in text for n in range(9))
    assert "and 20 more (showcause show 3f2a9c01d4e5 --verbose)" in text


@pytest.mark.parametrize("attribution", Attribution)
@pytest.mark.parametrize("base", Outcome)
@pytest.mark.parametrize("head", Outcome)
def test_every_item_is_counted_once(attribution: Attribution, base: Outcome, head: Outcome) -> None:
    items = [
        item("t", base, head, attribution, contested=contested, self_hosted=own)
        for contested in (False, True)
        for own in (False, True)
    ]
    assert tally(check(*items)).total() == len(items)


def test_what_failed_on_base_already_is_named() -> None:
    failing = [
        item(f"t{n}", Outcome.FAILED, Outcome.FAILED, Attribution.PRE_EXISTING, note=HOSTILE)
        for n in range(5)
    ]
    assert in_words(check(*failing[:1])) == "1 failing on base already (t0)"
    assert in_words(check(*failing, item("good"))) == (
        "5 failing on base already (t0, t1, t2 and 2 more), 1 passed on both"
    )


@pytest.mark.parametrize("ended", Ended)
def test_a_listing_has_the_word_of_the_report(ended: Ended) -> None:
    for verdict in (None, *Verdict):
        word = outcome_word(ended, verdict)
        shown = ending(ended, verdict).verdict
        if ended in (Ended.DECIDED, Ended.UNDECIDED):
            assert shown is not None
            assert word == shown.value
        else:
            assert word == ended.value
    assert outcome_word(Ended.UNDECIDED, None) == "uncertain"


def test_o3_one_line_says_it_all() -> None:
    assert status_line(SAMPLES["reject"]) == (
        "showcause: Rejected: a test of the project passes without the patch and fails with it; 1 cause; "
        "26 items compared; 1 not checked; receipt 3f2a9c01d4e5"
    )
    for name, one in SAMPLES.items():
        line = status_line(one)
        assert line.startswith(f"showcause: {headline(one)}; "), name
        assert re.search(r"\d+ items? compared; \d+ not checked; receipt 3f2a9c01d4e5$", line), name
        assert "\n" not in line
    assert {one.body.ended for one in SAMPLES.values()} == set(Ended), "no ending is silent"


def test_verbose_cuts_nothing() -> None:
    text = render(SAMPLES["huge"], verbose=True)
    assert "x" * 600 in text
    assert " more" not in text
    assert text.count("     | line\n") == 12 * 12


def test_a_cause_without_words() -> None:
    bare = cause(message="\n", base="", head="", path="", line=None)
    text = render(receipt(review(Ended.DECIDED, Verdict.REJECT, causes=(bare,))))
    assert "base: nothing recorded\n     head: nothing recorded\n" in text

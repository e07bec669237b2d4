"""What is read without click is what click reads, and what it prints is the same, byte for byte."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from git_helpers import write
from hypothesis import given
from hypothesis import strategies as st
from reviews import PRICE, environment, shop

from showcause.cli.review_command import review_command
from showcause.cli.table import REVIEW, VERSION, Kind, read_review

NAMES = [name for option in REVIEW for name in option.names]
VALUES = ["", ".", "-", "--", "-1", "HEAD", "a=b", "text", "json", "xml", "two words", "\udcff", "--base=x"]
WORDS = st.lists(st.sampled_from([*NAMES, *VALUES, "-vC", "--ba", "--help", "-h"]), max_size=6)


def by_click(words: list[str]) -> dict[str, object] | str:
    """The parameters, or the name of what click does instead."""
    try:
        return dict(review_command.make_context("review", list(words)).params)
    except (click.ClickException, click.exceptions.Exit) as error:
        return type(error).__name__


@given(WORDS)
def test_words_are_read_as_click_reads_them_or_left_to_it(words: list[str]) -> None:
    told = read_review(["review", *words])
    assert told is None or told == by_click(words)


@pytest.mark.parametrize("option", REVIEW, ids=lambda option: option.fills)
def test_every_option_has_a_short_way(option) -> None:  # type: ignore[no-untyped-def]
    value = option.choices[-1] if option.choices else "word"
    words = [option.names[-1], *([] if option.kind is Kind.FLAG else [value])]
    told = read_review(["review", *words])
    assert told == by_click(words)
    assert told != read_review(["review"])


@pytest.mark.parametrize("words", [[], ["list"], ["review", "--help"], ["review", "x"], ["review", "--base"]])
def test_all_else_is_left_to_click(words: list[str]) -> None:
    assert read_review(words) is None


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose work tree was reviewed."""
    top = shop(tmp_path_factory.mktemp("settled") / "r")
    write(top, {"shop/price.py": PRICE + b"\n# fine\n"})
    assert run(top, "review")[0] == 3
    return top


def run(top: Path, *words: str) -> tuple[int, bytes, bytes]:
    argv = [sys.executable, "-P", "-X", "importtime", "-m", "showcause", *words]
    done = subprocess.run(
        argv, cwd=top, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def split(stderr: bytes) -> tuple[bytes, set[str]]:
    """What was said on standard error, and the modules that were imported."""
    timing = re.compile(rb"^import time:.*\|\s*(\S+)\n", re.MULTILINE)
    return timing.sub(b"", stderr), {name.decode() for name in timing.findall(stderr)}


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_a_settled_review_is_told_the_same_both_ways(settled: Path, form: str) -> None:
    status, told, said = run(settled, "review", "--format", form)
    status_by_click, told_by_click, said_by_click = run(settled, "review", f"--format={form}")
    words, modules = split(said)
    words_by_click, modules_by_click = split(said_by_click)
    assert (status, told, words) == (status_by_click, told_by_click, words_by_click)
    assert status == 3
    assert len(told) > 100
    assert "click" in modules_by_click
    assert "click" not in modules
    assert not {"concurrent.futures", "showcause.checks", "showcause.gate"} & modules


def test_the_version_is_told_the_same_both_ways(tmp_path: Path) -> None:
    status, told, said = run(tmp_path, VERSION)
    status_by_click, told_by_click, said_by_click = run(tmp_path, VERSION, "--help")
    assert (status, told) == (status_by_click, told_by_click) == (0, told)
    assert "click" in split(said_by_click)[1]
    assert "msgspec" not in split(said)[1]


def test_nothing_is_imported_from_the_repository_under_review(settled: Path) -> None:
    write(settled, {"click.py": b"raise SystemExit(77)\n", "msgspec.py": b"raise SystemExit(78)\n"})
    for word in ("--format=json", "--fresh"):
        argv = [sys.executable, "-m", "showcause", "review", word]
        done = subprocess.run(argv, cwd=settled, env=environment(), capture_output=True, check=False)
        assert done.returncode == 3, done.stderr


def test_a_review_without_a_model_imports_none(settled: Path) -> None:
    status, _, said = run(settled, "review", "--fresh", "--format", "json")
    assert status == 3
    loaded = {name.partition(".")[2].partition(".")[0] for name in split(said)[1] if "showcause." in name}
    assert not {"models", "packet", "reviewer", "probes", "contract"} & loaded
    assert not {"asyncio", "click", "importlib.metadata"} & split(said)[1]

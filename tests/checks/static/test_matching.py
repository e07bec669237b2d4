"""The three passes, on pairs of trees in tests/golden/static.

A line may end in marks `#! RULE SYMBOL`: there a checker finds something. In head's files each mark goes
on with the fate that is expected. Marks are no part of the files that git sees.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from git_helpers import clear, commit, make, write
from hypothesis import given
from hypothesis import strategies as st

from showcause import git
from showcause.checks.static.hunks import line_maps
from showcause.checks.static.matching import match
from showcause.checks.static.nouns import Fate, Finding
from showcause.patch import parse

GOLDEN = Path(__file__).parents[2] / "golden" / "static"
CASES = sorted(path.name for path in GOLDEN.iterdir() if path.is_dir())
_MARK = re.compile(r"#! (\S+) (\S+)(?: = (\w+))?(?: \| ([^#]+))?")


def read_side(folder: Path) -> tuple[dict[str, bytes], list[tuple[Finding, str]]]:
    """The files without their marks, and what the marks say: findings with the fates expected."""
    files, found = {}, []
    for path in sorted(folder.iterdir()):
        texts = [line.partition("#!")[0].rstrip() for line in path.read_text().splitlines()]
        files[path.name] = "".join(f"{text}\n" for text in texts).encode()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for rule, symbol, fate, message in _MARK.findall(line):
                told = message.strip() or f"undefined {symbol}"
                finding = Finding(
                    tool="t",
                    rule=rule,
                    path=path.name,
                    line=number,
                    message=told,
                    symbol=symbol,
                    text=texts[number - 1].strip(),
                )
                found.append((finding, fate))
    return files, found


@pytest.mark.parametrize("case", CASES)
def test_golden_pairs(case: str, tmp_path: Path) -> None:
    before, base = read_side(GOLDEN / case / "base")
    after, head = read_side(GOLDEN / case / "head")
    matched = match(
        [finding for finding, _ in base],
        [finding for finding, _ in head],
        maps_of(tmp_path / "r", before, after),
    )
    assert [one.finding for one in matched] == [finding for finding, _ in head]
    assert [one.fate.value for one in matched] == [fate for _, fate in head]


def maps_of(top: Path, before: dict[str, bytes], after: dict[str, bytes]):
    make(top, before)
    clear(top)
    write(top, after)
    commit(top)
    repo = git.open_repo(str(top))
    old, new = git.resolve(repo, "HEAD~1", "HEAD")
    data = git.diff(repo, old.tree, new.tree)
    return line_maps(parse(data, base_tree=old.tree, head_tree=new.tree))


TEXTS = [
    (b"", b"a\nb\n"),
    (b"a\nb\n", b""),
    (b"a\nb\nc\n", b"a\nc\n"),
    (b"a\r\nb\r\n", b"a\r\nx\r\nb\r\n"),
    (b"a\nb", b"a\nb\n"),
    (b"a\nb\n", b"a\nb"),
    (b"".join(b"%d\n" % n for n in range(60)), b"".join(b"%d\n" % n for n in range(60) if n % 13)),
    (b"".join(b"%d\n" % n for n in range(60) if n % 7), b"x\n" + b"".join(b"%d\n" % n for n in range(60))),
    (b"-- a\n++ b\n", b"++ b\n-- a\n-- a\n"),
]


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_a_line_is_carried_to_the_same_line(number: int, tmp_path: Path) -> None:
    before, after = TEXTS[number]
    maps = maps_of(tmp_path / "r", {"a.py": before, "z": b""}, {"a.py": after, "z": b""})
    old, new = before.split(b"\n"), after.split(b"\n")
    lines = maps["a.py"]
    carried = 0
    for at, text in enumerate(new[: len(after.splitlines())], 1):
        there = lines.to_base(at)
        if there is not None and there <= len(before.splitlines()):
            assert old[there - 1] == text
            assert lines.to_head(there) == at
            carried += 1
    assert carried >= len(set(before.splitlines()) & set(after.splitlines())) // 2


def test_odd_paths_and_kinds(tmp_path: Path) -> None:
    before = {"w\n.py": b"a\nb\n", "ä.py": b"1\n2\n", "gone.py": b"x\n", "bin": b"\0\1", "m.py": b"1\n"}
    after = {"w\n.py": b"n\na\nb\n", "ä.py": b"2\n", "bin": b"\0\2", "m.py": b"1\n", "new.py": b"x y z\n"}
    maps = maps_of(tmp_path / "r", before, after)
    assert maps["w\n.py"].to_base(3) == 2
    assert maps["ä.py"].to_base(1) == 2
    assert maps["new.py"].to_base(1) is None
    assert "gone.py" not in maps


NAMES = st.sampled_from(["a", "b", "c"])
FINDINGS = st.lists(
    st.builds(
        Finding,
        tool=st.just("t"),
        rule=st.sampled_from(["F821", "E1"]),
        path=st.sampled_from(["x.py", "y.py"]),
        line=st.integers(1, 5),
        symbol=NAMES,
        message=NAMES,
        text=NAMES,
    ),
    max_size=8,
)


@given(FINDINGS, FINDINGS)
def test_counts_in_are_counts_out_and_the_same_is_never_new(base: list[Finding], head: list[Finding]) -> None:
    matched = match(base, head, {})
    assert [one.finding for one in matched] == head
    assert all(one.fate is not Fate.NEW for one in match(head, head, {}))
    known = {(f.rule, f.path, f.symbol) for f in base}
    for one in matched:
        if (one.finding.rule, one.finding.path, one.finding.symbol) in known:
            assert one.fate is not Fate.NEW

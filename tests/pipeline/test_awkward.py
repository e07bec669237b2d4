"""Awkward input, end to end: the right exit status, an error of one line, and nothing changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from git_helpers import GIT_ENV, Link, Run, clear, commit, fingerprint, git, make, write
from needs import need, need_program
from reviews import PRICE, PYTEST, SETTINGS, Cli, check_of, cli, environment, look, main_in, receipts, shop

from showcause.records import Attribution, ChangeKind, Ended, Outcome, ReviewRecord, RunState, Verdict

FINE = PRICE + b"\nRATE = 19\n"
UNDEFINED = PRICE + b"\nRATES = [vat_of_germany]\n"


def caps(record: ReviewRecord, what: str) -> bool:
    return any(note.what == what and note.caps for note in record.not_checked)


# ------------------------------------------------------------------ what cannot be reviewed at all


def unmerged(top: Path) -> None:
    git(top, "checkout", "-q", "-b", "other")
    commit(top, {"shop/price.py": UNDEFINED})
    git(top, "checkout", "-q", "main")
    commit(top, {"shop/price.py": FINE})
    subprocess.run(["git", "merge", "-q", "other"], cwd=top, env=GIT_ENV, capture_output=True, check=False)


def empty(top: Path) -> None:
    clear(top)
    shutil.rmtree(top / ".git")
    git(top, "init", "-q")


class Refusal(NamedTuple):
    lay: Callable[[Path], object]
    arguments: tuple[str, ...]
    status: int
    words: str


REFUSALS: dict[str, Refusal] = {
    "no repository": Refusal(lambda top: shutil.rmtree(top / ".git"), (), 2, "not in a git repository"),
    "a bare one": Refusal(lambda top: git(top, "config", "core.bare", "true"), (), 2, "bare"),
    "no commits": Refusal(empty, (), 2, "no commits"),
    "an unknown revision": Refusal(lambda _: None, ("--base", "nowhere"), 2, "unknown revision 'nowhere'"),
    "a revision with a line break": Refusal(lambda _: None, ("--head", "a\nb"), 2, "unknown revision"),
    "an unmerged path": Refusal(unmerged, (), 2, "unmerged path 'shop/price.py'"),
    "a broken index": Refusal(lambda top: write(top, {".git/index": b"x" * 99}), (), 4, "index"),
    "broken settings": Refusal(
        lambda top: commit(top, {"showcause.toml": b"[gate]\nregresion = 'x'\n"}),
        (), 2, "showcause.toml:2: [gate]",
    ),
    "no interpreter": Refusal(
        lambda top: write(top, {"shop/price.py": UNDEFINED}),
        ("--set", "suite.python=.venv/bin/python"), 4, "no such interpreter",
    ),
    "an unknown runner": Refusal(lambda _: None, ("--set", "suite.runner=nose"), 2, "must be one of pytest"),
    "a store elsewhere": Refusal(
        lambda top: write(top, {"shop/price.py": FINE}),
        ("--set", "store.url=postgresql://x/y"), 2, "no store for postgresql://",
    ),
    "a store that is none": Refusal(
        lambda top: write(top, {".git/showcause/store.sqlite3": b"x" * 9999}), (), 4, "is not a store"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_is_one_line_and_changes_nothing(tmp_path: Path, name: str) -> None:
    """One line, and where there is a cure one line for that; nothing on standard output in any format."""
    top = shop(tmp_path / "r")
    refusal = REFUSALS[name]
    refusal.lay(top)
    before = fingerprint(top)
    for form in ("text", "json", "markdown"):
        told = main_in(top, "review", *refusal.arguments, "--format", form)
        assert (told.status, told.out) == (refusal.status, ""), told
        first, *rest = told.err.splitlines()
        assert first.startswith("showcause: ")
        assert refusal.words in first
        assert [line[:8] for line in rest] in ([], ["  cure: "]), told.err
    assert fingerprint(top) == before


# ------------------------------------------------------------------ what is in the patch

STUB = b"diff --git a/b.bin b/b.bin\nindex 111..222 100644\nBinary files a/b.bin and b/b.bin differ\n"


class Patch(NamedTuple):
    """How the work tree gets it, what is asked beside, and what the record must say."""

    lay: Callable[[Path], object]
    holds: Callable[[ReviewRecord], bool]
    arguments: tuple[str, ...] = ()


def kinds(record: ReviewRecord) -> dict[str, ChangeKind]:
    return {change.path: change.kind for change in record.changes}


def moved_submodule(top: Path) -> None:
    inner = make(top.parent / "inner", {"a.txt": b"1\n"})
    git(top, "submodule", "--quiet", "add", str(inner), "inner")
    commit(top)
    commit(top / "inner", {"a.txt": b"2\n"})


def link_out(top: Path) -> None:
    write(top, {"shop/secrets.py": Link("/etc/passwd"), "shop/up.py": Link("../../../outside.py")})
    write(top.parent.parent, {"outside.py": b"raise SystemExit('outside')\n"})


PATCHES: dict[str, Patch] = {
    "binary only": Patch(
        lambda top: write(top, {"b.bin": b"\0\5\6"}),
        lambda record: kinds(record) == {"b.bin": ChangeKind.BINARY} and record.ended is Ended.UNDECIDED,
    ),
    "binary only, without its content": Patch(
        lambda top: write(top.parent, {"stub.diff": STUB}),
        lambda record: caps(record, "b.bin") and record.ended is Ended.UNDECIDED,
        ("--diff", "../stub.diff"),
    ),
    "a name with a line break": Patch(
        lambda top: write(top, {"shop/new\nname.py": FINE, 'shop/quo"te \u65e5.py': FINE}),
        lambda record: set(kinds(record)) == {"shop/new\nname.py", 'shop/quo"te \u65e5.py'},
    ),
    "a name that is not UTF-8": Patch(
        lambda top: write(top, {os.fsdecode(b"shop/caf\xe9.py"): FINE}),
        lambda record: len(record.changes) == 1,
    ),
    "a file that is not UTF-8": Patch(
        lambda top: write(
            top,
            {"shop/latin.py": b"# -*- latin-1 -*-\n# coding: latin-1 caf\xe9\n", "notes.txt": b"caf\xe9\n"},
        ),
        lambda record: len(record.changes) == 2,
    ),
    "a submodule at another commit": Patch(
        moved_submodule,
        lambda record: kinds(record) == {"inner": ChangeKind.GITLINK} and caps(record, "inner"),
    ),
    "a nested repository": Patch(
        lambda top: make(top / "nested", {"a.py": b"x = 1\n"}),
        lambda record: record.changes == () and caps(record, "nested"),
    ),
    "symbolic links out of the tree": Patch(
        link_out,
        lambda record: {*kinds(record).values()} == {ChangeKind.SYMLINK} and record.causes == (),
    ),
    "301 files": Patch(
        lambda top: write(top, {f"shop/many/f{n}.py": b"x = %d\n" % n for n in range(301)}),
        lambda record: len(record.changes) == 301,
    ),
    "20,000 lines": Patch(
        lambda top: write(
            top, {"shop/price.py": FINE + b"".join(b"N%d = %d\n" % (n, n) for n in range(20_000))}
        ),
        lambda record: record.changes[0].added_lines == 20_002,
    ),
}


@pytest.mark.parametrize("name", PATCHES)
def test_h6_patches_that_are_hard_to_read(tmp_path: Path, name: str) -> None:
    """Reviewed as far as it can be, all named, in every format."""
    top = shop(tmp_path / "r", {"b.bin": b"\0\1\2"})
    patch = PATCHES[name]
    patch.lay(top)
    before = fingerprint(top)
    told = cli(top, "review", *patch.arguments, "--format", "json")
    assert (told.status, told.json["verdict"]) == (3, "uncertain"), told.err
    assert "Traceback" not in told.err
    record = receipts(top)[0].body
    assert patch.holds(record), record
    for form in ("text", "markdown"):
        assert main_in(top, "show", "--format", form).status == 0
    assert fingerprint(top) == before


def test_an_empty_patch_is_none_where_not_everything_was_seen(tmp_path: Path) -> None:
    """The work may lie in a repository inside: that is no `nothing to review`, and no omission either."""
    top = shop(tmp_path / "r")
    make(top / "nested", {"a.py": b"x = 1\n"})
    for more in ((), ("--issue", "round the prices")):
        told = cli(top, "review", *more, "--format", "json")
        assert (told.status, told.json["ended"], told.json["causes"]) == (3, "undecided", [])
        assert "not everything was seen: nested" in told.json["why"]


def test_c8_attributes_hide_nothing_and_are_named(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    write(top, {".gitattributes": b"*.py -diff\n", "shop/price.py": UNDEFINED})
    record = look(top)
    assert record.verdict is Verdict.REJECT
    assert {change.path: change.added_lines for change in record.changes} == {
        ".gitattributes": 1,
        "shop/price.py": 2,
    }
    assert [(told.path, told.what.partition(",")[0]) for told in record.tampering] == [
        (".gitattributes", "adds git attributes")
    ]


# ------------------------------------------------------------------ what base is like


def test_a_base_that_is_red_itself(tmp_path: Path) -> None:
    red = b"from shop import price\n\n\ndef test_red():\n    assert price.vat(100) == 21\n"
    top = shop(tmp_path / "r", {"tests/test_red.py": red})
    write(top, {"shop/price.py": FINE})
    record = look(top, python=PYTEST, runner="pytest", settings={"gate.regression": "reject"})
    assert (record.verdict, record.causes, record.exit_status) == (None, (), 3)
    (item,) = (item for item in check_of(record, "suite").items if item.id.endswith("::test_red"))
    assert item.attribution is Attribution.PRE_EXISTING
    assert "1 failing on base already (tests/test_red.py::test_red)" in main_in(top, "show").out


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    top = shop(tmp_path / "r", {"showcause.toml": b'[suite]\ncommand = ["no-such-command", "-q"]\n'})
    write(top, {"shop/price.py": FINE})
    told = cli(top, "review", "--verbose")
    assert told.status == 3
    assert "no-such-command: No such file or directory" in told.out
    assert check_of(receipts(top)[0].body, "command").state is RunState.ENVIRONMENT


FLOODS = b"""\
import sys
import unittest

from shop import price


class FloodTest(unittest.TestCase):
    def test_flood(self):
        line = "x" * 1023 + chr(10)
        for _ in range(MEGABYTES):
            sys.stdout.write(line * 1024)
            sys.stderr.write("y" * 64)
        self.assertTrue(price)
"""


@pytest.mark.parametrize("runner", ["unittest", "pytest"])
@pytest.mark.parametrize("megabytes", [40, pytest.param(1024, marks=pytest.mark.slow)])
def test_a_suite_that_prints_without_end(tmp_path: Path, megabytes: int, runner: str) -> None:
    """The receipt keeps an end of it, and nothing of us grows with it."""
    flood = FLOODS.replace(b"MEGABYTES", b"%d" % megabytes)
    top = shop(tmp_path / "r", {"tests/test_flood.py": flood})
    write(top, {"shop/price.py": FINE})
    before = fingerprint(top)
    python = PYTEST if runner == "pytest" else ""
    record = look(top, runner=runner, **({"python": python} if python else {}))
    assert (record.verdict, record.exit_status) == (None, 3)
    (item,) = (item for item in check_of(record, "suite").items if item.id.endswith("test_flood"))
    assert item.head in (Outcome.PASSED, Outcome.CRASHED, Outcome.ERROR)
    if megabytes == 40:
        assert (item.base, item.head) == (Outcome.PASSED, Outcome.PASSED)
    kept = sum(path.stat().st_size for path in (top / ".git" / "showcause").rglob("*") if path.is_file())
    assert kept < 4 << 20
    assert fingerprint(top) == before


# ------------------------------------------------------------------ where it runs


def at_once(top: Path, count: int) -> list[Cli]:
    """Start several reviews together and wait for all."""
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "showcause", "review", "--fresh", "--format", "json", *SETTINGS],
            cwd=top, env=environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for _ in range(count)
    ]  # fmt: skip
    ended = [(process, *process.communicate(timeout=300)) for process in started]
    return [Cli(process.returncode, out.decode(), err.decode()) for process, out, err in ended]


@pytest.mark.parametrize("count", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_reviews_of_one_repository_at_once(tmp_path: Path, count: int) -> None:
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": UNDEFINED, "shop/new.py": b"x = 1\n"})
    before = fingerprint(top)
    told = at_once(top, count)
    assert [(one.status, one.json["verdict"]) for one in told] == [(1, "reject")] * count, told
    assert {one.json["receipt"] for one in told} == {receipt.id for receipt in receipts(top)}
    assert len({tuple(sorted(one.json["bound_to"].items())) for one in told}) == 1
    assert main_in(top, "verify").status == 0
    assert fingerprint(top) == before
    assert not list((top / ".git" / "showcause").glob("work-*"))


def test_a_disk_that_is_full_for_the_store(tmp_path: Path) -> None:
    mount = need_program("mount")
    need(os.getuid() == 0, "mounting needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    options = [mount, "-t", "tmpfs", "-o", "size=16k", "none", str(disk)]
    need(subprocess.run(options, check=False).returncode == 0, "no mounts here")
    try:
        url = f'[store]\nurl = "sqlite:///{disk}/store.sqlite3"\n'.replace(":///", ":////", 1)
        top = shop(tmp_path / "r", {"showcause.toml": url.replace("/////", "////").encode()})
        write(top, {"shop/price.py": UNDEFINED})
        before = fingerprint(top)
        told = cli(top, "review", "--format", "json")
        assert (told.status, told.out) == (4, ""), told
        assert "cure: " in told.err
        assert "Traceback" not in told.err
        assert fingerprint(top) == before
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_programs_that_the_repository_configures_do_not_run(tmp_path: Path) -> None:
    top = shop(tmp_path / "r", {".gitattributes": b"*.py filter=evil diff=evil\n"})
    marks = tmp_path / "marks"
    marks.mkdir()
    script = tmp_path / "evil"
    write(tmp_path, {"evil": Run(f"#!/bin/sh\ntouch '{marks}/ran'\ncat\n".encode())})
    keys = ["core.fsmonitor", "diff.external", "diff.evil.textconv", "diff.evil.command", "core.sshCommand"]
    keys += [f"filter.evil.{part}" for part in ("clean", "smudge", "process")]
    for key in keys:
        git(top, "config", key, str(script))
    write(top, {"shop/price.py": UNDEFINED})
    for path in marks.iterdir():
        path.unlink()
    before = fingerprint(top)
    told = cli(top, "review", "--format", "json")
    assert (told.status, told.json["verdict"]) == (1, "reject"), told
    assert cli(top, "reproduce", told.json["receipt"]).status == 1
    assert list(marks.iterdir()) == []
    assert fingerprint(top) == before

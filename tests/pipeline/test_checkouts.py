"""What is reviewed in which checkout: dirty ones, odd paths, mounts, copies, links; and where base is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from git_helpers import GIT_ENV, Files, Link, commit, fingerprint, git, make, write
from needs import need, need_program
from reviews import (
    PRICE,
    PYTEST,
    SETTINGS,
    SHOP,
    bare_python,
    check_of,
    cli,
    item_of,
    look,
    receipts,
    shop,
)

from showcause.records import Attribution, Outcome, ReviewRecord, RunState, Verdict

BROKEN: Files = {"shop/price.py": PRICE.replace(b"19 / 100", b"20 / 100")}
DIRT: Files = {
    "shop/price.py": b"import dirt_not_there\n",
    "shop/__init__.py": b"raise SystemExit('dirt')\n",
    "tests/test_price.py": b"raise SystemExit('dirt')\n",
    "tests/test_dirt.py": b"raise SystemExit('dirt')\n",
    "conftest.py": b"raise SystemExit('dirt')\n",
}


def is_the_regression(record: ReviewRecord, *paths: str) -> None:
    assert [change.path for change in record.changes] == list(paths or ["shop/price.py"])
    suite = check_of(record, "suite")
    assert suite.state is RunState.COMPLETE, suite.why
    item = item_of(record, "test_vat")
    assert (item.base, item.head, item.attribution) == (
        Outcome.PASSED,
        Outcome.FAILED,
        Attribution.PATCH_CAUSED,
    )
    assert item_of(record, "test_total").attribution is Attribution.UNCHANGED


@pytest.mark.parametrize("asked", ["commit", "range", "staged", "diff"])
def test_what_lies_in_the_checkout_does_not_matter_to_what_is_reviewed(tmp_path: Path, asked: str) -> None:
    top = shop(tmp_path / "r")
    write(top, BROKEN)
    git(top, "add", "-A")
    diff = git(top, "diff", "--cached").encode() + b"\n"
    if asked in ("commit", "range"):
        commit(top)
    elif asked == "diff":
        git(top, "reset", "-q", "--hard")
    write(top, DIRT)
    (top / "tests" / "__init__.py").unlink()
    before = fingerprint(top)
    requests: dict[str, dict[str, object]] = {
        "commit": {"commit": "HEAD"},
        "range": {"base": "HEAD~1", "head": "HEAD"},
        "staged": {"staged": True},
        "diff": {"diff": diff},
    }
    is_the_regression(look(top, **requests[asked]))
    assert fingerprint(top) == before


def test_c1_untracked_files_count(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": PRICE + b"\n# new\n", "shop/new.py": b"value = 1\n", "ignored": b"x"})
    record = look(top)
    assert [change.path for change in record.changes] == ["shop/new.py", "shop/price.py"]


def test_c2_only_what_the_branch_did(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    git(top, "checkout", "-q", "-b", "pr")
    commit(top, {"p.py": b"p = 1\n"})
    git(top, "checkout", "-q", "main")
    commit(top, {"m.py": b"m = 1\n"})
    for request in ({"base": "main", "head": "pr"}, {}, {"base": "main"}):
        if not request or "head" not in request:
            git(top, "checkout", "-q", "pr")
        assert [change.path for change in look(top, **request).changes] == ["p.py"], request


@pytest.mark.parametrize(
    "name",
    ["with space", "q'uo\"te", "caf\u00e9 \u65e5\u672c", "a,b:c=d", "back\\slash", "$HOME;x", "-dash"],
)
def test_odd_paths_of_the_checkout(tmp_path: Path, name: str) -> None:
    top = shop(tmp_path / name / "r")
    write(top, BROKEN | {"shop/\u00fc b'.py": b"x = 1\n"})
    record = look(top)
    assert "shop/\u00fc b'.py" in [change.path for change in record.changes]
    assert item_of(record, "test_vat").attribution is Attribution.PATCH_CAUSED


def test_a_directory_becomes_a_file_and_back(tmp_path: Path) -> None:
    top = shop(tmp_path / "r", {"shop/rates/__init__.py": b"RATE = 19\n", "shop/rates/data.py": b"x = 1\n"})
    for path in ("__init__.py", "data.py"):
        (top / "shop" / "rates" / path).unlink()
    (top / "shop" / "rates").rmdir()
    write(top, {"shop/rates": b"now a file\n"} | BROKEN)
    record = look(top)
    assert item_of(record, "test_vat").attribution is Attribution.PATCH_CAUSED
    commit(top)
    (top / "shop" / "rates").unlink()
    write(top, {"shop/rates/__init__.py": b"RATE = 19\n", "shop/price.py": PRICE})
    back = look(top)
    item = item_of(back, "test_vat")
    assert (item.base, item.head) == (Outcome.FAILED, Outcome.PASSED)


def test_h4_renames_of_modules_and_of_tests(tmp_path: Path) -> None:
    """A module moved together with its users passes; base's tests of the old name fail and are evidence."""
    top = shop(tmp_path / "r", {"shop/use.py": b"from shop import price\n"})
    git(top, "mv", "shop/price.py", "shop/prices.py")
    write(top, {"shop/use.py": b"from shop import prices\n"})
    record = look(top)
    assert [(c.path, c.old_path, c.kind.value) for c in record.changes if c.old_path] == [
        ("shop/prices.py", "shop/price.py", "renamed")
    ]
    assert (record.verdict, record.causes) == (None, ())
    assert {item.head for item in check_of(record, "suite").items} == {Outcome.ERROR}


def test_symbolic_links_in_the_tree(tmp_path: Path) -> None:
    top = shop(tmp_path / "r", {"real/price.py": PRICE, "shop/price.py": Link("../real/price.py")})
    write(top, {"real/price.py": BROKEN["shop/price.py"]})
    record = look(top)
    assert item_of(record, "test_vat").attribution is Attribution.PATCH_CAUSED


def test_a_checkout_below_a_symbolic_link(tmp_path: Path) -> None:
    shop(tmp_path / "real" / "r")
    (tmp_path / "link").symlink_to("real")
    top = tmp_path / "link" / "r"
    write(top, BROKEN)
    is_the_regression(look(top))
    assert cli(top / "shop", "review").status == 3, "and from a folder inside"


# ------------------------------------------------------------------ copies instead of overlays

WITH_IGNORED = b"""\
import pathlib
import unittest

import helper_of_the_environment

from shop import price


class IgnoredTest(unittest.TestCase):
    def test_ignored(self):
        here = pathlib.Path(__file__).parent.parent
        self.assertEqual((here / "ignored" / "data.txt").read_text(), "data")
        self.assertEqual(helper_of_the_environment.VALUE, 1)
        self.assertEqual(price.total([1]), 1)

    def test_writes(self):
        here = pathlib.Path(__file__).parent.parent
        with open(here / "shop" / "notes.txt", "a") as file:
            file.write("more")
        self.assertEqual((here / "shop" / "notes.txt").read_text(), "notesmore")
        (here / "made.txt").write_text("made")
"""


def with_environment(top: Path) -> Path:
    """A checkout whose ignored parts its tests need: an environment and data."""
    make(top, SHOP | {"tests/test_ignored.py": WITH_IGNORED, "shop/notes.txt": b"notes"})
    write(top, {"ignored/data.txt": b"data"})
    (site,) = Path(bare_python(top / ".venv")).parent.parent.glob("lib/python*/site-packages")
    write(site, {"helper_of_the_environment.py": b"VALUE = 1\n"})
    write(top, BROKEN)
    return top


def is_copied(record: ReviewRecord, top: Path, before: dict[str, str]) -> None:
    is_the_regression(record)
    assert record.sandbox is not None
    assert record.sandbox.tree == "copy"
    assert record.sandbox.tree_why
    items = {item.id.rpartition(".")[2]: item for item in check_of(record, "suite").items}
    assert {items[name].base for name in ("test_ignored", "test_writes")} == {Outcome.PASSED}
    assert {items[name].head for name in ("test_ignored", "test_writes")} == {Outcome.PASSED}
    assert fingerprint(top) == before


def test_copies_at_level_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = with_environment(tmp_path / "r")
    before = fingerprint(top)
    monkeypatch.setenv("SHOWCAUSE_SANDBOX_LEVEL", "3")
    record = look(top, python="")
    assert record.sandbox is not None
    need(record.sandbox.level == 3, f"no Landlock here: {record.sandbox.fs.why}")
    is_copied(record, top, before)


def test_copies_without_a_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = with_environment(tmp_path / "r")
    before = fingerprint(top)
    monkeypatch.setenv("SHOWCAUSE_SANDBOX_LEVEL", "4")
    record = look(top, python="", settings={"sandbox.allow_unsandboxed": True})
    is_copied(record, top, before)


REVIEW = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
from reviews import look
from pathlib import Path
import msgspec
print(msgspec.json.encode(look(Path(sys.argv[2]), python="")).decode())
"""


def test_something_is_mounted_below_the_checkout(tmp_path: Path) -> None:
    """No overlay can be made of such a checkout: copies, bound at its own path."""
    unshare = need_program("unshare")
    need(os.getuid() == 0, "mounting needs root")
    top = with_environment(tmp_path / "r")
    (top / "ignored" / "mounted").mkdir()
    before = fingerprint(top)
    paths = json.dumps([str(Path(__file__).parent), str(Path(__file__).parent.parent)])
    script = 'mount -t tmpfs none "$1/ignored/mounted" && exec "$2" -c "$3" "$4" "$1"'
    done = subprocess.run(
        [unshare, "-m", "sh", "-c", script, "sh", str(top), sys.executable, REVIEW, paths],
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    need(b"mount:" not in done.stderr, f"mounting is refused: {done.stderr.decode()}")
    assert done.returncode == 0, done.stderr.decode()
    record = msgspec.json.decode(done.stdout, type=ReviewRecord)
    is_copied(record, top, before)
    assert record.sandbox is not None
    assert record.sandbox.level <= 2
    assert "mounted below the checkout" in record.sandbox.tree_why


@pytest.mark.slow
def test_a_pytest_project_in_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    test = b"from shop import price\n\n\ndef test_vat():\n    assert price.vat(100) == 19\n"
    top = shop(tmp_path / "r", {"tests/test_price.py": test})
    write(top, BROKEN)
    monkeypatch.setenv("SHOWCAUSE_SANDBOX_LEVEL", "3")
    record = look(top, python=PYTEST, runner="pytest")
    assert item_of(record, "test_vat").attribution is Attribution.PATCH_CAUSED


# ------------------------------------------------------------------ in hooks, and as others


HOOK = """#!/bin/sh
exec {python} -m showcause review --staged --format json {settings} > {out}
"""


@pytest.mark.parametrize("way", ["plain", "all", "paths"])
def test_inside_a_git_hook(tmp_path: Path, way: str) -> None:
    """git sets GIT_DIR and GIT_INDEX_FILE there; `commit -a` and `commit PATH` use an index of their own."""
    top = shop(tmp_path / "r", {"other.txt": b"x"})
    out = tmp_path / "out.json"
    hook = top / ".git" / "hooks" / "pre-commit"
    hook.write_text(HOOK.format(python=sys.executable, settings=" ".join(SETTINGS), out=out))
    hook.chmod(0o755)
    write(top, {"shop/price.py": PRICE + b"\nRATES = [vat_of_germany]\n"})
    arguments = {"plain": (), "all": ("-a",), "paths": ("shop/price.py",)}[way]
    if way == "plain":
        git(top, "add", "-A")
    done = subprocess.run(
        ["git", "commit", "-q", "-m", "x", *arguments],
        cwd=top, env=GIT_ENV | {"HOME": os.environ["HOME"]}, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr.decode()
    (receipt,) = receipts(top)
    assert receipt.body.verdict is Verdict.REJECT
    assert [change.path for change in receipt.body.changes] == ["shop/price.py"]


def test_git_variables_of_another_repository_do_not_mislead(tmp_path: Path) -> None:
    top, other = shop(tmp_path / "r"), shop(tmp_path / "other")
    write(top, BROKEN)
    env = {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": str(other / ".git/index"),
    }
    assert cli(top, "review", env=env).status == 3
    assert [change.path for change in receipts(top)[0].body.changes] == ["shop/price.py"]

"""Laws 9 to 16 through whole reviews."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import stat
from pathlib import Path

import pytest
from git_helpers import Files, commit, fingerprint, git, write
from reviews import ISSUE, PRICE, PYTEST, check_of, cli, item_of, look, receipts, reviewed, shop

from showcause.records import Ended, Enforcement, Outcome, Rule, Side, Verdict

BROKEN: Files = {"shop/price.py": PRICE.replace(b"19 / 100", b"20 / 100")}
UNDEFINED: Files = {"shop/price.py": PRICE + b"\nRATES = [vat_of_germany]\n"}


# ------------------------------------------------------------------ 13: nobody writes to the repository

WRITES = b"""\
import os
import subprocess
import unittest

from shop import price


class WritesTest(unittest.TestCase):
    def test_writes(self):
        for path in ("shop/__init__.py", "new.txt", ".git/config", ".git/refs/heads/evil", "README"):
            try:
                with open(path, "a") as file:
                    file.write("written")
            except OSError:
                pass
        for words in ("git commit -qam evil", "git config x.y z", "rm -rf .git"):
            try:
                subprocess.run(words.split(), capture_output=True)
            except OSError:
                pass
        self.assertTrue(price)
"""

ASKS: dict[str, dict[str, object]] = {
    "work tree": {},
    "staged": {"staged": True},
    "commit": {"commit": "HEAD"},
    "range": {"base": "HEAD~1", "head": "topic"},
    "diff": {"diff": b"--- a/README\n+++ b/README\n@@ -1 +1 @@\n-one\n+two\n"},
    "unappliable": {"diff": b"--- a/README\n+++ b/README\n@@ -1 +1 @@\n-three\n+two\n"},
    "empty": {"base": "HEAD", "head": "HEAD", "issue": ISSUE},
}


@pytest.mark.parametrize("asked", ASKS)
def test_13_the_repository_is_as_it_was(tmp_path: Path, asked: str) -> None:
    top = shop(tmp_path / "r", {"README": b"one\n", "tests/test_writes.py": WRITES})
    commit(top, {"shop/price.py": PRICE + b"\n# second\n"})
    git(top, "checkout", "-q", "-b", "topic")
    commit(top, {"shop/price.py": PRICE + b"\n# third\n"})
    git(top, "checkout", "-q", "main")
    write(top, {"shop/price.py": PRICE + b"\n# staged\n"})
    git(top, "add", "-A")
    write(top, {"shop/price.py": PRICE + b"\n# dirty\n", "untracked.txt": b"x", "ignored/y": b"y"})
    before = fingerprint(top)
    record = look(top, **ASKS[asked])
    assert fingerprint(top) == before
    assert [path.name for path in (top / ".git").iterdir() if path.name not in _OF_GIT] == ["showcause"]
    if record.checks:
        assert item_of(record, "test_writes").head is Outcome.PASSED
    if asked == "work tree":
        assert cli(top, "reproduce", receipts(top)[0].id).status == 2, "it rejected nothing"
        assert fingerprint(top) == before


_OF_GIT = frozenset(
    {"HEAD", "config", "description", "hooks", "info", "objects", "refs", "index", "logs", "branches"}
    | {"COMMIT_EDITMSG", "ORIG_HEAD", "packed-refs"}
)


# ------------------------------------------------------------------ 9, 10: nothing is dropped


def test_9_every_test_file_is_accounted_for(tmp_path: Path) -> None:
    """Selected + left out = all test files; each selected one has items; each item has runs of both sides."""
    unrelated = (
        b"import unittest\n\n\nclass OtherTest(unittest.TestCase):\n    def test_other(self):\n        pass\n"
    )
    files = {f"tests/test_other_{number}.py": unrelated for number in range(5)}
    top = shop(tmp_path / "r", files)
    write(top, BROKEN)
    record = look(top)
    suite = check_of(record, "suite")
    ran = {item.id.split(".")[1] for item in suite.items}
    left = sum(int(note.what.split()[0]) for note in record.not_checked if "test file" in note.what)
    assert ran == {"test_price"}
    assert len(ran) + left == 1 + len(files)
    for item in suite.items:
        assert {run.side for run in item.runs} == {Side.BASE, Side.HEAD}
    assert [len(item.runs) for item in suite.items] == [2, 4], "what differs is run again, and both runs kept"


def test_9_a_test_that_a_side_does_not_collect_is_an_item(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": b"import not_there\n"})
    record = look(top)
    suite = check_of(record, "suite")
    assert [item.id.rpartition(".")[2] for item in suite.items] == ["test_total", "test_vat"]
    assert {(item.base, item.head) for item in suite.items} == {(Outcome.PASSED, Outcome.ERROR)}


# ------------------------------------------------------------------ 11: the patch does not choose its judge


def test_11_tests_conftest_and_settings_come_from_base(tmp_path: Path) -> None:
    test = b"from shop import price\n\n\ndef test_vat(rate):\n    assert price.vat(100) == rate\n"
    fixture = b"import pytest\n\n\n@pytest.fixture\ndef rate():\n    return 19\n"
    base = {
        "tests/test_price.py": test,
        "conftest.py": fixture,
        "pytest.ini": b"[pytest]\n",
        "showcause.toml": b'[gate]\nregression = "reject"\n',
        "tests/test_more.py": test.replace(b"(rate)", b"()").replace(b"== rate", b"== 19"),
    }
    top = shop(tmp_path / "r", base)
    edits: Files = {
        "conftest.py": fixture.replace(b"19", b"20"),
        "pytest.ini": b"[pytest]\naddopts = --deselect tests/test_more.py\n",
        "showcause.toml": b'[gate]\nregression = "evidence"\n[suite]\ntest_paths = ["nowhere"]\n',
    }
    write(top, BROKEN | edits)
    record = look(top, python=PYTEST, runner="pytest", settings={"gate.regression": "evidence"})
    items = {item.id: item for item in check_of(record, "suite").items}
    assert items["tests/test_price.py::test_vat"].head is Outcome.FAILED
    assert items["tests/test_more.py::test_vat"].head is Outcome.FAILED
    assert {told.path for told in record.tampering} == set(edits)


def test_11_settings_come_from_base(tmp_path: Path) -> None:
    top = shop(tmp_path / "r", {"showcause.toml": b'[gate]\nregression = "reject"\n'})
    easy = b'[gate]\nregression = "evidence"\n[suite]\ntest_paths = ["nowhere"]\n'
    write(top, BROKEN | {"showcause.toml": easy})
    record = look(top)
    assert record.verdict is Verdict.REJECT
    assert [cause.rule for cause in record.causes] == [Rule.REGRESSION]
    assert [told.path for told in record.tampering] == ["showcause.toml"]


def test_11_an_official_suite_that_the_settings_name_is_bases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A patch that edits the suite it is judged by, or the tests of that suite, changes nothing."""
    good = b"import unittest\n\nfrom shop import price\n\n\nclass OfficialTest(unittest.TestCase):\n"
    good += b"    def test_vat(self):\n        self.assertEqual(price.vat(100), 21)\n"
    told = {
        "tests": "files",
        "fail_to_pass": ["tests.test_official.OfficialTest.test_vat"],
        "pass_to_pass": [],
    }
    base: Files = {
        "showcause.toml": b'[suite]\nofficial = "oracle/suite.json"\n',
        "oracle/suite.json": json.dumps(told).encode(),
        "oracle/files/tests/test_official.py": good,
    }
    top = shop(tmp_path / "r", base)
    easy = good.replace(b"21)", b"19)")
    write(top, {"shop/price.py": PRICE + b"\n# nothing\n", "oracle/files/tests/test_official.py": easy})
    assert look(top).verdict is Verdict.REJECT
    other = told | {"fail_to_pass": ["tests.test_price.PriceTest.test_vat"]}
    write(top, {"oracle/suite.json": json.dumps(other).encode()})
    assert look(top).verdict is Verdict.REJECT
    monkeypatch.chdir(top / "tests")
    git(top, "checkout", "--", "oracle")
    write(top, {"shop/price.py": PRICE.replace(b"19 /", b"21 /")})
    assert look(top).verdict is Verdict.ACCEPT, "a path in the settings is relative to the repository"


# ------------------------------------------------------------------ 12: confined, and the receipt says how


REACHES = b"""\
import os
import socket
import unittest

from shop import price


class ReachesTest(unittest.TestCase):
    def test_network(self):
        with self.assertRaises(OSError):
            socket.create_connection(("127.0.0.1", int(os.environ["PORT"])), 1)

    def test_files(self):
        self.assertIsNotNone(price)
        for path in (os.environ["OUTSIDE"], "/etc/shadow"):
            with self.assertRaises(OSError):
                open(path).read()
        try:
            open(os.environ["OUTSIDE"] + "-new", "w").close()
        except OSError:
            pass
"""


def test_12_what_the_receipt_says_of_the_sandbox_is_so(tmp_path: Path) -> None:
    top = shop(tmp_path / "r", {"tests/test_reaches.py": REACHES})
    outside = tmp_path / "outside"
    outside.write_text("private")
    write(top, {"shop/price.py": PRICE + b"\n# new\n"})
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings = {"suite.env": {"PORT": str(server.getsockname()[1]), "OUTSIDE": str(outside)}}
        record = look(top, settings=settings)
    assert record.sandbox is not None
    if record.sandbox.level > 3:
        pytest.skip(f"no sandbox here: {record.sandbox.fs.why}")
    assert record.sandbox.net.state is not Enforcement.NONE
    assert item_of(record, "test_network").head is Outcome.PASSED
    assert item_of(record, "test_files").head is Outcome.PASSED
    assert not (tmp_path / "outside-new").exists()


def test_12_without_a_sandbox_code_is_refused_unless_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = shop(tmp_path / "r")
    write(top, UNDEFINED)
    monkeypatch.setenv("SHOWCAUSE_SANDBOX_LEVEL", "4")
    refused = cli(top, "review", "--format", "json")
    assert (refused.status, refused.json["ended"]) == (4, "environment")
    assert "--allow-unsandboxed" in refused.json["why"]
    assert refused.json["sandbox"]["level"] == 4
    allowed = cli(top, "review", "--allow-unsandboxed", "--format", "json")
    assert (allowed.status, allowed.json["verdict"]) == (1, "reject")
    assert allowed.json["sandbox"]["level"] == 4
    assert cli(top, "reproduce", allowed.json["receipt"]).status == 1


def test_12_base_cannot_be_told_by_the_patch_to_run_unsandboxed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = shop(tmp_path / "r")
    write(top, UNDEFINED | {"showcause.toml": b"[sandbox]\nallow_unsandboxed = true\n"})
    monkeypatch.setenv("SHOWCAUSE_SANDBOX_LEVEL", "4")
    record = look(top)
    assert record.ended is Ended.ENVIRONMENT
    assert "unconfined" in record.why


# ------------------------------------------------------------------ 14: a verdict is bound


@pytest.mark.slow
def test_14_one_byte_more_and_the_settled_answer_is_not_used(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    write(top, UNDEFINED)
    first = reviewed(top)
    assert reviewed(top).from_store
    assert reviewed(top).receipt.id == first.receipt.id
    write(top, {"untracked.txt": b"x"})
    assert not reviewed(top).from_store, "another head"
    (top / "untracked.txt").unlink()
    assert reviewed(top).from_store
    assert not reviewed(top, issue=ISSUE).from_store, "another task"
    assert not reviewed(top, settings={"gate.regression": "evidence"}).from_store, "another policy"
    commit(top, {"README": b"x", "shop/price.py": PRICE})
    write(top, UNDEFINED)
    assert not reviewed(top).from_store, "another base"
    os.chmod(top / "shop" / "price.py", 0o755)
    assert not reviewed(top).from_store, "another mode"


def test_14_dirty_content_that_no_tree_holds_is_part_of_the_question(tmp_path: Path) -> None:
    """A submodule that gained changes of its own leaves the trees as they were, and caps the verdict."""
    inner = shop(tmp_path / "inner")
    official = b"import unittest\n\n\nclass OfficialTest(unittest.TestCase):\n    def test_a(self):\n"
    official += b"        from shop import price\n        self.assertEqual(price.vat(100), 21)\n"
    text = (
        b'{"tests": "files", "fail_to_pass": ["tests.test_official.OfficialTest.test_a"], "pass_to_pass": []}'
    )
    write(tmp_path, {"suite.json": text, "files/tests/test_official.py": official})
    top = shop(tmp_path / "r")
    git(top, "submodule", "--quiet", "add", str(inner), "inner")
    commit(top)
    write(top, {"shop/price.py": PRICE.replace(b"19 /", b"21 /")})
    suite = str(tmp_path / "suite.json")
    assert look(top, official=suite).verdict is Verdict.ACCEPT
    write(top / "inner", {"shop/price.py": b"raise SystemExit\n"})
    again = reviewed(top, official=suite)
    assert (again.receipt.body.verdict, again.from_store) == (None, False)
    assert any(note.caps and note.what == "inner" for note in again.receipt.body.not_checked)


# ------------------------------------------------------------------ 16: secrets stay home


def test_16_the_callers_environment_stays_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = b"import os\nimport unittest\n\nfrom shop import price\n\n\nclass SeenTest(unittest.TestCase):\n"
    seen += b"    def test_seen(self):\n        self.assertNotIn('TOKEN', ' '.join(os.environ), price)\n"
    seen += b"        self.fail(' '.join(sorted(os.environ)) + ' '.join(os.environ.values()))\n"
    top = shop(tmp_path / "r", {"tests/test_seen.py": seen})
    write(top, {"shop/price.py": PRICE + b"\n# new\n"})
    secret = "hunter2-hunter2"
    for name in ("SECRET_TOKEN", "AWS_SECRET_ACCESS_KEY", "GIT_TOKEN", "PYTHONPATH"):
        monkeypatch.setenv(name, secret)
    for arguments in ((), ("--format", "json"), ("--format", "markdown", "--fresh")):
        told = cli(top, "review", *arguments, env={"SECRET_TOKEN": secret, "GH_TOKEN": secret})
        assert told.status == 3
        assert secret not in told.out + told.err
    record = look(top, fresh=True)
    item = item_of(record, "test_seen")
    failure = item.runs[-1].failure
    assert failure is not None
    assert "PATH" in failure.message, "the test did look"
    assert "TOKEN" not in failure.message
    for path in (top / ".git" / "showcause").rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path


def test_16_the_store_is_for_its_owner_alone(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    write(top, UNDEFINED)
    look(top)
    store = top / ".git" / "showcause" / "store.sqlite3"
    assert stat.S_IMODE(store.stat().st_mode) & 0o077 == 0
    with sqlite3.connect(store) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()

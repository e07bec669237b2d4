"""The command line: one exit status for each ending, whatever the format; and what can go wrong around it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from git_helpers import commit, fingerprint, git, write
from needs import need, need_program
from reviews import PRICE, SETTINGS, Cli, bare_python, cli, environment, main_in, receipts, shop

import showcause
from showcause.cli.group import COMMANDS

UNDEFINED = PRICE + b"\nRATES = [vat_of_germany]\n"
FINE = PRICE + b"\n# fine\n"
OFFICIAL = b"import unittest\n\n\nclass OfficialTest(unittest.TestCase):\n    def test_a(self):\n"
OFFICIAL += b"        from shop import price\n        self.assertEqual(price.vat(100), 21)\n"
SUITE = b'{"tests": "files", "fail_to_pass": ["tests.test_official.OfficialTest.test_a"], "pass_to_pass": []}'

# name -> (content of the module, arguments, exit status, ended, verdict)
ENDINGS: dict[str, tuple[bytes, tuple[str, ...], int, str, str | None]] = {
    "accept": (PRICE.replace(b"19 /", b"21 /"), ("--official", "../suite.json"), 0, "decided", "accept"),
    "reject": (UNDEFINED, (), 1, "decided", "reject"),
    "no change": (PRICE, ("--issue", "do it"), 1, "decided", "reject"),
    "nothing": (PRICE, (), 0, "nothing_to_review", None),
    "uncertain": (FINE, (), 3, "undecided", "uncertain"),
    "allowed": (FINE, ("--allow-uncertain",), 0, "undecided", "uncertain"),
    "reject allowed": (UNDEFINED, ("--allow-uncertain",), 1, "decided", "reject"),
    "unappliable": (FINE, ("--diff", "../bad.diff", "--allow-uncertain"), 3, "unappliable", "uncertain"),
    "environment": (
        FINE,
        ("--set", "suite.runner=pytest", "--set", "suite.python=../env/bin/python"),
        4,
        "environment",
        "uncertain",
    ),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_d4_the_exit_status_is_the_same_in_every_format(tmp_path: Path, name: str) -> None:
    content, arguments, status, ended, verdict = ENDINGS[name]
    top = shop(tmp_path / "r")
    bare_python(tmp_path / "env")
    write(tmp_path, {"suite.json": SUITE, "files/tests/test_official.py": OFFICIAL})
    write(tmp_path, {"bad.diff": b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"})
    write(top, {"shop/price.py": content})
    for form in ("json", "text", "markdown"):
        told = cli_review(top, *arguments, "--format", form)
        assert told.status == status, told
        assert told.out.strip()
        if form == "json":
            assert (told.json["ended"], told.json["verdict"]) == (ended, verdict)
            assert told.json["schema"] == "showcause/review/1"
            assert told.err == "" or "Traceback" not in told.err
    assert {receipt.body.ended.value for receipt in receipts(top)} == {ended}


def cli_review(top: Path, *arguments: str) -> Cli:
    """A review whose arguments may replace the settings of the tests."""
    if "--set" not in arguments:
        return cli(top, "review", *arguments)
    done = subprocess.run(
        [sys.executable, "-m", "showcause", "review", *arguments],
        cwd=top, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    return Cli(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help(tmp_path: Path, command: str) -> None:
    told = main_in(tmp_path, *filter(None, [command]), "--help")
    assert (told.status, "Usage:" in told.out, told.err) == (0, True, "")


WRONG = [
    ("nonsense",),
    ("review", "--nonsense"),
    ("review", "--format", "xml"),
    ("review", "--head", "nowhere"),
    ("review", "--base", "nowhere"),
    ("review", "--commit", "nowhere"),
    ("review", "--commit", "HEAD", "--base", "HEAD"),
    ("review", "--staged", "--head", "HEAD"),
    ("review", "--diff", "missing.diff"),
    ("review", "--issue", "missing.md"),
    ("review", "--issue", ""),
    ("review", "--issue", "-", "--diff", "-"),
    ("review", "--official", "missing.json"),
    ("review", "--set", "nonsense"),
    ("review", "--set", "suite.nonsense=1"),
    ("review", "--set", "gate.regression=maybe"),
    ("show", "fff"),
    ("show", "--format", "xml"),
    ("list", "-n", "-1"),
    ("list", "-n", "many"),
    ("verify", "--head", "12"),
    ("verify", "--key", "missing"),
    ("reproduce",),
    ("reproduce", "fff"),
    ("review", "-C", "nowhere"),
]


def test_wrong_use_is_2(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": FINE})
    for arguments in WRONG:
        told = main_in(top, *arguments)
        assert told.status == 2, (arguments, told)
        assert told.err.strip(), arguments
        assert "Traceback" not in told.err, (arguments, told.err)
        assert told.out == "", arguments


def test_wrong_use_of_the_program_itself(tmp_path: Path) -> None:
    told = cli(shop(tmp_path / "r"), "review", "--head", "nowhere")
    assert (told.status, told.out, "unknown revision" in told.err) == (2, "", True)


def test_places_that_are_no_repository_to_review(tmp_path: Path) -> None:
    bare, empty = tmp_path / "bare", tmp_path / "empty"
    git(tmp_path, "init", "-q", "--bare", str(bare))
    git(tmp_path, "init", "-q", str(empty))
    outside = tmp_path / "outside"
    outside.mkdir()
    top = shop(tmp_path / "r")
    places = {outside: "not in a git repository", bare: "bare", empty: "no commits", top / ".git": "inside"}
    for place, words in places.items():
        for command in ("review", "list", "show", "verify", "doctor"):
            told = main_in(place, command)
            assert (told.status, words in told.err) == (2, True), (place, command, told)


def test_settings_that_are_broken_name_file_line_and_key(tmp_path: Path) -> None:
    top = shop(tmp_path / "r", {"showcause.toml": b"# mine\n\n[gate]\nregresion = 'reject'\n"})
    write(top, {"shop/price.py": FINE})
    for command in ("review", "doctor"):
        told = main_in(top, command)
        assert told.status == 2
        assert "showcause.toml:4" in told.err
        assert "regresion" in told.err
        assert "regression" in told.err, "what was meant"
    commit(top, {"showcause.toml": b"[gate\n"})
    write(top, {"shop/price.py": PRICE})
    told = cli(top, "review")
    assert (told.status, "showcause.toml:1" in told.err) == (2, True)


def test_a_fault_of_our_own_is_4_and_never_a_verdict(tmp_path: Path) -> None:
    """A store whose table lacks a column is nothing that any of our messages knows."""
    import sqlite3

    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": UNDEFINED})
    assert cli(top, "review").status == 1
    store = top / ".git" / "showcause" / "store.sqlite3"
    with sqlite3.connect(store) as db:
        db.execute("ALTER TABLE reviews_started RENAME COLUMN about TO something")
    db.close()
    told = cli(top, "review", "--fresh", "--format", "json")
    assert (told.status, told.out) == (4, "")
    assert "a fault of showcause" in told.err
    store.write_bytes(b"this is no database" * 100)
    broken = cli(top, "review")
    assert (broken.status, "cure" in broken.err, "Traceback" in broken.err) == (4, True, False)


def test_list_show_verify(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    assert "nothing was reviewed" in main_in(top, "list").out
    assert main_in(top, "show").status == 2
    assert main_in(top, "verify").status == 0
    write(top, {"shop/price.py": UNDEFINED})
    cli(top, "review")
    write(top, {"shop/price.py": FINE})
    cli(top, "review")
    newest, oldest = receipts(top)
    listed = main_in(top, "list")
    assert (listed.status, listed.out.splitlines()[0][:12]) == (0, newest.id)
    assert "reject" in listed.out
    assert [row["id"] for row in json.loads(main_in(top, "list", "--format", "json").out)] == [
        newest.id,
        oldest.id,
    ]
    assert main_in(top, "list", "-n", "1").out.endswith("... 1 older\n")
    for reference, receipt in (("", newest), (oldest.id[:6], oldest), (oldest.id, oldest)):
        shown = main_in(top, "show", *filter(None, [reference]), "--format", "json")
        assert (shown.status, shown.json["receipt"]) == (0, receipt.id)
    assert "vat_of_germany" in main_in(top, "show", oldest.id).out
    assert "vat_of_germany" in main_in(top, "show", oldest.id, "--format", "markdown").out
    verified = main_in(top, "verify")
    assert (verified.status, newest.digest in verified.out) == (0, True)
    assert main_in(top, "verify", "--head", oldest.digest).status == 0
    assert main_in(top, "verify", "--head", "0" * 63 + "1").status == 1


def test_verify_finds_what_was_changed(tmp_path: Path) -> None:
    import sqlite3

    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": UNDEFINED})
    cli(top, "review")
    with sqlite3.connect(top / ".git" / "showcause" / "store.sqlite3") as db:
        db.execute("UPDATE receipts SET body = replace(body, 'reject', 'accept')")
    db.close()
    told = main_in(top, "verify")
    assert (told.status, "changed" in told.out) == (1, True)
    assert main_in(top, "show").status == 4


def test_the_store_that_the_settings_name(tmp_path: Path) -> None:
    """Reviews, listings and reproductions all find it."""
    url = f"sqlite:///{tmp_path}/elsewhere/store.sqlite3"
    top = shop(
        tmp_path / "r", {"showcause.toml": f'[store]\nurl = "{url}"\n'.replace("///", "////", 1).encode()}
    )
    write(top, {"shop/price.py": UNDEFINED})
    (tmp_path / "elsewhere").mkdir()
    told = cli(top, "review", "--format", "json")
    assert told.status == 1, told
    assert not (top / ".git" / "showcause" / "store.sqlite3").exists()
    assert told.json["receipt"] in main_in(top, "list").out
    assert cli(top, "reproduce", told.json["receipt"]).status == 1


def test_doctor(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    bare_python(top / ".venv")
    told = cli(top, "doctor")
    assert told.status in (0, 4)
    assert ".venv of the checkout" in told.out
    assert "sandbox" in told.out or "unconfined" in told.out
    commit(top, {"pytest.ini": b"[pytest]\n"})
    lacking = cli(top, "doctor")
    assert (lacking.status, "pip install pytest" in lacking.out) == (4, True)
    forced = cli(top, "doctor", env={"SHOWCAUSE_SANDBOX_LEVEL": "3"})
    assert "level 3" in forced.out or "Landlock" in forced.out
    assert cli(top, "doctor", env={"SHOWCAUSE_SANDBOX_LEVEL": "9"}).status == 2


def test_init_writes_what_is_found(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    printed = cli(top, "init", "--stdout")
    assert (printed.status, "[gate]" in printed.out) == (0, True)
    assert not (top / "showcause.toml").exists()
    assert cli(top, "init").status == 0
    assert (top / "showcause.toml").read_text() == printed.out
    again = cli(top, "init")
    assert (again.status, "there already" in again.err) == (2, True)
    commit(top)
    assert cli(top, "review").status == 0


VERDICTS = {
    "correct": ("uncertain", "accept"),
    "omits behaviour": ("uncertain", "reject"),
    "undefined name": ("reject", "reject"),
    "breaks another test": ("uncertain", "reject"),
    "edits the tests": ("uncertain", "reject"),
    "empty": ("reject", "reject"),
}


@pytest.mark.slow
def test_demo(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    told = cli(tmp_path, "demo", "--keep", str(kept))
    assert told.status == 0, told
    rows = {
        line[:22].strip(): tuple(line[22:].split()[:2]) for line in told.out.splitlines() if line[:1].strip()
    }
    assert {title: rows[title] for title in VERDICTS} == VERDICTS
    assert cli(kept / "till", "verify").status == 0
    assert len(receipts(kept / "till")) == 12
    again = cli(tmp_path, "demo", "--keep", str(kept))
    assert (again.status, "Traceback" in again.err) == (2, False)


@pytest.mark.slow
def test_a_reader_that_is_gone_is_no_verdict(tmp_path: Path) -> None:
    """`showcause review | head -0` may not end as 1, which means reject, nor as 0."""
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": FINE})
    for form in ("text", "json", "markdown"):
        for arguments in (["review", "--format", form, *SETTINGS], ["show", "--format", form]):
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run(
                [sys.executable, "-m", "showcause", *arguments],
                cwd=top, env=environment(), stdout=writer, stderr=subprocess.PIPE, check=False, timeout=60,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
            os.close(writer)
            assert done.returncode in (3, 4, -signal.SIGPIPE), (arguments, done)
            assert b"Traceback" not in done.stderr


def test_a_disk_that_is_full_is_no_verdict(tmp_path: Path) -> None:
    need(os.path.exists("/dev/full"), "there is no /dev/full")
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": FINE})
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "showcause", "review", "--format", "json", *SETTINGS],
            cwd=top, env=environment(), stdout=full, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
            check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode == 4, done


class Ordinary(NamedTuple):
    """Somebody who is not root, and a folder of theirs."""

    prefix: tuple[str, ...]
    python: str
    folder: Path

    def run(self, top: Path, *arguments: str) -> Cli:
        home = str(self.folder / "home")
        settings = ("--set", f"suite.python={self.python}", "--set", "suite.runner=unittest")
        told = [*arguments, *(settings if arguments[0] == "review" else ())]
        path = f"{os.path.dirname(sys.executable)}:/usr/bin:/bin"  # our tools are beside us
        libraries = [str(Path(package.__file__).parent.parent) for package in (showcause, click)]
        done = subprocess.run(
            [*self.prefix, self.python, "-m", "showcause", *told],
            cwd=top, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60,
            env={"HOME": home, "TMPDIR": home, "PATH": path, "PYTHONPATH": ":".join(libraries)},
        )  # fmt: skip
        return Cli(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def ordinary() -> Iterator[Ordinary]:
    """Of root's own interpreter and temporary folders an ordinary user may see nothing."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "home").mkdir()
        shop(folder / "r")
        write(folder / "r", {"shop/price.py": UNDEFINED})
        if os.getuid() != 0:
            yield Ordinary((), sys.executable, folder)
            return
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, 65534, 65534, follow_symlinks=False)
        prefix = (need_program("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups")
        for python in (sys.executable, "/usr/bin/python3"):
            found = Ordinary(prefix, python, folder)
            seen = [*prefix, "test", "-x", python]  # setpriv itself may start what its user cannot reach
            if (
                subprocess.run(seen, check=False).returncode == 0
                and found.run(folder, "--version").status == 0
            ):
                yield found
                return
        need(False, "an ordinary user can reach no interpreter that runs showcause")


def test_as_an_ordinary_user(ordinary: Ordinary) -> None:
    top = ordinary.folder / "r"
    told = ordinary.run(top, "review", "--format", "json")
    assert (told.status, told.json["verdict"]) == (1, "reject"), told
    assert told.json["sandbox"]["level"] <= 3
    assert ordinary.run(top, "reproduce", told.json["receipt"]).status == 1
    assert [p.name for p in (ordinary.folder / "home").iterdir() if p.name.startswith("showcause-")] == []


def test_a_git_directory_that_cannot_be_written(ordinary: Ordinary) -> None:
    """Receipts are kept elsewhere, and it is said."""
    top = ordinary.folder / "r"
    inside = [top / ".git", *(top / ".git").rglob("*")]
    for path in inside:
        path.chmod(path.stat().st_mode & ~0o222)
    before = fingerprint(top)
    told = ordinary.run(top, "review")
    assert (told.status, "cannot be written" in told.err) == (1, True), told
    assert fingerprint(top) == before
    assert "reject" in ordinary.run(top, "list").out

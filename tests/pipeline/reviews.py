"""Little projects, reviews of them through the library and the command line, and what is left behind."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from git_helpers import Files, git, make

import showcause
from showcause.cli import main
from showcause.receipt import Receipt
from showcause.records import CheckResult, Item, ReviewRecord
from showcause.store import open_store

__all__ = [
    "ISSUE",
    "PLAIN",
    "PRICE",
    "PYTEST",
    "SHOP",
    "TEST",
    "Cli",
    "Living",
    "bare_python",
    "body_of",
    "check_of",
    "cli",
    "descendants",
    "environment",
    "item_of",
    "leftovers",
    "look",
    "main_in",
    "processes_below",
    "receipts",
    "reviewed",
    "shop",
    "start_cli",
    "until",
]

PLAIN = os.path.realpath(sys.executable)  # in no virtual environment
PYTEST = sys.executable  # our own environment, which has pytest
ISSUE = b"Prices must be rounded to whole cents."

PRICE = b"""\
def total(prices):
    return sum(prices)


def vat(price):
    return price * 19 / 100
"""
TEST = b"""\
import unittest

from shop import price


class PriceTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(price.total([1, 2]), 3)

    def test_vat(self):
        self.assertEqual(price.vat(100), 19)
"""
SHOP: Files = {
    ".gitignore": b"/ignored\n__pycache__/\n.venv/\n*.so\n",
    "shop/__init__.py": b"",
    "shop/price.py": PRICE,
    "tests/__init__.py": b"",
    "tests/test_price.py": TEST,
}


def shop(top: Path, files: Files | None = None) -> Path:
    """A repository of one commit: one module, two unittest tests, and `files`."""
    return make(top, SHOP | (files or {}))


def look(
    top: Path,
    *,
    python: str = PLAIN,
    runner: str = "unittest",
    settings: Mapping[str, object] | None = None,
    **request: Any,
) -> ReviewRecord:
    """Review through the library; the record of it. More settings by `settings`."""
    return body_of(_review(top, python, runner, settings or {}, request))


def body_of(reviewed: showcause.Reviewed) -> ReviewRecord:
    return reviewed.receipt.body


def reviewed(
    top: Path, *, settings: Mapping[str, object] | None = None, **request: Any
) -> showcause.Reviewed:
    """As `look`, with the receipt around the record."""
    return _review(top, PLAIN, "unittest", settings or {}, request)


def _review(
    top: Path, python: str, runner: str, settings: Mapping[str, object], request: dict[str, Any]
) -> showcause.Reviewed:
    named = {"suite.python": python, "suite.runner": runner}
    overrides = {key: value for key, value in (named | dict(settings)).items() if value}
    return showcause.review(showcause.Request(directory=str(top), overrides=overrides, **request))


def bare_python(folder: Path, *, with_packages: bool = False) -> str:
    """The interpreter of a new virtual environment with nothing in it."""
    venv.create(folder, symlinks=True, with_pip=False, system_site_packages=with_packages)
    return str(folder / "bin" / "python")


def check_of(record: ReviewRecord, check_id: str) -> CheckResult:
    (found,) = (check for check in record.checks if check.id == check_id)
    return found


def item_of(record: ReviewRecord, ending: str) -> Item:
    """The one item of all checks whose id ends so."""
    (found,) = (item for check in record.checks for item in check.items if item.id.endswith(ending))
    return found


# ------------------------------------------------------------------ the command line


class Cli(NamedTuple):
    """How a command ended and what it said."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.out)
        return told


def environment(**more: str) -> dict[str, str]:
    """The environment of a user with nothing special set."""
    kept = {"PATH", "HOME", "TMPDIR", "SHOWCAUSE_SANDBOX_LEVEL"}
    env = {name: value for name, value in os.environ.items() if name in kept}
    return env | {"LC_ALL": "C.UTF-8"} | more


SETTINGS = ("--set", f"suite.python={PLAIN}", "--set", "suite.runner=unittest")


def cli(
    top: Path | str,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    prefix: Sequence[str] = (),
) -> Cli:
    """Run `showcause` in `top` to its end. `review` is told interpreter and runner."""
    done = subprocess.run(
        [*prefix, *_argv(arguments)],
        cwd=top,
        env=environment(**(env or {})),
        input=stdin,
        capture_output=True,
        check=False,
        timeout=100,
    )
    return Cli(done.returncode, done.stdout.decode(), done.stderr.decode())


def main_in(top: Path | str, *arguments: str) -> Cli:
    """The command line without a process of its own: for the many quick questions."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.chdir(top), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(arguments)
    told = []
    for stream in (out, err):
        stream.flush()
        told.append(stream.detach().getvalue().decode())  # type: ignore[attr-defined]
    return Cli(status, *told)


def _argv(arguments: Sequence[str]) -> list[str]:
    told = [*arguments, *SETTINGS] if arguments[:1] == ("review",) else list(arguments)
    return [sys.executable, "-m", "showcause", *told]


# ------------------------------------------------------------------ what lives, and what is left


class Living(NamedTuple):
    """A command that runs, with its own folder for temporary files."""

    process: subprocess.Popen[bytes]
    temporary: Path

    def interrupt(self, number: signal.Signals) -> int:
        """Send a signal; the exit status."""
        self.process.send_signal(number)
        return self.process.wait(30)


def _heed_interrupts() -> None:
    """Tests that run in the background of a shell inherit that SIGINT is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start_cli(top: Path, temporary: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Living:
    """Start `showcause` in `top`. What it puts into temporary folders goes to `temporary`."""
    temporary.mkdir(exist_ok=True)
    with open(temporary / "said", "wb") as said:
        process = subprocess.Popen(
            _argv(arguments),
            cwd=top,
            env=environment(TMPDIR=str(temporary), **(env or {})),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            preexec_fn=_heed_interrupts,  # noqa: PLW1509  one system call, before exec
        )
    return Living(process, temporary)


def until(what: Any, *, seconds: float = 30.0) -> None:
    """Wait until `what()` is true."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not come to this in time"
        time.sleep(0.01)


def descendants(pid: int) -> list[int]:
    """The processes below `pid`, all generations."""
    below: dict[int, list[int]] = {}
    for each, parent in _parents():
        below.setdefault(parent, []).append(each)
    found, ahead = [], [pid]
    while ahead:
        children = below.get(ahead.pop(), [])
        found += children
        ahead += children
    return found


def processes_below(text: str) -> list[int]:
    """The processes whose command line names `text`."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (entry / "cmdline").read_bytes() and int(entry.name) != os.getpid():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def _parents() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            yield int(entry.name), int((entry / "stat").read_text("latin-1").rpartition(")")[2].split()[1])
        except OSError:
            continue


def leftovers(temporary: Path | None = None) -> list[str]:
    """What showcause left in the folder for temporary files."""
    place = temporary or Path(tempfile.gettempdir())
    return sorted(path.name for path in place.glob("showcause-*"))


def receipts(top: Path) -> list[Receipt]:
    """All receipts of a repository, the newest first."""
    common = git(top, "rev-parse", "--path-format=absolute", "--git-common-dir")
    store = open_store(Path(common, "showcause", "store.sqlite3"))
    try:
        return [store.get(row.id) for row in store.page()]
    finally:
        store.close()

"""`[suite] build`: compiled sources are built in each tree's own layer, never in the checkout."""

from __future__ import annotations

from pathlib import Path

from git_helpers import commit, git, write
from needs import need_program
from reviews import check_of, item_of, look

from showcause.records import Ended, Outcome, Rule, Verdict

LIBRARY = b"int double_of(int x) { return 2 * x; }\n"
FILES = {
    ".gitignore": b"*.so\n",
    "fast.c": LIBRARY,
    "fast.py": b"import ctypes, os\n\n_lib = ctypes.CDLL(os.path.abspath('libfast.so'))\n\n\n"
    b"def double(x):\n    return _lib.double_of(x)\n",
    "tests/__init__.py": b"",
    "tests/test_fast.py": b"import unittest\n\nimport fast\n\n\nclass FastTest(unittest.TestCase):\n"
    b"    def test_double(self):\n        self.assertEqual(fast.double(3), 6)\n",
}
BUILD = {"suite.build": ["gcc", "-shared", "-fPIC", "-o", "libfast.so", "fast.c"]}


def project(top: Path) -> Path:
    need_program("gcc")
    top.mkdir()
    git(top, "init", "-q", "-b", "main")
    commit(top, FILES)
    return top


def test_a_break_in_a_compiled_source_is_seen_by_the_suite(tmp_path: Path) -> None:
    top = project(tmp_path / "r")
    write(top, {"fast.c": LIBRARY.replace(b"2 * x", b"3 * x"), "fast.py": FILES["fast.py"] + b"# x\n"})
    record = look(top, settings=BUILD)
    assert check_of(record, "build").items[0].head is Outcome.PASSED
    item = item_of(record, "test_double")
    assert (item.base, item.head) == (Outcome.PASSED, Outcome.FAILED)
    assert not (top / "libfast.so").exists()


def test_a_build_that_the_patch_broke_is_a_cause(tmp_path: Path) -> None:
    top = project(tmp_path / "r")
    write(top, {"fast.c": LIBRARY.replace(b";", b"")})
    record = look(top, settings=BUILD)
    assert (record.verdict, record.causes[0].rule, record.causes[0].item) == (
        Verdict.REJECT,
        Rule.STATIC,
        "build",
    )


def test_without_a_build_command_the_verdict_is_capped_and_says_why(tmp_path: Path) -> None:
    top = project(tmp_path / "r")
    write(top, {"fast.c": LIBRARY.replace(b"2 * x", b"x + x")})
    record = look(top)
    assert record.ended in (Ended.UNDECIDED, Ended.ENVIRONMENT)
    assert any(note.caps and "build" in note.why for note in record.not_checked)

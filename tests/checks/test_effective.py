"""Whether a patch changes code that runs."""

from __future__ import annotations

import pytest

from showcause.checks.effective import Effect, EffectOf, Version, effects_of, no_effective_change
from showcause.records import ChangeKind, EvidenceKind, FileChange
from showcause.trees import SurfaceKind


def change(path: str, kind: ChangeKind = ChangeKind.MODIFIED, old_path: str = "") -> FileChange:
    return FileChange(
        path=path,
        old_path=old_path,
        kind=kind,
        old_mode="100644",
        new_mode="100644",
        old_oid="1" * 40,
        new_oid="2" * 40,
        added_lines=1,
        deleted_lines=1,
        is_binary=False,
    )


def effect(
    path: str,
    before: bytes | None = b"x = 1\n",
    after: bytes | None = b"x = 2\n",
    *,
    kind: ChangeKind = ChangeKind.MODIFIED,
    old_path: str = "",
    surface: SurfaceKind = SurfaceKind.NONE,
    mentioned: frozenset[str] = frozenset(),
) -> Effect:
    (one,) = effects_of(
        [change(path, kind, old_path)],
        {path: Version(before=before, after=after)},
        {path: surface},
        mentioned=mentioned,
    )
    return one.effect


FUNCTION = b'def f(a):\n    """Says."""\n    return a + 1\n'


@pytest.mark.parametrize(
    "after",
    [
        b'def f(a):\n    """Says more."""\n    return a + 1\n',
        b"def f(a):\n    # a comment\n    return a + 1\n",
        b'def f(a):\n\n\n    """Says."""\n    return (a\n            + 1)\n',
        b'# -*- only words -*-\ndef f(a):\n    """Says."""\n    return a + 1  # noqa\n',
        FUNCTION.replace(b"\n", b"\r\n"),
    ],
)
def test_comments_formatting_and_docstrings(after: bytes) -> None:
    assert effect("a.py", FUNCTION, after) is Effect.COMMENTS


@pytest.mark.parametrize(
    "after",
    [
        b'def f(a):\n    """Says."""\n    return a + 2\n',
        b'def f(a):\n    """Says."""\n    return a + 1\n\n\nx = 1\n',
        b'def f(b):\n    """Says."""\n    return b + 1\n',
        b'# coding: latin-1\ndef f(a):\n    """Says."""\n    return a + 1\n',
        b"def f(a):\n    'not a docstring'.upper()\n    return a + 1\n",
    ],
)
def test_code(after: bytes) -> None:
    assert effect("a.py", FUNCTION, after) is Effect.CODE


def test_what_our_interpreter_cannot_parse_is_compared_by_tokens() -> None:
    old = b"print 'a'\nif x:\n    y = 1\n"
    assert effect("a.py", old, b"# said\nprint   'a'\nif x:\n        y = 1\n") is Effect.COMMENTS
    assert effect("a.py", old, b"print 'a'\nif x:\n    pass\ny = 1\n") is Effect.CODE
    assert effect("a.py", old, b"print 'b'\nif x:\n    y = 1\n") is Effect.CODE


@pytest.mark.parametrize("path", ["reproduce.py", "test.log", "out.txt.orig", "fix.patch"])
def test_scratch_files_in_the_root(path: str) -> None:
    added = ChangeKind.ADDED
    assert effect(path, None, b"print(1)\n", kind=added) is Effect.SCRATCH
    assert effect(path, None, b"", kind=added, mentioned=frozenset({path.partition(".")[0]})) is Effect.CODE
    assert effect(f"src/{path}", None, b"x = 1\n", kind=added) is Effect.CODE
    assert effect(path) is Effect.CODE  # it was there before: it is not stray


@pytest.mark.parametrize("path", ["setup.py", "conftest.py", "sitecustomize.py", ".hidden.py", "tox.ini"])
def test_new_files_in_the_root_that_act(path: str) -> None:
    assert effect(path, None, b"x = 1\n", kind=ChangeKind.ADDED) is Effect.CODE


@pytest.mark.parametrize(
    "path", ["README.md", "docs/a.rst", "CHANGES", "docs/pictures/x.png", "changelog/1.rst"]
)
def test_docs(path: str) -> None:
    assert effect(path) is Effect.DOCS


@pytest.mark.parametrize(
    "path", ["requirements.txt", "requirements/dev.txt", "docs/conf.py", "src/data.txt", "pkg/a.md", "x.toml"]
)
def test_no_docs(path: str) -> None:
    assert effect(path) is Effect.CODE


def test_tests_modes_and_renames() -> None:
    assert effect("t/test_a.py", surface=SurfaceKind.TEST) is Effect.TESTS
    assert effect("conftest.py", surface=SurfaceKind.CONFTEST) is Effect.CODE
    assert effect("a.py", b"x", b"x", kind=ChangeKind.MODE) is Effect.CODE
    assert effect("b.py", b"x = 1\n", b"x = 1\n", kind=ChangeKind.RENAMED, old_path="a.py") is Effect.CODE
    assert effect("a.py", b"x = 1\n", None, kind=ChangeKind.DELETED) is Effect.CODE


def test_the_evidence() -> None:
    told = [
        EffectOf(path="a.py", effect=Effect.COMMENTS),
        EffectOf(path="b.py", effect=Effect.COMMENTS),
        EffectOf(path="README", effect=Effect.DOCS),
    ]
    (evidence,) = no_effective_change(told)
    assert evidence.text == (
        "the patch changes no code that runs: 2 with comments, formatting or docstrings only, "
        "1 of the documentation"
    )
    assert evidence.kind is EvidenceKind.GROUNDED
    assert evidence.items == ("a.py", "b.py", "README")
    assert no_effective_change([*told, EffectOf(path="c.py", effect=Effect.CODE)]) == ()
    assert no_effective_change([]) == ()

"""Stage 0's second half: whether a patch changes any code at all. Pure over both versions of the files.

What is told here is evidence and never rejects: an issue may ask for nothing but documentation or tests.
"""

from __future__ import annotations

import ast
import io
import posixpath
import tokenize
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import assert_never

from showcause.canon import finding_id
from showcause.records import ChangeKind, Evidence, EvidenceKind, FileChange, Record, Stage
from showcause.trees import SurfaceKind

__all__ = ["Effect", "EffectOf", "Version", "effects_of", "no_effective_change"]

EFFECTIVE = "effective_change"

_PROSE = (".md", ".rst", ".txt", ".adoc", ".markdown", ".po", ".pot", ".png", ".svg", ".gif", ".jpg")
_PROSE_NAMES = ("license", "copying", "authors", "changelog", "changes", "news", "readme", "contributing")
_PROSE_FOLDERS = frozenset({"doc", "docs", "changelog", "changes", "newsfragments", "news"})
_NOT_SCRATCH = frozenset(
    {
        "setup.py",
        "conftest.py",
        "noxfile.py",
        "manage.py",
        "sitecustomize.py",
        "usercustomize.py",
        "__init__.py",
    }
    | {"__main__.py", "setup.cfg", "pyproject.toml", "tox.ini", "Makefile", "Dockerfile"}
)
_SCRATCH_ENDS = (".py", ".sh", ".log", ".out", ".patch", ".diff", ".orig", ".rej", ".bak", ".tmp", ".ipynb")
_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
}


class Effect(StrEnum):
    """What one changed path is to the behaviour of the code."""

    CODE = "code"  # or it cannot be told: nothing is said then
    COMMENTS = "comments"  # comments, formatting or docstrings of Python code alone
    SCRATCH = "scratch"  # a new file in the root that nothing refers to
    TESTS = "tests"
    DOCS = "docs"
    NOTHING = "nothing"  # the same content under another mode


class Version(Record, frozen=True, kw_only=True):
    """A changed file in base and in head, None where it is not there (or is no regular file)."""

    before: bytes | None
    after: bytes | None


class EffectOf(Record, frozen=True, kw_only=True):
    path: str
    effect: Effect


def effects_of(
    changes: Iterable[FileChange],
    versions: Mapping[str, Version],
    surface: Mapping[str, SurfaceKind],
    *,
    mentioned: frozenset[str] = frozenset(),
) -> tuple[EffectOf, ...]:
    """What each change is. `versions` by the path in head; `mentioned` are the stems of new files in the
    root that anything else in head speaks of."""
    return tuple(
        EffectOf(path=change.path, effect=_effect(change, versions.get(change.path), surface, mentioned))
        for change in changes
    )


def no_effective_change(effects: Iterable[EffectOf]) -> tuple[Evidence, ...]:
    """One piece of evidence if no path of a patch changes code, else none."""
    told = list(effects)
    counts = Counter(one.effect for one in told)
    if not told or counts[Effect.CODE]:
        return ()
    parts = [f"{counts[effect]} {_words(effect)}" for effect in Effect if counts[effect]]
    text = f"the patch changes no code that runs: {', '.join(parts)}"
    return (
        Evidence(
            id=finding_id(EFFECTIVE, "", text),
            kind=EvidenceKind.GROUNDED,
            state="no_code_change",
            text=text,
            stage=Stage.CHANGE,
            items=tuple(one.path for one in told),
        ),
    )


def _words(effect: Effect) -> str:
    match effect:
        case Effect.CODE:
            return "with code"
        case Effect.COMMENTS:
            return "with comments, formatting or docstrings only"
        case Effect.SCRATCH:
            return "stray in the root, that nothing refers to"
        case Effect.TESTS:
            return "of the tests"
        case Effect.DOCS:
            return "of the documentation"
        case Effect.NOTHING:
            return "with the same content"
        case _:
            assert_never(effect)


def _effect(
    change: FileChange,
    version: Version | None,
    surface: Mapping[str, SurfaceKind],
    mentioned: frozenset[str],
) -> Effect:
    if surface.get(change.path, SurfaceKind.NONE) in (SurfaceKind.TEST, SurfaceKind.TEST_DATA):
        return Effect.TESTS
    if change.kind is ChangeKind.MODE:
        # a script that becomes executable behaves differently
        return Effect.CODE
    if _is_prose(change.path) and _is_prose(change.old_path or change.path):
        return Effect.DOCS
    if change.kind is ChangeKind.ADDED and _is_scratch(change.path, mentioned):
        return Effect.SCRATCH
    if version is None or version.before is None or version.after is None or change.old_path:
        return Effect.CODE
    if version.before == version.after:
        return Effect.NOTHING
    return Effect.COMMENTS if change.path.endswith(".py") and _same_code(version) else Effect.CODE


def _is_prose(path: str) -> bool:
    folder, name = posixpath.split(path.lower())
    stem = name.partition(".")[0]
    if name in ("requirements.txt", "constraints.txt") or "requirements" in path.lower():
        return False
    if name.endswith((".py", ".toml", ".cfg", ".ini", ".json", ".yml", ".yaml")):
        return False
    in_docs = not _PROSE_FOLDERS.isdisjoint(folder.split("/"))
    known = stem in _PROSE_NAMES and (name == stem or name.endswith(_PROSE))
    return known or (name.endswith(_PROSE) and (in_docs or "/" not in path))


def _is_scratch(path: str, mentioned: frozenset[str]) -> bool:
    if "/" in path or path in _NOT_SCRATCH or path.startswith("."):
        return False
    return path.endswith(_SCRATCH_ENDS) and path.partition(".")[0] not in mentioned


# ------------------------------------------------------------------ the same code


def _same_code(version: Version) -> bool:
    """Whether both versions are the same program. Docstrings count as comments: what reads them at run
    time (doctest, argument parsers that print them) is rare, and this is evidence alone."""
    before, after = version.before or b"", version.after or b""
    try:
        old, new = ast.parse(before), ast.parse(after)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _same_tokens(before, after)
    return ast.dump(_bare(old)) == ast.dump(_bare(new)) and _directives(before) == _directives(after)


def _bare(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        first = node.body[0] if node.body else None
        text = first.value if isinstance(first, ast.Expr) else None
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def _directives(source: bytes) -> list[bytes]:
    """Comments that are more than comments: the encoding, type comments that tools act on at run time."""
    return [line for line in source.splitlines()[:2] if b"coding" in line and line.lstrip()[:1] == b"#"]


def _same_tokens(before: bytes, after: bytes) -> bool:
    """The same words in the same order; indentation counts. For files that our interpreter cannot parse."""
    old, new = _tokens(before), _tokens(after)
    return old is not None and old == new


def _tokens(source: bytes) -> list[tuple[int, str]] | None:
    try:
        told = tokenize.tokenize(io.BytesIO(source).readline)
        return [
            (token.type, "" if token.type in (tokenize.INDENT, tokenize.DEDENT) else token.string)
            for token in told
            if token.type not in _LAYOUT or token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE)
            if token.type != tokenize.COMMENT
        ]
    except (tokenize.TokenError, SyntaxError, IndentationError, ValueError):
        return None

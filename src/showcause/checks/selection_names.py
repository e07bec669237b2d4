"""What the names of test files tell: which files are tests, and how near they are to a module."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import translate

from showcause.records import Record

__all__ = ["DEFAULT_PATTERNS", "Layout", "name_match", "nearness", "test_files"]

DEFAULT_PATTERNS = ("test_*.py", "*_test.py", "tests.py")
_SKIPPED_FOLDERS = frozenset({"node_modules", "build", "dist", "venv", "site-packages", "__pycache__"})


class Layout(Record, frozen=True, kw_only=True):
    """Where a project keeps things. `sources`: folders with its packages; `patterns`: file names of
    tests, as in pytest's `python_files`; `test_paths`: folders or files, none means everywhere."""

    sources: tuple[str, ...] = ("", "src")
    patterns: tuple[str, ...] = DEFAULT_PATTERNS
    test_paths: tuple[str, ...] = ()


def test_files(paths: Iterable[str], layout: Layout) -> tuple[str, ...]:
    """The paths that are test files by name, in the order given."""
    names = re.compile("|".join(translate(p) for p in layout.patterns))
    roots = tuple(root.strip("/") for root in layout.test_paths if root.strip("/") not in ("", "."))
    return tuple(
        path
        for path in paths
        if path.endswith(".py")
        and names.match(path[path.rfind("/") + 1 :])
        and (not roots or any(path == root or path.startswith(root + "/") for root in roots))
        and _SKIPPED_FOLDERS.isdisjoint(path.split("/"))
    )


test_files.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it from importing modules


_AFFIX = re.compile(r"^(?:tests?_|unittest_|unit_)+|_(?:tests?|unittest)$")


def _plain_stem(name: str) -> str:
    """`test_foo`, `foo_test`, `_foo` -> `foo`; `tests`, `test` -> ``."""
    stem = _AFFIX.sub("", name).strip("_")
    return "" if stem in ("test", "tests") else stem


def name_match(test: str, module: str) -> float:
    """1 to 0: the same name with known folders before it; the same last word; the folder's name."""
    *folders, file = test.split("/")
    parts = [part.strip("_") for part in module.rsplit(".", 1)[0].removesuffix("/__init__").split("/")]
    stem, last = _plain_stem(file[:-3]), parts[-1]
    folder = _plain_stem(folders[-1]) if folders else ""
    if stem == last:
        return 1.0
    if stem.endswith("_" + last):  # test_ext_napoleon_docstring for ext/napoleon/docstring.py
        rest = stem[: -len(last) - 1].split("_")
        return 1.0 if _parts_hold(parts, rest) else 0.5
    if not stem and folder == last:  # shell/tests.py for commands/shell.py
        return 0.9
    if stem.startswith(last + "_"):
        return 0.6
    # staticfiles_tests/test_storage.py for staticfiles/handlers.py
    return 0.3 if folder and folder in parts[-2:-1] else 0.0


def _parts_hold(parts: Sequence[str], words: Iterable[str]) -> bool:
    """Whether every word is a part of one of the parts of a path."""
    return all(any(word in part for part in parts) for word in words)


def nearness(test: str, module: str) -> float:
    """The share of the module's path words that the test's path has too."""
    wanted = _path_words(module)
    return len(wanted & _path_words(test)) / len(wanted) if wanted else 0.0


def _path_words(path: str) -> frozenset[str]:
    words = re.split(r"[/_.]+", path)
    return frozenset(words) - {"", "test", "tests", "py", "src", "lib", "init"}

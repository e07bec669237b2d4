"""The project's own pytest configuration, read as pytest does. Pure: file contents in, record out.

`addopts` are filtered: options that stop early, choose by an earlier run, spread over processes, measure
coverage or write reports would change which tests run, or what else runs beside them.
"""

from __future__ import annotations

import configparser
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from showcause.project.layout import dig

__all__ = ["RUNNER_FILES", "PytestConfig", "filter_addopts", "needs_cache", "pytest_config"]

RUNNER_FILES = (
    "pytest.toml",
    ".pytest.toml",
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
)
"""Files in which pytest looks for its configuration, in its order."""

# Dropped options: how many values follow when the value is not joined by "=" (or, short, directly).
_DROPPED = {
    "-x": 0, "--exitfirst": 0, "--maxfail": 1,
    "--lf": 0, "--last-failed": 0, "--lfnf": 1, "--last-failed-no-failures": 1,
    "--ff": 0, "--failed-first": 0, "--nf": 0, "--new-first": 0,
    "--sw": 0, "--stepwise": 0, "--sw-skip": 0, "--stepwise-skip": 0, "--sw-reset": 0, "--stepwise-reset": 0,
    "--cache-clear": 0, "--cache-show": 0,
    "-n": 1, "--numprocesses": 1, "--maxprocesses": 1, "--dist": 1, "--tx": 1, "-d": 0, "-f": 0,
    "--looponfail": 0, "--forked": 0, "--boxed": 0, "--max-worker-restart": 1, "--loadgroup": 0,
    "--no-cov": 0, "--no-cov-on-fail": 0, "--cov-report": 1, "--cov-config": 1, "--cov-fail-under": 1,
    "--cov-context": 1, "--cov-append": 0, "--cov-branch": 0, "--cov-reset": 0, "--cov-precision": 1,
    "--junitxml": 1, "--junit-xml": 1, "--junitprefix": 1, "--junit-prefix": 1,
    "--html": 1, "--self-contained-html": 0, "--report-log": 1, "--json-report": 0, "--json-report-file": 1,
    "--pdb": 0, "--trace": 0, "--pastebin": 1, "--testmon": 0, "--collect-only": 0, "--co": 0,
    "--setup-only": 0, "--setup-plan": 0, "--randomly-seed": 1, "--rootdir": 1,
}  # fmt: skip
_BUNDLE = re.compile(r"-(?=\w*x)(?=\w*[vqsl])[xvqsl]+\Z")  # flags without values, written as one word
_DROPPED_PLUGINS = ("xdist", "xdist.plugin", "pytest_cov", "cacheprovider", "no:cacheprovider")


class PytestConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What the project asks of pytest. `ini` is "" where no file has a section for it.

    addopts     filtered, as a list of arguments: what `Job.config` wants
    dropped     what the filter took away
    """

    ini: str = ""
    addopts: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    testpaths: tuple[str, ...] = ()
    python_files: tuple[str, ...] = ("test_*.py", "*_test.py")
    cache_dir: bool = False


def pytest_config(files: Mapping[str, bytes]) -> PytestConfig:
    """Read the configuration from the root's files (name -> content), in pytest's order.

    A file that cannot be read has no section: pytest itself will say what is wrong with it.
    """
    for name in RUNNER_FILES:
        if name in files and (section := _section(name, files[name])) is not None:
            return _config(name, section)
    return PytestConfig()


def _config(name: str, section: Mapping[str, Any]) -> PytestConfig:
    kept, dropped = filter_addopts(_words(section.get("addopts", ())))
    cache = "cache_dir" in section
    return PytestConfig(
        ini=name,
        addopts=("-p", "cacheprovider", *kept) if cache else kept,
        dropped=dropped,
        testpaths=_words(section.get("testpaths", ())),
        python_files=_words(section.get("python_files", ())) or PytestConfig().python_files,
        cache_dir=cache,
    )


def needs_cache(addopts: Sequence[str]) -> bool:
    """Whether the cache plugin must stay (an option or an ini value of it is in use)."""
    return any(word in ("cacheprovider", "-pcacheprovider") for word in addopts)


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        try:
            return tuple(shlex.split(value))
        except ValueError:
            return tuple(value.split())
    return tuple(str(word) for word in value) if isinstance(value, Sequence) else ()


def _section(name: str, data: bytes) -> Mapping[str, Any] | None:
    text = data.decode("utf-8-sig", "surrogateescape")
    if name.endswith(".toml"):
        return _toml_section(name, text)
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error:
        return None
    wanted = "tool:pytest" if name == "setup.cfg" else "pytest"
    if parser.has_section(wanted):
        return {key: value or "" for key, value in parser.items(wanted)}
    # An empty pytest.ini still is the configuration file: it fixes the root.
    return {} if name in ("pytest.ini", ".pytest.ini") else None


def _toml_section(name: str, text: str) -> Mapping[str, Any] | None:
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    if name != "pyproject.toml":
        found = table.get("pytest", {})
        return found if isinstance(found, dict) else {}
    tool = dig(table, "tool", "pytest")
    if not isinstance(tool, dict):
        return None
    old = tool.get("ini_options")
    if isinstance(old, dict):
        return old
    return tool or None  # pytest 9: [tool.pytest] itself


def filter_addopts(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split addopts into what is kept and what is dropped."""
    kept: list[str] = []
    dropped: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if _BUNDLE.match(word):  # -xvs
            kept.append(word.replace("x", ""))
            dropped.append("-x")
            continue
        values = _values_of(word, rest)
        taken = [word, *rest[: values or 0]]
        if values is None:
            kept.append(word)
        else:
            dropped += taken
            del rest[:values]
    return tuple(kept), tuple(dropped)


def _values_of(word: str, rest: Sequence[str]) -> int | None:
    """How many of the following words belong to a dropped option; None for one that is kept."""
    name, joined, _ = word.partition("=")
    if word == "-p":
        return 1 if rest and rest[0] in _DROPPED_PLUGINS else None
    if word.startswith("-p") and word[2:] in _DROPPED_PLUGINS:
        return 0
    if name == "--cov" or (name.startswith("--randomly") and joined):
        # --cov takes its value optionally: a following word that is no option is its source
        return int(not joined and bool(rest) and not rest[0].startswith("-"))
    if name in _DROPPED:
        return 0 if joined else min(_DROPPED[name], len(rest))
    short = word[:2]
    if short == "-n" and len(word) > 2 and not word.startswith("--"):
        return 0
    return None

"""How ruff and ty are called, and their answers read. They run inside the sandbox, on one side's tree."""

from __future__ import annotations

import os
import posixpath
import sys
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

import msgspec

from showcause.checks.static.nouns import Finding
from showcause.checks.static.rules import RUFF_RULES, TY_RULES, symbol_in
from showcause.errors import EnvironmentFault
from showcause.records import Record

__all__ = [
    "Tool",
    "Unreadable",
    "find_tool",
    "relative",
    "ruff_argv",
    "ruff_read",
    "ty_argv",
    "ty_config",
    "ty_read",
]

_OLDEST = (3, 7)
_NEWEST = (3, 15)


class Unreadable(Exception):
    """A tool's output is not what it should be; the message says how."""


class Tool(Record, frozen=True, kw_only=True):
    """A program of ours as the sandbox sees it: `readable` must be mounted for it to start."""

    name: str
    program: str
    version: str
    readable: tuple[str, ...]


@cache
def find_tool(name: str) -> Tool:
    """ruff or ty: beside our own interpreter, where our dependencies are installed, else on PATH.

    Raises EnvironmentFault if it is nowhere.
    """
    import shutil

    beside = os.path.join(sys.prefix, "bin", name)
    found = beside if os.access(beside, os.X_OK) else shutil.which(name)
    if not found:
        raise EnvironmentFault(f"{name} is not installed", cure=f"{sys.executable} -m pip install {name}")
    version = (_installed_version(name) if found == beside else "") or str(os.stat(found).st_mtime_ns)
    real = os.path.realpath(found)
    return Tool(name=name, program=real, version=version, readable=(real,))


def _installed_version(name: str) -> str:
    """By the folder that pip leaves beside the package, "" if there is none: `importlib.metadata` would
    take 10 ms to look at the same name."""
    spec = find_spec(name)
    for package in (spec.submodule_search_locations or ()) if spec else ():
        for entry in os.listdir(os.path.dirname(package)):
            if entry.startswith(f"{name}-") and entry.endswith(".dist-info"):
                return entry.removeprefix(f"{name}-").removesuffix(".dist-info")
    return ""


# ------------------------------------------------------------------ ruff


def ruff_argv(tool: Tool, paths: Sequence[str], *, isolated: bool) -> tuple[str, ...]:
    """Without `noqa` and without exclusions: what the patch silences is seen all the same."""
    options = ("--output-format", "json", "--ignore-noqa", "--no-cache", "--exit-zero", "--quiet")
    own = ("--isolated",) if isolated else ()
    chosen = (
        "--no-preview",
        "--no-respect-gitignore",
        "--no-force-exclude",
        "--select",
        ",".join(RUFF_RULES),
    )
    clear = ("--config", "lint.per-file-ignores={}", "--config", "lint.ignore=[]")
    return (tool.program, "check", *options, *own, *chosen, *clear, "--", *paths)


def ruff_read(output: bytes, root: str) -> tuple[Finding, ...]:
    """The findings in ruff's JSON. Raises Unreadable."""
    return tuple(_ruff_one(entry, root) for entry in _json_list(output))


def _ruff_one(entry: dict[str, Any], root: str) -> Finding:
    start, end = entry["location"], entry.get("end_location") or entry["location"]
    message = str(entry["message"])
    return Finding(
        tool="ruff",
        rule=str(entry.get("code") or "invalid-syntax"),
        path=relative(str(entry["filename"]), root),
        line=int(start["row"]),
        column=int(start["column"]),
        end_line=int(end["row"]),
        end_column=int(end["column"]),
        message=message,
        symbol=symbol_in(message),
    )


# ------------------------------------------------------------------ ty


def ty_config(roots: Sequence[str]) -> str:
    """Our own configuration, so that neither side's can switch a rule off: where imports start."""
    texts = ", ".join(msgspec.json.encode(f"./{root}" if root else ".").decode() for root in roots)
    return f"[environment]\nroot = [{texts}]\n[analysis]\nrespect-type-ignore-comments = false\n"


def ty_argv(
    tool: Tool, paths: Sequence[str], *, python: str, version: str, config: str, root: str
) -> tuple[str, ...]:
    """`python` is the project's interpreter, `version` its version, `config` the file of `ty_config`."""
    rules = [option for rule in TY_RULES for option in ("--error", rule)]
    asked = ("--python", python, *(("--python-version", known) if (known := _known(version)) else ()))
    out = ("--output-format", "gitlab", "--exit-zero", "--no-progress")
    place = ("--project", root, "--config-file", config, "--no-respect-ignore-files", "--no-force-exclude")
    return (tool.program, "check", *out, *place, *asked, "--ignore", "all", *rules, "--", *paths)


def _known(version: str) -> str:
    """The version as ty wants it, "" if it is not told; outside what ty knows, the nearest it does."""
    parts = version.split(".")[:2]
    if len(parts) < 2 or not all(part.isdigit() for part in parts):
        return ""
    major, minor = min(max((int(parts[0]), int(parts[1])), _OLDEST), _NEWEST)
    return f"{major}.{minor}"


def ty_read(output: bytes, root: str) -> tuple[Finding, ...]:
    """The findings of our rules in ty's code quality JSON. Raises Unreadable."""
    entries = _json_list(output)
    broken = [str(e.get("description")) for e in entries if e.get("check_name") in ("io", "panic")]
    if broken:
        raise Unreadable(broken[0][:300])
    return tuple(_ty_one(entry, root) for entry in entries if entry.get("check_name") in TY_RULES)


def _ty_one(entry: dict[str, Any], root: str) -> Finding:
    rule, place = str(entry["check_name"]), entry["location"]
    begin, end = place["positions"]["begin"], place["positions"]["end"]
    message = str(entry["description"]).removeprefix(f"{rule}: ")
    return Finding(
        tool="ty",
        rule=rule,
        path=relative(str(place["path"]), root),
        line=int(begin["line"]),
        column=int(begin["column"]),
        end_line=int(end["line"]),
        end_column=int(end["column"]),
        message=message,
        symbol=symbol_in(message, rule),
    )


# ------------------------------------------------------------------ both


def _json_list(output: bytes) -> list[dict[str, Any]]:
    try:
        found = msgspec.json.decode(output or b"[]", type=list[dict[str, Any]])
    except msgspec.DecodeError as error:
        raise Unreadable(f"its output is not the JSON it should be: {error}") from error
    return found


def relative(path: str, root: str) -> str:
    """A tool's name of a file as a path of the repository; one outside stays as it is."""
    path = path.removeprefix("file://")
    if not path.startswith("/"):
        return posixpath.normpath(path)
    for top in (root, os.path.realpath(root)):
        if path.startswith(top.rstrip("/") + "/"):
            return posixpath.normpath(path[len(top.rstrip("/")) + 1 :])
    return path

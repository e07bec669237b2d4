"""Which program a reviewer is: where it lies, what it needs beside it, which version it says it is."""

from __future__ import annotations

import functools
import json
import os
import shutil
from pathlib import Path

from showcause.records import Record

__all__ = ["NotFound", "Program", "find_program"]

_FAR = 6  # how many folders above a program its package may lie
_TREES = ("node_modules", "site-packages")


class NotFound(Exception):
    """The program cannot be started; `errno` as the system has it."""

    def __init__(self, why: str, errno: int) -> None:
        super().__init__(why)
        self.errno = errno


class Program(Record, frozen=True, kw_only=True):
    """A command that can be started.

    argv      with the program's own path in front
    real      where it really lies; `digest` of that file
    version   as its package says, "" where no package is found
    readable  folders that it needs to be able to read
    path      folders for PATH, so that a script finds its interpreter
    """

    argv: tuple[str, ...]
    real: str
    digest: str
    version: str
    readable: tuple[str, ...]
    path: tuple[str, ...]


def find_program(command: tuple[str, ...]) -> Program:
    """The program of a command line. Raises NotFound."""
    found = shutil.which(command[0])
    if found is None:
        there = os.path.exists(command[0]) and os.sep in command[0]
        number = 13 if there else 2
        raise NotFound(f"{command[0]}: {os.strerror(number)}", number)
    real = os.path.realpath(found)
    script, folders = real, [_home_of(real)]
    for word in command[1:]:
        if os.path.isabs(word) and os.path.isfile(word):
            folders.append(_home_of(os.path.realpath(word)))
            script = os.path.realpath(word) if script == real else script
    started = _started_as(os.path.abspath(found), real)
    used = [started, *([interpreter] if (interpreter := _interpreter(real)) else [])]
    for path in used:
        folders += [_home_of(os.path.realpath(path)), *_environment_of(path)]
    return Program(
        argv=(started, *command[1:]),
        real=script,
        digest=_digest(script, *_stamp(script)),
        version=_version(script),
        readable=tuple(dict.fromkeys(folders)),
        path=tuple(dict.fromkeys(os.path.dirname(os.path.abspath(path)) for path in used)),
    )


def _started_as(found: str, real: str) -> str:
    """By its own name where that matters (multi-call programs of the system, virtual environments), else
    by its real path: a folder of links may lie beside what is nobody's business."""
    is_system = found.startswith(("/usr/", "/bin/", "/sbin/", "/opt/"))
    return found if is_system or _environment_of(found) else real


def _environment_of(path: str) -> tuple[str, ...]:
    """The virtual environment that a path lies in."""
    root = Path(path).parent.parent
    return (str(root),) if (root / "pyvenv.cfg").is_file() else ()


def _home_of(real: str) -> str:
    """The folder that a program needs: its tree of packages, its environment, or where it lies."""
    parts = Path(real).parts
    for name in _TREES:
        if name in parts:
            place = Path(*parts[: parts.index(name)])
            return str(place if name == "node_modules" else place.parents[1])
    folder = Path(real).parent
    if folder.name == "bin" and len(folder.parts) > 3:
        return str(folder.parent)
    return str(folder)


def _interpreter(real: str) -> str:
    """The interpreter of a script, by its first line; "" for anything else."""
    try:
        with open(real, "rb") as file:
            first = file.readline(512)
    except OSError:
        return ""
    if not first.startswith(b"#!"):
        return ""
    words = [word for word in os.fsdecode(first[2:]).split() if not word.startswith("-")]
    if not words:
        return ""
    name = words[1] if Path(words[0]).name == "env" and len(words) > 1 else words[0]
    return shutil.which(name) or ""


def _stamp(path: str) -> tuple[int, int]:
    stat = os.stat(path)
    return stat.st_size, stat.st_mtime_ns


@functools.lru_cache(maxsize=64)
def _digest(path: str, _size: int, _changed: int) -> str:
    """Large programs are read once for each state of theirs."""
    import hashlib

    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _version(real: str) -> str:
    """The version that the package around a program says."""
    for folder in list(Path(real).parents)[:_FAR]:
        try:
            told = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(told, dict) and isinstance(told.get("version"), str):
            return str(told["version"])
    return ""

"""Which interpreter a project's tests run under."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from showcause.errors import EnvironmentFault
from showcause.process import Command, How, run
from showcause.project.interpreter import is_shim, pythons_in, read_interpreter
from showcause.project.nouns import BaseTree, Finding, Interpreter

__all__ = ["choose_interpreter", "main_checkout"]

_ASK_LIMIT_S = 15.0  # poetry alone takes two seconds to start


def choose_interpreter(
    top: Path, base: BaseTree, named: str, environ: Mapping[str, str]
) -> tuple[Interpreter, tuple[Finding, ...]]:
    """The interpreter, and what was passed over on the way to it.

    `named` is `[suite] python`. Raises EnvironmentFault where that one is missing, or none is found.
    """
    home = environ.get("HOME", "")
    if named:
        path = _named(top, named, environ)
        return read_interpreter(path, f'[suite] python = "{named}"', home), ()
    passed: list[Finding] = []
    for found in _candidates(top, base, environ):
        if isinstance(found, Finding):
            passed.append(found)
        else:
            path, why = found
            return read_interpreter(path, why, home), tuple(passed)
    raise EnvironmentFault(
        "no Python interpreter was found for the project",
        cure='make one with "python3 -m venv .venv", or set [suite] python in showcause.toml',
    )


def _named(top: Path, named: str, environ: Mapping[str, str]) -> str:
    if "/" in named or named.startswith("~"):
        expanded = environ.get("HOME", "~") + named[1:] if named.startswith("~/") else named
        path = os.path.normpath(top / expanded)
        if os.path.isdir(path):
            path = pythons_in(path) or path
    else:
        path = shutil.which(named, path=environ.get("PATH", "")) or ""
        if path and is_shim(path):
            path = _behind_shim(path, top, environ) or ""
    if path and os.path.isfile(path) and os.access(path, os.X_OK):
        return path
    where = "on PATH" if "/" not in named else f"at {path}"
    raise EnvironmentFault(
        f'[suite] python = "{named}": there is no such interpreter {where}',
        cure="make that environment (python3 -m venv, uv sync, poetry install), or change [suite] python",
    )


def _candidates(top: Path, base: BaseTree, environ: Mapping[str, str]) -> Iterator[tuple[str, str] | Finding]:
    """(path, why) in order of preference; a Finding where a likely place has nothing usable."""
    for name in (".venv", "venv"):
        yield from _environment(top / name, f"{name} of the checkout")
    if told := environ.get("UV_PROJECT_ENVIRONMENT"):
        yield from _environment(top / told, "UV_PROJECT_ENVIRONMENT")
    yield from _poetry(top, base, environ)
    main = main_checkout(top)
    if main is not None:
        for name in (".venv", "venv"):
            yield from _environment(
                main / name, f"{name} of the main checkout: this is a linked worktree of it"
            )
    for folder in (".tox", ".nox"):
        yield from _tool_environments(top / folder)
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if told := environ.get(name):
            yield from _environment(Path(told), f"the active environment ({name})")
    yield from _on_path(top, environ)


def _environment(folder: Path, why: str) -> Iterator[tuple[str, str] | Finding]:
    if python := pythons_in(folder):
        yield python, why
    elif folder.is_dir():
        broken = any(os.path.islink(folder / "bin" / name) for name in ("python", "python3"))
        reason = "its interpreter is gone" if broken else "it has no interpreter"
        yield Finding(what="passed over", value=str(folder), why=f"{why}: {reason}")


def _tool_environments(folder: Path) -> Iterator[tuple[str, str] | Finding]:
    """Environments of tox or nox: those with pytest first, then by name, the highest last part first."""
    found = []
    try:
        names = sorted(os.listdir(folder), key=_natural, reverse=True)
    except OSError:
        return
    for name in names:
        if python := pythons_in(folder / name):
            interpreter = read_interpreter(python, "")
            has_pytest = any(os.path.isdir(os.path.join(s, "_pytest")) for s in interpreter.site_packages)
            found.append((not has_pytest, python, f"{folder.name}/{name} of the checkout"))
    for _, python, why in sorted(found, key=lambda item: item[0]):
        yield python, why


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part) if part.isdigit() else -1, part) for part in re.split(r"(\d+)", name)]


def _poetry(top: Path, base: BaseTree, environ: Mapping[str, str]) -> Iterator[tuple[str, str] | Finding]:
    files = base.read(["poetry.lock", "pyproject.toml"])
    if "poetry.lock" not in files and b"[tool.poetry" not in files.get("pyproject.toml", b""):
        return
    program = shutil.which("poetry", path=environ.get("PATH", ""))
    if program is None:
        yield Finding(what="passed over", value="poetry", why="a poetry project, but no poetry on PATH")
        return
    answer = _ask((program, "env", "info", "-p", "--no-ansi"), top, environ)
    if answer:
        yield from _environment(Path(answer), "poetry env info -p")
    else:
        yield Finding(
            what="passed over", value="poetry", why="poetry has made no environment for this project"
        )


def _ask(argv: tuple[str, ...], top: Path, environ: Mapping[str, str]) -> str:
    """The one line that a trusted tool answers, or "" if it fails or takes too long."""
    kept = {"HOME", "PATH", "LANG", "LC_ALL", "USER"}
    env = {
        name: value
        for name, value in environ.items()
        if name in kept or name.startswith(("POETRY_", "PYENV_", "XDG_", "ASDF_"))
    }
    done = run(Command(argv=argv, cwd=str(top), env=env, limit_s=_ASK_LIMIT_S))
    if done.how is not How.EXITED or done.exit_status != 0:
        return ""
    lines = os.fsdecode(done.stdout.kept).strip().splitlines()
    return lines[-1].strip() if lines else ""


# ------------------------------------------------------------------ the checkout and PATH


def main_checkout(top: Path) -> Path | None:
    """The main checkout of a linked worktree; None for any other checkout, or where it is bare."""
    try:
        text = (top / ".git").read_text("utf-8", "surrogateescape")
        gitdir = Path(os.path.normpath(top / text.removeprefix("gitdir:").strip()))
        common = Path(os.path.normpath(gitdir / (gitdir / "commondir").read_text().strip()))
    except OSError:
        return None  # a folder .git: an ordinary checkout; no commondir: a submodule
    return common.parent if common.name == ".git" and common.parent != top else None


def _on_path(top: Path, environ: Mapping[str, str]) -> Iterator[tuple[str, str] | Finding]:
    for name in ("python3", "python"):
        path = shutil.which(name, path=environ.get("PATH", ""))
        if path is None:
            continue
        if not is_shim(path):
            yield path, f"{name} on PATH"
        elif real := _behind_shim(path, top, environ):
            yield real, f"{name} on PATH, the one behind the shim {path}"
        else:
            yield Finding(what="passed over", value=path, why="a shim with no interpreter behind it")


def _behind_shim(shim: str, top: Path, environ: Mapping[str, str]) -> str | None:
    """The interpreter a shim would start: from pyenv's files, else by asking it once."""
    if real := _pyenv(shim, top, environ):
        return real
    answer = _ask((shim, "-I", "-c", "import sys; print(sys.executable)"), top, environ)
    return answer if answer and os.access(answer, os.X_OK) and not is_shim(answer) else None


def _pyenv(shim: str, top: Path, environ: Mapping[str, str]) -> str | None:
    if os.path.basename(os.path.dirname(shim)) != "shims":
        return None
    root = Path(environ.get("PYENV_ROOT") or os.path.dirname(os.path.dirname(shim)))
    versions = root / "versions"
    if not versions.is_dir():
        return None
    for wanted in _pyenv_wanted(root, top, environ):
        if wanted == "system":
            rest = [f for f in environ.get("PATH", "").split(":") if f != os.path.dirname(shim)]
            found = shutil.which("python3", path=":".join(rest))
            return found if found and not is_shim(found) else None
        # "3.11" means the newest 3.11 that is there
        names = [n for n in os.listdir(versions) if n == wanted or n.startswith(wanted + ".")]
        for name in sorted(names, key=lambda n: (n == wanted, _natural(n)), reverse=True):
            if python := pythons_in(versions / name):
                return python
    return None


def _pyenv_wanted(root: Path, top: Path, environ: Mapping[str, str]) -> list[str]:
    """Names of versions as pyenv looks for them: environment, .python-version upwards, global file."""
    if told := environ.get("PYENV_VERSION"):
        return told.split(":")
    for file in [*(folder / ".python-version" for folder in (top, *top.parents)), root / "version"]:
        try:
            text = file.read_text("utf-8", "replace")
        except OSError:
            continue
        words = [line.split("#")[0].strip() for line in text.splitlines()]
        if wanted := [word.removeprefix("python-") for line in words for word in line.split()]:
            return wanted
    return ["system"]

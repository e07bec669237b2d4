"""What is reviewed: two released projects with an environment of their own, and generated large ones."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

__all__ = ["GENERATED", "RELEASED", "Edit", "Subject", "generated", "released"]

_IGNORED = ".venv/\n__pycache__/\n.pytest_cache/\n*.egg-info/\n"


@dataclass(frozen=True, kw_only=True)
class Edit:
    """A patch of one line. NUMBER in `new` is replaced by a number, so that it can be changed again."""

    old: str
    new: str


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A repository with two patches of one file: a `harmless` one changes nothing that a test sees, a
    `breaking` one makes a test fail."""

    name: str
    folder: Path
    python: Path
    file: str
    harmless: Edit
    breaking: Edit

    def patch(self, edit: Edit, number: int = 0) -> None:
        """Put the edit into the work tree; one that is there is taken out first."""
        self.restore()
        path = self.folder / self.file
        text = path.read_text()
        if text.count(edit.old) != 1:
            raise RuntimeError(f"{self.file} does not hold this once: {edit.old!r}")
        path.write_text(text.replace(edit.old, edit.new.replace("NUMBER", str(number))))

    def restore(self) -> None:
        git(self.folder, "checkout", "--quiet", "--", self.file)

    def forget(self) -> None:
        """Remove all that showcause keeps about this repository."""
        shutil.rmtree(self.folder / ".git" / "showcause", ignore_errors=True)


@dataclass(frozen=True, kw_only=True)
class Release:
    """A source distribution, what its tests need besides, and its patches."""

    version: str
    needs: tuple[str, ...]
    file: str
    harmless: Edit
    breaking: Edit


RELEASED = {
    "click": Release(
        version="8.1.7",
        needs=("pytest<9",),
        file="src/click/formatting.py",
        harmless=Edit(
            old="FORCED_WIDTH: t.Optional[int] = None\n",
            new="FORCED_WIDTH: t.Optional[int] = None\n_UNUSED = NUMBER\n",
        ),
        breaking=Edit(old="(term_len(usage_prefix) + 20)", new="(term_len(usage_prefix) + 30)"),
    ),
    "requests": Release(
        version="2.32.3",
        needs=("pytest<9", "pytest-httpbin==2.1.0", "pytest-mock", "httpbin~=0.10.0", "PySocks", "trustme"),
        file="src/requests/hooks.py",
        harmless=Edit(old='HOOKS = ["response"]\n', new='HOOKS = ["response"]\n_UNUSED = NUMBER\n'),
        breaking=Edit(old='HOOKS = ["response"]\n', new='HOOKS = ["answer"]\n'),
    ),
}
GENERATED = {"7k": 7_000, "60k": 60_000}


def released(name: str, work: Path) -> Subject:
    """The project as a git repository with an environment in the tree, made once below `work`."""
    release = RELEASED[name]
    folder = work / f"{name}-{release.version}"
    python = folder / ".venv" / "bin" / "python"
    if not (folder / ".git").exists():
        shutil.rmtree(folder, ignore_errors=True)
        _unpack(f"{name}=={release.version}", work)
        (folder / ".gitignore").write_text(_IGNORED)
        _run(sys.executable, "-m", "venv", str(folder / ".venv"))
        _run(str(python), "-m", "pip", "install", "--quiet", "-e", str(folder), *release.needs)
        _commit(folder)
    return Subject(
        name=name,
        folder=folder,
        python=python,
        file=release.file,
        harmless=release.harmless,
        breaking=release.breaking,
    )


def generated(name: str, work: Path, python: Path) -> Subject:
    """A package of many small modules, a few tests and much data; its tests run with `python`."""
    folder = work / f"generated-{name}"
    if not (folder / ".git").exists():
        shutil.rmtree(folder, ignore_errors=True)
        _write_package(folder)
        for number in range(GENERATED[name]):
            below = folder / "data" / f"{number // 2500:03}" / f"{number // 50 % 50:02}"
            below.mkdir(parents=True, exist_ok=True)
            (below / f"file{number}.{'py' if number % 5 == 0 else 'txt'}").write_text(f"# {number}\n" * 20)
        _commit(folder)
    return Subject(
        name=f"generated, {name} files",
        folder=folder,
        python=python,
        file="src/pack/core.py",
        harmless=Edit(old="LIMIT = 3\n", new="LIMIT = 3\n_UNUSED = NUMBER\n"),
        breaking=Edit(old="LIMIT = 3\n", new="LIMIT = 4\n"),
    )


def git(folder: Path, *arguments: str) -> None:
    _run("git", "-C", str(folder), "-c", "user.name=bench", "-c", "user.email=bench@localhost", *arguments)


def _write_package(folder: Path) -> None:
    (folder / "src" / "pack").mkdir(parents=True)
    (folder / "tests").mkdir()
    (folder / "src" / "pack" / "__init__.py").write_text("")
    (folder / "src" / "pack" / "core.py").write_text("LIMIT = 3\n\n\ndef limit():\n    return LIMIT\n")
    (folder / "tests" / "test_core.py").write_text(
        "from pack.core import limit\n\n\ndef test_limit():\n    assert limit() == 3\n"
    )
    (folder / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["src"]\n')
    (folder / ".gitignore").write_text(_IGNORED)


def _unpack(requirement: str, work: Path) -> None:
    got = work / "downloads"
    options = ("--quiet", "--no-deps", "--no-binary", ":all:", "-d", str(got))
    _run(sys.executable, "-m", "pip", "download", *options, requirement)
    (archive,) = got.glob(f"{requirement.replace('==', '-')}.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(work, filter="data")


def _commit(folder: Path) -> None:
    git(folder, "init", "--quiet", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "-m", "as released")


def _run(*argv: str) -> None:
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(argv)}:\n{done.stderr.decode(errors='replace')[-2000:]}")

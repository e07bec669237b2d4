"""Cases on disk: an issue of a public project with its source, its official suite, and patches with labels.

A folder of cases holds `cases.jsonl` and is not part of this repository; nothing of its texts may be
copied into it. A work folder holds what is made from them: `dl` (source archives, checked by SHA-256),
`envs` (virtual environments by a digest of interpreter and pins), `trees` (one git repository a case).
What is there is used again.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Case", "HandedIn", "Prepared", "Unprepared", "prepare", "read_cases"]

FILE = "cases.jsonl"
REFERENCE = "reference"
_LIMIT_S = 900.0
_GIT = ("git", "-c", "core.hooksPath=/dev/null", "-c", "user.name=v", "-c", "user.email=v@localhost")
_GIT += ("-c", "gc.auto=0", "-c", "core.autocrlf=false", "-c", "core.safecrlf=false")
# An interpreter's own variables would lead pip and git to other places than the ones named here.
_STRIPPED = ("PYTHON", "PYENV", "VIRTUAL", "PIP_REQUIRE", "GIT_")


class Unprepared(Exception):
    """A case cannot be made ready on this machine; the message says why."""


@dataclass(frozen=True, kw_only=True)
class HandedIn:
    """One patch: its name, its text exactly as handed in, and the label that was found by execution."""

    name: str
    text: str
    label: str


@dataclass(frozen=True, kw_only=True)
class Case:
    """One case. `env` may hold `{tree}` for the path of the repository."""

    id: str
    issue: str
    sdist: str
    archive: str
    sha256: str
    python: str
    requirements: tuple[str, ...]
    runner: str
    env: dict[str, str]
    tests: str
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    patches: tuple[HandedIn, ...]


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A case that can be reviewed: its repository, interpreter, and official suite file."""

    case: Case
    tree: Path
    python: Path
    official: Path

    @property
    def env(self) -> dict[str, str]:
        return {name: value.replace("{tree}", str(self.tree)) for name, value in self.case.env.items()}


def read_cases(folder: Path, *, wanted: str = "", reference: bool = False) -> list[Case]:
    """The cases whose id contains `wanted`; with `reference`, the reference is one more patch of each."""
    lines = (folder / FILE).read_text("utf-8").splitlines()
    cases = (_case(json.loads(line), reference=reference) for line in lines if line.strip())
    return [case for case in cases if wanted in case.id]


def _case(told: dict[str, Any], *, reference: bool) -> Case:
    patches = [
        HandedIn(name=p["patch_sha"][:10], text=p["model_patch"] or "", label=p["executed_label"])
        for p in told["patches"]
    ]
    if reference:
        patches.append(HandedIn(name=REFERENCE, text=told["patch"], label=REFERENCE))
    return Case(
        id=told["case_id"],
        issue=told["problem_statement"],
        sdist=told["sdist"],
        archive=told["sdist_filename"],
        sha256=told["sdist_sha256"],
        python=told["python"],
        requirements=tuple(told["requirements"]),
        runner=told["runner"],
        env=told["test_env"],
        tests=told["test_patch"],
        fail_to_pass=tuple(told["FAIL_TO_PASS"]),
        pass_to_pass=tuple(told["PASS_TO_PASS"]),
        patches=tuple(patches),
    )


def prepare(case: Case, work: Path) -> Prepared:
    """Make environment, repository and suite file below `work`, or find them there. Raises Unprepared."""
    work = work.resolve()
    python = _environment(case, work / "envs")
    tree = work / "trees" / case.id
    if not (tree / ".git" / "HEAD").exists():
        _unpack(_archive(case, work / "dl", python), tree)
    official = work / "suites" / f"{case.id}.json"
    official.parent.mkdir(parents=True, exist_ok=True)
    suite = {"tests": case.tests, "fail_to_pass": case.fail_to_pass, "pass_to_pass": case.pass_to_pass}
    official.write_text(json.dumps(suite), "utf-8")
    return Prepared(case=case, tree=tree, python=python, official=official)


# ------------------------------------------------------------------ environment


def _environment(case: Case, envs: Path) -> Path:
    told = json.dumps([case.python, list(case.requirements)]).encode()
    folder = envs / f"v{hashlib.sha256(told).hexdigest()[:12]}"
    python, ready = folder / "bin" / "python", folder / ".ready"
    if not ready.exists():
        shutil.rmtree(folder, ignore_errors=True)
        _run([_interpreter(case.python), "-m", "venv", str(folder)])
        _run([str(python), "-m", "pip", "install", "-q", *case.requirements])
        ready.touch()
    return python


def _interpreter(version: str) -> str:
    """An interpreter of that minor version: below PYTHON_ROOT, of pyenv, beside this one's, on PATH."""
    root = os.environ.get("PYTHON_ROOT") or os.path.expanduser("~/.pyenv/versions")
    beside = os.path.dirname(sys.base_prefix)
    found = [
        path
        for folder in dict.fromkeys((root, beside))
        for path in sorted(glob.glob(f"{glob.escape(folder)}/{version}.*/bin/python"), reverse=True)
    ]
    on_path = shutil.which(f"python{version}")
    for path in (*found, *([on_path] if on_path else []), sys.executable):
        told = subprocess.run(
            [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        if told.stdout.strip() == version:
            return path
    raise Unprepared(f"there is no Python {version} (looked below {root} and on PATH)")


# ------------------------------------------------------------------ source


def _archive(case: Case, downloads: Path, python: Path) -> Path:
    downloads.mkdir(parents=True, exist_ok=True)
    path = downloads / case.archive
    if not path.exists():
        name = case.sdist.split("==")[0]
        argv = [str(python), "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name]
        try:
            _run([*argv, "-d", str(downloads), case.sdist])
        except Unprepared:  # an old setup.py may need the setuptools of the case
            _run([*argv, "--no-build-isolation", "-d", str(downloads), case.sdist])
    if not path.exists():
        raise Unprepared(f"pip downloaded {case.sdist}, but not as {case.archive}")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != case.sha256:
        raise Unprepared(f"the SHA-256 of {path.name} is {digest}, not {case.sha256}")
    return path


def _unpack(archive: Path, tree: Path) -> None:
    """Make a repository of one commit; it appears at `tree` only when it is whole."""
    partial = tree.with_name(f"{tree.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    _run(["tar", "-xf", str(archive), "-C", str(partial), "--no-same-owner"])
    (top,) = partial.iterdir()
    for words in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-q", "-m", "the release"]):
        _run([*_GIT, *words], cwd=top)
    with open(top / ".git" / "info" / "exclude", "a", encoding="utf-8") as file:
        file.write("__pycache__/\n*.pyc\n")
    shutil.rmtree(tree, ignore_errors=True)
    top.rename(tree)
    partial.rmdir()


def _run(argv: list[str], cwd: Path | None = None) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith(_STRIPPED)}
    try:
        done = subprocess.run(
            argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False, timeout=_LIMIT_S,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unprepared(f"{argv[0]}: {error}") from error
    if done.returncode:
        tail = done.stdout.decode("utf-8", "replace").strip()[-800:]
        raise Unprepared(f"{' '.join(argv[:5])} ended with {done.returncode}: {tail}")

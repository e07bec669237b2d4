"""Planted faults: which stage sees them, in three released packages; and harmless edits beside old faults.

`python -m benchmarks planted [--work FOLDER] [--only NAME] [--static]`: each package is unpacked from its
source distribution into FOLDER with an environment of its own. Every fault is planted alone, by a small
textual edit, and reviewed as a patch of the work tree. With `--static` the project's own tests are not run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import showcause
from showcause.attribution import BAD
from showcause.records import Attribution, Outcome, ReviewRecord, Rule

__all__ = ["main"]


@dataclass(frozen=True, kw_only=True)
class Edit:
    """One fragment of a file replaced, where it stands first; no fragment: text is put at the end."""

    path: str
    old: str = ""
    new: str


@dataclass(frozen=True, kw_only=True)
class Package:
    """A release, what its tests need besides, its faults by kind, and what the old faults speak of."""

    version: str
    needs: tuple[str, ...]
    source: str
    faults: dict[str, tuple[Edit, ...]]
    old_in: str
    old_also: str
    takes_one: str


ABSTRACT = """

class _Shape(__import__("abc").ABC):
    @__import__("abc").abstractmethod
    def area(self): ...


def _some_shape():
    return _Shape()
"""
CLICK = Package(
    version="8.1.7",
    needs=("pytest<9",),
    source="src/click",
    old_in="formatting.py",
    old_also="globals.py",
    takes_one="click.parser.split_opt",
    faults={
        "undefined name": (Edit(path="formatting.py", old="sorted(widths", new="sorted(width"),),
        "missing import": (Edit(path="termui.py", old="import itertools\n", new=""),),
        "wrong attribute": (
            Edit(path="formatting.py", old="+= self.indent_increment", new="+= self.indent_step"),
        ),
        "wrong arity": (
            Edit(
                path="utils.py", old="resolve_color_default(color)", new="resolve_color_default(color, None)"
            ),
        ),
        "name missing from module": (
            Edit(path="formatting.py", old="import term_len\n", new="import term_len_of\n"),
        ),
        "syntax error": (Edit(path="parser.py", old="def split_opt(", new="def split_opt(("),),
        "abstract class made": (Edit(path="formatting.py", new=ABSTRACT),),
        "circular import": (
            Edit(
                path="globals.py",
                old="import typing as t\n",
                new="import typing as t\nfrom .core import Group\n",
            ),
        ),
        "moved, stale importer": (
            Edit(path="utils.py", old="def make_default_short_help(", new="def _no_longer_here("),
            Edit(
                path="_moved.py", new="def make_default_short_help(help, max_length=45):\n    return help\n"
            ),
        ),
        "shadowed builtin": (
            Edit(path="formatting.py", old="import typing as t\n", new="import typing as t\nmax = 80\n"),
        ),
    },
)
REQUESTS = Package(
    version="2.32.3",
    needs=("pytest<9", "pytest-httpbin==2.1.0", "pytest-mock", "httpbin~=0.10.0", "PySocks", "trustme"),
    source="src/requests",
    old_in="hooks.py",
    old_also="structures.py",
    takes_one="requests.utils.super_len",
    faults={
        "undefined name": (Edit(path="hooks.py", old="hook(hook_data", new="hook(data"),),
        "missing import": (Edit(path="utils.py", old="import struct\n", new=""),),
        "wrong attribute": (
            Edit(path="sessions.py", old="self.get_adapter(url", new="self.find_adapter(url"),
        ),
        "wrong arity": (Edit(path="sessions.py", old=", request, r.raw)", new=", request)"),),
        "name missing from module": (
            Edit(path="sessions.py", old="import default_hooks,", new="import default_hook,"),
        ),
        "syntax error": (
            Edit(path="cookies.py", old="def get_cookie_header(", new="def get_cookie_header(("),
        ),
        "abstract class made": (Edit(path="adapters.py", new=ABSTRACT),),
        "circular import": (
            Edit(
                path="structures.py",
                old="from collections import OrderedDict\n",
                new="from collections import OrderedDict\nfrom .models import Response\n",
            ),
        ),
        "moved, stale importer": (
            Edit(path="utils.py", old="def get_auth_from_url(", new="def _no_longer_here("),
            Edit(path="_moved.py", new="def get_auth_from_url(url):\n    return ('', '')\n"),
        ),
        "shadowed builtin": (Edit(path="utils.py", old="import zipfile\n", new="import zipfile\nlen = 0\n"),),
    },
)
ATTRS = Package(
    version="24.2.0",
    needs=("pytest<9", "hypothesis", "cloudpickle", "pympler"),
    source="src/attr",
    old_in="filters.py",
    old_also="setters.py",
    takes_one="attr.filters._split_what",
    faults={
        "undefined name": (
            Edit(path="filters.py", old="isinstance(cls, Attribute)", new="isinstance(cls, Attr)"),
        ),
        "missing import": (Edit(path="validators.py", old="import operator\n", new=""),),
        "wrong attribute": (
            Edit(path="_version_info.py", old="= self._ensure_tuple(", new="= self._into_tuple("),
        ),
        "wrong arity": (
            Edit(
                path="validators.py",
                old="set_run_validators(not disabled)",
                new="set_run_validators(True, None)",
            ),
        ),
        "name missing from module": (
            Edit(path="setters.py", old="import FrozenAttributeError", new="import FrozenAttrError"),
        ),
        "syntax error": (Edit(path="converters.py", old="def to_bool(", new="def to_bool(("),),
        "abstract class made": (Edit(path="filters.py", new=ABSTRACT),),
        "circular import": (
            Edit(path="_config.py", old="__all__ =", new="from . import validators\n\n__all__ ="),
        ),
        "moved, stale importer": (
            Edit(path="_make.py", old="def and_(", new="def _no_longer_here("),
            Edit(path="_moved.py", new="def and_(*validators):\n    return validators[0]\n"),
        ),
        "shadowed builtin": (
            Edit(path="validators.py", old="import operator\n", new="import operator\n\nisinstance = None\n"),
        ),
    },
)
PACKAGES = {"click": CLICK, "requests": REQUESTS, "attrs": ATTRS}

# What base has wrong already when the harmless edits are made; HERE is the package, ONE takes one argument.
OLD = """

class _Jar:
    def __init__(self, lid):
        self.lid = lid


def _old_undefined(value):
    return never_defined(value)


def _old_arity():
    from MODULE import ONE

    return ONE()


def _old_member():
    from HERE import never_there

    return never_there


def _old_attribute():
    jar = _Jar(1)
    return jar.never_set
"""
OTHER = "\n\ndef _beside(value):\n    return value\n"
HARMLESS: dict[str, tuple[tuple[str, str], ...]] = {
    "lines inserted above": (("class _Jar:", "# one\n# two\n# three\n\n\nclass _Jar:"),),
    "old undefined name, its line edited": (("never_defined(value)", "never_defined(value + 1)"),),
    "function around it renamed": (("def _old_undefined", "def _renamed"),),
    "line split in two": (("never_defined(value)", "never_defined(\n        value\n    )"),),
    "put under a condition": (
        ("    return never_defined(value)", "    if value:\n        return never_defined(value)"),
    ),
    "old wrong call, its line edited": (("    return ONE()", "    told = ONE()\n    return told"),),
    "old import, its line edited": (
        ("import never_there\n", "import never_there as found\n"),
        ("n never_there", "n found"),
    ),
    "old attribute, its line edited": (("return jar.never_set", "told = jar.never_set\n    return told"),),
    "function moved to the end": (
        ("def _old_undefined(value):\n    return never_defined(value)\n\n\n", ""),
        (
            "return jar.never_set\n",
            "return jar.never_set\n\n\ndef _old_undefined(value):\n    return never_defined(value)\n",
        ),
    ),
    "function moved to another module": (
        ("def _old_undefined(value):\n    return never_defined(value)\n\n\n", ""),
        (OTHER, OTHER + "\n\ndef _old_undefined(value):\n    return never_defined(value)\n"),
    ),
}


# ------------------------------------------------------------------ making the repositories


def prepared(name: str, package: Package, work: Path) -> Path:
    """The release as a repository with an environment beside it, made once."""
    folder = work / f"{name}-{package.version}"
    if (folder / ".git").exists():
        return folder
    _run(
        sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:",
        "-d", str(work / "downloads"), f"{name}=={package.version}",
    )  # fmt: skip
    with tarfile.open(work / "downloads" / f"{name}-{package.version}.tar.gz") as file:
        file.extractall(work, filter="data")
    with open(folder / ".gitignore", "a") as file:
        file.write("\n.venv/\n__pycache__/\n.pytest_cache/\n.hypothesis/\n*.egg-info/\n")
    _run(sys.executable, "-m", "venv", str(folder / ".venv"))
    python = str(folder / ".venv" / "bin" / "python")
    env = {"SETUPTOOLS_SCM_PRETEND_VERSION": package.version}
    _run(python, "-m", "pip", "install", "-q", "-e", str(folder), *package.needs, env=env)
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "as released")
    git(folder, "tag", "released")
    _with_old_faults(package, folder)
    commit(folder, "with old faults")
    git(folder, "tag", "old-faults")
    return folder


def _with_old_faults(package: Package, folder: Path) -> None:
    here, (module, _, one) = package.source.removeprefix("src/"), package.takes_one.rpartition(".")
    text = OLD.replace("MODULE", module).replace("ONE", one).replace("HERE", here)
    _append(folder / package.source / package.old_in, text)
    _append(folder / package.source / package.old_also, OTHER)


def git(folder: Path, *arguments: str) -> None:
    _run("git", "-C", str(folder), "-c", "user.name=b", "-c", "user.email=b@localhost", *arguments)


def commit(folder: Path, message: str) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)


def clean(folder: Path, tag: str) -> None:
    git(folder, "reset", "-q", "--hard", tag)
    git(folder, "clean", "-q", "-f", "-d")


def _run(*argv: str, env: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, check=False, env=os.environ | (env or {})
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(argv)}:\n{done.stderr.decode(errors='replace')[-2000:]}")


def _append(path: Path, text: str) -> None:
    with open(path, "a") as file:
        file.write(text)


def plant(folder: Path, package: Package, edits: tuple[Edit, ...]) -> None:
    for edit in edits:
        path = folder / package.source / edit.path
        if not edit.old:
            _append(path, edit.new)
            continue
        text = path.read_text()
        if edit.old not in text:
            raise RuntimeError(f"{edit.path} does not hold {edit.old!r}")
        path.write_text(text.replace(edit.old, edit.new, 1))


def soften(folder: Path, package: Package, replaced: tuple[tuple[str, str], ...]) -> None:
    one = package.takes_one.rpartition(".")[2]
    for old, new in replaced:
        name = package.old_also if old == OTHER else package.old_in
        edit = Edit(path=name, old=old.replace("ONE", one), new=new.replace("ONE", one))
        plant(folder, package, (edit,))


# ------------------------------------------------------------------ what sees them


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What each stage made of one patch: what it says, "" if nothing."""

    static: str
    static_evidence: str
    imports: str
    suite: str
    verdict: str


def look(folder: Path, *, static_only: bool) -> Seen:
    settings: dict[str, object] = {
        "suite.python": str(folder / ".venv" / "bin" / "python"),
        "suite.time_budget_s": 30,
    }
    if static_only:
        settings["suite.test_paths"] = ["nowhere"]
    made = showcause.review(showcause.Request(directory=str(folder), overrides=settings, fresh=True))
    record = made.receipt.body
    return Seen(
        static=_first(c.item for c in record.causes if c.rule is Rule.STATIC),
        static_evidence=_first(_static_evidence(record)),
        imports=_first(c.item for c in record.causes if c.rule is Rule.IMPORT_ERROR),
        suite=_suite(record),
        verdict=record.verdict.value if record.verdict else f"undecided ({record.ended.value})",
    )


def _first(found: Iterator[str]) -> str:
    told = list(found)
    return f"{told[0]}{f' +{len(told) - 1}' if len(told) > 1 else ''}" if told else ""


def _static_evidence(record: ReviewRecord) -> Iterator[str]:
    for check in record.checks:
        if check.id.startswith("static"):
            yield from (
                f"{i.id} ({i.note[:60]})"
                for i in check.items
                if i.runs and i.attribution is not Attribution.PATCH_CAUSED
            )


def _suite(record: ReviewRecord) -> str:
    items = [item for check in record.checks if check.id == "suite" for item in check.items]
    broken = [i for i in items if i.base is Outcome.PASSED and i.head in BAD | {Outcome.NOT_RUN}]
    return f"{len(broken)} of {len(items)} tests" if broken else ""


def main(argv: list[str]) -> int:
    """Print both tables; the status is 1 if a harmless edit is rejected."""
    parser = argparse.ArgumentParser(prog="bench planted")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "showcause-planted")
    parser.add_argument("--only", choices=tuple(PACKAGES))
    parser.add_argument("--static", action="store_true")
    options = parser.parse_args(argv)
    options.work.mkdir(parents=True, exist_ok=True)
    chosen = {options.only: PACKAGES[options.only]} if options.only else PACKAGES
    rejected = 0
    print("| package | planted | static stage | imports check | suite | verdict |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, package in chosen.items():
        folder = prepared(name, package, options.work)
        for kind, edits in package.faults.items():
            clean(folder, "released")
            plant(folder, package, edits)
            seen = look(folder, static_only=options.static)
            told = f"evidence: {seen.static_evidence}" if seen.static_evidence else ""
            static = f"**{seen.static}**" if seen.static else told
            print(
                f"| {name} | {kind} | {static} | {seen.imports} | {seen.suite} | {seen.verdict} |", flush=True
            )
    print("\n| package | harmless edit | verdict | static evidence |\n| --- | --- | --- | --- |")
    for name, package in chosen.items():
        folder = prepared(name, package, options.work)
        for what, replaced in HARMLESS.items():
            clean(folder, "old-faults")
            soften(folder, package, replaced)
            seen = look(folder, static_only=True)
            rejected += bool(seen.static or seen.imports)
            print(f"| {name} | {what} | {seen.static or seen.verdict} | {seen.static_evidence} |", flush=True)
        clean(folder, "released")
    return 1 if rejected else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

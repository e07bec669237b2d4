"""Where a project keeps its packages: from its build configuration, else from its folders."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from showcause.project.nouns import Sources

__all__ = ["BUILD_FILES", "find_sources", "project_name", "read_ini", "read_toml"]

BUILD_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
_NO_PACKAGES = frozenset(
    {"test", "tests", "testing", "doc", "docs", "examples", "example", "scripts", "tools", "benchmarks"}
    | {"build", "dist"}
)
_NO_MODULES = frozenset(["setup", "conftest", "noxfile", "tasks", "manage", "fabfile", "runtests"])


def read_toml(data: bytes | None) -> dict[str, Any]:
    """A TOML file, or {} where it is absent or broken: base's fault is then the runner's to tell."""
    try:
        return tomllib.loads((data or b"").decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return {}


def read_ini(data: bytes | None) -> configparser.ConfigParser:
    """An ini file, empty where it is absent or broken."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string((data or b"").decode("utf-8", "replace"))
    except configparser.Error:
        return configparser.ConfigParser(interpolation=None)
    return parser


def dig(document: object, *keys: str) -> Any:
    """A nested value of a TOML document, or None."""
    for key in keys:
        document = document.get(key) if isinstance(document, Mapping) else None
    return document


def project_name(files: Mapping[str, bytes]) -> str:
    """The name of the project's distribution, "" if it is not written down."""
    pyproject = read_toml(files.get("pyproject.toml"))
    for keys in (("project", "name"), ("tool", "poetry", "name"), ("tool", "flit", "metadata", "module")):
        if isinstance(name := dig(pyproject, *keys), str):
            return name
    if name := read_ini(files.get("setup.cfg")).get("metadata", "name", fallback=""):
        return name
    match = re.search(rb"""\bname\s*=\s*["']([\w.-]+)["']""", files.get("setup.py", b""))
    return match[1].decode() if match else ""


def find_sources(paths: Collection[str], files: Mapping[str, bytes]) -> Sources:
    """The source folders and import names of a tree. `files`: contents of BUILD_FILES."""
    declared = [root for root in dict.fromkeys(_declared(files)) if _has_python(paths, root)]
    if declared:
        return Sources(
            roots=tuple(declared), names=_names(paths, declared), why="declared in the build configuration"
        )
    if names := _names(paths, ["src"]):
        return Sources(roots=("src",), names=names, why="src holds packages")
    if names := _names(paths, [""]):
        return Sources(roots=("",), names=names, why="packages at the top")
    folders = sorted({p.split("/", 1)[0] for p in paths if p.endswith("/__init__.py") and p.count("/") == 2})
    roots = [folder for folder in folders if folder not in _NO_PACKAGES]
    if roots and (names := _names(paths, roots)):
        return Sources(roots=tuple(roots), names=names, why="folders that hold top-level packages")
    return Sources(roots=("",), names=(), why="no package was found: the top is taken")


def _declared(files: Mapping[str, bytes]) -> Iterator[str]:
    pyproject = read_toml(files.get("pyproject.toml"))
    setuptools = dig(pyproject, "tool", "setuptools")
    yield from _texts(dig(setuptools, "packages", "find", "where"))
    yield from _texts([dig(setuptools, "package-dir", "")])
    for package in dig(pyproject, "tool", "poetry", "packages") or ():
        if isinstance(package, Mapping):
            yield from _texts([package.get("from", "")])
    for keys in (("targets", "wheel"), ()):
        hatch = dig(pyproject, "tool", "hatch", "build", *keys)
        yield from (path.rpartition("/")[0] for path in _texts(dig(hatch, "packages")))
        yield from _texts(dig(hatch, "sources") if isinstance(dig(hatch, "sources"), list) else None)
    yield from _texts([dig(pyproject, "tool", "pdm", "build", "package-dir")])
    yield from _texts([dig(pyproject, "tool", "maturin", "python-source")])
    ini = read_ini(files.get("setup.cfg"))
    yield from _texts(ini.get("options.packages.find", "where", fallback="").split())
    yield from re.findall(
        r"^\s*=\s*([\w/.-]+)\s*$", ini.get("options", "package_dir", fallback=""), re.MULTILINE
    )
    setup = files.get("setup.py", b"").decode("utf-8", "replace")
    yield from re.findall(r"""package_dir\s*=\s*(?:dict\(|\{)\s*["']{2}\s*:\s*["']([\w/.-]+)["']""", setup)


def _texts(value: object) -> Iterator[str]:
    """Folder names, without "./" and a last slash; "." is ""."""
    if isinstance(value, list | tuple):
        for item in value:
            if isinstance(item, str):
                clean = item.strip().removeprefix("./").strip("/")
                yield "" if clean == "." else clean


def _has_python(paths: Collection[str], root: str) -> bool:
    start = root + "/" if root else ""
    return any(path.startswith(start) and path.endswith(".py") for path in paths)


def _names(paths: Collection[str], roots: Collection[str]) -> tuple[str, ...]:
    """Import names below the roots. Outside the top a folder without __init__ counts too: it may be
    a namespace package, and there is nothing else it would be there for."""
    found = set()
    for root in roots:
        start = root + "/" if root else ""
        for path in paths:
            if not path.startswith(start) or not path.endswith((".py", ".pyx")):
                continue
            first, _, rest = path[len(start) :].partition("/")
            if not rest:
                found |= _single(first)
            elif first.isidentifier() and first not in _NO_PACKAGES and (root or rest == "__init__.py"):
                found.add(first)
    return tuple(sorted(found))


def _single(file: str) -> set[str]:
    stem = file.rpartition(".")[0]
    is_test = stem.startswith("test_") or stem.endswith("_test")
    return {stem} if stem.isidentifier() and stem not in _NO_MODULES and not is_test else set()

"""What is installed in an environment, and how the project itself is, read from its site-packages."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import msgspec

from showcause.canon import digest_record, printable
from showcause.project.nouns import Distribution, Environment, Installed, Interpreter

__all__ = ["how_installed", "normal_name", "read_environment"]


def normal_name(name: str) -> str:
    """A distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_environment(interpreter: Interpreter) -> Environment:
    """All distributions of an interpreter's site-packages, and its digest; nothing is started.

    The first of two distributions of one name counts, as it does for an import.
    """
    found: dict[str, Distribution] = {}
    told: list[Any] = [interpreter.path, interpreter.real, _mtime_ns(interpreter.real), interpreter.version]
    paths: list[str] = []
    for site in interpreter.site_packages:
        for entry in sorted(_entries(site), key=lambda e: e.name):
            if entry.name.endswith((".dist-info", ".egg-info")):
                distribution, direct = _distribution(entry)
                found.setdefault(distribution.name, distribution)
                # the folder's time changes with a re-installation of the same version
                told.append([entry.name, entry.stat().st_mtime_ns, direct])
                paths.append(distribution.editable)
            elif entry.name.endswith((".pth", ".egg-link")):
                text = _text(entry.path)
                told.append([entry.name, text])
                paths += _lines_of_pth(site, text)
    existing = [path for path in dict.fromkeys(paths) if path and os.path.isdir(path)]
    # names and paths may hold bytes that are no text
    return Environment(distributions=found, paths=tuple(existing), digest=digest_record(told))


def _entries(site: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(site) as entries:
            return list(entries)
    except OSError:
        return []


def _mtime_ns(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _distribution(entry: os.DirEntry[str]) -> tuple[Distribution, str]:
    stem = entry.name.rsplit(".", 1)[0]
    name, _, version = stem.partition("-")
    version = re.sub(r"-py\d.*$", "", version)
    direct = _text(os.path.join(entry.path, "direct_url.json")) if entry.name.endswith(".dist-info") else ""
    editable = _editable_folder(direct) if direct else ""
    return Distribution(name=normal_name(name), version=version, editable=editable), direct


def _editable_folder(direct_url: str) -> str:
    try:
        told = msgspec.json.decode(direct_url)
        if told["dir_info"].get("editable") is True:
            return unquote(urlparse(told["url"]).path)
    except (ValueError, KeyError, TypeError, AttributeError):
        pass  # written by a tool of another mind: not an editable install then
    return ""


def _lines_of_pth(site: str, text: str) -> Iterator[str]:
    for line in map(str.strip, text.splitlines()):
        if line and not line.startswith(("#", "import ", "import\t")):
            yield os.path.normpath(os.path.join(site, line))


# ------------------------------------------------------------------ the project itself


def how_installed(
    top: Path, names: Iterable[str], project_name: str, environment: Environment, site_packages: Iterable[str]
) -> tuple[Installed, str]:
    """How the project is installed, and by what this is known.

    `names` are its import names, `project_name` its distribution's name ("" if not known).
    """
    distribution = environment.distributions.get(normal_name(project_name)) if project_name else None
    if distribution is not None and distribution.editable:
        if _within(distribution.editable, top):
            return Installed.EDITABLE, f"direct_url.json of {distribution.name} names this checkout"
        return Installed.ELSEWHERE, f"{distribution.name} is an editable install of {distribution.editable}"
    for path in environment.paths:
        if _within(path, top) and not any(_within(path, Path(site)) for site in site_packages):
            return Installed.EDITABLE, f"a .pth file names {path}"
    for site in site_packages:
        for name in names:
            if _is_module(os.path.join(site, name)):
                return Installed.COPIED, f"{printable(os.path.join(site, name))} is a copy of its own"
    if distribution is not None:
        hooks = [site for site in site_packages if _has_editable_hook(site, distribution.name)]
        if hooks:
            return Installed.EDITABLE, f"an import hook of {distribution.name} in {hooks[0]}"
        return Installed.COPIED, f"{distribution.name} {distribution.version} is installed non-editable"
    return Installed.NOT_INSTALLED, "no distribution, path or package of its name"


def _within(path: str, folder: Path) -> bool:
    real, inside = os.path.realpath(path), os.path.realpath(folder)
    return real == inside or real.startswith(inside + "/")


def _is_module(stem: str) -> bool:
    """A package with an __init__, or a single file: a bare folder may be left over, or data."""
    return os.path.isfile(stem + "/__init__.py") or os.path.isfile(stem + ".py")


def _has_editable_hook(site: str, name: str) -> bool:
    wanted = "__editable__"
    return any(entry.name.startswith(wanted) and name in normal_name(entry.name) for entry in _entries(site))

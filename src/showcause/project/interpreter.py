"""An interpreter's facts from the files around it: no interpreter is started."""

from __future__ import annotations

import os
import re
from pathlib import Path

from showcause.project.nouns import Interpreter

__all__ = ["is_shim", "pythons_in", "read_interpreter"]

_LIB = re.compile(r"python(\d+\.\d+)t?$")
_SYSTEM = ("/usr", "/", "/bin", "/usr/bin")


def pythons_in(folder: str | os.PathLike[str]) -> str | None:
    """The interpreter of an environment's folder, or None. Broken links are none."""
    for name in ("bin/python", "bin/python3", "Scripts/python.exe"):
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    return None


def is_shim(path: str) -> bool:
    """Whether a "python" is a script that looks for the real one at each start (pyenv, asdf)."""
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def read_interpreter(path: str, why: str, home: str = "") -> Interpreter:
    """What the files around `path` (absolute, existing) tell. `home` is never a whole mount."""
    hops = _links(path)
    real = hops[-1]
    config = _pyvenv(Path(path).parent.parent)
    base_prefix = _prefix_of(real)
    prefix = str(Path(path).parent.parent) if config is not None else base_prefix
    site = _site_packages(prefix)
    if config is not None and config.get("include-system-site-packages", "").lower() == "true":
        site += [folder for folder in _site_packages(base_prefix) if folder not in site]
    return Interpreter(
        path=path,
        real=real,
        prefix=prefix,
        base_prefix=base_prefix,
        version=_version(config or {}, real, base_prefix),
        site_packages=tuple(site),
        mounts=_mounts(prefix, base_prefix, hops, config or {}, home),
        why=why,
    )


def _links(path: str) -> list[str]:
    """The path and every link target on the way to the real file; folders that are links count too."""
    hops = [path]
    while os.path.islink(path) and len(hops) < 40:
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
        hops.append(path)
    real = os.path.realpath(path)
    return hops if real == path else [*hops, real]


def _pyvenv(prefix: Path) -> dict[str, str] | None:
    try:
        text = (prefix / "pyvenv.cfg").read_text("utf-8", "replace")
    except OSError:
        return None
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _prefix_of(python: str) -> str:
    return os.path.dirname(os.path.dirname(python))


def _libraries(prefix: str) -> list[str]:
    """`lib/pythonX.Y` folders of a prefix, the newest first."""
    found = []
    for lib in ("lib", "lib64"):
        try:
            entries = os.listdir(os.path.join(prefix, lib))
        except OSError:
            continue
        for entry in entries:
            if match := _LIB.match(entry):
                found.append((tuple(map(int, match[1].split("."))), os.path.join(prefix, lib, entry)))
    found.sort(key=lambda pair: (-pair[0][0], -pair[0][1], pair[1]))
    return [folder for _, folder in found]


def _site_packages(prefix: str) -> list[str]:
    seen: dict[str, str] = {}
    for library in _libraries(prefix):
        for name in ("site-packages", "dist-packages"):
            folder = os.path.join(library, name)
            if os.path.isdir(folder):
                seen.setdefault(os.path.realpath(folder), folder)  # lib64 is often a link to lib
    if prefix == "/usr" and os.path.isdir("/usr/lib/python3/dist-packages"):
        seen.setdefault("/usr/lib/python3/dist-packages", "/usr/lib/python3/dist-packages")
    return list(seen.values())


def _version(config: dict[str, str], real: str, base_prefix: str) -> str:
    """From pyvenv.cfg ("version", or "version_info" as virtualenv and uv write it), else from names."""
    told = config.get("version") or config.get("version_info") or ""
    if match := re.match(r"\d+\.\d+(?:\.\d+)?", told):
        return match[0]
    if match := re.search(r"(?:^|-|python)(\d+\.\d+\.\d+)", os.path.basename(base_prefix)):
        return match[1]  # pyenv: versions/3.11.7; uv: cpython-3.12.1-linux-...
    if match := re.search(r"python(\d+\.\d+)t?$", real):
        return match[1]
    libraries = _libraries(base_prefix)
    return match[1] if libraries and (match := _LIB.search(libraries[0])) else ""


def _mounts(
    prefix: str, base_prefix: str, hops: list[str], config: dict[str, str], home: str
) -> tuple[str, ...]:
    """Prefixes that hold a library, and links that lie outside of these.

    A link such as ~/.local/bin/python3.12 is shown alone: its folder's parent is the user's own.
    """
    wanted = [prefix, base_prefix, *(_prefix_of(hop) for hop in hops)]
    if told := config.get("home"):
        wanted.append(os.path.dirname(told))
    wanted = [path for path in dict.fromkeys(wanted) if os.path.isdir(path)]
    guarded = {os.path.realpath(home)} if home else set()
    folders = [
        path
        for path in wanted
        if path not in _SYSTEM
        and os.path.realpath(path) not in guarded
        and (path == prefix or _libraries(path))
    ]
    if os.path.realpath(base_prefix) in guarded:
        folders += _libraries(base_prefix)
    return _outermost([*folders, *hops])


def _outermost(paths: list[str]) -> tuple[str, ...]:
    """The paths, without those below another and those that every sandbox shows anyway."""
    kept: list[str] = []
    for path in sorted(dict.fromkeys(paths), key=len):
        under = any(path == other or path.startswith(other + "/") for other in (*kept, "/usr", "/bin"))
        if not under or path == "/usr":
            kept.append(path)
    return tuple(kept)

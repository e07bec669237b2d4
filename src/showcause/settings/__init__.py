"""Settings: `showcause.toml`, or `[tool.showcause]` of `pyproject.toml`, as base has them.

`table.TABLE` is the one list of what can be set: defaults, checks of files and of the command line, the
file that `init` writes and the documentation all come from it. Where both files hold settings,
`showcause.toml` is used alone and the other is named in `notes`: merging two files key by key would
let a forgotten one change what protects a repository.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

import msgspec

from showcause.errors import UsageError
from showcause.records import ModelSpec, StaticTool
from showcause.records.reviewer import ReviewerSpec
from showcause.settings.nouns import Settings
from showcause.settings.table import TABLE, Kind, Setting, checked
from showcause.settings.user import user_file, with_models, with_user

__all__ = [
    "FILE",
    "PYPROJECT",
    "TABLE",
    "Kind",
    "Setting",
    "Settings",
    "load_settings",
    "override",
    "with_models",
    "with_user_file",
]

FILE = "showcause.toml"
PYPROJECT = "pyproject.toml"


_BY_KEY = {setting.key: setting for setting in TABLE}
_SECTIONS = tuple(dict.fromkeys(setting.key.split(".")[0] for setting in TABLE))
_TOOLS = "static"
_NAMED: dict[str, type[ModelSpec | ReviewerSpec]] = {"models": ModelSpec, "reviewers": ReviewerSpec}
_NOT_SET = ("name", "asks")  # fields that the settings' text does not set


# ------------------------------------------------------------------ from files


def load_settings(showcause_toml: bytes | None, pyproject: bytes | None) -> Settings:
    """Settings from the two files of base, None where a file is absent.

    Raises UsageError for a broken file, an unknown key or a value of the wrong kind, with file and line.
    """
    own = _parse(FILE, showcause_toml) if showcause_toml is not None else None
    other = None
    # a pyproject.toml that does not speak of us is not ours to find fault with
    if pyproject is not None and b"showcause" in pyproject:
        tool = _parse(PYPROJECT, pyproject).get("tool", {})
        other = tool.get("showcause") if isinstance(tool, dict) else None
    if own is not None:
        notes = (
            (f"[tool.showcause] of {PYPROJECT} is not used: there is a {FILE}",) if other is not None else ()
        )
        return _build(_flat(own, _Place(FILE, showcause_toml or b"", "")), FILE, notes)
    if other is not None:
        return _build(_flat(other, _Place(PYPROJECT, pyproject or b"", "tool.showcause.")), PYPROJECT, ())
    return _build({}, "", ())


def with_user_file(settings: Settings) -> Settings:
    """The settings with the user's own over them. Raises UsageError for a broken file."""
    found = user_file()
    if found is None:
        return settings
    path, data = found
    own = _build(_flat(_parse(path, data), _Place(path, data, "")), path, ())
    return with_user(settings, own, path)


def override(settings: Settings, values: Mapping[str, object], *, where: str = "command line") -> Settings:
    """The settings with some keys ("suite.python") replaced. Raises UsageError as for a file."""
    if not values:
        return settings
    flat = _values_of(settings)
    for key, value in values.items():
        if key not in _BY_KEY:
            raise UsageError(f"{where}: {key}: unknown setting{_nearest(key, _BY_KEY)}")
        flat[key] = checked(_BY_KEY[key], value, f"{where}: {key}")
    sources = settings.sources | dict.fromkeys(values, where)
    kept = {"sources": sources, "notes": settings.notes, "trusted": settings.trusted}
    return msgspec.structs.replace(_make(flat), **kept)


def _parse(name: str, data: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{name}:{line}: not UTF-8 text") from error
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+), column \d+\)", str(error))
        line = int(found[1]) if found else data.count(b"\n") + 1
        reason = re.sub(r" \(at .*\)$", "", str(error))
        raise UsageError(f"{name}:{line}: not TOML: {reason}") from error


class _Place:
    """A file's text, to tell on which line a key stands."""

    def __init__(self, name: str, data: bytes, prefix: str) -> None:
        self.name, self.prefix = name, prefix
        self.lines = data.decode().splitlines()

    def of(self, key: str) -> str:
        """`FILE:LINE: [section] key`, with the line of the key, or of the nearest table around it."""
        section, _, rest = key.partition(".")
        shown = f"[{self.prefix}{section}] {rest}" if rest else f"[{self.prefix}{section}]"
        return f"{self.name}:{self._line(self.prefix + key)}: {shown}"

    def _line(self, wanted: str) -> int:
        table, best, best_length = "", 1, 0
        for number, text in enumerate(self.lines, 1):
            if header := re.match(r"\s*\[+\s*([^\]]+?)\s*\]+\s*(?:#.*)?$", text):
                table = name = _bare(header[1])
            elif entry := re.match(r"\s*([\w.\"' -]+?)\s*=", text):
                name = f"{table}.{_bare(entry[1])}".strip(".")
            else:
                continue
            if (wanted + ".").startswith(name + ".") and len(name) > best_length:
                best, best_length = number, len(name)
        return best


def _bare(name: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in name.split("."))


def _flat(document: object, place: _Place) -> dict[str, Any]:
    """section.key -> checked value."""
    if not isinstance(document, dict):
        raise UsageError(f"{place.name}: {place.prefix.strip('.')} must be a table")
    found: dict[str, Any] = {}
    for section, table in document.items():
        if section == _TOOLS:
            found[_TOOLS] = _tools(table, place.of(_TOOLS))
            continue
        if section in _NAMED:
            found[section] = _specs(section, table, place)
            continue
        if section not in _SECTIONS:
            sections = (*_SECTIONS, _TOOLS, *_NAMED)
            raise UsageError(f"{place.of(section)}: unknown section{_nearest(section, sections)}")
        if not isinstance(table, dict):
            raise UsageError(f"{place.of(section)}: must be a table")
        for name, value in table.items():
            key = f"{section}.{name}"
            if key not in _BY_KEY:
                known = [k.partition(".")[2] for k in _BY_KEY if k.startswith(section + ".")]
                raise UsageError(f"{place.of(key)}: unknown key{_nearest(name, known)}")
            found[key] = checked(_BY_KEY[key], value, place.of(key))
    return found


def _tools(entries: object, where: str) -> tuple[StaticTool, ...]:
    """The entries of `[[static]]`; their names differ."""
    try:
        tools = msgspec.convert(entries, tuple[StaticTool, ...])
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}") from error
    titles = [tool.title for tool in tools]
    if twice := [title for title in titles if titles.count(title) > 1]:
        raise UsageError(f"{where}: two tools are called {twice[0]}: give one a name of its own")
    return tools


def _specs(section: str, entries: object, place: _Place) -> tuple[ModelSpec | ReviewerSpec, ...]:
    """The tables `[SECTION.NAME]`."""
    if not isinstance(entries, dict):
        raise UsageError(f"{place.of(section)}: must hold tables, [{section}.NAME]")
    return tuple(_spec(section, name, table, place) for name, table in entries.items())


def _spec(section: str, name: str, table: object, place: _Place) -> ModelSpec | ReviewerSpec:
    where, kind = place.of(f"{section}.{name}"), _NAMED[section]
    if not isinstance(table, dict):
        raise UsageError(f"{where}: must be a table")
    known = [key for key in kind.__struct_fields__ if key not in _NOT_SET]
    if unknown := [key for key in table if key not in known]:
        raise UsageError(f"{where}: unknown key {unknown[0]}{_nearest(unknown[0], known)}")
    try:
        return msgspec.convert({**table, "name": name}, kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}") from error


def _nearest(name: str, known: Mapping[str, object] | tuple[str, ...] | list[str]) -> str:
    import difflib  # for a mistake only

    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f'; did you mean "{near[0]}"?' if near else f"; known: {', '.join(known)}"


def _build(flat: dict[str, Any], source: str, notes: tuple[str, ...]) -> Settings:
    return msgspec.structs.replace(_make(flat), sources=dict.fromkeys(flat, source), notes=notes)


def _make(flat: Mapping[str, Any]) -> Settings:
    nested: dict[str, dict[str, Any]] = {section: {} for section in _SECTIONS}
    for setting in TABLE:
        section, _, name = setting.key.partition(".")
        nested[section][name] = flat.get(setting.key, setting.default)
    return msgspec.convert(nested | {key: flat.get(key, ()) for key in (_TOOLS, *_NAMED)}, Settings)


def _values_of(settings: Settings) -> dict[str, Any]:
    sections = {section: getattr(settings, section) for section in _SECTIONS}
    told = {key: getattr(sections[key.split(".")[0]], key.partition(".")[2]) for key in _BY_KEY}
    return told | {key: getattr(settings, key) for key in (_TOOLS, *_NAMED)}

"""Settings: `showcause.toml`, or `[tool.showcause]` of `pyproject.toml`, as base has them.

TABLE is the one list of what can be set: defaults, checks of files and of the command line, the file
that `init` writes and the documentation all come from it. Where both files hold settings,
`showcause.toml` is used alone and the other is named in `notes`: merging two files key by key would
let a forgotten one change what protects a repository.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from showcause.canon import digest_record
from showcause.errors import UsageError
from showcause.records import Policy, Record, RegressionRule, StaticTool

__all__ = [
    "FILE",
    "PYPROJECT",
    "TABLE",
    "GateSettings",
    "Kind",
    "SandboxSettings",
    "Setting",
    "Settings",
    "StoreSettings",
    "SuiteSettings",
    "load_settings",
    "override",
]

FILE = "showcause.toml"
PYPROJECT = "pyproject.toml"


class Kind(StrEnum):
    """What a value may be, in the words used in messages."""

    TEXT = "text"
    LIST = "a list of texts"
    SECONDS = "a positive number of seconds"
    COUNT = "a positive whole number"
    FLAG = "true or false"
    TEXTS = "a table of texts"


class Setting(Record, frozen=True, kw_only=True):
    """One key. `default` None means: unset, decided where it is used. `choices` empty means any text."""

    key: str
    kind: Kind
    default: str | int | float | bool | tuple[str, ...] | dict[str, str] | None
    what: str
    choices: tuple[str, ...] = ()


def _setting(key: str, kind: Kind, default: Any, what: str, *choices: str) -> Setting:
    return Setting(key=key, kind=kind, default=default, what=what, choices=choices)


TABLE: tuple[Setting, ...] = (
    _setting("gate.policy", Kind.TEXT, "default", "what may decide", "default", "note"),
    _setting(
        "gate.regression",
        Kind.TEXT,
        "corroborated",
        "a regression of a base test may reject together with a failing probe, reject, or inform",
        *RegressionRule,
    ),
    _setting(
        "suite.command",
        Kind.LIST,
        (),
        "a test command of the project's own, run beside the tests found; its exit status is evidence",
    ),
    _setting(
        "suite.python",
        Kind.TEXT,
        "",
        "the project's interpreter: a path in the repository, or a name on PATH",
    ),
    _setting(
        "suite.build",
        Kind.LIST,
        (),
        "command that builds compiled parts, run in each tree's throw-away layer",
    ),
    _setting(
        "suite.time_budget_s",
        Kind.SECONDS,
        None,
        "seconds for the project's own tests; unset: hooks 20, command line 60, CI 300",
    ),
    _setting(
        "suite.official", Kind.TEXT, "", "file of the suite that is the whole oracle, and decides both ways"
    ),
    _setting(
        "suite.runner",
        Kind.TEXT,
        "",
        "test runner; unset: found by what is there",
        "pytest",
        "unittest",
        "django",
    ),
    _setting(
        "suite.test_paths", Kind.LIST, (), "folders or files with tests; unset: the runner's, else everywhere"
    ),
    _setting("suite.env", Kind.TEXTS, {}, "environment variables for the project's tests"),
    _setting("suite.workdir", Kind.TEXT, "", "folder of the repository in which tests are started"),
    _setting(
        "sandbox.network",
        Kind.TEXT,
        "loopback",
        "network of test runs: none, a loopback of their own, or the machine's",
        "none",
        "loopback",
        "host",
    ),
    _setting("sandbox.memory_mb", Kind.COUNT, 4096, "memory of one run, in MB"),
    _setting("sandbox.processes", Kind.COUNT, 512, "processes and threads of one run"),
    _setting("sandbox.upper_mb", Kind.COUNT, 1024, "what one run may write into its tree, in MB"),
    _setting("sandbox.allow_unsandboxed", Kind.FLAG, False, "run code where it cannot be confined"),
    _setting("sandbox.readable", Kind.LIST, (), "further absolute paths that runs may read"),
    _setting("store.url", Kind.TEXT, "", "where receipts are kept; unset: in the repository's git directory"),
)
_BY_KEY = {setting.key: setting for setting in TABLE}
_SECTIONS = tuple(dict.fromkeys(setting.key.split(".")[0] for setting in TABLE))
_TOOLS = "static"


class GateSettings(Record, frozen=True, kw_only=True):
    policy: str
    regression: RegressionRule


class SuiteSettings(Record, frozen=True, kw_only=True):
    command: tuple[str, ...]
    python: str
    build: tuple[str, ...]
    time_budget_s: float | None
    official: str
    runner: str
    test_paths: tuple[str, ...]
    env: dict[str, str]
    workdir: str


class SandboxSettings(Record, frozen=True, kw_only=True):
    network: str
    memory_mb: int
    processes: int
    upper_mb: int
    allow_unsandboxed: bool
    readable: tuple[str, ...]


class StoreSettings(Record, frozen=True, kw_only=True):
    url: str


class Settings(Record, frozen=True, kw_only=True):
    """All settings. `sources`: key -> where it was set, for the keys that are not defaults."""

    gate: GateSettings
    suite: SuiteSettings
    sandbox: SandboxSettings
    store: StoreSettings
    static: tuple[StaticTool, ...] = ()
    sources: dict[str, str] = msgspec.field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def policy(self) -> Policy:
        return Policy(name=self.gate.policy, regression=self.gate.regression)

    @property
    def digest(self) -> str:
        """SHA-256 of the values alone: where they were set does not change it."""
        return digest_record([self.gate, self.suite, self.sandbox, self.store, self.static])


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


def override(settings: Settings, values: Mapping[str, object], *, where: str = "command line") -> Settings:
    """The settings with some keys ("suite.python") replaced. Raises UsageError as for a file."""
    if not values:
        return settings
    flat = _values_of(settings)
    for key, value in values.items():
        if key not in _BY_KEY:
            raise UsageError(f"{where}: {key}: unknown setting{_nearest(key, _BY_KEY)}")
        flat[key] = _checked(_BY_KEY[key], value, f"{where}: {key}")
    sources = settings.sources | dict.fromkeys(values, where)
    return msgspec.structs.replace(_make(flat), sources=sources, notes=settings.notes)


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
    found = {}
    for section, table in document.items():
        if section == _TOOLS:
            found[_TOOLS] = _tools(table, place.of(_TOOLS))
            continue
        if section not in _SECTIONS:
            raise UsageError(f"{place.of(section)}: unknown section{_nearest(section, (*_SECTIONS, _TOOLS))}")
        if not isinstance(table, dict):
            raise UsageError(f"{place.of(section)}: must be a table")
        for name, value in table.items():
            key = f"{section}.{name}"
            if key not in _BY_KEY:
                known = [k.partition(".")[2] for k in _BY_KEY if k.startswith(section + ".")]
                raise UsageError(f"{place.of(key)}: unknown key{_nearest(name, known)}")
            found[key] = _checked(_BY_KEY[key], value, place.of(key))
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


def _nearest(name: str, known: Mapping[str, object] | tuple[str, ...] | list[str]) -> str:
    import difflib  # for a mistake only

    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f'; did you mean "{near[0]}"?' if near else f"; known: {', '.join(known)}"


# ------------------------------------------------------------------ values


def _checked(setting: Setting, value: object, where: str) -> Any:
    """The value as the records hold it. Raises UsageError."""
    if not _fits(setting.kind, value):
        raise UsageError(f"{where}: must be {setting.kind.value}, not {_shown(value)}")
    if setting.choices and value != setting.default and value not in setting.choices:
        raise UsageError(f"{where}: must be one of {', '.join(setting.choices)}, not {_shown(value)}")
    return tuple(value) if isinstance(value, list) else value


def _fits(kind: Kind, value: object) -> bool:
    match kind:
        case Kind.TEXT:
            return isinstance(value, str)
        case Kind.FLAG:
            return isinstance(value, bool)
        case Kind.LIST:
            return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
        case Kind.TEXTS:
            return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())
        case Kind.COUNT:
            return isinstance(value, int) and not isinstance(value, bool) and value > 0
        case Kind.SECONDS:
            return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")


def _shown(value: object) -> str:
    return json.dumps(value, default=str)


def _build(flat: dict[str, Any], source: str, notes: tuple[str, ...]) -> Settings:
    return msgspec.structs.replace(_make(flat), sources=dict.fromkeys(flat, source), notes=notes)


def _make(flat: Mapping[str, Any]) -> Settings:
    nested: dict[str, dict[str, Any]] = {section: {} for section in _SECTIONS}
    for setting in TABLE:
        section, _, name = setting.key.partition(".")
        nested[section][name] = flat.get(setting.key, setting.default)
    return msgspec.convert(nested | {_TOOLS: flat.get(_TOOLS, ())}, Settings)


def _values_of(settings: Settings) -> dict[str, Any]:
    sections = {section: getattr(settings, section) for section in _SECTIONS}
    told = {key: getattr(sections[key.split(".")[0]], key.partition(".")[2]) for key in _BY_KEY}
    return told | {_TOOLS: settings.static}

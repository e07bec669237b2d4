"""The one list of what can be set: key, kind, default, and what it means. Pure."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

from showcause.errors import UsageError
from showcause.records import Record, RegressionRule, WitnessRule

__all__ = ["TABLE", "Kind", "Setting", "checked"]


class Kind(StrEnum):
    """What a value may be, in the words used in messages."""

    TEXT = "text"
    LIST = "a list of texts"
    SECONDS = "a positive number of seconds"
    SHARE = "a share above 0 and at most 1"
    WARMTH = "a number from 0 to 2"
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
    _setting(
        "gate.policy",
        Kind.TEXT,
        "default",
        "what failing probes reject: the agreement of several, or (note) any single one",
        "default",
        "note",
    ),
    _setting(
        "gate.regression",
        Kind.TEXT,
        "corroborated",
        "a regression of a base test may reject together with a failing probe, reject, or inform",
        *RegressionRule,
    ),
    _setting(
        "gate.witness",
        Kind.TEXT,
        "required",
        "what a reviewer's rejection needs: a test that shows it, or the ballot alone",
        *WitnessRule,
    ),
    _setting("gate.probe_share", Kind.SHARE, 0.75, "share of the qualified probes that must fail to reject"),
    _setting("gate.probe_min", Kind.COUNT, 2, "how many probes must have qualified before they may reject"),
    _setting("gate.probe_generators", Kind.COUNT, 1, "from how many writers the failing probes must come"),
    _setting(
        "gate.min_precision",
        Kind.SHARE,
        None,
        "a rule that turned out right less often than this, of 5 or more times, only informs; unset: none",
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
    _setting("review.reviewer", Kind.TEXT, "", "who reviews what the checks leave open: one of [models]"),
    _setting("review.votes", Kind.COUNT, 5, "how often the reviewer is asked"),
    _setting("review.temperature", Kind.WARMTH, 0.8, "how warm the reviewer votes"),
    _setting("review.at_once", Kind.COUNT, 1, "how many votes are asked for at a time"),
    _setting("review.limit_s", Kind.SECONDS, 600, "seconds for all votes and witnesses together"),
    _setting("review.witnesses", Kind.COUNT, 3, "for how many findings a reviewer is asked for a test"),
    _setting("review.budget_tokens", Kind.COUNT, 60000, "size of the packet that a reviewer is given"),
    _setting(
        "review.min_precision",
        Kind.SHARE,
        0.7,
        "lower end of how often its answers to known cases were right, for the power to accept or reject",
    ),
    _setting(
        "review.author_pool", Kind.TEXT, "", "the author's pool, which may not review: provider/account"
    ),
    _setting("probe.models", Kind.LIST, (), "who writes probes: names of [models], none of them the author"),
    _setting("probe.per_model", Kind.COUNT, 4, "how many probes each of them is asked for"),
    _setting("probe.guards", Kind.COUNT, 2, "how many guards of existing behaviour each is asked for"),
    _setting("probe.repairs", Kind.COUNT, 2, "how often a probe that did not qualify may be repaired"),
    _setting("probe.time_budget_s", Kind.SECONDS, 60, "seconds for running all probes"),
    _setting("probe.limit_s", Kind.SECONDS, 300, "seconds for writing all probes"),
    _setting("store.url", Kind.TEXT, "", "where receipts are kept; unset: in the repository's git directory"),
)


def checked(setting: Setting, value: object, where: str) -> Any:
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
            return 0 < _number(value) < float("inf")
        case Kind.SHARE:
            return 0 < _number(value) <= 1
        case Kind.WARMTH:
            return 0 <= _number(value) <= 2


def _number(value: object) -> float:
    """The value, or one that lies in no range."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else float("nan")


def _shown(value: object) -> str:
    return json.dumps(value, default=str)

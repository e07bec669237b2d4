"""Looks at a command line after it was composed, and at what was really spawned. Pure.

Adapters compose strictly; this does not trust them, nor the settings: a flag that gives the reviewer
powers, a flag in the user's part of the command, or a missing restriction is `unsafe_argv`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from showcause.contract.adapters.base import Adapter, Forbidden, has_run
from showcause.records.contract import ReviewerKind, ReviewerSpec

__all__ = ["spawned_as_audited", "unsafe"]

_OPEN = (ReviewerKind.COMMAND, ReviewerKind.ACP)  # the user gives the whole command line
_BAD_ENV = {
    "LD_PRELOAD": "loads foreign code",
    "LD_LIBRARY_PATH": "loads foreign code",
    "NODE_OPTIONS": "loads foreign code",
    "BUN_OPTIONS": "loads foreign code",
    "PYTHONSTARTUP": "loads foreign code",
    "PYTHONPATH": "loads foreign code",
    "BASH_ENV": "runs foreign code",
    "HOME": "the reviewer has a home of its own",
    "GEMINI_SYSTEM_MD": "replaces the system prompt",
    "QWEN_SYSTEM_MD": "replaces the system prompt",
    "IS_SANDBOX": "unlocks flags that skip permissions",
    "CLAUDE_CONFIG_DIR": "brings foreign settings",
    "OPENCODE_CONFIG": "brings foreign settings",
    "OPENCODE_PERMISSION": "gives powers",
    "GEMINI_YOLO": "gives powers",
}


def unsafe(adapter: Adapter, spec: ReviewerSpec, argv: Sequence[str]) -> tuple[str, ...]:
    """What is unsafe in a composed command line; empty: nothing."""
    found = [f"env {name}: {_BAD_ENV[name]}" for name in spec.env if name in _BAD_ENV]
    if adapter.kind not in _OPEN:
        flags = [word for word in spec.command if word.startswith("-")]
        found += [f"{word}: only the adapter gives flags" for word in flags]
    for rule in adapter.forbidden:
        found += [f"{words}: {rule.why}" for words in _uses(rule, argv)]
    for words in adapter.required:
        if not has_run(argv, words):
            found.append(f"{' '.join(words)} is missing")
    return tuple(dict.fromkeys(found))


def _uses(rule: Forbidden, argv: Sequence[str]) -> list[str]:
    found = []
    for at, word in enumerate(argv):
        for flag in rule.flags:
            value = _value(flag, word, argv[at + 1 : at + 2])
            if value is not None and re.search(rule.values, value):
                found.append(f"{flag} {value}".strip() if rule.values else flag)
    return found


def _value(flag: str, word: str, after: Sequence[str]) -> str | None:
    """The value that `word` gives to `flag`, attached or as the next word; None where it is another flag."""
    if word == flag:
        return next(iter(after), "")
    if word.startswith(f"{flag}="):
        return word[len(flag) + 1 :]
    is_short = len(flag) == 2 and not word.startswith("--")
    return word[2:] if is_short and word.startswith(flag) else None


def spawned_as_audited(audited: Sequence[str], spawned: Sequence[str]) -> bool:
    """Whether what was spawned ends in exactly what was audited: confinement stands before it only."""
    return bool(audited) and tuple(spawned[-len(audited) :]) == tuple(audited)

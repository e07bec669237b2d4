"""Which settings a git call sees: the repository's own, less all that could run a program.

The user's and the system's configuration is off, but for the few settings that decide which files
and which bytes belong to a tree; these are read once and passed explicitly.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

__all__ = ["HARMLESS", "LOOK_AT", "lfs_storage", "overrides"]

# Each line switches off something that repository configuration could use to run a program, to write
# outside the private folder, or to change the bytes that git prints.
HARMLESS: tuple[tuple[str, str], ...] = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),  # post-index-change runs on every write of an index
    ("core.sshCommand", "false"),
    ("core.gitProxy", ""),
    ("core.askPass", ""),
    ("core.alternateRefsCommand", ""),
    ("core.editor", "false"),
    ("core.pager", "cat"),
    ("credential.helper", ""),
    ("gpg.program", "false"),
    ("protocol.allow", "never"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("core.splitIndex", "false"),  # true would write a sharedindex into the user's git directory
    ("core.untrackedCache", "false"),
    ("index.skipHash", "false"),
    # A sparse checkout may not hide files: what lies on disk is what a run would see.
    ("core.sparseCheckout", "false"),
    ("index.sparse", "false"),
    ("core.fsync", "none"),
    ("core.quotePath", "true"),
    ("core.safecrlf", "false"),
    ("color.ui", "false"),
    ("submodule.recurse", "false"),
    ("add.ignoreErrors", "false"),
    ("apply.whitespace", "nowarn"),
    ("apply.ignoreWhitespace", "no"),
    ("diff.suppressBlankEmpty", "false"),
)

# Read from every scope: what must be passed on, and the names of all that must be switched off.
LOOK_AT = (
    r"^(safe\.directory|core\.(excludesfile|attributesfile|autocrlf|eol)"
    r"|filter\..*|lfs\.(extension|customtransfer)\..*|lfs\.standalonetransferagent)$"
)
_USERS_OWN = frozenset({"system", "global", "command"})
_LFS = (
    ("filter.lfs.clean", "git-lfs clean -- %f"),
    ("filter.lfs.smudge", "git-lfs smudge -- %f"),
    ("filter.lfs.process", "git-lfs filter-process"),
    ("filter.lfs.required", "true"),
    ("lfs.url", "file:///nonexistent"),  # objects that are here are used, nothing is fetched
)


def overrides(listing: bytes, user_env: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The settings to pass to every call, from `git config --show-scope -z --get-regexp LOOK_AT`.

    `user_env` is the environment that git itself would have seen: it locates the default excludes
    and attributes files.
    """
    found = [(scope, key, value) for scope, key, value in _parse(listing)]
    last = {key: value for _, key, value in found}
    passed = [
        ("safe.directory", value)
        for scope, key, value in found
        if key == "safe.directory" and scope in _USERS_OWN
    ]
    passed += [
        ("core.excludesFile", _user_file(last.get("core.excludesfile"), "ignore", user_env)),
        ("core.attributesFile", _user_file(last.get("core.attributesfile"), "attributes", user_env)),
    ]
    passed += [(key, last[key]) for key in ("core.autocrlf", "core.eol") if key in last]
    return HARMLESS + tuple(passed) + tuple(_filters_off(last))


def lfs_storage(settings: Iterable[tuple[str, str]], folder: str) -> tuple[tuple[str, str], ...]:
    """Where LFS may put new objects, if its filter is on: never into the user's git directory."""
    return (("lfs.storage", folder),) if _LFS[0] in tuple(settings) else ()


def _parse(listing: bytes) -> list[tuple[str, str, str]]:
    fields = os.fsdecode(listing).split("\0")
    found = []
    for scope, item in zip(fields[0::2], fields[1::2], strict=False):
        key, has_value, value = item.partition("\n")
        found.append((scope, key, value if has_value else "true"))
    return found


def _user_file(configured: str | None, default: str, user_env: Mapping[str, str]) -> str:
    if configured is not None:
        return os.path.expanduser(configured)
    home = user_env.get("XDG_CONFIG_HOME") or os.path.join(user_env.get("HOME") or os.devnull, ".config")
    return os.path.join(home, "git", default)


def _filters_off(last: Mapping[str, str]) -> list[tuple[str, str]]:
    """Empty commands for every named filter; LFS keeps its built-in commands, never configured ones."""
    names = {key.rpartition(".")[0] for key in last if key.startswith("filter.")}
    foreign_lfs = any(key.startswith("lfs.") for key in last)  # these would run configured programs
    off: list[tuple[str, str]] = []
    for name in sorted(names):
        if (
            name == "filter.lfs"
            and not foreign_lfs
            and last.get("filter.lfs.clean", "").startswith("git-lfs")
        ):
            off.extend(_LFS)
            continue
        off.extend((f"{name}.{part}", "") for part in ("clean", "smudge", "process"))
        off.append((f"{name}.required", "false"))
    return off

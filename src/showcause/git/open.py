"""Finding a repository: two git processes, one for configuration and one for everything else."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator

from showcause.canon import printable
from showcause.errors import GitFault, UsageError
from showcause.git.call import Repo, base_environment, complaint, spawn
from showcause.git.config import HARMLESS, LOOK_AT, overrides

__all__ = ["open_repo"]

_QUESTIONS = (
    "rev-parse",
    "--is-bare-repository",
    "--is-inside-work-tree",
    "--path-format=absolute",
    "--show-object-format",
    "--absolute-git-dir",
    "--git-common-dir",
    "--git-path",
    "index",
    "--git-path",
    "objects",
    "--show-toplevel",
    "HEAD^{commit}",
    "HEAD^{tree}",
    "--symbolic-full-name",
    "HEAD",
)
_ANSWERS = 11
_TO_TOP = 8  # answers up to and including the top of the work tree


def open_repo(
    path: str | os.PathLike[str], *, private: str | None = None, cancel: threading.Event | None = None
) -> Repo:
    """The repository whose work tree holds `path`.

    `private` is the folder for all that showcause writes; left out, it is `showcause` in the common
    git directory, or a folder of the user's cache where that cannot be written. `cancel` ends this call
    and every later one on the repository with Cancelled.

    Raises UsageError (no such folder, not a repository, bare, inside a git directory, no commits) and
    GitFault (git missing or too old, ownership refused, a folder name that git cannot tell).
    """
    start = os.path.abspath(os.fspath(path))
    if not os.path.isdir(start):
        raise UsageError(f"{printable(start)} is not a folder")
    settings = _settings(start, cancel)
    asked = spawn(_QUESTIONS, cwd=start, env=base_environment(settings), cancel=cancel)
    answers = os.fsdecode(asked.stdout.kept).split("\n")[:-1]
    _refuse(start, answers, asked.exit_status or 0, asked.stderr.kept)
    git_format, git_dir, common, index, objects, top, commit, tree, branch = answers[2:]
    place = _private_folder(common, private)
    return Repo(
        top=top,
        git_dir=git_dir,
        common_dir=common,
        index=_own_index(git_dir) or index,
        objects=objects,
        object_format=git_format,
        head_commit=commit,
        head_tree=tree,
        branch=branch,
        private=place,
        settings=settings,
        cancel=cancel,
    )


def _own_index(git_dir: str) -> str:
    """The index of the commit under way, inside a hook: `git commit -a` and `git commit PATH` make another.

    Taken only where it lies in this very git directory; all other GIT_* variables are not looked at.
    """
    told = os.environ.get("GIT_INDEX_FILE", "")
    path = os.path.abspath(told) if told else ""
    is_ours = os.path.realpath(os.path.dirname(path)) == os.path.realpath(git_dir)
    return path if path and is_ours and os.path.isfile(path) else ""


def _settings(start: str, cancel: threading.Event | None) -> tuple[tuple[str, str], ...]:
    """The user's own view of the configuration, asked with the user's own locations of it."""
    env = base_environment(HARMLESS)
    for name in ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL"):
        del env[name]
    kept = ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
    env |= {name: os.environ[name] for name in kept if name in os.environ}
    listing = ("config", "--show-scope", "-z", "--get-regexp", LOOK_AT)
    asked = spawn(listing, cwd=start, env=env, cancel=cancel)
    if asked.exit_status not in (0, 1):  # 1: nothing matched
        raise GitFault(f"git config: {complaint(asked.stderr.kept)}")
    return overrides(asked.stdout.kept, env)


def _refuse(start: str, answers: list[str], exit_status: int, stderr: bytes) -> None:
    where, reason = printable(start), complaint(stderr)
    if "--path-format=absolute" in answers:
        raise GitFault("this git is too old", cure="install git 2.31 or later")
    if "not a git repository" in reason:
        raise UsageError(f"{where} is not in a git repository")
    if "dubious ownership" in reason:
        raise GitFault(f"git refuses {where}: it belongs to another user", cure=_ownership_cure(start))
    if answers[:1] == ["true"]:
        raise UsageError(f"{where} is a bare repository: there is no work tree to review")
    if answers[1:2] == ["false"]:
        raise UsageError(f"{where} is inside a git directory, not in a work tree")
    if exit_status != 0 and len(answers) >= _TO_TOP and "HEAD" in reason:
        raise UsageError(f"the repository at {where} has no commits yet")
    if exit_status != 0:
        raise GitFault(f"git rev-parse: {reason}")
    if len(answers) != _ANSWERS:
        raise GitFault(f"the path of the repository at {where} holds a line break")


def _ownership_cure(start: str) -> str:
    return f"git config --global --add safe.directory {printable(start)}"


def _private_folder(common: str, private: str | None) -> str:
    """Make the folder. git takes an object directory that is absent for a broken repository."""
    for place in [private] if private else _private_folders(common):
        try:
            for name in ("objects", "empty"):
                os.makedirs(os.path.join(place, name), exist_ok=True)
        except OSError as error:
            reason = f"{printable(place)}: {error.strerror}"
            continue
        if os.access(place, os.W_OK):
            return place
        reason = f"{printable(place)}: not writable"
    raise GitFault(f"no folder for private objects: {reason}")


def _private_folders(common: str) -> Iterator[str]:
    yield os.path.join(common, "showcause")
    yield _in_cache(common)


def _in_cache(common: str) -> str:
    import platformdirs

    name = hashlib.sha256(os.fsencode(common)).hexdigest()[:16]
    return os.path.join(platformdirs.user_cache_dir("showcause"), "repositories", name)

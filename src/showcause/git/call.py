"""One git process: its environment, its end, and its words when it fails."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from tempfile import mkdtemp

from showcause import process
from showcause.canon import printable
from showcause.clock import Deadline
from showcause.errors import Cancelled, GitFault
from showcause.records import Record

__all__ = ["Repo", "base_environment", "call", "complaint", "finish", "scratch", "spawn"]

LIMIT_S = 300.0


class Repo(Record, frozen=True, kw_only=True):
    """A repository as found: absolute paths, HEAD, and the settings of every call.

    `private` holds all that showcause writes; `objects` is the user's object directory, only read.
    `branch` is the full name of the checked-out branch, "HEAD" when detached. `cancel` ends any call.
    """

    top: str
    git_dir: str
    common_dir: str
    index: str
    objects: str
    object_format: str
    head_commit: str
    head_tree: str
    branch: str
    private: str
    settings: tuple[tuple[str, str], ...]
    deadline: Deadline | None = None
    cancel: threading.Event | None = None

    @property
    def private_objects(self) -> str:
        return os.path.join(self.private, "objects")

    @property
    def nowhere(self) -> str:
        """An empty work tree: calls on trees run here, so that no .gitattributes file is read."""
        return os.path.join(self.private, "empty")


@cache
def git_program() -> str:
    """The absolute path of git. Raises GitFault if there is none."""
    found = shutil.which("git", path=_search_path())
    if found is None:
        raise GitFault("git is not installed", cure="install git 2.31 or later")
    return found


def _search_path() -> str:
    # A relative entry would let the repository bring its own `git`.
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(entry for entry in entries if os.path.isabs(entry))


def base_environment(settings: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """What every call sees. HOME stays: a `~` in the repository's own configuration is fatal without."""
    env = {
        "PATH": _search_path(),
        "HOME": os.environ.get("HOME", "/"),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ALLOW_PROTOCOL": "none",  # a partial clone may not fetch behind our back
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_LFS_SKIP_DOWNLOAD_ERRORS": "1",
        "GIT_CONFIG_COUNT": str(len(settings)),
    }
    for number, (key, value) in enumerate(settings):
        env[f"GIT_CONFIG_KEY_{number}"] = key
        env[f"GIT_CONFIG_VALUE_{number}"] = value
    return env


def spawn(  # the one line that starts git
    arguments: tuple[str, ...],
    *,
    cwd: str,
    env: Mapping[str, str],
    stdin: bytes = b"",
    deadline: Deadline | None = None,
    cancel: threading.Event | None = None,
) -> process.Finished:
    """Run git to its end. Raises GitFault if it could not start or did not end by itself, and Cancelled."""
    finished = process.run(
        process.Command(
            argv=(git_program(), *arguments),
            cwd=cwd,
            env=dict(env),
            stdin=stdin,
            limit_s=LIMIT_S,
            keep_bytes=None,
            reap=process.Reap.GROUP,
        ),
        deadline=deadline,
        cancel=cancel,
    )
    if finished.how is process.How.CANCELLED:
        raise Cancelled("interrupted")
    if finished.how is not process.How.EXITED:
        raise GitFault(f"git {arguments[0]}: {finished.how.value} {finished.why}".rstrip())
    return finished


def finish(
    repo: Repo,
    *arguments: str,
    stdin: bytes = b"",
    index: str | None = None,
    work_tree: str | None = None,
    settings: tuple[tuple[str, str], ...] = (),
) -> process.Finished:
    """Run git on `repo` and return how it ended, whatever its exit status.

    Without `index` and `work_tree` the call sees an absent index and an empty work tree.
    """
    place = work_tree or repo.nowhere
    env = base_environment(repo.settings + settings)
    env["GIT_DIR"] = repo.git_dir
    env["GIT_WORK_TREE"] = place
    env["GIT_INDEX_FILE"] = index or os.path.join(repo.private, "no-index")
    env["GIT_OBJECT_DIRECTORY"] = repo.private_objects
    env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = _quoted(repo.objects)
    return spawn(arguments, cwd=place, env=env, stdin=stdin, deadline=repo.deadline, cancel=repo.cancel)


def call(
    repo: Repo,
    *arguments: str,
    stdin: bytes = b"",
    index: str | None = None,
    work_tree: str | None = None,
) -> bytes:
    """Like `finish`, but returns the standard output. Raises GitFault on a non-zero exit status."""
    finished = finish(repo, *arguments, stdin=stdin, index=index, work_tree=work_tree)
    if finished.exit_status != 0:
        raise GitFault(f"git {arguments[0]}: {complaint(finished.stderr.kept)}")
    return finished.stdout.kept


def complaint(stderr: bytes) -> str:
    """What git said went wrong, as one line for people: its `error:` and `fatal:` lines, else the last."""
    lines = [line.strip() for line in printable(os.fsdecode(stderr)).splitlines() if line.strip()]
    loud = [line.partition(": ")[2] for line in lines if line.startswith(("error: ", "fatal: "))]
    text = "; ".join(loud or lines[-1:]) or "no reason given"
    return text if len(text) <= 500 else text[:500] + " ..."


@contextmanager
def scratch(repo: Repo) -> Iterator[str]:
    """The path of a private index that does not exist yet; gone afterwards unless moved away."""
    folder = mkdtemp(prefix="work-", dir=repo.private)
    try:
        yield os.path.join(folder, "index")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _quoted(path: str) -> str:
    """A path for a list of object directories: git reads a quoted one as C text."""
    if not any(special in path for special in ':"\n'):
        return path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'

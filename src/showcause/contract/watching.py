"""The state of a repository in one digest: equal as long as nobody wrote to it (law 13)."""

from __future__ import annotations

import os
from collections.abc import Iterator

from showcause import git
from showcause.canon import digest, digest_record
from showcause.git import Repo

__all__ = ["state_of"]

_FILES = ("HEAD", "config", "packed-refs", "info/exclude", "info/attributes", "shallow")
_FOLDERS = ("refs", "hooks", "worktrees")


def state_of(repo: Repo) -> str:
    """A digest over work tree (what is ignored aside), index, HEAD, refs, configuration and hooks.

    Raises GitFault if a file cannot be read.
    """
    tree = git.snapshot(repo, "attempt").tree
    files = [(path, _content(path)) for path in _paths(repo)]
    return digest_record([tree, _content(repo.index), files])


def _paths(repo: Repo) -> Iterator[str]:
    yield os.path.join(repo.git_dir, "HEAD")
    for name in _FILES:
        yield os.path.join(repo.common_dir, name)
    for name in _FOLDERS:
        for place, folders, names in os.walk(os.path.join(repo.common_dir, name)):
            folders.sort()
            yield from (os.path.join(place, one) for one in sorted(names))


def _content(path: str) -> str:
    """The digest of a file; "" where there is none."""
    try:
        with open(path, "rb") as file:
            return digest(file.read())
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return ""

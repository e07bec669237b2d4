"""Submodules and nested repositories: what they stand at, and whether that is all they hold.

git itself would start another git inside each of them, with that repository's own filters. So they
are kept out of `git add`, and asked here with the same protection as the repository itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from showcause.errors import EnvironmentFault, UsageError
from showcause.git.call import Repo, finish
from showcause.git.open import open_repo
from showcause.records import NotChecked, Record

__all__ = ["Links", "look_at_links"]


class Links(Record, frozen=True, kw_only=True):
    """`left_out`: paths with a repository of their own. `moved`: submodules at another commit."""

    left_out: tuple[str, ...]
    moved: dict[str, str]
    not_checked: tuple[NotChecked, ...]


def look_at_links(repo: Repo, links: Mapping[str, str], nested: tuple[str, ...]) -> Links:
    """Look at every submodule (`links`: path -> recorded commit) and known nested repository.

    Those that are not checked out are left to git: it takes an empty folder for unchanged.
    """
    present = [path for path in (*links, *nested) if os.path.lexists(os.path.join(repo.top, path, ".git"))]
    moved: dict[str, str] = {}
    notes = []
    for path in present:
        if path not in links:
            continue
        commit, why = _state(repo, path)
        if commit and commit != links[path]:
            moved[path] = commit
        if why:
            notes.append(NotChecked(what=path, why=why, caps=True))
    return Links(left_out=tuple(present), moved=moved, not_checked=tuple(notes))


def _state(repo: Repo, path: str) -> tuple[str, str]:
    """(checked-out commit or "", what is wrong or "")."""
    where = os.path.join(repo.top, path)
    try:
        inner = open_repo(where, private=os.path.join(repo.private, "inner"), cancel=repo.cancel)
    except (UsageError, EnvironmentFault) as error:
        return "", f"submodule that cannot be read: {error}"
    if os.path.realpath(inner.top) != os.path.realpath(where):
        return "", "submodule whose repository lies elsewhere"
    options = ("--porcelain=v1", "-z", "--ignore-submodules=dirty", "--untracked-files=normal")
    status = finish(inner, "status", *options, index=inner.index, work_tree=inner.top)
    if status.exit_status != 0 or status.stdout.kept:
        return inner.head_commit, "submodule with changes of its own that no commit holds"
    return inner.head_commit, ""

"""Trees from outside: a diff that was handed in, and a checkout that may have moved."""

from __future__ import annotations

from showcause import git
from showcause.errors import Unappliable
from showcause.git import Repo
from showcause.patch import normalise, raw_changes
from showcause.records import NotChecked, Record

__all__ = ["Applied", "apply_diff", "moved"]


class Applied(Record, frozen=True, kw_only=True):
    """The tree that a handed-in diff makes, what was repaired for it, and what it left out."""

    tree: str
    repairs: tuple[str, ...]
    not_checked: tuple[NotChecked, ...]


def apply_diff(repo: Repo, base_tree: str, data: bytes) -> Applied:
    """Apply `data` to `base_tree`, with wrong line counts of hunks ignored only if it fails otherwise.

    Raises Unappliable with git's reason of the first try.
    """
    diff = normalise(data)
    repairs = diff.repairs
    try:
        tree = git.tree_of_diff(repo, base_tree, diff.data)
    except Unappliable as first:
        try:
            tree = git.tree_of_diff(repo, base_tree, diff.data, recount=True)
        except Unappliable:
            raise first from None
        repairs += ("wrong line counts of hunks recounted",)
    return Applied(tree=tree, repairs=repairs, not_checked=diff.not_checked)


def moved(repo: Repo, before: str, *, name: str = "worktree") -> tuple[str, ...]:
    """The paths at which the work tree is no longer the tree `before`; empty if it did not move."""
    now = git.snapshot(repo, name).tree
    return tuple(change.path for change in raw_changes(git.diff_raw(repo, before, now)))

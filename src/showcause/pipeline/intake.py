"""From a request to two trees and the patch between them."""

from __future__ import annotations

from showcause import git
from showcause.errors import UsageError
from showcause.git import Repo, Revision
from showcause.patch import parse
from showcause.pipeline.request import Request
from showcause.records import NotChecked, Patch, Record
from showcause.trees import apply_diff

__all__ = ["Intake", "base_of", "take_in"]

WORKTREE = "worktree"
"""Name of the private index that is kept between snapshots of the work tree."""


class Intake(Record, frozen=True, kw_only=True):
    """What is under review. `worktree` is the snapshot of the checkout, whatever is reviewed.

    `notes` tell the user how base was chosen and what was repaired.
    """

    base: Revision
    worktree: str
    patch: Patch
    not_checked: tuple[NotChecked, ...]
    notes: tuple[str, ...]


def base_of(repo: Repo, request: Request) -> Revision:
    """The tree that the patch starts from. Raises UsageError on a contradiction or an unknown revision."""
    given = [
        name
        for name, there in (
            ("--head", request.head),
            ("--staged", request.staged),
            ("--commit", request.commit),
            ("--diff", request.diff is not None),
        )
        if there
    ]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} exclude each other")
    if request.commit:
        if request.base:
            raise UsageError("--commit is compared with its parent: --base makes no sense with it")
        return git.commit_and_parent(repo, request.commit)[0]
    if request.head:
        base, head = git.resolve(repo, request.base or "HEAD", request.head)
        return git.merge_base(repo, base, head.commit)
    if request.base:
        (base,) = git.resolve(repo, request.base)
        # A diff goes onto exactly the base it was made for; commits of our own left base somewhere.
        return base if request.diff is not None else git.merge_base(repo, base, repo.head_commit)
    if request.staged or request.diff is not None:
        return git.resolve(repo, "HEAD")[0]
    return git.default_base(repo)


def take_in(repo: Repo, request: Request, base: Revision) -> Intake:
    """Snapshot the checkout, make head, and the patch. Raises Unappliable, UsageError, GitFault."""
    here = git.snapshot(repo, WORKTREE)
    head, notes, not_checked = _head(repo, request, base, here)
    patch = parse(git.diff(repo, base.tree, head), base_tree=base.tree, head_tree=head)
    return Intake(
        base=base,
        worktree=here.tree,
        patch=patch,
        not_checked=not_checked,
        notes=(f"base: {base.name}", *notes),
    )


def _head(
    repo: Repo, request: Request, base: Revision, here: git.Snapshot
) -> tuple[str, tuple[str, ...], tuple[NotChecked, ...]]:
    if request.diff is not None:
        applied = apply_diff(repo, base.tree, request.diff)
        return applied.tree, applied.repairs, applied.not_checked
    if request.commit:
        return git.resolve(repo, request.commit)[0].tree, (), ()
    if request.head:
        return git.resolve(repo, request.head)[0].tree, (), ()
    if request.staged:
        return git.staged(repo), (), ()
    return here.tree, (), here.not_checked

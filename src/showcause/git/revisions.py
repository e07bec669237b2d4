"""From what people type to commits and trees."""

from __future__ import annotations

import os

from showcause.canon import printable
from showcause.errors import GitFault, UsageError
from showcause.git.call import Repo, call, finish
from showcause.records import Record

__all__ = ["Revision", "commit_and_parent", "default_base", "empty_tree", "merge_base", "resolve"]

_EMPTY = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
# In the order of asking; the first that exists is the default branch.
_DEFAULTS = (
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
)


class Revision(Record, frozen=True, kw_only=True):
    """A tree and where it came from. `commit` is empty when a bare tree id was given."""

    name: str
    commit: str
    tree: str


def empty_tree(repo: Repo) -> str:
    """The id of the tree without files."""
    return _EMPTY[repo.object_format]


def resolve(repo: Repo, *names: str) -> tuple[Revision, ...]:
    """One revision per name, in one process. Trees are taken as well as commits.

    Raises UsageError naming the first one that is neither.
    """
    found = _look_up(repo, [f"{name}^{{{kind}}}" for name in names for kind in ("commit", "tree")])
    revisions = []
    for name, commit, tree in zip(names, found[0::2], found[1::2], strict=True):
        if not tree:
            raise UsageError(f"unknown revision {printable(name)!r}")
        revisions.append(Revision(name=name, commit=commit, tree=tree))
    return tuple(revisions)


def commit_and_parent(repo: Repo, name: str) -> tuple[Revision, Revision]:
    """(first parent, commit) of one commit; the parent of a root commit is the empty tree.

    Raises UsageError for an unknown commit, GitFault where a shallow clone ends.
    """
    parent_name = f"{name}^1"
    asked = [f"{name}^{{commit}}", f"{name}^{{tree}}", f"{parent_name}^{{commit}}", f"{parent_name}^{{tree}}"]
    commit, tree, parent, parent_tree = _look_up(repo, asked)
    if not commit:
        raise UsageError(f"unknown commit {printable(name)!r}")
    if not parent and commit in _shallow_ends(repo):
        raise GitFault(f"the parent of {commit[:12]} is not in this clone", cure="git fetch --deepen=1")
    before = Revision(name=parent_name, commit=parent, tree=parent_tree or empty_tree(repo))
    return before, Revision(name=name, commit=commit, tree=tree)


def default_base(repo: Repo) -> Revision:
    """The merge base of HEAD with the default branch, or HEAD on that branch or where there is none.

    Raises UsageError if the two share no history.
    """
    head = Revision(name="HEAD", commit=repo.head_commit, tree=repo.head_tree)
    default = _default_branch(repo)
    if default is None:
        return head
    name, commit = default
    if repo.branch == f"refs/heads/{name.removeprefix('origin/')}" or commit == repo.head_commit:
        return head
    found = finish(repo, "merge-base", repo.head_commit, commit)
    if found.exit_status != 0:
        raise UsageError(f"HEAD and {name} share no history here: give --base (or deepen the clone)")
    merge_base = found.stdout.kept.decode().split("\n")[0]
    if merge_base == repo.head_commit:
        return head
    (base,) = resolve(repo, merge_base)
    return Revision(name=f"merge base with {name}", commit=base.commit, tree=base.tree)


def merge_base(repo: Repo, base: Revision, head_commit: str) -> Revision:
    """Where `head_commit` left `base`: `base` itself if that is an ancestor, or a bare tree.

    Raises UsageError if the two share no history.
    """
    if not base.commit or not head_commit or base.commit == head_commit:
        return base
    found = finish(repo, "merge-base", base.commit, head_commit)
    if found.exit_status != 0:
        raise UsageError(f"{base.name} and {head_commit[:12]} share no history here (or deepen the clone)")
    commit = found.stdout.kept.decode().split("\n")[0]
    if commit == base.commit:
        return base
    (split,) = resolve(repo, commit)
    return Revision(name=f"merge base with {base.name}", commit=split.commit, tree=split.tree)


def _default_branch(repo: Repo) -> tuple[str, str] | None:
    """(short name such as origin/main, commit id)."""
    form = "--format=%(refname) %(objectname) %(symref)"
    lines = call(repo, "for-each-ref", form, *_DEFAULTS).decode("utf-8", "surrogateescape").splitlines()
    known = {line.split(" ")[0]: line.split(" ") for line in lines}
    for name in _DEFAULTS:
        if name in known:
            full = known[name][2] or name
            return full.removeprefix("refs/remotes/").removeprefix("refs/heads/"), known[name][1]
    return None


def _look_up(repo: Repo, names: list[str]) -> list[str]:
    """Object ids, "" for what is unknown. Standard input keeps a leading dash from being an option."""
    for name in names:
        if "\n" in name or "\0" in name:
            raise UsageError(f"unknown revision {printable(name)!r}")
    told = call(repo, "cat-file", "--batch-check=%(objectname)", stdin=os.fsencode("\n".join(names) + "\n"))
    lines = told.decode("utf-8", "surrogateescape").splitlines()
    return [line if line.isalnum() else "" for line in lines]


def _shallow_ends(repo: Repo) -> frozenset[str]:
    try:
        with open(os.path.join(repo.common_dir, "shallow"), encoding="ascii") as file:
            return frozenset(file.read().split())
    except FileNotFoundError:
        return frozenset()

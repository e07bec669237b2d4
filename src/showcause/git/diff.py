"""From two trees to a patch, and from a patch to a tree."""

from __future__ import annotations

from showcause.errors import Unappliable
from showcause.git.call import Repo, call, complaint, finish, scratch

__all__ = ["diff", "diff_raw", "tree_of_diff"]

_STABLE = ("diff-tree", "-r", "-z", "--full-index", "--ignore-submodules=none")
_PATCH = (
    "--raw",
    "--numstat",
    "-p",
    "--no-ext-diff",
    "--no-textconv",
    "--text",
    "--binary",
    "--no-color",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "-M",
    "-C",
    "-l1000",
    "-U3",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--submodule=short",
)


def diff(repo: Repo, base: str, head: str) -> bytes:
    """What `showcause.patch.parse` reads: raw records, numstat records, an empty record, the patch.

    git allows all three in one call under `-z`; only the names in the patch text itself stay quoted.
    """
    return b"" if base == head else call(repo, *_STABLE, *_PATCH, base, head)


def diff_raw(repo: Repo, old: str, new: str) -> bytes:
    """Raw records alone, every path on its own (no renames)."""
    return b"" if old == new else call(repo, *_STABLE, "--raw", "--no-renames", old, new)


def tree_of_diff(repo: Repo, base: str, data: bytes, *, recount: bool = False) -> str:
    """The tree that a handed-in diff makes of `base`; nothing but white space leaves it as it is.

    `recount` makes git ignore wrong line counts of hunks. Raises Unappliable with git's reason.
    """
    if not data.strip():
        return base
    options = ("--cached", "--whitespace=nowarn", *(["--recount"] if recount else []), "-")
    with scratch(repo) as index:
        call(repo, "read-tree", base, index=index)
        applied = finish(repo, "apply", *options, stdin=data, index=index)
        if applied.exit_status != 0:
            raise Unappliable(complaint(applied.stderr.kept))
        return call(repo, "write-tree", index=index).decode().strip()

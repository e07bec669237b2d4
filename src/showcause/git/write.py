"""Putting files of trees on disk, through git's own checkout conversion."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from showcause.git.call import Repo, call, scratch
from showcause.records import Record

__all__ = ["Entry", "index_lines", "write_files", "write_tree_files"]


class Entry(Record, frozen=True, kw_only=True):
    """What a path holds in a tree: git's octal mode as text and an object id."""

    mode: str
    oid: str


def index_lines(entries: Mapping[str, Entry | None], zero: str) -> bytes:
    """Input of `update-index -z --index-info`; None removes. `zero` is an id of the right length."""
    lines = []
    for path, entry in entries.items():
        what = f"{entry.mode} {entry.oid}" if entry else f"0 {zero}"
        lines.append(what.encode() + b"\t" + os.fsencode(path) + b"\0")
    return b"".join(lines)


def write_files(repo: Repo, folder: str, known: Mapping[str, Entry], wanted: Collection[str]) -> None:
    """Write `wanted` (keys of `known`) below `folder`, which holds none of them yet.

    Attributes are those among `known` and in `folder`, never the user's checkout: a side of a review
    is written with its own `.gitattributes`.
    """
    if not wanted:
        return
    names = b"".join(os.fsencode(path) + b"\0" for path in sorted(wanted))
    with scratch(repo) as index:
        lines = index_lines(known, "")
        call(repo, "update-index", "-z", "--index-info", stdin=lines, index=index, work_tree=folder)
        call(repo, "checkout-index", "-f", "-z", "--stdin", stdin=names, index=index, work_tree=folder)


def write_tree_files(repo: Repo, folder: str, tree: str, changes: Mapping[str, Entry | None]) -> None:
    """Write all of `tree`, with `changes` applied, below the empty `folder`."""
    with scratch(repo) as index:
        call(repo, "read-tree", tree, index=index)
        if changes:
            lines = index_lines(changes, "0" * len(tree))
            call(repo, "update-index", "-z", "--index-info", stdin=lines, index=index, work_tree=folder)
        call(repo, "checkout-index", "-f", "-a", index=index, work_tree=folder)

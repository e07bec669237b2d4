"""What trees hold: files, contents, words. One process per question."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from showcause.errors import GitFault
from showcause.git.call import Repo, call, complaint, finish
from showcause.records import Record

__all__ = ["TreeFile", "blobs", "files", "grep", "ignored", "regular_files"]

_REGULAR = ("100644 blob ", "100755 blob ")


class TreeFile(Record, frozen=True, kw_only=True):
    """One entry of a tree. `size` is in bytes, None unless asked for (and for gitlinks)."""

    path: str
    mode: str
    oid: str
    size: int | None = None


def files(
    repo: Repo, tree: str, paths: Iterable[str] = (), *, recursive: bool = True, sizes: bool = False
) -> tuple[TreeFile, ...]:
    """The entries of `tree`, or those at or (ending in a slash) directly below `paths`, in git's order."""
    wanted = tuple(paths)
    options = ["-z", "--full-tree", *(["-r"] if recursive else []), *(["-l"] if sizes else [])]
    listing = call(repo, "ls-tree", *options, tree, "--", *wanted)
    return tuple(_entry(line) for line in listing.split(b"\0")[:-1])


def _entry(line: bytes) -> TreeFile:
    meta, _, path = line.partition(b"\t")
    mode, _, oid, *size = meta.decode().split()
    known = int(size[0]) if size and size[0] != "-" else None
    return TreeFile(path=os.fsdecode(path), mode=mode, oid=oid, size=known)


def regular_files(repo: Repo, tree: str) -> dict[str, str]:
    """Path -> object id of every regular file of `tree`, in git's order: no records, for trees of 60,000."""
    listing = os.fsdecode(call(repo, "ls-tree", "-r", "-z", "--full-tree", tree)).split("\0")
    start = len(_REGULAR[0])
    entries = (line.split("\t", 1) for line in listing if line.startswith(_REGULAR))
    return {path: meta[start:] for meta, path in entries}


def blobs(repo: Repo, oids: Collection[str]) -> dict[str, bytes]:
    """The contents of `oids`, in one process. Raises GitFault if one is missing."""
    wanted = sorted(set(oids))
    if not wanted:
        return {}
    data = call(repo, "cat-file", "--batch", stdin="".join(f"{oid}\n" for oid in wanted).encode())
    contents: dict[str, bytes] = {}
    at = 0
    for oid in wanted:
        end = data.index(b"\n", at)
        header = data[at:end].split()
        if len(header) != 3:
            raise GitFault(f"object {oid} is missing")
        size = int(header[2])
        contents[oid] = data[end + 1 : end + 1 + size]
        at = end + size + 2
    return contents


def grep(
    repo: Repo, tree: str, words: Collection[str], *, whole_words: bool = False, only: str = ""
) -> tuple[str, ...]:
    """The paths in `tree` whose content holds at least one of `words`, as fixed strings.

    `only` is a pathspec that the paths must match.
    """
    patterns = "".join(f"{word}\n" for word in sorted(words) if word)
    if not patterns:
        return ()
    options = ["-lzF", "--no-color", "--no-textconv", "--no-recurse-submodules", "--full-name", "-f", "-"]
    options += ["-w"] if whole_words else []
    finished = finish(
        repo, "grep", *options, tree, *(("--", only) if only else ()), stdin=os.fsencode(patterns)
    )
    if finished.exit_status == 1:  # nothing found; trouble is 128
        return ()
    if finished.exit_status != 0:
        raise GitFault(f"git grep: {complaint(finished.stderr.kept)}")
    prefix = len(tree) + 1
    return tuple(os.fsdecode(name[prefix:]) for name in finished.stdout.kept.split(b"\0")[:-1])


def ignored(repo: Repo, index: str) -> tuple[str, ...]:
    """What git ignores in the work tree, whole directories as one path (without the last slash).

    `index` says what is tracked. Nested repositories are among the directories.
    """
    options = ("-z", "--others", "--ignored", "--exclude-standard", "--directory")
    listing = call(repo, "ls-files", *options, index=index, work_tree=repo.top)
    return tuple(os.fsdecode(name).rstrip("/") for name in listing.split(b"\0")[:-1])

"""The base tree as selection and project detection read it: from git, never from disk."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from showcause import git
from showcause.git import Repo

__all__ = ["TreeReader"]


class TreeReader:
    """One tree of a repository; the listing is asked for once, and so is each file's content."""

    def __init__(self, repo: Repo, tree: str) -> None:
        self._repo = repo
        self._tree = tree
        self._contents: dict[str, bytes] = {}

    @cached_property
    def _oids(self) -> dict[str, str]:
        return git.regular_files(self._repo, self._tree)

    def paths(self) -> Sequence[str]:
        """Every path of a regular file in the tree."""
        return tuple(self._oids)

    def read(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        """The content of those paths that the tree has, in one batch."""
        oids = {path: self._oids[path] for path in paths if path in self._oids}
        self._contents |= git.blobs(self._repo, set(oids.values()) - self._contents.keys())
        return {path: self._contents[oid] for path, oid in oids.items()}

    def grep(self, words: Sequence[str]) -> Collection[str]:
        """The paths of Python files in which any of the words occurs as a whole word."""
        return git.grep(self._repo, self._tree, words, whole_words=True, only="*.py")

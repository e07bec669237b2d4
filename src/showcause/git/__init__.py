"""The only place that says git: a hardened caller, and the few questions showcause asks a repository.

Nothing here writes to the user's repository. New objects and private indexes go to `Repo.private`
(`<common git directory>/showcause` unless another folder is given); configuration and attributes of
the repository cannot make any of these calls run a program.
"""

from showcause.git.call import Repo
from showcause.git.diff import diff, diff_raw, tree_of_diff
from showcause.git.make import make_repository
from showcause.git.open import open_repo
from showcause.git.read import TreeFile, blobs, files, grep, ignored, regular_files
from showcause.git.revisions import Revision, commit_and_parent, default_base, empty_tree, merge_base, resolve
from showcause.git.snapshot import Snapshot, snapshot, staged
from showcause.git.store import store_files
from showcause.git.write import Entry, write_files, write_tree_files

__all__ = [
    "Entry",
    "Repo",
    "Revision",
    "Snapshot",
    "TreeFile",
    "blobs",
    "commit_and_parent",
    "default_base",
    "diff",
    "diff_raw",
    "empty_tree",
    "files",
    "grep",
    "ignored",
    "make_repository",
    "merge_base",
    "open_repo",
    "regular_files",
    "resolve",
    "snapshot",
    "staged",
    "store_files",
    "tree_of_diff",
    "write_files",
    "write_tree_files",
]

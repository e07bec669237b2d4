"""A little package, and the static stage on a patch of it."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from git_helpers import Files, make, write

from showcause import git
from showcause.checks.running import how_to_run
from showcause.checks.static import StaticFindings, static_check
from showcause.checks.workbench import Kit, Workbench
from showcause.clock import Deadline
from showcause.gate import decide
from showcause.patch import parse
from showcause.pipeline.intake import WORKTREE
from showcause.project import find_project
from showcause.records import Cause, Decision, Item, Policy
from showcause.sandbox import find_sandbox
from showcause.settings import load_settings, override
from showcause.store import open_store
from showcause.trees import TreeReader, make_trees, surface_files

__all__ = ["SHOP", "A", "B", "C", "causes_of", "checked", "decided", "item_of", "workbench"]

A = b"""\
from abc import ABC, abstractmethod


class Base(ABC):
    @abstractmethod
    def run(self): ...


class Pot:
    def __init__(self, size):
        self.size = size

    def fill(self, much, slowly=False):
        return much * self.size


def fun(a, b):
    return a + b


def moved(x):
    return x
"""
B = b"""\
from shop import a
from shop.a import Base, Pot, fun


def use(x):
    return fun(1, x) + a.moved(x) + Pot(1).fill(2)
"""
C = b"""\
from shop.a import fun, moved


def late():
    return moved(fun(1, 2))


def old():
    return old_fault(1)
"""
SHOP: Files = {
    "shop/__init__.py": b"",
    "shop/a.py": A,
    "shop/b.py": B,
    "shop/c.py": C,
    "tests/test_c.py": b"from shop.c import late\n\n\ndef test():\n    assert late() == 3\n",
    ".gitignore": b"__pycache__/\n",
}


def checked(
    top: Path, head: Files, *, base: Files | None = None, settings: bytes = b"", keep: bool = False
) -> StaticFindings:
    """The stage on the difference between SHOP with `base` and that with `head`. `keep`: `top` is there."""
    with workbench(top, head, base=base, settings=settings, keep=keep) as (bench, reader):
        return static_check(bench, reader)


@contextmanager
def workbench(
    top: Path, head: Files, *, base: Files | None = None, settings: bytes = b"", keep: bool = False
) -> Iterator[tuple[Workbench, TreeReader]]:
    """A bench for the stage, as `checked` has it."""
    if not keep:
        make(top, SHOP | (base or {}) | ({"showcause.toml": settings} if settings else {}))
    write(top, head)
    repo = git.open_repo(str(top))
    old, here = git.resolve(repo, "HEAD")[0], git.snapshot(repo, WORKTREE)
    reader = TreeReader(repo, old.tree)
    chosen = override(
        load_settings(settings or None, None), {"suite.python": os.path.realpath(sys.executable)}
    )
    project = find_project(Path(repo.top), reader, chosen)
    patch = parse(git.diff(repo, old.tree, here.tree), base_tree=old.tree, head_tree=here.tree)
    store = open_store(os.path.join(repo.private, "store.sqlite3"))
    kit = Kit(
        sandbox=find_sandbox(allow_unsandboxed=True),
        project=project,
        running=how_to_run(project, reader),
        settings=chosen,
        store=store,
        deadline=Deadline.after(100),
        cancel=threading.Event(),
        surface=surface_files(reader.paths()),
    )
    try:
        with tempfile.TemporaryDirectory() as folder:
            trees = make_trees(repo, worktree=here.tree, patch=patch)
            yield Workbench(trees, kit, folder), reader
    finally:
        store.close()


def decided(found: StaticFindings) -> Decision:
    return decide(patch_is_empty=False, task_given=True, checks=found.checks, policy=Policy(), review_id="r")


def causes_of(found: StaticFindings) -> dict[str, Cause]:
    return {cause.item: cause for cause in decided(found).causes}


def item_of(found: StaticFindings, id: str) -> Item:
    (item,) = (item for check in found.checks for item in check.items if item.id == id)
    return item

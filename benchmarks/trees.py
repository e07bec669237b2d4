"""What the second tree of a review costs: its layer, and a confined command that sees it."""

from __future__ import annotations

import os
import tempfile
import time

from benchmarks.measuring import Taken, in_turn
from benchmarks.subjects import Subject
from showcause import git
from showcause.checks.places import Places
from showcause.patch import parse
from showcause.process import Command, How, run
from showcause.records import Side
from showcause.sandbox import Confinement, Sandbox, find_sandbox
from showcause.trees import make_trees

__all__ = ["second_tree"]


def second_tree(subject: Subject, rounds: int) -> tuple[list[Taken], list[Taken]]:
    """What base's layer takes with a command in it, and the same command confined over an empty folder.

    The checkout holds head, so that base is the side with something to write.
    """
    subject.patch(subject.harmless)
    repo = git.open_repo(subject.folder)
    head = git.snapshot(repo).tree
    patch = parse(git.diff(repo, repo.head_tree, head), base_tree=repo.head_tree, head_tree=head)
    trees = make_trees(repo, worktree=head, patch=patch)
    sandbox = find_sandbox(allow_unsandboxed=False)
    with tempfile.TemporaryDirectory(prefix="bench-trees-") as folder:
        empty = os.path.join(folder, "empty")
        os.mkdir(empty)

        def ours(number: int) -> Taken:
            began = time.perf_counter()
            below = os.path.join(folder, str(number))
            os.mkdir(below)
            place = Places(trees, sandbox, below).of(Side.BASE)
            _nothing(sandbox, place.root, place.layers)
            return Taken(wall_s=time.perf_counter() - began, cpu_s=0.0)

        def bare(_number: int) -> Taken:
            began = time.perf_counter()
            _nothing(sandbox, empty, (empty,))
            return Taken(wall_s=time.perf_counter() - began, cpu_s=0.0)

        return in_turn(rounds, ours, bare)


def _nothing(sandbox: Sandbox, target: str, layers: tuple[str, ...]) -> None:
    """A confined command that does nothing."""
    command = Command(argv=("/bin/true",), cwd=target, env={}, limit_s=60.0)
    finished = run(sandbox.confine(command, Confinement(target=target, layers=layers)))
    if finished.how is not How.EXITED or finished.exit_status != 0:
        raise RuntimeError(f"a confined command did not run: {finished}")

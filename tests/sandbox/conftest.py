"""A small checkout, a middle layer over it, and the sandboxes of each level."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from showcause.process import Command, Finished, run
from showcause.sandbox import LEVEL_VARIABLE, Confinement, Sandbox, find_sandbox

PATH = "/usr/local/bin:/usr/bin:/bin"


class Tree(NamedTuple):
    """A checkout at its own path, and the layer of what the patch changes in it."""

    checkout: Path
    middle: Path

    def digest(self) -> dict[str, str]:
        return {
            str(path.relative_to(self.checkout)): path.read_text() if path.is_file() else "directory"
            for path in sorted(self.checkout.rglob("*"))
        }


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    checkout, middle = tmp_path / "a:check,out \\ x", tmp_path / "mid:dle,"
    (checkout / "package" / "sub").mkdir(parents=True)
    middle.mkdir()
    (checkout / "file").write_text("base")
    (checkout / "same").write_text("same")
    (checkout / "package" / "module.py").write_text("x = 1\n")
    return Tree(checkout, middle)


def at_level(level: int) -> Sandbox:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(LEVEL_VARIABLE, str(level))
        return find_sandbox(allow_unsandboxed=False)


@pytest.fixture(scope="session", params=[1, 2], ids=["level1", "level2"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    found = at_level(request.param)
    if found.report.level != request.param or found.report.tree != "overlay":
        pytest.skip(f"level {request.param} with overlays is not to be had here: {found.report.fs.why}")
    return found


@pytest.fixture(scope="session")
def restricted() -> Sandbox:
    found = at_level(3)
    if found.report.level != 3:
        pytest.skip(f"level 3 is not to be had here: {found.report.fs.why}")
    return found


Confined = Callable[..., Finished]


def confined_by(sandbox: Sandbox, tree: Tree, layers: tuple[str, ...]) -> Confined:
    def go(*argv: str, limit_s: float = 10.0, env: dict[str, str] | None = None, **more: object) -> Finished:
        if len(argv) == 1:
            argv = ("sh", "-c", argv[0])
        env = {"PATH": PATH} | (env or {})
        command = Command(argv=argv, cwd=str(tree.checkout), env=env, limit_s=limit_s)
        settings = {"target": str(tree.checkout), "layers": layers} | more
        return run(sandbox.confine(command, Confinement(**settings)))  # type: ignore[arg-type]

    return go


@pytest.fixture
def confined(sandbox: Sandbox, tree: Tree) -> Confined:
    """Run a shell script, or an argv, in the checkout with the middle layer over it."""
    return confined_by(sandbox, tree, (str(tree.middle), str(tree.checkout)))


@pytest.fixture
def in_place(restricted: Sandbox, tree: Tree) -> Confined:
    """The same at level 3: in the checkout itself."""
    return confined_by(restricted, tree, (str(tree.checkout),))


def whiteout(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mknod(path, 0o020000, 0)

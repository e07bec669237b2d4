"""Law 3: a run counts only if it proves what it loaded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runners.helpers import PYTHON, digests, only, report, version_of, write
from showcause.process import Command, run
from showcause.records import Loaded, LoadedState, Outcome, RunReport, RunState
from showcause.runners import RUNNERS

PYTEST = RUNNERS["pytest"]
TEST = "import pkg.mod\ndef test_x(): pass\n"


def state_of(told: RunReport, path: str) -> list[LoadedState]:
    return [record.state for record in told.loaded if record.path == path]


def elsewhere(tmp_path: Path, files: dict[str, str]) -> dict[str, str]:
    """A folder on the path of the run, as site-packages is; its environment."""
    folder = write(tmp_path / "lib" / "site-packages", files)
    return {"PYTHONPATH": str(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def test_matches_and_not_loaded(tmp_path: Path) -> None:
    files = {"src/pkg/__init__.py": "", "src/pkg/mod.py": "x = 1\n", "src/pkg/other.py": "", "README": ""}
    root = write(tmp_path / "repo", {**files, "conftest.py": "import sys; sys.path.insert(0, 'src')\n"})
    write(root, {"tests/test_a.py": TEST})
    touched = digests(root, *files)
    told = report(PYTEST, root, ("tests/test_a.py",), touched=touched, sources=("", "src"))
    assert told.state is RunState.COMPLETE
    assert state_of(told, "src/pkg/mod.py") == [LoadedState.MATCHES]
    assert state_of(told, "src/pkg/__init__.py") == [LoadedState.MATCHES]
    assert state_of(told, "src/pkg/other.py") == [LoadedState.NOT_LOADED]
    assert state_of(told, "README") == []
    record = told.loaded[1]
    assert record == Loaded(
        path="src/pkg/mod.py", module="pkg.mod", file=str(root / "src/pkg/mod.py"),
        sha256=touched["src/pkg/mod.py"], state=LoadedState.MATCHES,
    )  # fmt: skip


def test_another_copy_is_the_environments_fault(tmp_path: Path) -> None:
    code = {"pkg/__init__.py": "", "pkg/mod.py": "x = 1\n"}
    root = write(tmp_path / "repo", {f"src/{path}": text for path, text in code.items()})
    write(root, {"tests/test_a.py": TEST})
    told = report(
        PYTEST, root, ("tests/test_a.py",), touched=digests(root, "src/pkg/mod.py"), sources=("src",),
        extra_env=elsewhere(tmp_path, code),
    )  # fmt: skip
    assert told.state is RunState.ENVIRONMENT
    assert "pkg.mod" in told.why
    assert "site-packages/pkg/mod.py" in told.why
    assert "editable" in told.why
    assert state_of(told, "src/pkg/mod.py") == [LoadedState.OUTSIDE]


def test_a_new_module_that_the_installed_copy_lacks(tmp_path: Path) -> None:
    """Base and a correct head would fail alike."""
    root = write(tmp_path / "repo", {"src/pkg/__init__.py": "", "src/pkg/new.py": "x = 1\n"})
    write(root, {"tests/test_a.py": "def test_x():\n    from pkg import new\n"})
    told = report(
        PYTEST, root, ("tests/test_a.py",), touched=digests(root, "src/pkg/new.py"), sources=("src",),
        extra_env=elsewhere(tmp_path, {"pkg/__init__.py": ""}),
    )  # fmt: skip
    assert told.state is RunState.ENVIRONMENT
    assert state_of(told, "src/pkg/new.py") == [LoadedState.OUTSIDE]


def test_other_content(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", {"pkg/__init__.py": "", "pkg/mod.py": "x = 1\n", "test_a.py": TEST})
    told = report(PYTEST, root, ("test_a.py",), touched={"pkg/mod.py": "0" * 64})
    assert told.state is RunState.ENVIRONMENT
    assert state_of(told, "pkg/mod.py") == [LoadedState.OTHER_CONTENT]


def compile_in(root: Path, *names: str) -> None:
    code = (
        "import compileall, sys; sys.exit(not all(compileall.compile_file(n, quiet=1) for n in sys.argv[1:]))"
    )
    done = run(Command(argv=(PYTHON, "-c", code, *names), cwd=str(root), env={}, limit_s=30))
    assert done.exit_status == 0


def test_stale_byte_code_of_the_same_size_and_second(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", {"pkg/__init__.py": "", "pkg/mod.py": "def f(): return 1\n"})
    write(root, {"test_a.py": "import pkg.mod\ndef test_x(): assert pkg.mod.f() == 1\n"})
    source = root / "pkg/mod.py"
    os.utime(source, (1_600_000_000, 1_600_000_000))
    compile_in(root, "pkg/mod.py")
    fresh = report(PYTEST, root, ("test_a.py",), touched=digests(root, "pkg/mod.py"))
    assert fresh.state is RunState.COMPLETE
    assert state_of(fresh, "pkg/mod.py") == [LoadedState.MATCHES]
    source.write_text("def f(): return 2\n")
    os.utime(source, (1_600_000_000, 1_600_000_000))
    stale = report(PYTEST, root, ("test_a.py",), touched=digests(root, "pkg/mod.py"))
    assert stale.state is RunState.ENVIRONMENT
    assert state_of(stale, "pkg/mod.py") == [LoadedState.OTHER_CONTENT]
    assert "byte code" in stale.why
    os.utime(source, (1_600_000_001, 1_600_000_001))
    assert (
        report(PYTEST, root, ("test_a.py",), touched=digests(root, "pkg/mod.py")).state is RunState.COMPLETE
    )


def test_stale_byte_code_of_a_rewritten_module(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", {"test_a.py": "def test_x(): assert 1 == 1\n"})
    source = root / "test_a.py"
    os.utime(source, (1_600_000_000, 1_600_000_000))
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    run(Command(argv=(PYTHON, "-m", "pytest", "-q"), cwd=str(root), env=env, limit_s=30))
    assert list(root.glob("__pycache__/*pytest*.pyc"))
    fresh = report(PYTEST, root, ("test_a.py",), touched=digests(root, "test_a.py"))
    assert state_of(fresh, "test_a.py") == [LoadedState.MATCHES]
    source.write_text("def test_x(): assert 1 == 2\n")
    os.utime(source, (1_600_000_000, 1_600_000_000))
    stale = report(PYTEST, root, ("test_a.py",), touched=digests(root, "test_a.py"))
    used = only(stale, "test_a.py::test_x").outcome is Outcome.PASSED  # pytest 9 compares a hash
    expected = LoadedState.OTHER_CONTENT if used else LoadedState.MATCHES
    assert state_of(stale, "test_a.py") == [expected]


def test_byte_code_without_source(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", {"pkg/__init__.py": "", "pkg/mod.py": "x = 1\n", "test_a.py": TEST})
    code = "import py_compile; py_compile.compile('pkg/mod.py', 'pkg/mod.pyc')"
    run(Command(argv=(PYTHON, "-c", code), cwd=str(root), env={}, limit_s=30))
    touched = digests(root, "pkg/mod.py")
    (root / "pkg/mod.py").unlink()
    told = report(PYTEST, root, ("test_a.py",), touched=touched)
    assert told.state is RunState.ENVIRONMENT
    assert state_of(told, "pkg/mod.py") == [LoadedState.OTHER_CONTENT]


@pytest.mark.parametrize("mode", ["prepend", "importlib"])
def test_a_module_under_another_name(tmp_path: Path, mode: str) -> None:
    root = write(tmp_path / "repo", {"checks/helper/test_a.py": "def test_x(): pass\n"})
    if mode == "importlib" and version_of("pytest") < (7,):
        pytest.skip("pytest 6 does not enter such modules into sys.modules: they count as not loaded")
    path = "checks/helper/test_a.py"
    told = report(PYTEST, root, (path,), touched=digests(root, path), config=(f"--import-mode={mode}",))
    assert told.state is RunState.COMPLETE
    assert set(state_of(told, path)) == {LoadedState.MATCHES}


def test_names_that_merely_coincide(tmp_path: Path) -> None:
    """A script called like a standard module, a conftest called like another one, a path that moved."""
    files = {
        "json.py": "x = 1\n",
        "conftest.py": "",
        "tests/conftest.py": "a = 1\n",
        "pkg/mod/__init__.py": "",
    }
    root = write(
        tmp_path / "repo", {**files, "tests/test_a.py": "import json, pkg.mod\ndef test_x(): pass\n"}
    )
    write(root, {"pkg/__init__.py": ""})
    touched = {**digests(root, *files), "pkg/mod.py": ""}
    told = report(PYTEST, root, ("tests/test_a.py",), touched=touched, sources=("",))
    assert told.state is RunState.COMPLETE, told
    assert state_of(told, "json.py") == [LoadedState.NOT_LOADED]
    assert state_of(told, "pkg/mod.py") == [LoadedState.NOT_LOADED]
    assert state_of(told, "pkg/mod/__init__.py") == [LoadedState.MATCHES]


def test_namespace_packages_and_symbolic_links(tmp_path: Path) -> None:
    real = write(
        tmp_path / "real",
        {"space/part/mod.py": "x = 1\n", "test_a.py": "import space.part.mod\ndef test_x(): pass\n"},
    )
    root = tmp_path / "repo"
    root.symlink_to(real)
    told = report(PYTEST, root, ("test_a.py",), touched=digests(root, "space/part/mod.py"))
    assert told.state is RunState.COMPLETE
    assert state_of(told, "space/part/mod.py") == [LoadedState.MATCHES]


def test_an_environment_inside_the_tree_is_outside(tmp_path: Path) -> None:
    root = write(
        tmp_path / "repo", {"src/pkg/__init__.py": "", "src/pkg/mod.py": "x = 1\n", "tests/test_a.py": TEST}
    )
    write(
        root, {".venv/lib/site-packages/pkg/__init__.py": "", ".venv/lib/site-packages/pkg/mod.py": "x = 1\n"}
    )
    env = {"PYTHONPATH": str(root / ".venv/lib/site-packages"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    touched = digests(root, "src/pkg/mod.py")
    told = report(PYTEST, root, ("tests/test_a.py",), touched=touched, sources=("src",), extra_env=env)
    assert state_of(told, "src/pkg/mod.py") == [LoadedState.OUTSIDE]
    assert told.state is RunState.ENVIRONMENT

"""The house rules of docs/architecture.md: who may import whom, how large a file may be."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import showcause

ROOT = Path(showcause.__file__).parent

# Data flows down: a module imports only what stands above it (or beside it, in the same package).
ORDER = [
    ("records", "errors", "canon", "clock", "beside"),
    ("intervals",),
    ("process",),
    ("git",),
    ("patch",),
    ("settings",),
    ("settings_template", "settings_page"),
    ("project",),
    ("sandbox",),
    ("trees",),
    ("runners",),
    ("attribution",),
    ("evidence",),
    ("gate",),
    ("packet",),
    ("answers",),
    ("receipt",),
    ("store",),
    ("models",),
    ("contract",),
    ("checks",),
    ("probes",),
    ("reviewer",),
    ("calibrate", "precision"),
    ("pipeline",),
    ("report",),
    ("demo",),
    ("cli",),
    ("__init__", "__main__"),
]
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}
INSIDE = ROOT / "runners" / "inside"  # runs in the project's interpreter, belongs to nobody
FOREIGN = (INSIDE, ROOT / "demo" / "project", ROOT / "demo" / "official")
FILES = sorted(path for path in ROOT.rglob("*.py") if not set(FOREIGN) & set(path.parents))


def _top(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        found.update(n.split(".")[1] for n in names if n.startswith("showcause."))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_what_stands_above_it(path: Path) -> None:
    own = _top(path)
    assert own in LEVEL, f"{own} has no place in the layout"
    for name in _imports(path) & LEVEL.keys():
        allowed = name == own or LEVEL[name] < LEVEL[own] or LEVEL[own] == LEVEL["__init__"]
        assert allowed or (LEVEL[own] == 0 and LEVEL[name] == 0), f"{path.name} may not import {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_is_over_400_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_processes_and_sql_have_one_door(path: Path) -> None:
    imported = {
        (alias.name if isinstance(node, ast.Import) else node.module or "").split(".")[0]
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    if _top(path) not in ("process", "sandbox"):
        assert "subprocess" not in imported
    if _top(path) != "store":
        assert "sqlite3" not in imported


def test_gate_and_reviewer_never_import_each_other() -> None:
    for path in FILES:
        if _top(path) in ("gate", "reviewer"):
            assert not _imports(path) & ({"gate", "reviewer"} - {_top(path)}), path


def test_public_names_exist() -> None:
    for name in showcause.__all__:
        assert getattr(showcause, name) is not None

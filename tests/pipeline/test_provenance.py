"""Law 3: a run counts only if it proves what it loaded. Installations and caches that mislead."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from git_helpers import Files, commit, git, make, write
from needs import need, need_program
from reviews import PLAIN, PRICE, bare_python, check_of, item_of, look

from showcause.records import (
    Attribution,
    Ended,
    LoadedState,
    Outcome,
    ReviewRecord,
    Rule,
    RunState,
    Stage,
    Verdict,
)

TEST = b"import unittest\n\nimport shop.price\n\n\nclass PriceTest(unittest.TestCase):\n"
TEST += b"    def test_vat(self):\n        self.assertEqual(shop.price.vat(100), 19)\n"
SRC: Files = {
    ".gitignore": b"__pycache__/\n.venv/\n*.so\n",
    "pyproject.toml": b'[project]\nname = "shop"\nversion = "1"\n',
    "src/shop/__init__.py": b"",
    "src/shop/price.py": PRICE,
    "tests/__init__.py": b"",
    "tests/test_price.py": TEST,
}
FLAT: Files = {path.removeprefix("src/"): data for path, data in SRC.items() if path != "pyproject.toml"}
BROKEN: Files = {"src/shop/price.py": PRICE.replace(b"19 / 100", b"20 / 100")}
UNDEFINED: Files = {"src/shop/price.py": PRICE + b"\nRATES = [vat_of_germany]\n"}


def site_packages(python: str) -> Path:
    (found,) = (Path(python).parent.parent / "lib").glob("python*/site-packages")
    return found


def install_editable(python: str, top: Path) -> None:
    """What `pip install -e` leaves: a path and a distribution that names the checkout."""
    site = site_packages(python)
    told = {"url": f"file://{top}", "dir_info": {"editable": True}}
    info: Files = {
        "__editable__.shop-1.pth": f"{top}/src\n".encode(),
        "shop-1.dist-info/METADATA": b"Metadata-Version: 2.1\nName: shop\nVersion: 1\n",
        "shop-1.dist-info/direct_url.json": json.dumps(told).encode(),
    }
    write(site, info)


def install_copy(python: str, top: Path) -> None:
    """What `pip install .` leaves: a copy."""
    site = site_packages(python)
    shutil.copytree(top / "src" / "shop", site / "shop")
    write(site, {"shop-1.dist-info/METADATA": b"Metadata-Version: 2.1\nName: shop\nVersion: 1\n"})


def is_decided(record: ReviewRecord) -> None:
    """The run saw the patch, and proved it."""
    suite = check_of(record, "suite")
    assert suite.state is RunState.COMPLETE, suite.why
    assert [loaded.state for loaded in suite.loaded] == [LoadedState.MATCHES]
    assert item_of(record, "test_vat").attribution is Attribution.PATCH_CAUSED


@pytest.mark.parametrize("place", ["inside", "outside"])
def test_an_editable_install(tmp_path: Path, place: str) -> None:
    top = make(tmp_path / "r", SRC)
    python = bare_python(top / ".venv" if place == "inside" else tmp_path / "env")
    install_editable(python, top)
    write(top, BROKEN)
    found = look(top, python="" if place == "inside" else python)
    is_decided(found)


def test_an_editable_install_by_pip(tmp_path: Path) -> None:
    build = b'[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n\n'
    build += b'[project]\nname = "shop"\nversion = "1"\n'
    top = make(tmp_path / "r", SRC | {"pyproject.toml": build})
    backend = importlib.util.find_spec("hatchling")
    need(backend and importlib.util.find_spec("editables"), "hatchling is not installed: no offline build")
    assert backend is not None
    python = bare_python(top / ".venv", with_packages=True)
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--quiet"]
    env = {"PYTHONPATH": os.path.dirname(os.path.dirname(str(backend.origin))), "PATH": os.environ["PATH"]}
    subprocess.run(
        [python, "-m", "pip", "install", *options, "-e", str(top)], check=True, env=env, timeout=100
    )
    write(top, BROKEN)
    is_decided(look(top, python=""))


@pytest.mark.parametrize("is_official", [False, True], ids=["alone", "official"])
def test_a_copy_of_the_project_decides_nothing(tmp_path: Path, is_official: bool) -> None:
    top = make(tmp_path / "r", SRC)
    python = bare_python(tmp_path / "env")
    install_copy(python, top)
    write(top, BROKEN)
    suite = ""
    if is_official:
        text = (
            b'{"tests": "files", "fail_to_pass": ["tests.test_price.PriceTest.test_vat"], "pass_to_pass": []}'
        )
        write(tmp_path, {"suite.json": text, "files/tests/test_price.py": TEST})
        suite = str(tmp_path / "suite.json")
    record = look(top, python=python, official=suite, settings={"gate.regression": "reject"})
    assert (record.verdict, record.ended, record.exit_status) == (None, Ended.ENVIRONMENT, 4)
    assert record.causes == ()
    assert "pip install -e" in record.why
    tested = [c for c in record.checks if c.id == "suite" or c.stage is Stage.OFFICIAL]
    assert {check.state for check in tested} == {RunState.ENVIRONMENT}
    items = [item for check in tested for item in check.items]
    assert {item.attribution for item in items} == {Attribution.ENVIRONMENT}


def test_an_import_error_of_the_tree_itself_shows_beside_a_copy(tmp_path: Path) -> None:
    """The modules of the tree are imported from the tree, whatever is installed."""
    top = make(tmp_path / "r", SRC)
    python = bare_python(tmp_path / "env")
    install_copy(python, top)
    write(top, UNDEFINED)
    causes = look(top, python=python).causes
    (cause,) = (cause for cause in causes if cause.rule is Rule.IMPORT_ERROR)
    assert (cause.rule, cause.path) == (Rule.IMPORT_ERROR, "src/shop/price.py")


def test_a_linked_worktree_with_the_main_checkouts_environment(tmp_path: Path) -> None:
    """Its editable install leads to the main checkout: another tree than the one under review."""
    top = make(tmp_path / "r", SRC)
    install_editable(bare_python(top / ".venv"), top)
    other = tmp_path / "other"
    git(top, "worktree", "add", "-q", "-b", "topic", str(other))
    write(other, BROKEN)
    record = look(other, python="", settings={"gate.regression": "reject"})
    assert (record.verdict, record.causes, record.exit_status) == (None, (), 4)
    assert check_of(record, "suite").state is RunState.ENVIRONMENT
    assert str(top) in check_of(record, "suite").why


def test_a_linked_worktree_without_an_install(tmp_path: Path) -> None:
    """Nothing is installed and the package lies at the top: the worktree's own code is what runs."""
    top = make(tmp_path / "r", FLAT)
    bare_python(top / ".venv")
    other = tmp_path / "other"
    git(top, "worktree", "add", "-q", "-b", "topic", str(other))
    write(other, {"shop/price.py": UNDEFINED["src/shop/price.py"]})
    record = look(other, python="")
    assert record.verdict is Verdict.REJECT
    assert Rule.IMPORT_ERROR in [cause.rule for cause in record.causes]


C_SOURCE = b"""\
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject *rate(PyObject *self, PyObject *none) { return PyLong_FromLong(19); }
static PyMethodDef methods[] = {{"rate", rate, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_rates", NULL, -1, methods};
PyMODINIT_FUNC PyInit__rates(void) { return PyModule_Create(&module); }
"""


def test_an_extension_built_in_place(tmp_path: Path) -> None:
    """It is ignored by git and lies in the checkout: both sides have it."""
    compiler = need_program("gcc")
    headers = sysconfig.get_paths()["include"]
    need(os.path.exists(os.path.join(headers, "Python.h")), "the headers of Python are not installed")
    price = b"from shop import _rates\n\n\ndef vat(price):\n    return price * _rates.rate() / 100\n"
    files = SRC | {"src/shop/price.py": price, "src/shop/_rates.c": C_SOURCE}
    top = make(tmp_path / "r", files)
    built = top / "src" / "shop" / f"_rates{sysconfig.get_config_var('EXT_SUFFIX')}"
    source = str(top / "src" / "shop" / "_rates.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-I", headers, source, "-o", str(built)], check=True)
    install_editable(bare_python(top / ".venv"), top)
    write(top, {"src/shop/price.py": price.replace(b"/ 100", b"/ 10")})
    is_decided(look(top, python=""))
    write(top, {"src/shop/_rates.c": C_SOURCE.replace(b"19", b"20")})
    record = look(top, python="")
    assert any("_rates.c" in note.what and "not built" in note.why for note in record.not_checked)


@pytest.mark.parametrize("runner", ["unittest", pytest.param("pytest", marks=pytest.mark.slow)])
def test_stale_byte_code_of_the_same_size_and_second(tmp_path: Path, runner: str) -> None:
    """The checkout's cache holds base's byte code, valid by time and size for head's source."""
    top = make(tmp_path / "r", FLAT)
    second = 1_600_000_000
    source = top / "shop" / "price.py"
    os.utime(source, (second, second))
    python = sys.executable if runner == "pytest" else PLAIN
    subprocess.run([python, "-c", "import shop.price"], cwd=top, check=True, env={"PYTHONPATH": str(top)})
    assert list((top / "shop" / "__pycache__").glob("price.*.pyc"))
    write(top, {"shop/price.py": PRICE.replace(b"19 / 100", b"20 / 100")})
    os.utime(source, (second, second))
    record = look(top, python=python, runner=runner)
    item = item_of(record, "test_vat")
    assert (item.base, item.head) == (Outcome.PASSED, Outcome.FAILED)
    assert [loaded.state for loaded in check_of(record, "suite").loaded] == [LoadedState.MATCHES]
    commit(top)
    again = look(top, python=python, runner=runner, commit="HEAD")
    assert item_of(again, "test_vat").head is Outcome.FAILED


def test_byte_code_made_by_a_test_of_the_checkout_itself_does_not_leak(tmp_path: Path) -> None:
    """What is untouched keeps its cache, and what a run compiles stays in the run."""
    top = make(tmp_path / "r", SRC)
    install_editable(bare_python(top / ".venv"), top)
    write(top, BROKEN)
    is_decided(look(top, python="", settings={"suite.env": {"PYTHONDONTWRITEBYTECODE": ""}}))
    assert not (top / "src" / "shop" / "__pycache__").exists()


def test_tests_in_a_folder_that_is_no_package_are_repeated_by_id(tmp_path: Path) -> None:
    """unittest's ids do not name that folder: `test_price.PriceTest.test_vat`."""
    top = make(tmp_path / "r", {path: data for path, data in FLAT.items() if path != "tests/__init__.py"})
    write(top, {"shop/price.py": BROKEN["src/shop/price.py"]})
    is_decided(look(top))


def test_a_module_that_no_test_loads_is_named(tmp_path: Path) -> None:
    top = make(tmp_path / "r", SRC | {"src/shop/data.txt": b"", "scripts/tool.py": b"x = 1\n"})
    install_editable(bare_python(top / ".venv"), top)
    write(top, BROKEN | {"scripts/tool.py": b"x = 2\n"})
    record = look(top, python="")
    assert any(note.what == "scripts/tool.py" for note in record.not_checked)

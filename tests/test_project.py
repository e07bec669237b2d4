"""Projects on disk: real virtual environments without pip, and distributions written out by hand."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from showcause.errors import EnvironmentFault
from showcause.project import (
    Finding,
    Installed,
    Project,
    RunnerName,
    find_project,
    main_checkout,
    read_environment,
    read_interpreter,
)
from showcause.settings import load_settings, override

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
SITE = f"lib/python{VERSION}/site-packages"
PYTEST = ("pytest-9.1.dist-info",)


class Tree:
    """A base tree in memory."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = {path: text.encode() for path, text in files.items()}

    def paths(self) -> Sequence[str]:
        return list(self.files)

    def read(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        return {path: self.files[path] for path in paths if path in self.files}

    def grep(self, words: Sequence[str]) -> Sequence[str]:
        return [
            p
            for p, data in self.files.items()
            if any(re.search(rb"\b%s\b" % w.encode(), data) for w in words)
        ]


def make_venv(folder: Path, *distributions: str) -> Path:
    """A real virtual environment; distributions are the names of their metadata folders."""
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    for name in distributions:
        (folder / SITE / name).mkdir()
    return folder


def find(
    top: Path,
    files: Mapping[str, str] | None = None,
    *,
    env: Mapping[str, str] | None = None,
    **settings: object,
) -> Project:
    chosen = override(load_settings(None, None), {f"suite.{name}": value for name, value in settings.items()})
    return find_project(top, Tree(files or {}), chosen, {"PATH": "/nowhere", "HOME": str(top), **(env or {})})


@pytest.fixture
def top(tmp_path: Path) -> Path:
    (tmp_path / "repo").mkdir()
    return tmp_path / "repo"


# ------------------------------------------------------------------ interpreters


def test_venv_of_the_checkout_comes_before_the_active_one(top: Path, tmp_path: Path) -> None:
    make_venv(top / ".venv", *PYTEST)
    make_venv(tmp_path / "active", *PYTEST)
    project = find(top, env={"VIRTUAL_ENV": str(tmp_path / "active")})
    assert project.python == str(top / ".venv/bin/python")
    assert project.interpreter.why == ".venv of the checkout"
    assert project.findings[0] == Finding(
        what="interpreter", value=project.python, why=".venv of the checkout"
    )


def test_the_active_environment(top: Path, tmp_path: Path) -> None:
    make_venv(tmp_path / "active", *PYTEST)
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        project = find(top, env={name: str(tmp_path / "active")})
        assert project.python == str(tmp_path / "active/bin/python")
        assert name in project.interpreter.why


def test_facts_agree_with_the_interpreter_itself(top: Path) -> None:
    make_venv(top / ".venv")
    found = read_interpreter(str(top / ".venv/bin/python"), "")
    program = (
        "import json,os,sys,site;print(json.dumps([sys.prefix,sys.base_prefix,"
        "'.'.join(map(str,sys.version_info[:3])),os.path.realpath(sys.executable),site.getsitepackages()]))"
    )
    told = json.loads(subprocess.check_output([found.path, "-I", "-c", program]))
    assert [found.prefix, found.version, found.real] == [told[0], told[2], told[3]]
    assert os.path.realpath(found.base_prefix) == os.path.realpath(told[1])
    assert list(found.site_packages) == told[4]


def test_mounts_hold_environment_installation_and_links(top: Path, tmp_path: Path) -> None:
    make_venv(top / ".venv")
    found = read_interpreter(str(top / ".venv/bin/python"), "")
    for needed in (
        found.prefix,
        found.real,
        os.path.join(found.base_prefix, "lib", f"python{VERSION}", "os.py"),
    ):
        assert any(needed == m or needed.startswith(m + "/") for m in (*found.mounts, "/usr"))
    # a link in the user's own bin is shown alone, never the folder above it
    link = tmp_path / "home/.local/bin/python3"
    link.parent.mkdir(parents=True)
    link.symlink_to(found.real)
    through = read_interpreter(str(link), "", str(tmp_path / "home"))
    assert str(link) in through.mounts
    assert not {str(tmp_path / "home"), str(tmp_path / "home/.local")} & set(through.mounts)
    assert through.site_packages == read_interpreter(found.real, "").site_packages


def test_an_installation_behind_a_linked_folder(tmp_path: Path) -> None:
    """As uv keeps its interpreters: cpython-3.12-linux -> cpython-3.12.1-linux."""
    real = tmp_path / "python/cpython-3.12.1-linux"
    (real / "bin").mkdir(parents=True)
    (real / "lib/python3.12/site-packages").mkdir(parents=True)
    (real / "bin/python3.12").write_text("")
    (real / "bin/python3.12").chmod(0o755)
    (tmp_path / "python/cpython-3.12-linux").symlink_to("cpython-3.12.1-linux")
    env = tmp_path / "env"
    (env / "bin").mkdir(parents=True)
    (env / "bin/python").symlink_to(tmp_path / "python/cpython-3.12-linux/bin/python3.12")
    (env / "pyvenv.cfg").write_text(
        f"home = {tmp_path}/python/cpython-3.12-linux/bin\nversion_info = 3.12.1\n"
    )
    found = read_interpreter(str(env / "bin/python"), "")
    assert found.version == "3.12.1"
    assert set(found.mounts) == {str(env), str(real), str(tmp_path / "python/cpython-3.12-linux")}


def test_settings_name_the_interpreter(top: Path, tmp_path: Path) -> None:
    make_venv(top / ".venv")
    make_venv(tmp_path / "other")
    assert find(top, python="../other/bin/python").python == str(tmp_path / "other/bin/python")
    assert find(top, python="../other").python == str(tmp_path / "other/bin/python")
    path = {"PATH": str(tmp_path / "other/bin")}
    assert find(top, env=path, python="python3").python == str(tmp_path / "other/bin/python3")


@pytest.mark.parametrize("named", [".venv/bin/python", "python9.9", "/nowhere/python"])
def test_a_named_interpreter_that_is_missing_is_a_fault_with_a_cure(top: Path, named: str) -> None:
    with pytest.raises(EnvironmentFault, match="there is no such interpreter") as caught:
        find(top, python=named)
    assert "[suite] python" in caught.value.cure


def test_no_interpreter_at_all(top: Path) -> None:
    with pytest.raises(EnvironmentFault, match="no Python interpreter") as caught:
        find(top)
    assert "venv" in caught.value.cure


def test_a_broken_venv_is_passed_over_and_told(top: Path, tmp_path: Path) -> None:
    (top / ".venv/bin").mkdir(parents=True)
    (top / ".venv/bin/python").symlink_to("/nowhere/python3.8")
    make_venv(top / "venv")
    project = find(top)
    assert project.python == str(top / "venv/bin/python")
    assert project.findings[-1].why == ".venv of the checkout: its interpreter is gone"


def test_uv_and_poetry_and_tox(top: Path, tmp_path: Path) -> None:
    make_venv(top / ".tox/py39", *PYTEST)
    make_venv(top / ".tox/py311")
    (top / ".tox/py39" / SITE / "_pytest").mkdir()
    poetry = {"pyproject.toml": '[tool.poetry]\nname = "x"\n', "x/__init__.py": ""}
    project = find(top, poetry)
    assert project.python == str(top / ".tox/py39/bin/python")
    assert (
        Finding(what="passed over", value="poetry", why="a poetry project, but no poetry on PATH")
        in project.findings
    )
    make_venv(tmp_path / "uv")
    assert find(top, env={"UV_PROJECT_ENVIRONMENT": "../uv"}).interpreter.why == "UV_PROJECT_ENVIRONMENT"


def test_poetry_is_asked(top: Path, tmp_path: Path) -> None:
    make_venv(tmp_path / "cache/x-py3.11")
    tool(tmp_path / "bin/poetry", f'echo "{tmp_path}/cache/x-py3.11"')
    project = find(top, {"poetry.lock": ""}, env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"})
    assert project.interpreter.why == "poetry env info -p"
    tool(tmp_path / "bin/poetry", "exit 1")
    project = find(top, {"poetry.lock": ""}, env={"PATH": f"{tmp_path}/bin:{sys.prefix}/bin:/usr/bin:/bin"})
    assert project.findings[-1].why == "poetry has made no environment for this project"


def tool(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def pyenv(tmp_path: Path) -> Path:
    root = tmp_path / "pyenv"
    for version in ("3.9.1", "3.11.2", "3.11.10"):
        (root / "versions" / version / "bin").mkdir(parents=True)
        (root / "versions" / version / "bin/python").symlink_to(os.path.realpath(sys.executable))
    tool(root / "shims/python3", "exit 1")
    return root


@pytest.mark.parametrize(
    ("text", "version"),
    [("3.9.1\n", "3.9.1"), ("3.11  # newest\n", "3.11.10"), ("missing\n3.11.2\n", "3.11.2")],
)
def test_pyenv_shims_are_looked_through_without_starting_them(
    top: Path, pyenv: Path, text: str, version: str
) -> None:
    (top / ".python-version").write_text(text)
    project = find(top, env={"PATH": f"{pyenv}/shims"})
    assert project.python == str(pyenv / "versions" / version / "bin/python")
    assert "the one behind the shim" in project.interpreter.why


def test_pyenv_version_and_global_file(top: Path, pyenv: Path) -> None:
    (pyenv / "version").write_text("3.9.1\n")
    assert "3.9.1" in find(top, env={"PATH": f"{pyenv}/shims"}).python
    assert "3.11.2" in find(top, env={"PATH": f"{pyenv}/shims", "PYENV_VERSION": "3.11.2"}).python
    assert "3.9.1" in find(top, env={"PATH": f"{pyenv}/shims"}, python="python3").python


def test_other_shims_are_asked_once(top: Path, tmp_path: Path) -> None:
    tool(tmp_path / "bin/python3", f'exec {sys.executable} "$@"')
    project = find(top, env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"})
    assert os.path.samefile(project.python, sys.executable)


def test_linked_worktrees_may_use_the_main_checkouts_environment(top: Path, tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(top)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "a"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "linked")], check=True)
    make_venv(top / ".venv", *PYTEST)
    install(top / ".venv" / SITE, "demo-1.dist-info", editable=top)
    assert main_checkout(tmp_path / "linked") == top
    assert main_checkout(top) is None
    project = find(
        tmp_path / "linked", {"pyproject.toml": '[project]\nname = "demo"\n', "demo/__init__.py": ""}
    )
    assert project.python == str(top / ".venv/bin/python")
    assert "linked worktree" in project.interpreter.why
    assert project.installed is Installed.ELSEWHERE
    assert "another checkout" in project.warnings[0]


# ------------------------------------------------------------------ what is installed


def install(site: Path, metadata: str, editable: Path | None = None) -> None:
    (site / metadata).mkdir()
    if editable is not None:
        told = {"url": f"file://{editable}", "dir_info": {"editable": True}}
        (site / metadata / "direct_url.json").write_text(json.dumps(told))


DEMO = {"pyproject.toml": '[project]\nname = "Demo_App"\n', "src/demo/__init__.py": ""}


def test_how_the_project_is_installed(top: Path) -> None:
    site = make_venv(top / ".venv", *PYTEST) / SITE
    assert find(top, DEMO).installed is Installed.NOT_INSTALLED
    install(site, "demo_app-1.0.dist-info")
    project = find(top, DEMO)
    assert project.installed is Installed.COPIED
    assert project.warnings[0].startswith("installed non-editable: checks would not see your change")
    told = {"url": f"file://{top}", "dir_info": {"editable": True}}
    (site / "demo_app-1.0.dist-info/direct_url.json").write_text(json.dumps(told))
    project = find(top, DEMO)
    assert project.installed is Installed.EDITABLE
    assert project.warnings == ()


@pytest.mark.parametrize(
    "file", ["demo.pth", "__editable__.demo_app-1.0.pth", "easy-install.pth", "demo-app.egg-link"]
)
def test_a_path_file_makes_it_editable(top: Path, file: str) -> None:
    (top / "src").mkdir()
    site = make_venv(top / ".venv") / SITE
    (site / file).write_text(f"import sys; sys\n# a comment\n{top}/src\n")
    assert find(top, DEMO).installed is Installed.EDITABLE


def test_an_import_hook_makes_it_editable(top: Path) -> None:
    site = make_venv(top / ".venv") / SITE
    install(site, "demo_app-1.0.dist-info")
    (site / "__editable___demo_app_1_0_finder.py").write_text("")
    assert find(top, DEMO).installed is Installed.EDITABLE


def test_a_bare_copy_counts_as_a_copy(top: Path) -> None:
    site = make_venv(top / ".venv") / SITE
    (site / "demo").mkdir()
    (site / "demo/__init__.py").write_text("")
    assert find(top, DEMO).installed is Installed.COPIED


def test_editable_dependencies_elsewhere_are_mounted_but_never_home(top: Path, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    site = make_venv(top / ".venv", *PYTEST) / SITE
    (site / "lib.pth").write_text(f"{tmp_path}/lib\n{tmp_path}\n/\n{tmp_path}/gone\n")
    project = find(top, env={"HOME": str(tmp_path)})
    assert str(tmp_path / "lib") in project.mounts
    assert not {str(tmp_path), "/", str(tmp_path / "gone")} & set(project.mounts)


def test_the_digest_follows_the_environment(top: Path) -> None:
    site = make_venv(top / ".venv", *PYTEST) / SITE
    seen = [find(top, DEMO).digest, find(top, DEMO).digest]
    assert seen[0] == seen[1]
    install(site, "more-1.dist-info")
    seen.append(find(top, DEMO).digest)
    (site / "x.pth").write_text("/usr\n")
    seen.append(find(top, DEMO).digest)
    os.utime(site / "more-1.dist-info", ns=(1, 1))
    seen.append(find(top, DEMO).digest)
    seen.append(find(top, {**DEMO, "pytest.ini": "[pytest]\n"}).digest)
    seen.append(find(top, {**DEMO, "pytest.ini": "[pytest]\naddopts = -x\n"}).digest)
    assert len(set(seen)) == len(seen) - 1


def test_distributions_are_read_by_name(top: Path) -> None:
    names = ("Flask_SQL-3.1.dist-info", "old.style-2.0-py3.11.egg-info")
    site = make_venv(top / ".venv", *names) / SITE
    (site / "broken-1.dist-info").mkdir()
    (site / "broken-1.dist-info/direct_url.json").write_text("[")
    found = read_environment(read_interpreter(str(top / ".venv/bin/python"), "")).distributions
    assert {d.name: d.version for d in found.values()} == {
        "flask-sql": "3.1",
        "old-style": "2.0",
        "broken": "1",
    }


# ------------------------------------------------------------------ runners


TESTS = {"tests/test_a.py": "def test_a(): ...\n"}
CASES = {"tests/test_a.py": "import unittest\nclass A(unittest.TestCase): ...\n"}
DJANGO = {"manage.py": "", "shop/__init__.py": "", "shop/tests.py": ""}


@pytest.mark.parametrize(
    ("files", "installed", "name"),
    [
        (TESTS, PYTEST, RunnerName.PYTEST),
        (CASES, PYTEST, RunnerName.PYTEST),
        (CASES, (), RunnerName.UNITTEST),
        ({}, (), RunnerName.UNITTEST),
        (TESTS, (), RunnerName.PYTEST),
        (DJANGO, ("Django-5.0.dist-info",), RunnerName.DJANGO_MANAGE),
        ({**DJANGO, "pytest.ini": ""}, ("Django-5.0.dist-info", *PYTEST), RunnerName.DJANGO_MANAGE),
        ({**DJANGO, "pytest.ini": ""}, ("pytest_django-4.dist-info", *PYTEST), RunnerName.PYTEST),
        ({"tests/runtests.py": "", "django/__init__.py": ""}, (), RunnerName.DJANGO_RUNTESTS),
        ({"tests/manage.py": "", **TESTS}, PYTEST, RunnerName.PYTEST),
    ],
)
def test_which_runner(
    top: Path, files: Mapping[str, str], installed: tuple[str, ...], name: RunnerName
) -> None:
    make_venv(top / ".venv", *installed)
    assert find(top, files).runner.name is name


def test_settings_choose_the_runner(top: Path) -> None:
    make_venv(top / ".venv", *PYTEST)
    assert find(top, TESTS, runner="unittest").runner.name is RunnerName.UNITTEST
    assert find(top, DJANGO, runner="pytest").runner.name is RunnerName.PYTEST
    found = find(top, {"a/manage.py": ""}, runner="django", test_paths=["x"]).runner
    assert (found.name, found.workdir, found.test_paths) == (RunnerName.DJANGO_MANAGE, "a", ("x",))
    assert find(top, {"a/manage.py": ""}, workdir="b").runner.workdir == "b"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pytest.ini", "[pytest]\npython_files = check_*.py\n  t_*.py\ntestpaths = a b\n"),
        ("setup.cfg", "[tool:pytest]\npython_files = check_*.py t_*.py\ntestpaths = a b\n"),
        ("tox.ini", "[pytest]\npython_files = check_*.py t_*.py\ntestpaths =\n  a\n  b\n"),
        (
            "pyproject.toml",
            '[tool.pytest.ini_options]\npython_files = ["check_*.py", "t_*.py"]\ntestpaths = ["a", "b"]\n',
        ),
    ],
)
def test_pytest_configuration(top: Path, file: str, text: str) -> None:
    make_venv(top / ".venv", *PYTEST)
    found = find(top, {file: text}).runner
    assert found.config == file
    assert (found.patterns, found.test_paths) == (("check_*.py", "t_*.py"), ("a", "b"))


def test_the_first_configuration_counts_as_for_pytest(top: Path) -> None:
    make_venv(top / ".venv", *PYTEST)
    files = {
        "pytest.ini": "",
        "setup.cfg": "[tool:pytest]\npython_files = x.py\n",
        "pyproject.toml": "[broken",
    }
    found = find(top, files).runner
    assert (found.config, found.patterns) == ("pytest.ini", ("test_*.py", "*_test.py"))
    del files["pytest.ini"]
    assert find(top, files).runner.config == "setup.cfg"


def test_a_runner_that_is_configured_but_missing_is_a_value(top: Path) -> None:
    make_venv(top / ".venv")
    (fault,) = find(top, {"pytest.ini": ""}).faults
    assert "pytest is not installed in" in fault.message
    assert fault.cure.startswith(str(top / ".venv/bin/python") + " -m pip install pytest")
    assert isinstance(fault.error(), EnvironmentFault)
    assert [f.message.split()[0] for f in find(top, DJANGO).faults] == ["django"]


def test_self_hosted(top: Path) -> None:
    make_venv(top / ".venv")
    for package in ("_pytest", "pluggy"):
        project = find(top, {f"src/{package}/__init__.py": "", "pytest.ini": ""})
        assert project.runner.self_hosted
        assert project.faults == ()
    assert not find(top, {"src/demo/__init__.py": "", "pytest.ini": ""}).runner.self_hosted


# ------------------------------------------------------------------ sources


@pytest.mark.parametrize(
    ("files", "roots", "names"),
    [
        ({"src/a/__init__.py": "", "src/b.py": "", "setup.py": ""}, ("src",), ("a", "b")),
        ({"src/ns/part/x.py": "", "docs/conf.py": ""}, ("src",), ("ns",)),
        ({"a/__init__.py": "", "tests/__init__.py": "", "setup.py": "", "tool/x.py": ""}, ("",), ("a",)),
        ({"single.py": "", "setup.py": "", "test_single.py": ""}, ("",), ("single",)),
        ({"python/a/__init__.py": "", "tests/b/__init__.py": ""}, ("python",), ("a",)),
        ({}, ("",), ()),
        (
            {
                "pyproject.toml": '[tool.setuptools.packages.find]\nwhere = ["./lib/"]\n',
                "lib/a/__init__.py": "",
            },
            ("lib",),
            ("a",),
        ),
        (
            {"pyproject.toml": '[tool.setuptools]\npackage-dir = {"" = "lib"}\n', "lib/a/x.py": ""},
            ("lib",),
            ("a",),
        ),
        (
            {
                "pyproject.toml": '[[tool.poetry.packages]]\ninclude = "a"\nfrom = "lib"\n',
                "lib/a/__init__.py": "",
            },
            ("lib",),
            ("a",),
        ),
        (
            {
                "pyproject.toml": '[tool.hatch.build.targets.wheel]\npackages = ["code/a"]\n',
                "code/a/__init__.py": "",
            },
            ("code",),
            ("a",),
        ),
        ({"setup.cfg": "[options]\npackage_dir =\n    = lib\n", "lib/a/__init__.py": ""}, ("lib",), ("a",)),
        ({"setup.py": "setup(package_dir={'': 'lib'})", "lib/a/__init__.py": ""}, ("lib",), ("a",)),
        ({"setup.cfg": "[options]\npackage_dir =\n    = gone\n", "a/__init__.py": ""}, ("",), ("a",)),
        ({"pyproject.toml": "tool = 3\n", "setup.cfg": "broken\n", "a/__init__.py": ""}, ("",), ("a",)),
    ],
)
def test_sources(top: Path, files: Mapping[str, str], roots: tuple[str, ...], names: tuple[str, ...]) -> None:
    make_venv(top / ".venv")
    project = find(top, files)
    assert project.sources == roots
    assert project.layout.names == names

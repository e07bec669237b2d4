"""Which test files are run for a patch: trees are written out here, small and whole."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pytest

from showcause.checks.imports_read import read_names, scan_imports
from showcause.checks.selection import (
    Layout,
    Left,
    Limits,
    Selection,
    Tier,
    Touched,
    select_tests,
    test_files,
)


class Tree:
    """A base tree in memory; counts what is asked of it."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = {path: text.encode("utf-8", "surrogateescape") for path, text in files.items()}
        self.searched: list[list[str]] = []
        self.was_read: list[str] = []

    def paths(self) -> Sequence[str]:
        return list(self.files)

    def read(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        self.was_read += paths
        return {path: self.files[path] for path in paths if path in self.files}

    def grep(self, words: Sequence[str]) -> Sequence[str]:
        self.searched.append(list(words))
        pattern = re.compile(rb"\b(?:" + b"|".join(re.escape(w.encode()) for w in words) + rb")\b")
        return [path for path, data in self.files.items() if path.endswith(".py") and pattern.search(data)]


CLICK = {
    "src/click/__init__.py": (
        "from .core import Context as Context, \\\n    Group\n"
        "from .decorators import (  # the usual ones\n    command as command,\n    option,\n)\n"
        "from .utils import *\n"
    ),
    "src/click/core.py": "class Context: ...\nclass Group: ...\n",
    "src/click/decorators.py": "from .core import Context\ndef command(): ...\ndef option(): ...\n",
    "src/click/utils.py": "__all__ = ['echo']\ndef echo(): ...\ndef hidden(): ...\n",
    "src/click/testing.py": "from . import utils\nclass CliRunner: ...\n",
    "tests/conftest.py": "from click.testing import CliRunner\n",
    "tests/test_arguments.py": "import click\n@click.command()\ndef t(): ...\n",
    "tests/test_context.py": "import click\nclick.Context()\n",
    "tests/test_decorators.py": "def test_nothing(): ...\n",
    "tests/test_options.py": "from click import option as o\n",
    "tests/test_utils.py": "import click as c\nc.echo()\n",
    "tests/test_other.py": "import os\nos.command()\nmyclick.command()\n",
}


def tiers(selection: Selection) -> dict[str, Tier]:
    return {item.path: item.tier for item in selection.selected}


def select(
    files: Mapping[str, str], *touched: str | Touched, budget_s: float = 60, **more: object
) -> Selection:
    asked = [item if isinstance(item, Touched) else Touched(path=item) for item in touched]
    layout = more.pop("layout", Layout())
    return select_tests(Tree(files), asked, layout, budget_s=budget_s, **more)  # type: ignore[arg-type]


def test_names_passed_on_by_a_package_make_a_test_direct() -> None:
    found = tiers(select(CLICK, "src/click/decorators.py"))
    assert found["tests/test_arguments.py"] is Tier.DIRECT
    assert found["tests/test_options.py"] is Tier.DIRECT
    assert found["tests/test_decorators.py"] is Tier.NAMED


def test_a_test_that_only_imports_the_package_is_not_direct() -> None:
    found = tiers(select(CLICK, "src/click/decorators.py"))
    assert found["tests/test_context.py"] is Tier.REACHES
    assert "tests/test_other.py" not in {p for p, tier in found.items() if tier is Tier.DIRECT}


def test_a_star_import_passes_on_what_all_names() -> None:
    selection = select(CLICK, "src/click/utils.py")
    assert tiers(selection)["tests/test_utils.py"] is Tier.DIRECT
    assert selection.selected[0].path == "tests/test_utils.py"
    hidden = CLICK | {"tests/test_hidden.py": "import click\nclick.hidden()\n"}
    assert tiers(select(hidden, "src/click/utils.py")).get("tests/test_hidden.py") is not Tier.DIRECT


def test_a_conftest_is_an_edge_to_its_folder_and_below() -> None:
    found = select(CLICK, "src/click/testing.py")
    reached = {item.path: item for item in found.selected}
    assert reached["tests/test_other.py"].tier is Tier.REACHES
    assert reached["tests/test_other.py"].distance == 2
    touched = select({**CLICK, "other/test_x.py": ""}, "tests/conftest.py")
    assert tiers(touched)["tests/test_other.py"] is Tier.DIRECT
    assert "other/test_x.py" not in tiers(touched)


def test_pytest_plugins_are_imports() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/plugin.py": "def fix(): ...\n",
        "tests/conftest.py": 'pytest_plugins = [\n    "pkg.plugin",\n]\n',
        "tests/test_a.py": "def test_a(fix): ...\n",
    }
    assert tiers(select(files, "pkg/plugin.py")) == {"tests/test_a.py": Tier.REACHES}


def test_edited_tests_come_first_whatever_they_cost() -> None:
    selection = select(
        CLICK,
        "src/click/decorators.py",
        "tests/test_other.py",
        budget_s=3,
        durations={"tests/test_other.py": 100.0},
    )
    assert [item.path for item in selection.selected] == ["tests/test_other.py"]
    assert {item.reason for item in selection.left_out} <= {Left.BUDGET, Left.NOT_EXAMINED}


@pytest.mark.parametrize("budget_s", [0.5, 1, 2, 3, 60])
@pytest.mark.parametrize("path", ["src/click/decorators.py", "src/click/core.py", "gone.py", "README.md"])
def test_every_test_file_is_in_exactly_one_list(budget_s: float, path: str) -> None:
    selection = select(CLICK, path, budget_s=budget_s)
    listed = [item.path for item in selection.selected] + [item.path for item in selection.left_out]
    assert sorted(listed) == sorted(test_files(CLICK, Layout()))
    assert len(selection.selected) <= 1 or selection.estimate_s <= budget_s


def test_past_durations_decide_what_fits() -> None:
    slow = {"tests/test_arguments.py": 50.0}
    first = select(CLICK, "src/click/decorators.py", budget_s=3, durations=slow).selected
    assert [item.estimate_s for item in first][:1] == [1.0]
    assert "tests/test_arguments.py" not in {item.path for item in first}


def test_no_two_runs_take_the_same_time_and_the_order_stays() -> None:
    """What base did is remembered for one order of the files."""
    files = {f"tests/test_{name}.py": "from pkg import one\n" for name in "abcd"} | {
        "pkg/__init__.py": "",
        "pkg/one.py": "x = 1\n",
    }
    timings: list[dict[str, float]] = [
        {},
        {"tests/test_a.py": 0.30, "tests/test_b.py": 0.10, "tests/test_c.py": 0.02, "tests/test_d.py": 0.9},
        {"tests/test_a.py": 0.28, "tests/test_b.py": 0.31, "tests/test_c.py": 0.0, "tests/test_d.py": 0.01},
    ]
    orders = [[i.path for i in select(files, "pkg/one.py", durations=t).selected] for t in timings]
    assert orders == [[f"tests/test_{name}.py" for name in "abcd"]] * 3
    slow = select(files, "pkg/one.py", durations={"tests/test_a.py": 5.0}).selected
    assert [item.path for item in slow][-1] == "tests/test_a.py"


def test_the_nearer_in_the_import_graph_comes_first() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/alpha.py": "x = 1\n",
        "pkg/beta.py": "from pkg.alpha import x\n",
        "pkg/gamma.py": "import pkg.beta\n",
        "tests/test_one.py": "from pkg.gamma import *\n",
        "tests/test_two.py": "from pkg import beta\n",
        "tests/test_three.py": "import json\n",
    }
    selection = select(files, "pkg/alpha.py")
    assert [(i.path, i.distance) for i in selection.selected] == [
        ("tests/test_two.py", 2),
        ("tests/test_one.py", 3),
    ]
    assert [(i.path, i.reason) for i in selection.left_out] == [("tests/test_three.py", Left.UNRELATED)]


@pytest.mark.parametrize(
    "text",
    [
        "from a.b import thing\n",
        "import a.b\n",
        "import a.b as x, os\n",
        "from a import b\n",
        "def f():\n    from a import (\n        b as c,  # why )\n    )\n",
        "import a\na.b.thing()\n",
        "import a as q\nq.b.thing()\n",
        "from a import *\nb\nimport a.b",
        'mock.patch("a.b.thing")\n',
        "from a \\\n    import c, b\nfrom a import \\\n    b\n",
        "x = 1  # import of things\nfrom a import b  # import twice\n",
        "\r\nfrom a.b import thing\r\n",
        "\xff\nimport a.b\n",
        "this does not parse (\nimport a.b\n",
    ],
)
def test_forms_of_direct_import(text: str) -> None:
    files = {"a/__init__.py": "", "a/b.py": "def thing(): ...\n", "tests/test_x.py": text}
    assert tiers(select(files, "a/b.py")) == {"tests/test_x.py": Tier.DIRECT}


@pytest.mark.parametrize(
    "text",
    ["import a\na.c()\n", "from a import c\n", "import b\n", "from .a import b\n", "from x.a import b\n"],
)
def test_what_is_no_direct_import(text: str) -> None:
    files = {"a/__init__.py": "from .c import c\n", "a/b.py": "thing = 1\n", "a/c.py": "c = 1\n"}
    found = tiers(select({**files, "tests/test_x.py": text}, "a/b.py"))
    assert found.get("tests/test_x.py") is not Tier.DIRECT


def test_relative_imports_in_tests_inside_the_package() -> None:
    files = {
        "p/__init__.py": "",
        "p/core/__init__.py": "",
        "p/core/x.py": "y = 1\n",
        "p/core/tests/__init__.py": "",
        "p/core/tests/test_q.py": "from ..x import y\n",
        "p/core/tests/test_r.py": "from .. import x\n",
    }
    assert set(tiers(select(files, "p/core/x.py")).values()) == {Tier.DIRECT}


def test_helpers_beside_tests_are_found_as_pytest_finds_them() -> None:
    files = {"tests/helpers.py": "def h(): ...\n", "tests/test_a.py": "from helpers import h\n"}
    assert tiers(select(files, "tests/helpers.py")) == {"tests/test_a.py": Tier.DIRECT}


@pytest.mark.parametrize(
    ("test", "module"),
    [
        ("tests/test_foo.py", "pkg/foo.py"),
        ("tests/foo_test.py", "pkg/foo.py"),
        ("tests/test_sub_foo.py", "pkg/sub/foo.py"),
        ("tests/foo/tests.py", "pkg/commands/foo.py"),
        ("tests/test_foo_errors.py", "pkg/_foo.py"),
        ("tests/sub_tests/test_z.py", "pkg/sub/foo.py"),
    ],
)
def test_names_that_match(test: str, module: str) -> None:
    assert tiers(select({module: "", test: "pass\n"}, module)) == {test: Tier.NAMED}


def test_lines_tell_which_of_many_users_to_run_first() -> None:
    users = {f"tests/test_{n}.py": "from m import Big\nBig().common()\n" for n in "abcd"}
    users["tests/test_z.py"] = "from m import Big\nBig().common()\nBig().rare()\n"
    source = "class Big:\n    def common(self): ...\n    def rare(self):\n        return 1\n"
    assert (
        select({"m.py": source, **users}, Touched(path="m.py", lines=(4,))).selected[0].path
        == "tests/test_z.py"
    )


def test_a_module_loaded_by_name_is_found_by_its_mention() -> None:
    files = {
        "cmds/sqlmigrate.py": "x = 1\n",
        "tests/test_all.py": "call('sqlmigrate')\n",
        "tests/test_b.py": "",
    }
    assert tiers(select(files, "cmds/sqlmigrate.py")) == {"tests/test_all.py": Tier.MENTIONS}


def test_files_that_are_no_modules() -> None:
    files = {
        "shop/__init__.py": "",
        "shop/templates/cart.html": "",
        "tests/test_a.py": "render('cart.html')\n",
        "tests/test_b.py": "import shop\n",
        "tests/test_c.py": "",
    }
    selection = select(files, "shop/templates/cart.html")
    assert [(i.path, i.tier) for i in selection.selected] == [
        ("tests/test_a.py", Tier.DATA),
        ("tests/test_b.py", Tier.DATA),
    ]


def test_a_module_that_does_not_parse_is_noted_and_still_found() -> None:
    files = {"m.py": "def good(): ...\nprint 'old'\n", "tests/test_a.py": "from m import good\n"}
    selection = select(files, "m.py")
    assert tiers(selection) == {"tests/test_a.py": Tier.DIRECT}
    assert "m.py of base does not parse" in selection.notes[0]


def test_what_was_cut_is_said() -> None:
    files = {"m.py": "", **{f"tests/test_{n}.py": "import m\n" for n in range(9)}}
    selection = select(files, "m.py", limits=Limits(tests=4))
    assert len(selection.selected) == 4
    assert {item.reason for item in selection.left_out} == {Left.NOT_EXAMINED}
    assert selection.notes == ("5 of 9 test files with its names were not examined",)


def test_patterns_and_folders_of_tests() -> None:
    paths = [
        "a/test_x.py",
        "a/x_test.py",
        "a/tests.py",
        "a/check_x.py",
        "node_modules/test_q.py",
        "b/test_y.py",
    ]
    assert test_files(paths, Layout()) == ("a/test_x.py", "a/x_test.py", "a/tests.py", "b/test_y.py")
    assert test_files(paths, Layout(patterns=("check_*.py",))) == ("a/check_x.py",)
    assert test_files(paths, Layout(test_paths=("b/", "a/x_test.py"))) == ("a/x_test.py", "b/test_y.py")


def test_only_a_few_files_of_a_large_tree_are_read() -> None:
    files = {f"big/p{n // 100}/m{n}.py": f"import json\nx{n} = {n}\n" for n in range(3000)}
    files |= {f"big/tests/test_m{n}.py": f"from big.p{n // 100} import m{n}\n" for n in range(0, 3000, 3)}
    tree = Tree(files)
    selection = select_tests(tree, [Touched(path="big/p7/m720.py")], Layout(), budget_s=60)
    assert selection.selected[0].path == "big/tests/test_m720.py"
    assert len(tree.was_read) < 20
    assert len(tree.searched) <= Limits().distance


def test_the_same_question_has_the_same_answer() -> None:
    assert select(CLICK, "src/click/core.py") == select(dict(reversed(CLICK.items())), "src/click/core.py")


def test_import_statements_are_not_scanned_for_ever() -> None:
    assert len(scan_imports("from a import b  # import import\n" * 3)) == 3


def test_names_around_lines() -> None:
    source = b"import os\n@deco\nclass A:\n    def f(self):\n        pass\n    def g(self): ...\nB: int = 1\n"
    assert read_names(source, (5,)).changed_inner == {"f"}
    assert read_names(source, (2,)).changed_top == {"A"}
    assert read_names(source).names == {"A", "B"}

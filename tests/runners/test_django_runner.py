"""The Django runner, on a small project. Needs Django in the driven interpreter (SHOWCAUSE_TEST_PYTHON)."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners.helpers import digests, has_module, only, report, write
from showcause.records import FailureKind as K
from showcause.records import LoadedState, Origin, RunReport, RunState
from showcause.records import Outcome as O
from showcause.runners import RUNNERS

DJANGO = RUNNERS["django"]

MANAGE = """
import os, sys
if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site_settings")
    from django.core.management import execute_from_command_line
    execute_from_command_line(sys.argv)
"""
SETTINGS = """
SECRET_KEY = "x"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
INSTALLED_APPS = ["shop"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
"""
TESTS = '''
from django.test import TestCase, SimpleTestCase
from shop.models import Item, price

class ItemTests(TestCase):
    @classmethod
    def setUpTestData(cls): cls.item = Item.objects.create(name="a")
    def test_pass(self): self.assertEqual(Item.objects.count(), 1)
    def test_fail(self): self.assertEqual(Item.objects.count(), 2)
    def test_source(self): price({})
    def test_missing(self): price({}, currency="x")
    def test_described(self):
        """Items have a description.

        And more.
        """

class BrokenData(TestCase):
    @classmethod
    def setUpTestData(cls): price({})
    def test_x(self): pass

class Later(SimpleTestCase):
    def test_x(self): pass
'''
FILES = {
    "manage.py": MANAGE,
    "site_settings.py": SETTINGS,
    "shop/__init__.py": "",
    "shop/models.py": "from django.db import models\nclass Item(models.Model):\n"
    "    name = models.CharField(max_length=9)\ndef price(item): return item['price']\n",
    "shop/tests/__init__.py": "",
    "shop/tests/test_items.py": TESTS,
    "shop/tests/test_broken.py": "from shop.models import gone\n",
}
EXPECTED: dict[str, tuple[O, K | None, Origin]] = {
    "shop.tests.test_items.ItemTests.test_pass": (O.PASSED, None, Origin.NONE),
    "shop.tests.test_items.ItemTests.test_fail": (O.FAILED, K.ASSERTION, Origin.TEST),
    "shop.tests.test_items.ItemTests.test_source": (O.FAILED, K.EXCEPTION, Origin.SOURCE),
    "shop.tests.test_items.ItemTests.test_missing": (O.FAILED, K.MISSING_NAME, Origin.TEST),
    "test_pass (shop.tests.test_items.ItemTests)": (O.PASSED, None, Origin.NONE),
    "test_fail (shop.tests.test_items.ItemTests.test_fail)": (O.FAILED, K.ASSERTION, Origin.TEST),
    "Items have a description.": (O.PASSED, None, Origin.NONE),
    "shop.tests.test_items.BrokenData.test_x": (O.ERROR, K.SETUP, Origin.SOURCE),
    "shop.tests.test_items.Later.test_x": (O.PASSED, None, Origin.NONE),
    "shop.tests.test_broken.T.test_x": (O.ERROR, K.MISSING_NAME, Origin.TEST),
    "shop.tests.test_gone.T.test_x": (O.NOT_RUN, None, Origin.NONE),
}


@pytest.fixture(scope="module", autouse=True)
def _needs_django() -> None:
    if not has_module("django"):
        pytest.skip("needs Django in the driven interpreter")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> RunReport:
    root = write(tmp_path_factory.mktemp("django") / "repo", FILES)
    select = ("shop/tests/test_items.py", *(name for name in EXPECTED if "test_items" not in name))
    return report(
        DJANGO, root, select, expect=tuple(EXPECTED), config=("manage", "--parallel", "4", "--failfast"),
        touched=digests(root, "shop/models.py"), extra_env={},
    )  # fmt: skip


def test_the_run_is_complete(told: RunReport) -> None:
    assert (told.state, told.why) == (RunState.COMPLETE, ""), told.output_tail
    assert {result.id for result in told.results} == set(EXPECTED)
    assert [record.state for record in told.loaded] == [LoadedState.MATCHES]


@pytest.mark.parametrize("name", EXPECTED)
def test_case(told: RunReport, name: str) -> None:
    outcome, kind, origin = EXPECTED[name]
    result = only(told, name)
    assert result.outcome is outcome, result
    assert (result.failure and (result.failure.kind, result.failure.origin)) == (kind and (kind, origin)), (
        result
    )


def test_one_id_runs_one_test(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", FILES)
    name = "test_pass (shop.tests.test_items.ItemTests)"
    told = report(DJANGO, root, (name,), expect=(name,), config=("manage",), extra_env={})
    assert [(result.id, result.outcome) for result in told.results] == [(name, O.PASSED)], told


ORDERED = """
from django.test import SimpleTestCase, TestCase, TransactionTestCase
class A(TransactionTestCase):
    def test_x(self): pass
class B(SimpleTestCase):
    def test_x(self): pass
class C(TestCase):
    def test_x(self): pass
"""


def test_the_order_is_that_of_the_selection(tmp_path: Path) -> None:
    names = ("near", "far")
    more = {
        f"{name}/{file}": body
        for name in names
        for file, body in (("__init__.py", ""), ("tests.py", ORDERED))
    }
    root = write(tmp_path / "repo", FILES | more)
    told = report(DJANGO, root, ("near/tests.py", "far/tests.py"), config=("manage",), extra_env={})
    assert told.state is RunState.COMPLETE, (told.why, told.output_tail)
    places = [result.id.split(".")[::2][0] + result.id.split(".")[2] for result in told.results]
    assert [place[:-1] for place in places] == ["near", "near", "far", "far", "near", "far"]
    assert [place[-1] for place in places[4:]] == ["A", "A"]


RUNTESTS = """
import os, sys
labels = [word for word in sys.argv[1:] if not word.startswith("-")]
if any(label.split(".")[0] == "gis_tests" for label in labels):
    sys.exit("this needs another database")
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ["DJANGO_SETTINGS_MODULE"] = "site_settings"
import django
from django.test.runner import DiscoverRunner
django.setup()
sys.exit(bool(DiscoverRunner(verbosity=0, interactive=False).run_tests(labels)))
"""


def test_one_folder_that_cannot_run_here_does_not_silence_the_rest(tmp_path: Path) -> None:
    test = "from django.test import SimpleTestCase\nclass T(SimpleTestCase):\n    def test_x(self): pass\n"
    files = {
        "site_settings.py": SETTINGS,
        "shop/__init__.py": "",
        "tests/runtests.py": RUNTESTS,
        "tests/gis_tests/__init__.py": "",
        "tests/gis_tests/tests.py": test,
        "tests/basic/__init__.py": "",
        "tests/basic/tests.py": test,
    }
    root = write(tmp_path / "repo", files)
    told = report(
        DJANGO, root, ("basic/tests.py", "gis_tests/tests.py"), workdir="tests",
        config=("runtests", "--settings=test_sqlite"), extra_env={},
    )  # fmt: skip
    assert told.state is RunState.COMPLETE, (told.why, told.output_tail)
    assert only(told, "basic.tests.T.test_x").outcome is O.PASSED
    (left,) = (result for result in told.results if "gis" in result.id)
    assert left.outcome is O.NOT_RUN


ENVIRONMENT = {
    "settings": {"site_settings.py": "import not_there\n"},
    "a runner of its own": {
        "site_settings.py": SETTINGS + "TEST_RUNNER = 'own.Runner'\n",
        "own.py": "class Runner:\n    def __init__(self, **kw): pass\n    def run_tests(self, _): return 1\n",
    },
    "no manage.py": {"manage.py": "import sys; sys.exit(2)\n"},
}


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_environment(tmp_path: Path, name: str) -> None:
    root = write(tmp_path / "repo", {**FILES, **ENVIRONMENT[name]})
    test = "shop.tests.test_items.Later.test_x"
    told = report(DJANGO, root, (test,), expect=(test,), config=("manage",), extra_env={})
    assert told.state is RunState.ENVIRONMENT
    assert told.why
    assert only(told, test).outcome is O.NOT_RUN

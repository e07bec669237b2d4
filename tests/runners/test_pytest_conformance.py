"""What pytest's ends mean: one small file a case, all but the deadly ones in one run."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners.helpers import by_id, make_job, report, stopped_in, version_of, write
from showcause.process import How
from showcause.records import FailureKind as K
from showcause.records import Origin, RunReport, RunState
from showcause.records import Outcome as O
from showcause.runners import RUNNERS

SOURCE = {
    "pkg/__init__.py": "",
    "pkg/core.py": """
import json
class Thing:
    def method(self, a): return a
def lookup(key): return {}[key]
def call_none(): return None.strip()
def deep(n): return deep(n + 1)
def parse(text): return json.loads(text)
def one(a): return a
def opens(path): return open(path)
def lazy(): import not_installed_anywhere
def nothing(): return None
def checks(): assert 1 == 2, "own check"
""",
    "pkg/broken.py": "value = undefined_name\n",
    "pkg/bad_syntax.py": "def f(:\n",
    "tests/__init__.py": "",
    "tests/tools.py": "def own(): return {}['k']\n",
    "conftest.py": "import pytest\n@pytest.fixture\ndef bad(): raise RuntimeError('fixture')\n",
}

# name: (body of the file, outcome, kind, origin)
CASES: dict[str, tuple[str, O, K | None, Origin]] = {
    "assert": ("def test_x():\n    assert 1 + 1 == 3\n", O.FAILED, K.ASSERTION, Origin.TEST),
    "raises_missing": (
        "import pytest\ndef test_x():\n    with pytest.raises(ValueError): pass\n",
        O.FAILED, K.ASSERTION, Origin.TEST,
    ),
    "exc_in_body": (
        "from pkg.core import lookup\ndef test_x(): lookup('k')\n", O.FAILED, K.EXCEPTION, Origin.SOURCE,
    ),
    "attr_sut": (
        "from pkg.core import call_none\ndef test_x(): call_none()\n", O.FAILED, K.EXCEPTION, Origin.SOURCE,
    ),
    "typeerror_sut": (
        "from pkg.core import one\ndef test_x(): one(1, flag=True)\n", O.FAILED, K.MISSING_NAME, Origin.TEST,
    ),
    "arity_sut": (
        "from pkg.core import Thing\ndef test_x(): Thing().method(1, 2)\n",
        O.FAILED, K.MISSING_NAME, Origin.TEST,
    ),
    "constructor": (
        "from pkg import core\ndef test_x(): core.Thing(1)\n", O.FAILED, K.EXCEPTION, Origin.TEST,
    ),
    "typeerror_foreign": ("def test_x(): len(1, 2)\n", O.FAILED, K.EXCEPTION, Origin.TEST),
    "recursion": ("from pkg.core import deep\ndef test_x(): deep(0)\n", O.FAILED, K.EXCEPTION, Origin.SOURCE),
    "called_outside": (
        "from pkg.core import parse\ndef test_x(): parse('{')\n", O.FAILED, K.EXCEPTION, Origin.SOURCE,
    ),
    "test_called_outside": (
        "import json\ndef test_x(): json.loads('{')\n", O.FAILED, K.EXCEPTION, Origin.TEST,
    ),
    "import_in_body": (
        "def test_x():\n    from pkg.core import new_name\n", O.FAILED, K.MISSING_NAME, Origin.TEST,
    ),
    "module_in_body": ("def test_x():\n    import pkg.new\n", O.FAILED, K.MISSING_NAME, Origin.TEST),
    "attribute_of_module": (
        "from pkg import core\ndef test_x(): core.new_name()\n", O.FAILED, K.MISSING_NAME, Origin.TEST,
    ),
    "attribute_of_object": (
        "from pkg.core import Thing\ndef test_x():\n    t = Thing()\n    t.fresh\n",
        O.FAILED, K.MISSING_NAME, Origin.TEST,
    ),
    "attribute_of_class": (
        "from pkg.core import Thing\ndef test_x():\n    Thing.fresh\n", O.FAILED, K.MISSING_NAME, Origin.TEST,
    ),
    "attribute_of_none": (
        "from pkg.core import nothing\ndef test_x():\n    nothing().x\n", O.FAILED, K.EXCEPTION, Origin.TEST,
    ),
    "patch_missing": (
        "from unittest import mock\ndef test_x():\n    with mock.patch('pkg.core.fresh'): pass\n",
        O.FAILED, K.MISSING_NAME, Origin.TEST,
    ),
    "foreign_import_in_body": (
        "def test_x():\n    from string import new_name\n", O.ERROR, K.TEST_ERROR, Origin.TEST,
    ),
    "lazy_third_party": (
        "from pkg.core import lazy\ndef test_x(): lazy()\n", O.ERROR, K.UNKNOWN, Origin.OUTSIDE,
    ),
    "import_missing_name": (
        "from pkg.core import new_name\ndef test_x(): pass\n", O.ERROR, K.MISSING_NAME, Origin.TEST,
    ),
    "internal_pkg_missing": (
        "from pkg.new import thing\ndef test_x(): pass\n", O.ERROR, K.MISSING_NAME, Origin.TEST,
    ),
    "missing_module": (
        "import not_installed_anywhere\ndef test_x(): pass\n", O.ERROR, K.COLLECTION, Origin.TEST,
    ),
    "missing_helper_name": (
        "from tests.tools import gone\ndef test_x(): pass\n", O.ERROR, K.COLLECTION, Origin.TEST,
    ),
    "broken_source": (
        "import pkg.broken\ndef test_x(): pass\n", O.ERROR, K.EXCEPTION, Origin.SOURCE,
    ),
    "syntax_source": (
        "import pkg.bad_syntax\ndef test_x(): pass\n", O.ERROR, K.EXCEPTION, Origin.SOURCE,
    ),
    "syntax": ("def test_x(:\n", O.ERROR, K.COLLECTION, Origin.TEST),
    "fixture_error": ("def test_x(bad): pass\n", O.ERROR, K.SETUP, Origin.TEST),
    "fixture_missing": ("def test_x(no_such): pass\n", O.ERROR, K.SETUP, Origin.OUTSIDE),
    "unittest": (
        "import unittest\nclass T(unittest.TestCase):\n"
        "    @classmethod\n    def setUpClass(cls): raise RuntimeError\n    def test_x(self): pass\n",
        O.ERROR, K.SETUP, Origin.TEST,
    ),
    "unittest_setup": (
        "import unittest\nfrom pkg.core import lookup\nclass T(unittest.TestCase):\n"
        "    def setUp(self): lookup(1)\n    def test_x(self): pass\n",
        O.ERROR, K.SETUP, Origin.SOURCE,
    ),
    "unittest_fails": (
        "import unittest\nclass T(unittest.TestCase):\n    def test_x(self): self.assertEqual(1, 2)\n",
        O.FAILED, K.ASSERTION, Origin.TEST,
    ),
    "teardown_error": (
        "import pytest\n@pytest.fixture\ndef f():\n    yield\n    raise RuntimeError\ndef test_x(f): pass\n",
        O.ERROR, K.TEARDOWN, Origin.TEST,
    ),
    "name_error_in_test": ("def test_x(): undefined\n", O.ERROR, K.TEST_ERROR, Origin.TEST),
    "helper_raises": (
        "from tests.tools import own\ndef test_x(): own()\n", O.FAILED, K.EXCEPTION, Origin.TEST,
    ),
    "own_check": (
        "from pkg.core import checks\ndef test_x(): checks()\n", O.FAILED, K.ASSERTION, Origin.SOURCE,
    ),
    "network": (
        "import socket\ndef test_x(): socket.create_connection(('127.0.0.1', 1), 1)\n",
        O.ERROR, K.NETWORK, Origin.TEST,
    ),
    "network_wrapped": (
        "def test_x():\n    try: raise BrokenPipeError\n    except OSError as e: raise KeyError from e",
        O.ERROR, K.NETWORK, Origin.TEST,
    ),
    "missing_file": (
        "from pkg.core import opens\ndef test_x(): opens('/no/such/file')\n",
        O.ERROR, K.MISSING_FILE, Origin.SOURCE,
    ),
    "missing_file_inside": (
        "from pkg.core import opens\ndef test_x(): opens('not-written.txt')\n",
        O.FAILED, K.EXCEPTION, Origin.SOURCE,
    ),
    "missing_program": (
        "import subprocess\ndef test_x(): subprocess.run(['no-such-program-here'])\n",
        O.ERROR, K.MISSING_FILE, Origin.TEST,
    ),
    "oom": ("def test_x(): raise MemoryError\n", O.ERROR, K.MEMORY, Origin.TEST),
    "sysexit_collect": (
        "import sys\nsys.exit(0)\ndef test_x(): pass\n", O.ERROR, K.EXIT, Origin.TEST,
    ),
    "sysexit": ("import sys\ndef test_x(): sys.exit(0)\n", O.ERROR, K.EXIT, Origin.TEST),
    "skip": ("import pytest\ndef test_x(): pytest.skip('no')\n", O.SKIPPED, None, Origin.NONE),
    "xfail": (
        "import pytest\n@pytest.mark.xfail\ndef test_x(): assert 0\n", O.SKIPPED, None, Origin.NONE,
    ),
    "xpass": ("import pytest\n@pytest.mark.xfail\ndef test_x(): pass\n", O.PASSED, None, Origin.NONE),
    "xpass_strict": (
        "import pytest\n@pytest.mark.xfail(strict=True)\ndef test_x(): pass\n",
        O.FAILED, K.ASSERTION, Origin.TEST,
    ),
    "importorskip": (
        "import pytest\npytest.importorskip('no_such')\ndef test_x(): pass\n", O.SKIPPED, None, Origin.NONE,
    ),
    "empty": ("", O.NOT_RUN, None, Origin.NONE),
    "pass": ("def test_x(): pass\n", O.PASSED, None, Origin.NONE),
    "printed_passed": (
        "def test_x(capfd):\n    with capfd.disabled(): print('PASSED test_printed_passed.py::test_x')\n"
        "    assert 0\n",
        O.FAILED, K.ASSERTION, Origin.TEST,
    ),
    "not_utf8": (
        "def test_x(): raise ValueError(b'\\xff'.decode('utf-8', 'surrogateescape') + 'x' * 9000)\n",
        O.FAILED, K.EXCEPTION, Origin.TEST,
    ),
    "lying_exception": (
        "class E(Exception):\n    def __str__(self): raise RuntimeError\ndef test_x(): raise E\n",
        O.FAILED, K.EXCEPTION, Origin.TEST,
    ),
}  # fmt: skip

GROUPED = """
from pkg.core import lookup
def test_x():
    try: lookup(1)
    except KeyError as e: raise ExceptionGroup("g", [e])
"""
if version_of() >= (3, 11):
    CASES["group"] = (GROUPED, O.FAILED, K.EXCEPTION, Origin.SOURCE)


def node_id(name: str) -> str:
    in_class = name.startswith("unittest")
    return f"tests/test_{name}.py::" + ("T::test_x" if in_class else "test_x")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> RunReport:
    files = {f"tests/test_{name}.py": body for name, (body, *_) in CASES.items()}
    root = write(tmp_path_factory.mktemp("conformance") / "repo", {**SOURCE, **files})
    expect = tuple(node_id(name) for name in CASES)
    return report(RUNNERS["pytest"], root, tuple(files), expect=expect)


def test_the_run_is_complete(told: RunReport) -> None:
    assert (told.state, told.why, told.exit_status) == (RunState.COMPLETE, "", 1)
    assert [result.id for result in told.results] == [node_id(name) for name in CASES]


@pytest.mark.parametrize("name", CASES)
def test_case(told: RunReport, name: str) -> None:
    _, outcome, kind, origin = CASES[name]
    (result,) = by_id(told)[node_id(name)]
    assert result.outcome is outcome, result
    if kind is None:
        assert result.failure is None
    else:
        assert result.failure is not None
        assert (result.failure.kind, result.failure.origin) == (kind, origin), result


def test_frames_and_messages(told: RunReport) -> None:
    results = by_id(told)
    failure = results[node_id("exc_in_body")][0].failure
    assert failure is not None
    assert (failure.exception, failure.message, failure.frame) == ("KeyError", "'k'", "pkg/core.py:5")
    syntax = results[node_id("syntax_source")][0].failure
    assert syntax is not None
    assert syntax.frame == "pkg/bad_syntax.py:1"
    text = results[node_id("not_utf8")][0].failure
    assert text is not None
    assert text.message.startswith("\\udcffxx")
    assert len(text.message) < 2100


# name: (body, outcome, kind, state, run limit)
DEADLY = {
    "osexit": ("import os\ndef test_x(): os._exit(0)\n", O.CRASHED, K.CRASH, RunState.CRASHED, 30.0),
    "segv": (
        "import os, signal\ndef test_x(): os.kill(os.getpid(), signal.SIGSEGV)\n",
        O.CRASHED, K.CRASH, RunState.CRASHED, 30.0,
    ),
    "osexit_collect": (
        "import os\nos._exit(0)\ndef test_x(): pass\n", O.CRASHED, K.CRASH, RunState.CRASHED, 30.0,
    ),
    "interrupt": ("def test_x(): raise KeyboardInterrupt\n", O.CRASHED, K.CRASH, RunState.CRASHED, 30.0),
    "tamper": (
        "import atexit, os\natexit.register(os._exit, 0)\ndef test_x(): assert 0\n",
        O.FAILED, K.ASSERTION, RunState.TAMPERED, 30.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DEADLY)
def test_deadly(tmp_path: Path, name: str) -> None:
    body, outcome, kind, state, limit_s = DEADLY[name]
    first = "def test_first(): pass\n"
    root = write(tmp_path / "repo", {"test_a.py": first, "test_b.py": body, "test_c.py": first})
    expect = ("test_a.py::test_first", "test_b.py::test_x", "test_c.py::test_first")
    told = report(
        RUNNERS["pytest"], root, ("test_a.py", "test_b.py", "test_c.py"), expect=expect, limit_s=limit_s
    )
    before, deadly, after = (by_id(told)[each][0] for each in expect)
    assert told.state is state, told
    assert told.why
    assert deadly.outcome is outcome, deadly
    assert deadly.failure is not None
    assert deadly.failure.kind is kind
    collected = "collect" not in name
    assert before.outcome is (O.PASSED if collected else O.NOT_RUN)
    assert after.outcome is (O.PASSED if name == "tamper" else O.NOT_RUN)


def test_hang(tmp_path: Path) -> None:
    body = "import time\ndef test_w(): pass\ndef test_x(): time.sleep(60)\ndef test_y(): pass\n"
    root = write(tmp_path / "repo", {"test_a.py": body})
    job = make_job(root, ("test_a.py",))
    told = stopped_in(RUNNERS["pytest"], job, "test_a.py::test_x", How.TIMEOUT)
    assert told.state is RunState.TIMEOUT
    assert [result.outcome for result in told.results] == [O.PASSED, O.TIMEOUT, O.NOT_RUN]
    failure = told.results[1].failure
    assert failure is not None
    assert failure.kind is K.TIMEOUT

"""Probes as they are handed in, quotes, and probes that assert nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from showcause.errors import UsageError
from showcause.probes.given import Draft, probe_of, read_probes, unusable
from showcause.probes.quoting import is_quoted
from showcause.probes.weak import touched_names, weakness
from showcause.records import Patch, Probe, ProbeRole

ISSUE = "parse('') should raise\nValueError, “not” return 0.  Also: x"


@pytest.mark.parametrize(
    ("quote", "holds"),
    [
        ("parse('') should raise ValueError", True),
        ('"should raise\n  ValueError"', True),
        ("should raise TypeError", False),
        ("", False),
        ("...", False),
        ("raise", False),  # too short: it stands in any text
        ("Should Raise ValueError", False),
    ],
)
def test_quotes(quote: str, holds: bool) -> None:
    assert is_quoted(quote, ISSUE) is holds


def test_a_short_issue_is_quoted_whole() -> None:
    assert is_quoted("Fix it", "Fix it")
    assert not is_quoted("Fix", "Fix it")


def made(files: dict[str, str], tests: tuple[str, ...] = ("t::x",)) -> Probe:
    return probe_of(Draft(files=files, tests=tests, shows=""), generator="g")


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"../a.py": ""}, "no plain path"),
        ({"/etc/passwd": ""}, "no plain path"),
        ({"a/./b.py": ""}, "no plain path"),
        ({"a\\b.py": ""}, "no plain path"),
        ({".git/hooks/x": ""}, "hidden"),
        ({"tests/a\n.py": ""}, "unprintable"),
        ({"tests/conftest.py": ""}, "configures"),
        ({"pytest.ini": ""}, "configures"),
        ({"sitecustomize.py": ""}, "configures"),
        ({"there.py": ""}, "exists already"),
        ({}, "0 files"),
        ({"tests/a.py": "x" * 300_000}, "longer"),
    ],
)
def test_files_that_cannot_be_laid_over_a_tree(files: dict[str, str], why: str) -> None:
    assert why in unusable(made(files), ["there.py"])


def test_a_probe_that_names_no_test() -> None:
    assert unusable(made({"a.py": ""}, ()), ()) == "it names no test"
    assert unusable(made({"tests/test_a.py": ""}), ()) == ""


@pytest.mark.parametrize(
    "text", ["", "[]", '{"probes": []}', '{"probes": [{"files": {}}]}', '{"probes": [{"role": "x"}]}']
)
def test_a_file_without_probes_is_wrong_use(tmp_path: Path, text: str) -> None:
    place = tmp_path / "p.json"
    place.write_text(text)
    with pytest.raises(UsageError, match="holds no probes"):
        read_probes(str(place))


def test_a_file_of_probes(tmp_path: Path) -> None:
    place = tmp_path / "p.json"
    told = {"files": {"a.py": "x"}, "tests": ["a.py::t"], "shows": "s", "role": "guard"}
    place.write_text(json.dumps({"probes": [told]}))
    (probe,) = read_probes(str(place))
    assert (probe.role, probe.generator, probe.tests) == (ProbeRole.GUARD, "p.json", ("a.py::t",))
    with pytest.raises(UsageError, match="No such file"):
        read_probes(str(tmp_path / "q.json"))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("assert True", "a constant"),
        ("assert 1 == 1", "a constant"),
        ("self.assertTrue(True)", "a constant"),
        ("self.assertEqual(1, 1)", "a constant"),
        ("assert f() is not None", "not None"),
        ("self.assertIsNotNone(f())", "not None"),
        ("with mock.patch('m.changed'):\n        assert f() == 1", "replaces changed"),
        ("monkeypatch.setattr(m, 'changed', 1)\n    assert f() == 1", "replaces changed"),
        ("assert f() == 1", ""),
        ("assert f() is not None\n    assert f() == 1", ""),
        ("f()", ""),  # that a call raises nothing may be what was asked for
        ("with mock.patch('m.other'):\n        assert f() == 1", ""),
        ("with pytest.raises(ValueError):\n        f()", ""),
    ],
)
def test_weak_probes(body: str, why: str) -> None:
    probe = made({"tests/test_a.py": f"def test_a(self=None):\n    {body}\n"})
    found = weakness(probe, frozenset({"changed"}))
    assert why in found
    assert bool(found) is bool(why)


def test_touched_names() -> None:
    data = b"""\
diff --git a/m.py b/m.py
index 1111111111111111111111111111111111111111..2222222222222222222222222222222222222222 100644
--- a/m.py
+++ b/m.py
@@ -1,3 +1,3 @@ class Outer:
-def old(x):
+def new(x):
     def same(): pass
"""
    patch = Patch(data=data, digest="", base_tree="", head_tree="", changes=())
    assert touched_names(patch) == {"Outer", "old", "new"}

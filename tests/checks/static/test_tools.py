"""What the pinned tools know, and how their answers, and those of foreign tools, are read."""

from __future__ import annotations

import json
import subprocess

import pytest

from showcause.checks.static.rules import RUFF_RULES, TY_RULES, kind_of, symbol_in
from showcause.checks.static.sarif import read_sarif
from showcause.checks.static.tools import Unreadable, find_tool, relative, ruff_read, ty_config, ty_read
from showcause.errors import UsageError
from showcause.settings import load_settings
from showcause.settings_template import settings_template


@pytest.mark.parametrize("rule", TY_RULES)
def test_ty_knows_the_rules_by_these_names(rule: str) -> None:
    argv = [find_tool("ty").program, "explain", "rule", rule]
    done = subprocess.run(argv, capture_output=True, check=False, timeout=30)
    assert done.returncode == 0
    assert done.stdout.decode().startswith(f"# {rule}\n")


def test_ruff_knows_the_rules() -> None:
    for rule in RUFF_RULES:
        argv = [find_tool("ruff").program, "rule", rule]
        assert subprocess.run(argv, capture_output=True, check=False, timeout=30).returncode == 0


@pytest.mark.parametrize(
    ("message", "rule", "symbol"),
    [
        ("Undefined name `x`", "F821", "x"),
        ("Module `a.b` has no member `c`", "missing-attribute", "c"),
        ("Object of type `K` has no attribute `n`", "missing-attribute", "n"),
        ("No argument provided for required parameter `b` of function `f`", "missing-argument", "f"),
        (
            "Too many positional arguments to function `f`: expected 2, got 3",
            "too-many-positional-arguments",
            "f",
        ),
        ("nothing quoted", "x", ""),
    ],
)
def test_the_symbol(message: str, rule: str, symbol: str) -> None:
    assert symbol_in(message, rule) == symbol


def test_ruff_output() -> None:
    place = {"row": 3, "column": 5}
    entry = {
        "code": None,
        "filename": "/r/a/b.py",
        "location": place,
        "end_location": None,
        "message": "Expected x",
    }
    (found,) = ruff_read(json.dumps([entry]).encode(), "/r")
    assert (found.rule, found.path, found.line, found.column) == ("invalid-syntax", "a/b.py", 3, 5)
    assert kind_of(found).sort is None
    assert ruff_read(b"", "/r") == ()
    with pytest.raises(Unreadable):
        ruff_read(b"panicked at", "/r")


def test_ty_output() -> None:
    def entry(name: str) -> dict[str, object]:
        positions = {"begin": {"line": 1, "column": 2}, "end": {"line": 1, "column": 9}}
        place = {"path": "a.py", "positions": positions}
        return {"check_name": name, "description": f"{name}: said `x`", "location": place}

    (found,) = ty_read(json.dumps([entry("missing-attribute"), entry("division-by-zero")]).encode(), "/r")
    assert (found.message, found.end_column) == ("said `x`", 9)
    with pytest.raises(Unreadable, match="said"):
        ty_read(json.dumps([entry("panic")]).encode(), "/r")
    assert 'root = ["./src", "."]' in ty_config(["src", ""])


@pytest.mark.parametrize(
    ("told", "path"),
    [("/r/a.py", "a.py"), ("file:///r/a.py", "a.py"), ("./a.py", "a.py"), ("/rr/a.py", "/rr/a.py")],
)
def test_paths(told: str, path: str) -> None:
    assert relative(told, "/r") == path


def sarif(**run: object) -> bytes:
    return json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t"}}, **run}]}).encode()


def test_sarif() -> None:
    rules = {"driver": {"name": "t", "rules": [{"id": "R1"}]}}
    place = {"artifactLocation": {"uri": "a%20b.py", "uriBaseId": "ROOT"}, "region": {"startLine": 4}}
    results = [
        {"ruleIndex": 0, "message": {"text": "`x` is bad"}, "locations": [{"physicalLocation": place}]},
        {"ruleId": "R2", "message": {"text": "no place"}},
        {"ruleId": "R3", "kind": "pass", "message": {"text": "fine"}},
    ]
    bases = {"ROOT": {"uri": "file:///r/src/"}}
    found = read_sarif(sarif(tool=rules, results=results, originalUriBaseIds=bases), "/r", tool="t")
    assert [(f.rule, f.path, f.line, f.symbol) for f in found] == [
        ("R1", "src/a b.py", 4, "x"),
        ("R2", "", 1, ""),
    ]
    assert read_sarif(sarif(results=None), "/r", tool="t") == ()


@pytest.mark.parametrize(
    "output",
    [
        b"",
        b"[]",
        b"{}",
        sarif(invocations=[{"executionSuccessful": False, "exitCodeDescription": "out of memory"}]),
    ],
)
def test_what_is_no_sarif_is_refused(output: bytes) -> None:
    with pytest.raises(Unreadable):
        read_sarif(output, "/r", tool="t")


# ------------------------------------------------------------------ settings


def test_tools_of_the_settings() -> None:
    text = b'[[static]]\ncommand = ["a/semgrep", "--sarif"]\n[[static]]\ncommand = ["x"]\nrejects = true\n'
    first, second = load_settings(text, None).static
    assert (first.title, first.rejects, first.limit_s) == ("semgrep", False, 60.0)
    assert second.rejects
    assert load_settings(text, None).digest != load_settings(None, None).digest
    assert "[[static]]" in settings_template()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"[[static]]\n", "command"),
        (b"[[static]]\ncommand = []\n", "length >= 1"),
        (b'[[static]]\ncommand = "x"\n', "array"),
        (b'[[static]]\ncommand = ["x"]\nreject = true\n', "reject"),
        (b'[static]\ncommand = ["x"]\n', "array"),
        (b'[[static]]\ncommand = ["x"]\n[[static]]\ncommand = ["a/x"]\n', "two tools are called x"),
    ],
)
def test_broken_tools_of_the_settings(text: bytes, said: str) -> None:
    with pytest.raises(UsageError, match=r"^showcause.toml:1: \[static\]") as caught:
        load_settings(text, None)
    assert said in str(caught.value)

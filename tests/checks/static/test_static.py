"""The stage as a whole, on a little package: real tools, the real interpreter, the real sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest
from static_made import A, B, C, causes_of, checked, decided, item_of

from showcause.records import Attribution, Outcome, RunState, Stage, Verdict

ADDED = b"""

class Sub:
    def take(self, one):
        return one

    def go(self, v, y: "NoSuchType"):
        undefined_one
        Base()
        fun(1)
        fun(1, 2, 3)
        fun(1, 2, c=3)
        a.not_there
        pot = Pot(1)
        pot.fill()
        pot.no_such_thing
        Pot()
        Pot.nothing_here
        self.take()
        self.no_such_method()
        from shop.a import gone
        import shop.nowhere
        from . import nowhere_else
        for _ in v:
            if y:
                print(later)
            later = 1
"""
CONFIRMED = {
    "F821 undefined_one",
    "abstract-class-instantiation Base",
    "missing-argument fun",
    "too-many-positional-arguments fun",
    "unknown-argument fun",
    "missing-attribute not_there",
    "missing-argument Pot.fill",
    "missing-attribute no_such_thing",
    "missing-argument Pot.__init__",
    "missing-attribute nothing_here",
    "missing-argument Sub.take",
    "missing-attribute no_such_method",
    "missing-module-member gone",
    "import-not-found shop.nowhere",
    "missing-module-member nowhere_else",
}


def test_every_sound_rule_is_confirmed(tmp_path: Path) -> None:
    found = checked(tmp_path / "r", {"shop/b.py": B + ADDED})
    decision = decided(found)
    assert decision.verdict is Verdict.REJECT
    assert decision.decided_by is Stage.STATIC
    assert {cause.item.removeprefix("shop/b.py: ") for cause in decision.causes} == CONFIRMED
    undefined = causes_of(found)["shop/b.py: F821 undefined_one"]
    assert (undefined.path, undefined.line) == ("shop/b.py", 14)
    assert "neither in it nor a builtin" in undefined.head
    assert undefined.reproduce == ("showcause", "reproduce", "r#1")
    # neither a local that is set later nor an annotation may reject
    assert "as a global name" in item_of(found, "shop/b.py: F821 later").note
    assert item_of(found, "shop/b.py: F821 NoSuchType").note == "in an annotation"


GUARDED = [
    b"try:\n    import shop.fast\nexcept ImportError:\n    fast = None\n",
    b"try:\n    from shop.a import quick\nexcept (ImportError, OSError):\n    quick = None\n",
    b"def f():\n    try:\n        return unicode\n    except NameError:\n        return str\n",
    b"import typing\nif typing.TYPE_CHECKING:\n    from shop.a import Pan\n",
    b"if hasattr(a, 'other'):\n    a.other()\n",
    b"def f():\n    return a.other() if hasattr(a, 'other') else None\n",
    b"def f():\n    if not getattr(a, 'other', None):\n        return None\n    return a.other()\n",
    b"def f(x: 'Missing') -> 'Missing': ...\n",
    b"from __future__ import annotations\ndef f(x: Missing) -> Missing: ...\n",
    b"import sys\nif sys.platform == 'none':\n    from shop.a import winonly\n",
    b"def f():\n    return made_later  # noqa: F821\n",
    b"def f():\n    return _('text')\n",
    b"def g():\n    global made\n    made = 1\n\n\ndef f():\n    del made\n    return made\n",
    b"globals()['sneaked'] = 1\ndef f():\n    return sneaked\n",
    b"class M:\n    def __getattr__(self, n): return 1\ndef f():\n    return M().anything\n",
    b"class SizeMixin:\n    def f(self):\n        return self.of_the_other_class\n",
    b"class P:\n    def f(self):\n        return self.below\n"
    b"class Q(P):\n    def __init__(self):\n        self.below = 1\n",
    b"class P:\n    def __init__(self, **k):\n        self.__dict__.update(k)\n"
    b"    def f(self):\n        return self.key\n",
    b"import functools\ndef deco(f):\n    @functools.wraps(f)\n    def inner(*a): return f(1, *a)\n"
    b"    return inner\n@deco\ndef two(a, b): return a\ndef f():\n    return two(1)\n",
    b"def f(fun=print):\n    return fun(1)\n",
    b"def f(*a):\n    return fun(*a)\n",
    b"def f():\n    from contextlib import suppress\n"
    b"    with suppress(ImportError):\n        import shop.fast\n",
    b"import no_such_third_party\n",
    b"from shop._version import version\n",
]


def test_guarded_code_never_rejects(tmp_path: Path) -> None:
    """Each in a module of its own, all in one patch."""
    future = b"from __future__ import annotations\n"
    head = {}
    for number, text in enumerate(GUARDED):
        start = future if text.startswith(future) else b""
        head[f"shop/guarded{number}.py"] = start + B + b"\n\n" + text.removeprefix(start)
    found = checked(tmp_path / "r", head)
    assert causes_of(found) == {}
    assert not found.not_checked


def test_a_stray_script_in_the_root_never_rejects(tmp_path: Path) -> None:
    found = checked(tmp_path / "r", {"try_it.py": b"undefined_one\n", "try_that.py": b"def (\n"})
    assert causes_of(found) == {}
    assert len(item_ids(found)) >= 2


def test_importers_of_a_touched_module(tmp_path: Path) -> None:
    """The function moved and an importer was forgotten; another's call no longer fits. Tests do not count."""
    files = {
        "shop/a.py": A.replace(b"def moved", b"def renamed"),
        "shop/b.py": B.replace(b"a.moved", b"a.renamed"),
    }
    found = checked(tmp_path / "r", files)
    assert set(causes_of(found)) == {"shop/c.py: missing-module-member moved"}
    other = checked(tmp_path / "s", {"shop/a.py": A.replace(b"fun(a, b)", b"fun(a, b, c)")})
    assert set(causes_of(other)) == {"shop/b.py: missing-argument fun", "shop/c.py: missing-argument fun"}
    assert "on base: fun(a, b) takes it" in causes_of(other)["shop/c.py: missing-argument fun"].head


def test_a_forgotten_importer_that_keeps_its_package_from_loading(tmp_path: Path) -> None:
    base = {"shop/__init__.py": b"from . import c\n"}
    found = checked(tmp_path / "r", {"shop/a.py": A.replace(b"def moved", b"def renamed")}, base=base)
    assert "shop/c.py: missing-module-member moved" in causes_of(found)


def test_old_faults_are_evidence_when_their_line_is_edited(tmp_path: Path) -> None:
    found = checked(tmp_path / "r", {"shop/c.py": C.replace(b"old_fault(1)", b"old_fault(2)")})
    assert causes_of(found) == {}
    item = item_of(found, "shop/c.py: F821 old_fault")
    assert item.attribution is Attribution.PRE_EXISTING
    moved = checked(tmp_path / "s", {"shop/c.py": b"# a line\n" + C})
    assert causes_of(moved) == {}
    assert [i.note for c in moved.checks for i in c.items] == ["1 findings: F821 1"]


def test_syntax_errors(tmp_path: Path) -> None:
    found = checked(tmp_path / "r", {"shop/b.py": B + b"def (:\n"})
    cause = causes_of(found)["shop/b.py: syntax"]
    assert cause.line == 7
    assert "SyntaxError" in cause.head
    old = checked(tmp_path / "s", {"shop/b.py": B + b"def (::\n"}, base={"shop/b.py": B + b"def (:\n"})
    assert causes_of(old) == {}
    template = checked(tmp_path / "t", {"templates/x.py": b"class {{ name }}:\n", "shop/new.py": b"(\n"})
    assert set(causes_of(template)) == {"shop/new.py: syntax"}


def test_where_the_import_fails_for_another_reason_nothing_is_confirmed(tmp_path: Path) -> None:
    added = b"\nimport no_such_third_party\n\n\ndef f():\n    return not_there\n"
    found = checked(tmp_path / "r", {"shop/b.py": B + added})
    assert causes_of(found) == {}
    note = item_of(found, "shop/b.py: F821 not_there").note
    assert note.startswith("not confirmed: importing shop.b fails: ModuleNotFoundError")


def test_suppressions_that_the_patch_adds_are_flagged(tmp_path: Path) -> None:
    text = B.replace(b"import Base, Pot, fun\n", b"import Base, Pot, fun  # noqa\n")
    text += b"X = 1  # type: ignore[arg-type]\nY = 2  # noqa: E501\n"
    found = checked(tmp_path / "r", {"shop/b.py": text})
    assert [t.what for t in found.tampering] == [
        "adds a comment that silences a checker (line 2: # noqa)",
        "adds a comment that silences a checker (line 7: # type: ignore[arg-type])",
    ]


def test_the_answers_for_base_are_kept(tmp_path: Path) -> None:
    first = checked(tmp_path / "r", {"shop/c.py": C + b"X = lost\n"})
    again = checked(tmp_path / "r", {"shop/c.py": C + b"X = lost\n"}, keep=True)
    assert first.checks == again.checks


def test_configuration_comes_from_base(tmp_path: Path) -> None:
    """What base declares as a builtin is none of our business; what the patch declares so changes nothing."""
    ours = {"ruff.toml": b'builtins = ["given"]\n'}
    text = {"shop/b.py": B + b"def f():\n    return given\n"}
    assert item_ids(checked(tmp_path / "r", text, base=ours)) == []
    added = checked(tmp_path / "s", text | ours)
    assert "shop/b.py: F821 given" in causes_of(added)
    broken = checked(tmp_path / "t", text, base={"ruff.toml": b'required-version = ">=99"\n'})
    assert "shop/b.py: F821 given" in causes_of(broken)
    assert any("without the project's configuration" in note.why for note in broken.not_checked)


def item_ids(found: object) -> list[str]:
    return [i.id for c in found.checks for i in c.items if i.runs]  # type: ignore[attr-defined]


def test_a_patch_without_python_has_no_static_check(tmp_path: Path) -> None:
    assert checked(tmp_path / "r", {"README": b"x\n"}).checks == ()


# ------------------------------------------------------------------ tools of the settings

LINTER = b"""\
import json, pathlib, sys
found = []
for path in sorted(pathlib.Path("shop").glob("*.py")):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if "TODO" in line:
            place = {"artifactLocation": {"uri": str(path)}, "region": {"startLine": number}}
            found.append({"ruleId": "todo", "message": {"text": "`TODO` found"},
                          "locations": [{"physicalLocation": place}]})
if pathlib.Path("shop/a.py").read_text().startswith("# broken"):
    sys.exit("cannot read shop/a.py")
if pathlib.Path("shop/a.py").read_text().startswith("# mute"):
    sys.exit(0)
log = json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "l"}}, "results": found}]})
if len(sys.argv) > 1:
    pathlib.Path(sys.argv[1]).write_text(log)
else:
    print(log)
sys.exit(1 if found else 0)
"""
INFORMS = b'[[static]]\nname = "todo"\ncommand = ["python3", "lint.py"]\n'
REJECTS = b'[[static]]\nname = "todo"\nrejects = true\ncommand = ["python3", "lint.py", "{out}"]\n'
BASE = {"lint.py": LINTER}


def test_a_tool_of_the_settings_informs_or_rejects(tmp_path: Path) -> None:
    head = {"shop/b.py": B + b"# TODO\n", "shop/c.py": b"# a line\n" + C + b"X = 1  # TODO too\n"}
    base = BASE | {"shop/c.py": C + b"X = 1  # TODO too\n"}
    informs = checked(tmp_path / "r", head, base=base, settings=INFORMS)
    assert decided(informs).verdict is None
    assert [e.text for e in decided(informs).evidence] == [
        "shop/b.py: todo TODO (shop/b.py:7: `TODO` found): the settings let it inform only"
    ]
    rejects = checked(tmp_path / "s", head, base=base, settings=REJECTS)
    assert set(causes_of(rejects)) == {"shop/b.py: todo TODO"}


@pytest.mark.parametrize(("start", "why"), [(b"# broken\n", "cannot read"), (b"# mute\n", "no SARIF")])
def test_a3_a_linter_that_fails_on_base_proves_nothing(start: bytes, why: str, tmp_path: Path) -> None:
    head = {"shop/a.py": A, "shop/b.py": B + b"# TODO\n"}
    found = checked(tmp_path / "r", head, base=BASE | {"shop/a.py": start + A}, settings=REJECTS)
    (check,) = (check for check in found.checks if check.id == "static.todo")
    assert check.state is not RunState.COMPLETE
    assert why in check.why
    (item,) = check.items
    assert (item.base, item.attribution) == (Outcome.ERROR, Attribution.UNATTRIBUTED)
    states = {e.state for e in decided(found).evidence if "todo" in e.text}
    assert states == {"error"}
    assert decided(found).verdict is None


def test_a3_lines_inserted_above_an_old_finding(tmp_path: Path) -> None:
    base = BASE | {"shop/b.py": b"# TODO\n" + B}
    found = checked(
        tmp_path / "r", {"shop/b.py": b"# 1\n# 2\n# 3\n# TODO\n" + B}, base=base, settings=REJECTS
    )
    assert item_ids(found) == []
    assert decided(found).verdict is None


def test_a_tool_that_is_not_there(tmp_path: Path) -> None:
    settings = b'[[static]]\ncommand = ["no-such-tool"]\n'
    found = checked(tmp_path / "r", {"shop/b.py": B + b"X = 1\n"}, settings=settings)
    (check,) = (check for check in found.checks if check.id == "static.no-such-tool")
    assert check.state is not RunState.COMPLETE

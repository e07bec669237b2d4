"""Settings from base's files: every key by one table, every mistake with file and line."""

from __future__ import annotations

import tomllib

import msgspec
import pytest

from showcause.errors import UsageError
from showcause.records import Policy, RegressionRule
from showcause.settings import TABLE, Kind, Settings, load_settings, override
from showcause.settings_template import settings_template


def test_defaults() -> None:
    settings = load_settings(None, None)
    assert settings.policy == Policy()
    assert settings.sandbox.network == "loopback"
    assert settings.suite.time_budget_s is None
    assert settings.sources == {}


def test_the_table_and_the_records_are_the_same_list() -> None:
    settings = load_settings(None, None)
    fields = {
        f"{section}.{field}"
        for section in ("gate", "suite", "sandbox", "review", "probe", "store")
        for field in getattr(settings, section).__struct_fields__
    }
    assert fields == {setting.key for setting in TABLE}


def test_reads_showcause_toml() -> None:
    text = b"""
[gate]
regression = "reject"
[suite]
command = ["make", "test"]
time_budget_s = 30
env = {A = "1"}
[sandbox]
readable = ["/opt/data"]
"""
    settings = load_settings(text, None)
    assert settings.gate.regression is RegressionRule.REJECT
    assert settings.suite.command == ("make", "test")
    assert settings.suite.env == {"A": "1"}
    assert settings.suite.time_budget_s == 30
    assert settings.sandbox.readable == ("/opt/data",)
    assert settings.sources["suite.command"] == "showcause.toml"


def test_reads_pyproject() -> None:
    settings = load_settings(
        None, b'[project]\nname = "x"\n[tool.showcause.suite]\npython = ".venv/bin/python"\n'
    )
    assert settings.suite.python == ".venv/bin/python"
    assert settings.sources == {"suite.python": "pyproject.toml"}


def test_showcause_toml_is_used_alone() -> None:
    settings = load_settings(b"[sandbox]\nmemory_mb = 1\n", b'[tool.showcause.suite]\npython = "x"\n')
    assert settings.suite.python == ""
    assert settings.sandbox.memory_mb == 1
    assert settings.notes == ("[tool.showcause] of pyproject.toml is not used: there is a showcause.toml",)


def test_a_pyproject_that_is_not_about_us_may_be_broken() -> None:
    assert load_settings(None, b"[broken") == load_settings(None, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[suite]\n\ncomand = []\n",
            'showcause.toml:3: [suite] comand: unknown key; did you mean "command"?',
        ),
        ("[siute]\n", 'showcause.toml:1: [siute]: unknown section; did you mean "suite"?'),
        (
            "a = 1\n[suite]\n",
            "showcause.toml:1: [a]: unknown section; known: gate, suite, sandbox, review, probe, store,"
            " static, models, reviewers",
        ),
        ("suite = 1\n", "showcause.toml:1: [suite]: must be a table"),
        (
            "[gate]\npolicy = 'default'\n[sandbox]\nmemory_mb = true # no\n",
            "showcause.toml:4: [sandbox] memory_mb: must be a positive whole number, not true",
        ),
        (
            "[sandbox]\nprocesses = 0\n",
            "showcause.toml:2: [sandbox] processes: must be a positive whole number, not 0",
        ),
        (
            "[suite]\ntime_budget_s = inf\n",
            "showcause.toml:2: [suite] time_budget_s: must be a positive number of seconds, not Infinity",
        ),
        (
            "[suite]\ncommand = 'make'\n",
            'showcause.toml:2: [suite] command: must be a list of texts, not "make"',
        ),
        ("[suite.env]\nA = 1\n", 'showcause.toml:1: [suite] env: must be a table of texts, not {"A": 1}'),
        ("suite.env.A = 1\n", 'showcause.toml:1: [suite] env: must be a table of texts, not {"A": 1}'),
        (
            "[sandbox]\nnetwork = 'on'\n",
            'showcause.toml:2: [sandbox] network: must be one of none, loopback, host, not "on"',
        ),
        ("[gate]\npolicy = \n", "showcause.toml:2: not TOML: Invalid value"),
        ("[gate]\n[gate]\n", "showcause.toml:2: not TOML: Cannot declare ('gate',) twice"),
    ],
)
def test_mistakes_name_file_line_and_cure(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_settings(text.encode(), None)
    assert str(caught.value) == message


def test_mistakes_in_pyproject_name_its_table() -> None:
    with pytest.raises(UsageError, match=r"^pyproject.toml:4: \[tool.showcause.suite\] pyhton: .*python"):
        load_settings(None, b'[project]\nname = "showcause"\n[tool.showcause.suite]\npyhton = "x"\n')
    with pytest.raises(UsageError, match=r"^pyproject.toml: tool.showcause must be a table"):
        load_settings(None, b"[tool]\nshowcause = 3\n")


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(UsageError, match=r"^showcause.toml:2: not UTF-8 text"):
        load_settings(b"[gate]\npolicy = '\xff'\n", None)


def test_override() -> None:
    settings = load_settings(b"[suite]\npython = 'a'\n[sandbox]\nprocesses = 3\n", None)
    changed = override(settings, {"suite.python": "b", "suite.build": ["make"]})
    assert (changed.suite.python, changed.suite.build, changed.sandbox.processes) == ("b", ("make",), 3)
    assert changed.sources == {
        "suite.python": "command line",
        "suite.build": "command line",
        "sandbox.processes": "showcause.toml",
    }
    assert settings.suite.python == "a"
    with pytest.raises(
        UsageError, match=r"command line: suite.pyton: unknown setting; did you mean .suite.python"
    ):
        override(settings, {"suite.pyton": ""})
    with pytest.raises(UsageError, match="must be true or false"):
        override(settings, {"sandbox.allow_unsandboxed": 1})


def test_digest_is_of_values_alone() -> None:
    one = load_settings(b"[sandbox]\nprocesses = 3\n", None)
    other = load_settings(None, b"[tool.showcause.sandbox]\nprocesses = 3\n")
    assert one.digest == other.digest
    assert one.digest != load_settings(None, None).digest
    assert load_settings(b"[sandbox]\nprocesses = 512\n", None).digest == load_settings(None, None).digest


def test_the_template_is_valid_with_and_without_its_comments() -> None:
    text = settings_template()
    assert load_settings(text.encode(), None).digest == load_settings(None, None).digest
    live = "\n".join(line.removeprefix("# ") if " = " in line else line for line in text.splitlines())
    values = tomllib.loads(live)
    assert {f"{section}.{name}" for section, table in values.items() for name in table} == {
        s.key for s in TABLE
    }
    load_settings(live.encode(), None)


@pytest.mark.parametrize("setting", TABLE, ids=lambda setting: setting.key)
def test_every_wrong_kind_is_refused(setting: object) -> None:
    wrong = {
        Kind.TEXT: 1,
        Kind.LIST: "x",
        Kind.SECONDS: "1",
        Kind.COUNT: 1.5,
        Kind.FLAG: "no",
        Kind.TEXTS: [],
        Kind.SHARE: 1.5,
        Kind.WARMTH: -1,
    }
    assert isinstance(setting, type(TABLE[0]))
    with pytest.raises(UsageError):
        override(load_settings(None, None), {setting.key: wrong[setting.kind]})


def test_models_by_name() -> None:
    text = b'[models.a]\nkind = "openai"\nmodel = "m"\n[models.b]\nkind = "mailbox"\npath = "box"\n'
    settings = load_settings(text, None)
    assert [spec.name for spec in settings.models] == ["a", "b"]
    assert settings.model("b").path == "box"
    assert settings.digest != load_settings(None, None).digest
    assert override(settings, {"review.reviewer": "a"}).models == settings.models
    with pytest.raises(UsageError, match=r"no \[models.c\] in the settings; there is: a, b"):
        settings.model("c")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[models.a]\nkind = "openai"\nurl = "x"\n',
            r"showcause.toml:1: \[models\] a: unknown key url; did you mean .base_url",
        ),
        ("[models.a]\n", r"showcause.toml:1: \[models\] a: .*kind"),
        ("[models]\na = 1\n", r"showcause.toml:2: \[models\] a: must be a table"),
        ("models = 1\n", r"must hold tables"),
    ],
)
def test_mistakes_in_models(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_settings(text.encode(), None)


def test_settings_are_frozen() -> None:
    settings = load_settings(None, None)
    with pytest.raises(AttributeError):
        settings.gate = settings.gate  # type: ignore[misc]
    assert msgspec.convert(msgspec.to_builtins(settings), Settings) == settings

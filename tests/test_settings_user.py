"""The user's own settings: models for every repository, and nothing that protects one."""

from __future__ import annotations

from pathlib import Path

import pytest

from showcause.errors import UsageError
from showcause.records import ModelSpec
from showcause.settings import load_settings, with_models, with_user_file
from showcause.settings.user import ENVIRON, user_file

OWN = b"""
[models.mine]
kind = "openai"
model = "m"
[review]
reviewer = "mine"
"""


def test_where_it_is_looked_for(tmp_path: Path) -> None:
    place = tmp_path / "showcause" / "showcause.toml"
    place.parent.mkdir()
    place.write_bytes(OWN)
    assert user_file({"XDG_CONFIG_HOME": str(tmp_path)}) == (str(place), OWN)
    assert user_file({"HOME": str(tmp_path)}) is None
    assert user_file({}) is None
    assert user_file({ENVIRON: str(place), "XDG_CONFIG_HOME": "/nowhere"}) == (str(place), OWN)
    with pytest.raises(UsageError, match=r"SHOWCAUSE_CONFIG=.*No such file"):
        user_file({ENVIRON: str(tmp_path / "other.toml")})


def test_it_is_over_the_repositorys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "own.toml"
    place.write_bytes(OWN)
    monkeypatch.setenv(ENVIRON, str(place))
    theirs = b'[models.mine]\nkind = "anthropic"\n[review]\nreviewer = "other"\nvotes = 3\n'
    settings = with_user_file(load_settings(theirs, None))
    assert (settings.review.reviewer, settings.review.votes) == ("mine", 3)
    assert settings.model("mine").kind == "openai"
    assert settings.trusted == {"mine"}
    assert settings.sources["review.reviewer"] == str(place)


@pytest.mark.parametrize(
    "text",
    ['[gate]\nregression = "evidence"\n', "[sandbox]\nallow_unsandboxed = true\n", "[suite]\npython = 'x'\n"],
)
def test_it_takes_nothing_that_protects_a_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    place = tmp_path / "own.toml"
    place.write_text(text)
    monkeypatch.setenv(ENVIRON, str(place))
    with pytest.raises(UsageError, match="belongs to the repository"):
        with_user_file(load_settings(None, None))


def test_mistakes_in_it_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "own.toml"
    place.write_text("[models.x]\n")
    monkeypatch.setenv(ENVIRON, str(place))
    with pytest.raises(UsageError, match=rf"{place}:1: \[models\] x"):
        with_user_file(load_settings(None, None))


def test_models_of_a_caller() -> None:
    spec = ModelSpec(name="a", kind="scripted")
    settings = with_models(load_settings(b'[models.a]\nkind = "openai"\n', None), (spec,))
    assert settings.models == (spec,)
    assert settings.trusted == {"a"}

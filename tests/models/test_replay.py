"""Recorded with the real clients, replayed byte for byte with the server gone."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from models.conftest import KEY
from models.server import completion, error, message, provider
from showcause.canon import canonical_json
from showcause.clock import Deadline
from showcause.errors import UsageError
from showcause.models import Act, Cassette, Recorded, Scripted, Step, mask, open_model
from showcause.records import (
    ChatFailure,
    ChatFailureKind,
    ChatReply,
    ChatRequest,
    ChatRole,
    Message,
    ModelSpec,
)


def question(text: str = "Is it right?", **changed: object) -> ChatRequest:
    messages = (Message(role=ChatRole.USER, content=text),)
    return msgspec.structs.replace(ChatRequest(messages=messages), **changed)


def within() -> Deadline:
    return Deadline.after(30)


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_k_equal_votes_are_k_recordings(kind: str, tmp_path: Path) -> None:
    pytest.importorskip(kind)
    texts = ["one", f"two, and the key is {KEY}", "three"]
    if kind == "openai":
        answers = [completion(text) for text in texts]
    else:
        answers = [message({"type": "text", "text": text}) for text in texts]
    asked = question(f"I found {KEY} in it")
    with provider([*answers, error(401, "no")]) as server:
        spec = ModelSpec(name="a/b", kind=kind, base_url=server.url, model="test", api_key_env="TEST_KEY")
        chat = open_model(spec, record=tmp_path / "tape")
        recorded = [chat.ask(asked, deadline=within()) for _ in range(4)]
    assert [getattr(found, "text", None) for found in recorded] == [
        "one", "two, and the key is [masked:TEST_KEY]", "three", None,
    ]  # fmt: skip
    written = sorted(path for path in (tmp_path / "tape").rglob("*") if path.is_file())
    assert len(written) == 5
    assert all(KEY.encode() not in path.read_bytes() for path in written)

    replay = open_model(spec, replay=tmp_path / "tape")
    replayed = [replay.ask(asked, deadline=within()) for _ in range(4)]
    assert [canonical_json(found) for found in replayed] == [canonical_json(found) for found in recorded]
    assert canonical_json(replay.ask(msgspec.structs.replace(asked, ordinal=2), deadline=within())) == (
        canonical_json(recorded[1])
    )


def test_a_miss_is_a_failure_and_never_a_call(tmp_path: Path) -> None:
    calls: list[ChatRequest] = []

    def answerer(request: ChatRequest) -> str:
        calls.append(request)
        return "yes"

    Recorded(Scripted("s", answerer), Cassette(tmp_path, "s", create=True)).ask(question(), deadline=within())
    replay = open_model(ModelSpec(name="s", kind="scripted", model="scripted-1"), replay=tmp_path)
    assert isinstance(replay.ask(question(), deadline=within()), ChatReply)
    for missing in (question(), question("another"), question(temperature=0.1), question(model="other")):
        found = replay.ask(missing, deadline=within())
        assert isinstance(found, ChatFailure)
        assert found.kind is ChatFailureKind.NOT_RECORDED
    assert len(calls) == 1


def test_recording_goes_on_where_it_stopped_and_pays_nothing_twice(tmp_path: Path) -> None:
    steps = [Step(text="one"), Step(act=Act.FAIL), Step(text="two")]
    model = Scripted("s", steps)
    first = Recorded(model, Cassette(tmp_path, "s", create=True))
    found = [first.ask(question(), deadline=within()) for _ in range(2)]
    assert isinstance(found[1], ChatFailure)
    again = Recorded(model, Cassette(tmp_path, "s", create=True))
    found = [again.ask(question(), deadline=within()) for _ in range(2)]
    assert [getattr(reply, "text", None) for reply in found] == ["one", "two"]
    assert len(model.asked) == 3
    assert len(list((tmp_path / "s").glob("*-failed-1.json"))) == 1


def test_folders_that_are_no_cassette_and_recordings_that_are_damaged(tmp_path: Path) -> None:
    spec = ModelSpec(name="s", kind="scripted", model="scripted-1")
    with pytest.raises(UsageError, match="no recordings"):
        open_model(spec, replay=tmp_path / "none")
    with pytest.raises(UsageError, match="not both"):
        open_model(spec, replay=tmp_path, record=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot record"):
        Cassette(tmp_path / "file", "s", create=True)
    Recorded(Scripted("s", ["yes"]), Cassette(tmp_path, "s", create=True)).ask(question(), deadline=within())
    [tape] = (tmp_path / "s").glob("*.json")
    whole = tape.read_bytes()
    for damaged in (b"", whole[:100], whole.replace(b"cassette/1", b"cassette/9"), b"[]"):
        tape.write_bytes(damaged)
        found = open_model(spec, replay=tmp_path).ask(question(), deadline=within())
        assert isinstance(found, ChatFailure)
        assert found.kind is ChatFailureKind.MALFORMED
    (tmp_path / "cassette.json").write_text('{"schema": "showcause/cassette/9"}')
    with pytest.raises(UsageError, match="version"):
        open_model(spec, replay=tmp_path)


def test_what_cannot_be_written_is_a_failure(tmp_path: Path) -> None:
    recorded = Recorded(Scripted("s", ["yes"]), Cassette(tmp_path, "s", create=True))
    (tmp_path / "s").write_text("in the way")
    found = recorded.ask(question(), deadline=within())
    assert isinstance(found, ChatFailure)
    assert found.kind is ChatFailureKind.FAULT


def test_masking_is_by_value() -> None:
    secrets = {"A": "abcdefgh", "B": "abcdefghijkl", "SHORT": "abc", "C": 'qu"ote\\s'}
    assert mask("abcdefghijkl abcdefgh abc", secrets) == ("[masked:B] [masked:A] abc", 2)
    assert mask('qu"ote\\s', secrets) == ("[masked:C]", 1)
    assert mask("API_KEY=hunter2", secrets) == ("API_KEY=hunter2", 0)
    assert mask("abc", {}) == ("abc", 0)

"""A folder as a model: whole answers only, whatever shape a person gives them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from showcause.clock import Deadline
from showcause.errors import UsageError
from showcause.models import Mailbox, open_model
from showcause.records import (
    ChatFailure,
    ChatFailureKind,
    ChatReply,
    ChatRequest,
    ChatRole,
    FinishReason,
    Message,
    ModelSpec,
)

REQUEST = ChatRequest(messages=(Message(role=ChatRole.USER, content="Is it right? 正しい?"),))


def exchange(
    folder: Path, answer: Callable[[Path, str], None], *, limit_s: float = 5.0
) -> ChatReply | ChatFailure:
    """Ask, and let `answer(folder of answers, id)` act once the question lies there."""
    box = Mailbox("box", folder, settle_s=0.1)

    def person() -> None:
        while not (mails := list(folder.glob("requests/*.json"))):
            time.sleep(0.005)
        answer(folder / "answers", mails[0].stem)

    thread = threading.Thread(target=person)
    thread.start()
    found = box.ask(REQUEST, deadline=Deadline.after(limit_s))
    thread.join()
    assert not list(folder.glob("requests/*"))
    return found


def test_the_question_is_whole_and_says_what_to_do(tmp_path: Path) -> None:
    seen = {}

    def answer(answers: Path, mail: str) -> None:
        seen.update(json.loads((answers.parent / "requests" / f"{mail}.json").read_text()))
        (answers / f"{mail}.txt").write_text("yes\n")

    found = exchange(tmp_path, answer)
    assert isinstance(found, ChatReply)
    assert (found.text, found.finish_reason, found.reported_model) == ("yes\n", FinishReason.STOP, "")
    assert seen["messages"] == [{"role": "user", "content": "Is it right? 正しい?"}]
    assert seen["answer_file"] == f"answers/{seen['id']}.json"
    assert "rename it" in (tmp_path / "README").read_text()
    assert len(list(tmp_path.glob("answered/*.json"))) == 1


@pytest.mark.parametrize(
    ("written", "text", "model"),
    [
        ('{"decision": "accept"}', '{"decision": "accept"}', ""),
        ('{"text": "yes", "model": "a person"}', "yes", "a person"),
        ('{"text": "yes", "decision": "accept"}', '{"text": "yes", "decision": "accept"}', ""),
        ('\ufeff{"decision": "accept"}', '{"decision": "accept"}', ""),
        ("[1, 2]", "[1, 2]", ""),
    ],
)
def test_an_answer_as_json(written: str, text: str, model: str, tmp_path: Path) -> None:
    found = exchange(tmp_path, lambda answers, mail: _put(answers / f"{mail}.json", written.encode()))
    assert isinstance(found, ChatReply)
    assert (found.text, found.reported_model) == (text, model)


def test_half_an_answer_is_not_read(tmp_path: Path) -> None:
    def slowly(answers: Path, mail: str) -> None:
        with (answers / f"{mail}.json").open("w") as file:
            file.write('{"decision": ')
            file.flush()
            time.sleep(0.3)
            file.write('"accept"}')

    found = exchange(tmp_path, slowly)
    assert isinstance(found, ChatReply)
    assert found.text == '{"decision": "accept"}'


def test_a_text_is_read_once_it_rests(tmp_path: Path) -> None:
    def slowly(answers: Path, mail: str) -> None:
        path = answers / f"{mail}.txt"
        path.touch()
        time.sleep(0.25)  # empty: an editor made it
        with path.open("w") as file:
            for word in ("one ", "two ", "three"):
                file.write(word)
                file.flush()
                time.sleep(0.03)

    found = exchange(tmp_path, slowly)
    assert isinstance(found, ChatReply)
    assert found.text == "one two three"


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("none.json", b"{}", ChatFailureKind.TIMEOUT),
        ("{}.json", b'{"never": "closed"', ChatFailureKind.TIMEOUT),
        ("{}.part", b"still writing", ChatFailureKind.TIMEOUT),
        ("{}.txt", b"caf\xe9", ChatFailureKind.MALFORMED),
    ],
)
def test_no_usable_answer(name: str, data: bytes, kind: ChatFailureKind, tmp_path: Path) -> None:
    found = exchange(tmp_path, lambda answers, mail: _put(answers / name.format(mail), data), limit_s=0.6)
    assert isinstance(found, ChatFailure)
    assert found.kind is kind
    assert len(list(tmp_path.glob("*ed/*.json"))) == 1
    if name == "{}.json":
        assert "not complete" in found.message


def test_an_envelope_tells_why_the_answer_ended(tmp_path: Path) -> None:
    body = b'{"text": "half", "finish_reason": "length"}'
    found = exchange(tmp_path, lambda answers, mail: _put(answers / f"{mail}.json", body))
    assert isinstance(found, ChatReply)
    assert not found.complete


def test_cancelling_and_a_folder_that_is_none(tmp_path: Path) -> None:
    cancel = threading.Event()
    threading.Timer(0.1, cancel.set).start()
    found = Mailbox("box", tmp_path).ask(REQUEST, deadline=Deadline.after(5), cancel=cancel)
    assert isinstance(found, ChatFailure)
    assert found.kind is ChatFailureKind.CANCELLED
    (tmp_path / "file").write_text("")
    found = Mailbox("box", tmp_path / "file").ask(REQUEST, deadline=Deadline.after(5))
    assert isinstance(found, ChatFailure)
    assert found.kind is ChatFailureKind.UNREACHABLE


def test_settings(tmp_path: Path) -> None:
    spec = ModelSpec(name="box", kind="mailbox", path=str(tmp_path))
    assert isinstance(open_model(spec), Mailbox)
    for changed in ({"path": ""}, {"extra": {"settle_s": "soon"}}, {"extra": {"settle_s": "nan"}}):
        with pytest.raises(UsageError, match=r"models\.box"):
            open_model(msgspec.structs.replace(spec, **changed))


def _put(path: Path, data: bytes) -> None:
    part = path.with_name(path.name + ".new")
    part.write_bytes(data)
    part.replace(path)

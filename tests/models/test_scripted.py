"""The scripted model does what the script says; families are told by model ids."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import msgspec
import pytest

from showcause.clock import Deadline
from showcause.errors import UsageError
from showcause.models import MODELS, Act, Scripted, Step, family_of, open_model
from showcause.records import (
    ChatFailure,
    ChatFailureKind,
    ChatReply,
    ChatRequest,
    ChatRole,
    Message,
    ModelSpec,
)

VOTE = '{"decision": "accept", "state": "passed"}'


def ask(chat: Scripted, text: str = "?", limit_s: float = 5.0) -> ChatReply | ChatFailure:
    request = ChatRequest(messages=(Message(role=ChatRole.USER, content=text),))
    return chat.ask(request, deadline=Deadline.after(limit_s))


def told(act: Act) -> ChatReply:
    found = ask(Scripted("s", [Step(act=act, text=VOTE)]))
    assert isinstance(found, ChatReply)
    return found


def test_every_way_to_answer() -> None:
    assert told(Act.ANSWER).text == VOTE
    assert told(Act.LIE).text == '{"decision": "reject", "state": "failed"}'
    assert len(told(Act.FLOOD).text) > 1_000_000
    assert told(Act.EMPTY).text == ""
    assert told(Act.TWO_OBJECTS).text.count("decision") == 2
    assert not told(Act.LENGTH).complete
    assert told(Act.WRONG_MODEL).reported_model != told(Act.WRONG_MODEL).asked_model
    prose = ask(Scripted("s", [Step(act=Act.PROSE)]))
    assert isinstance(prose, ChatReply)
    assert "APPROVED" in prose.text


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (Act.STALL, ChatFailureKind.TIMEOUT),
        (Act.CUT, ChatFailureKind.CUT),
        (Act.CRASH, ChatFailureKind.FAULT),
        (Act.FAIL, ChatFailureKind.SERVER_FAULT),
    ],
)
def test_every_way_to_fail(act: Act, kind: ChatFailureKind) -> None:
    found = ask(Scripted("s", [Step(act=act)]), limit_s=0.1 if act is Act.STALL else 5)
    assert isinstance(found, ChatFailure)
    assert found.kind is kind


def test_a_stall_is_cancelled() -> None:
    cancel = threading.Event()
    threading.Timer(0.05, cancel.set).start()
    request = ChatRequest(messages=())
    found = Scripted("s", [Step(act=Act.STALL)]).ask(request, deadline=Deadline.after(5), cancel=cancel)
    assert isinstance(found, ChatFailure)
    assert found.kind is ChatFailureKind.CANCELLED


def test_steps_are_chosen_by_the_question_and_used_in_turn() -> None:
    steps = [
        Step(when="probe", text="p"),
        Step(text="a"),
        Step(text="b", when=""),
        Step(when="vote", text="{{nonce}}", echo={"nonce": r"nonce (\w+)"}),
    ]
    chat = Scripted("s", steps)
    texts = [getattr(ask(chat, text), "text", None) for text in ("x", "a probe", "y", "z", "vote: nonce e77")]
    assert texts == ["a", "p", "b", "a", "e77"]
    assert len(chat.asked) == 5
    missing = ask(Scripted("s", [Step(when="never")]))
    assert isinstance(missing, ChatFailure)


def test_a_function_may_answer_and_its_errors_are_values() -> None:
    chat = Scripted("s", lambda request: request.messages[0].content.upper())
    assert getattr(ask(chat, "up"), "text", None) == "UP"
    broken = ask(Scripted("s", lambda request: str(1 / 0)))
    assert isinstance(broken, ChatFailure)
    assert "division" in broken.message


def test_a_script_file(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    spec = ModelSpec(name="s", kind="scripted", path=str(path))
    good = {"schema": "showcause/script/1", "steps": [{"text": "hi"}, {"act": "stall"}]}
    path.write_text(json.dumps(good))
    chat = open_model(spec)
    assert isinstance(chat, Scripted)
    assert getattr(ask(chat), "text", None) == "hi"
    for bad in ("", "[]", json.dumps(good | {"schema": "x"}), json.dumps(good | {"steps": [{"act": "fly"}]})):
        path.write_text(bad)
        with pytest.raises(UsageError, match=r"models\.s"):
            open_model(spec)
    with pytest.raises(UsageError, match="No such file"):
        open_model(msgspec.structs.replace(spec, path=str(tmp_path / "none")))


def test_unknown_kinds_say_what_exists() -> None:
    with pytest.raises(UsageError, match=", ".join(MODELS)):
        open_model(ModelSpec(name="s", kind="oracle"))


@pytest.mark.parametrize(
    ("model", "url", "family"),
    [
        ("gpt-5.4", "", "openai"),
        ("openai/gpt-oss-120b", "https://router.example/v1", "openai"),
        ("o3-mini", "", "openai"),
        ("ft:gpt-4o-mini:acme::x", "https://api.openai.com/v1", "openai"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "", "anthropic"),
        ("models/gemini-2.5-pro", "", "google"),
        ("meta-llama/Llama-3.3-70B-Instruct", "", "meta"),
        ("Qwen2.5-Coder-0.5B-Instruct-Q4_K_M", "http://127.0.0.1:8080/v1", "alibaba"),
        ("kimi-k2", "", "moonshot"),
        ("deepseek-chat", "", "deepseek"),
        ("deepseek-r1-distill-qwen-7b", "", "unknown"),
        ("nvidia/llama-3.1-nemotron-70b", "", "unknown"),
        ("claude-sonnet-4", "https://api.openai.com/v1", "unknown"),
        ("our-model", "https://api.deepseek.com", "deepseek"),
        ("our-model", "https://api.openai.com.evil.example/v1", "unknown"),
        ("gpt-neo-2.7B", "", "eleuther"),
        ("metal-model", "", "unknown"),
        ("", "", "unknown"),
    ],
)
def test_families(model: str, url: str, family: str) -> None:
    assert family_of(model, url) == family

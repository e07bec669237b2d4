"""The official `anthropic` client against a scripted server."""

from __future__ import annotations

import json
import threading

import msgspec
import pytest

from models.conftest import KEY
from models.server import Answer, Script, error, message, provider
from showcause.clock import Deadline
from showcause.errors import UsageError
from showcause.models import open_model
from showcause.models.anthropic import AnthropicChat
from showcause.models.calling import Retrying
from showcause.records import (
    ChatFailure,
    ChatFailureKind,
    ChatReply,
    ChatRequest,
    ChatRole,
    ChatUsage,
    FinishReason,
    JsonSchema,
    Message,
    ModelSpec,
)

pytest.importorskip("anthropic")

SPEC = ModelSpec(name="a", kind="anthropic", model="claude-test", api_key_env="TEST_KEY")
SCHEMA = JsonSchema(name="vote", schema={"type": "object", "properties": {"decision": {"type": "string"}}})
REQUEST = ChatRequest(
    messages=(
        Message(role=ChatRole.SYSTEM, content="You review."),
        Message(role=ChatRole.USER, content="Is it right?"),
    )
)


def chat_at(url: str, **extra: str) -> AnthropicChat:
    chat = open_model(msgspec.structs.replace(SPEC, base_url=url, extra=extra))
    assert isinstance(chat, AnthropicChat)
    chat.retrying = Retrying(first_s=0.01)
    return chat


def asked(
    script: Script, request: ChatRequest = REQUEST, *, limit_s: float = 25.0, **extra: str
) -> tuple[ChatReply | ChatFailure, list[dict[str, object]]]:
    with provider(script) as server:
        found = chat_at(server.url, **extra).ask(request, deadline=Deadline.after(limit_s))
        assert KEY not in repr(found)
        return found, [seen.body for seen in server.seen]


def test_an_answer_and_what_was_sent_for_it() -> None:
    request = msgspec.structs.replace(REQUEST, temperature=0.8, seed=3, logprobs=2, max_tokens=50)
    usage = {"input_tokens": 11, "output_tokens": 7, "cache_read_input_tokens": 100}
    with provider([message({"type": "text", "text": "yes"}, usage=usage)]) as server:
        found = chat_at(server.url).ask(request, deadline=Deadline.after(30))
        [seen] = server.seen
    assert seen.path.split("?")[0] == "/v1/messages"
    assert KEY in (seen.headers.get("x-api-key") or seen.headers["authorization"])
    assert seen.body == {
        "model": "claude-test",
        "max_tokens": 50,
        "system": "You review.",
        "messages": [{"role": "user", "content": "Is it right?"}],
        "temperature": 0.8,
    }
    assert isinstance(found, ChatReply)
    assert (found.text, found.finish_reason, found.reported_model) == (
        "yes",
        FinishReason.STOP,
        "claude-test",
    )
    assert found.usage == ChatUsage(prompt_tokens=111, completion_tokens=7)
    assert [note.split(":")[0] for note in found.notes] == ["seed", "logprobs"]


def test_a_schema_is_a_tool_whose_input_is_the_answer() -> None:
    use = {"type": "tool_use", "id": "t", "name": "vote", "input": {"decision": "accept", "why": "é"}}
    request = msgspec.structs.replace(REQUEST, json_schema=SCHEMA)
    found, [body] = asked([message({"type": "text", "text": "Well,"}, use, stop_reason="tool_use")], request)
    assert body["tool_choice"] == {"type": "tool", "name": "vote"}
    assert isinstance(found, ChatReply)
    assert (json.loads(found.text), found.finish_reason) == (use["input"], FinishReason.STOP)
    assert "é" in found.text
    twice, _ = asked([message(use, use, stop_reason="tool_use")], request)
    assert isinstance(twice, ChatReply)
    assert twice.text.count("accept") == 2  # two objects: for the reader of votes to refuse
    cut, _ = asked([message(use, stop_reason="max_tokens")], request)
    assert isinstance(cut, ChatReply)
    assert cut.finish_reason is FinishReason.LENGTH


def test_a_schema_that_is_refused_or_not_wanted_is_left_out() -> None:
    def script(seen: object) -> Answer:
        said = "tool_choice: this model does not support tools"
        return error(400, said) if "tools" in getattr(seen, "body", {}) else message()

    request = msgspec.structs.replace(REQUEST, json_schema=SCHEMA)
    found, bodies = asked(script, request)
    assert isinstance(found, ChatReply)
    assert (found.notes, len(bodies)) == (("json_schema: refused by the endpoint, left out",), 2)
    found, [body] = asked([message()], request, json="plain")
    assert isinstance(found, ChatReply)
    assert "tools" not in body
    assert found.notes == ("json_schema: left out, as the settings say",)


@pytest.mark.parametrize(
    ("answer", "kind", "calls"),
    [
        (error(400, "Your credit balance is too low"), ChatFailureKind.SPENT, 1),
        (error(401, f"invalid x-api-key {KEY}"), ChatFailureKind.AUTH, 1),
        (error(429, "slow", {"retry-after": "300"}), ChatFailureKind.RATE_LIMIT, 1),
        (error(429, "slow"), ChatFailureKind.RATE_LIMIT, 3),
        (error(529, "overloaded"), ChatFailureKind.SERVER_FAULT, 3),
        (Answer(status=308, headers={"location": "http://127.0.0.2:9/"}), ChatFailureKind.BAD_REQUEST, 1),
        (Answer(body=message().data, cut=50), ChatFailureKind.CUT, 1),
        (Answer(body=b"[]"), ChatFailureKind.MALFORMED, 1),
        (message(content="text"), ChatFailureKind.MALFORMED, 1),
        (message(content=[], stop_reason=None), ChatFailureKind.MALFORMED, 1),
        (message(stop_reason="refusal"), ChatFailureKind.REFUSED, 1),
    ],
)
def test_each_bad_answer_has_its_typed_end(answer: Answer, kind: ChatFailureKind, calls: int) -> None:
    found, bodies = asked([answer])
    assert isinstance(found, ChatFailure)
    assert (found.kind, len(bodies)) == (kind, calls)


def test_a_fault_and_then_an_answer() -> None:
    found, _ = asked([error(500, "oops"), message(stop_reason="max_tokens")])
    assert isinstance(found, ChatReply)
    assert (found.finish_reason, found.earlier[0].kind) == (FinishReason.LENGTH, ChatFailureKind.SERVER_FAULT)
    empty, _ = asked([message(content=[])])
    assert isinstance(empty, ChatReply)
    assert empty.text == ""


def test_time_and_cancellation() -> None:
    found, _ = asked([Answer(body=message().data, pause_s=5)], limit_s=0.4)
    assert isinstance(found, ChatFailure)
    assert found.kind is ChatFailureKind.TIMEOUT
    cancel = threading.Event()
    cancel.set()
    found = chat_at("http://127.0.0.1:9").ask(REQUEST, deadline=Deadline.after(5), cancel=cancel)
    assert isinstance(found, ChatFailure)
    assert found.kind is ChatFailureKind.CANCELLED


def test_no_other_credential_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-somebody-else")
    with provider([message()]) as server:
        chat_at(server.url).ask(REQUEST, deadline=Deadline.after(30))
        assert "token-of-somebody-else" not in repr(server.seen)


def test_settings_and_requests_that_make_no_sense() -> None:
    for changed in ({"model": ""}, {"api_key_env": ""}, {"extra": {"json": "yaml"}}):
        with pytest.raises(UsageError, match=r"models\.a"):
            open_model(msgspec.structs.replace(SPEC, **changed))
    system = msgspec.structs.replace(REQUEST, messages=REQUEST.messages[:1])
    found = chat_at("http://127.0.0.1:9").ask(system, deadline=Deadline.after(5))
    assert isinstance(found, ChatFailure)
    assert found.kind is ChatFailureKind.BAD_REQUEST

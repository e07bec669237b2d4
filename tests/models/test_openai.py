"""The official `openai` client against a scripted server: every way to answer, and not to."""

from __future__ import annotations

import json
import os
import threading
import time
from email.utils import formatdate

import msgspec
import pytest

from models.conftest import KEY
from models.server import Answer, Script, completion, error, provider, stream
from showcause.canon import canonical_json
from showcause.clock import Deadline
from showcause.errors import UsageError
from showcause.models import open_model
from showcause.models.calling import Retrying
from showcause.models.openai import OpenAIChat
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

pytest.importorskip("openai")

SCHEMA = JsonSchema(name="vote", schema={"type": "object", "properties": {"decision": {"type": "string"}}})
REQUEST = ChatRequest(messages=(Message(role=ChatRole.USER, content="Is it right?"),))


def chat_at(url: str, **extra: str) -> OpenAIChat:
    spec = ModelSpec(
        name="m", kind="openai", base_url=url, model="gpt-test", api_key_env="TEST_KEY", extra=extra
    )
    chat = open_model(spec)
    assert isinstance(chat, OpenAIChat)
    chat.retrying = Retrying(first_s=0.01)
    return chat


def asked(
    script: Script, request: ChatRequest = REQUEST, *, limit_s: float = 25.0, **extra: str
) -> tuple[ChatReply | ChatFailure, list[dict[str, object]]]:
    with provider(script) as server:
        found = chat_at(server.url, **extra).ask(request, deadline=Deadline.after(limit_s))
        return found, [seen.body for seen in server.seen]


def reply_to(script: Script, request: ChatRequest = REQUEST, **extra: str) -> ChatReply:
    found, _ = asked(script, request, **extra)
    assert isinstance(found, ChatReply), found
    return found


def failure_of(script: Script, limit_s: float = 25.0, **extra: str) -> ChatFailure:
    found, _ = asked(script, limit_s=limit_s, **extra)
    assert isinstance(found, ChatFailure), found
    assert KEY not in repr(found)
    return found


def test_an_answer_with_all_that_is_known_of_it() -> None:
    reply = reply_to([completion("yes")])
    assert (reply.text, reply.finish_reason, reply.complete) == ("yes", FinishReason.STOP, True)
    assert (reply.asked_model, reply.reported_model, reply.response_id) == ("gpt-test", "gpt-test", "c-1")
    assert reply.usage == ChatUsage(prompt_tokens=11, completion_tokens=7)
    assert len(reply.raw_digest) == 64
    assert reply.latency_s > 0
    assert (reply.earlier, reply.notes, reply.logprobs) == ((), (), ())


def test_what_is_sent_and_to_whom() -> None:
    request = msgspec.structs.replace(REQUEST, temperature=0.8, max_tokens=50, seed=3, json_schema=SCHEMA)
    with provider([completion()]) as server:
        chat_at(server.url).ask(request, deadline=Deadline.after(25))
        [seen] = server.seen
    assert seen.path == "/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert "openai-organization" not in seen.headers  # OpenAI's own, and this is somebody else
    shape = {"name": "vote", "schema": SCHEMA.schema, "strict": True}
    assert seen.body == {
        "model": "gpt-test",
        "messages": [{"role": "user", "content": "Is it right?"}],
        "temperature": 0.8,
        "max_tokens": 50,
        "seed": 3,
        "response_format": {"type": "json_schema", "json_schema": shape},
    }


def test_a_schema_that_is_refused_is_left_out_from_then_on() -> None:
    def script(seen: object) -> Answer:
        body = getattr(seen, "body", {})
        refusal = error(400, "'response_format' of type 'json_schema' is not supported with this model")
        return refusal if "response_format" in body else completion('{"decision": "accept"}')

    request = msgspec.structs.replace(REQUEST, json_schema=SCHEMA)
    with provider(script) as server:
        chat = chat_at(server.url)
        replies = [chat.ask(request, deadline=Deadline.after(25)) for _ in range(2)]
        assert ["response_format" in seen.body for seen in server.seen] == [True, False, False]
    for reply in replies:
        assert isinstance(reply, ChatReply)
        assert reply.notes == ("json_schema: refused by the endpoint, left out",)


def test_newer_models_get_the_limit_by_its_newer_name_and_no_temperature() -> None:
    def script(seen: object) -> Answer:
        body = getattr(seen, "body", {})
        if "max_tokens" in body:
            said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return error(400, said, param="max_tokens")
        if "temperature" in body:
            return error(400, "Only the default (1) value is supported.", param="temperature")
        return completion()

    found, bodies = asked(script, msgspec.structs.replace(REQUEST, max_tokens=9, temperature=0.8))
    assert isinstance(found, ChatReply)
    assert found.notes == ("temperature: refused by the endpoint, left out",)
    assert bodies[-1]["max_completion_tokens"] == 9
    assert len(bodies) == 3


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (error(400, "This model's maximum context length is 8192 tokens"), ChatFailureKind.BAD_REQUEST),
        (error(401, f"Incorrect API key provided: {KEY}"), ChatFailureKind.AUTH),
        (error(402, "pay"), ChatFailureKind.SPENT),
        (error(403, "no"), ChatFailureKind.AUTH),
        (error(404, "no such model"), ChatFailureKind.BAD_REQUEST),
        (error(429, "quota", code="insufficient_quota"), ChatFailureKind.SPENT),
        (Answer(status=307, headers={"location": "http://127.0.0.2:9/"}), ChatFailureKind.BAD_REQUEST),
        (Answer(body=b"<html>it works</html>"), ChatFailureKind.MALFORMED),
        (Answer(body=b""), ChatFailureKind.MALFORMED),
        (Answer(body=b"[" * 200_000), ChatFailureKind.MALFORMED),
        (Answer(body={"choices": []}), ChatFailureKind.MALFORMED),
        (Answer(body={"choices": "none"}), ChatFailureKind.MALFORMED),
        (Answer(body={"choices": [{"message": None}]}), ChatFailureKind.MALFORMED),
        (Answer(body={"choices": [{"message": {"content": 7}}]}), ChatFailureKind.MALFORMED),
        (Answer(body={"error": {"message": "upstream", "code": 403}}), ChatFailureKind.AUTH),
        (
            completion(None, choice={"message": {"content": None, "refusal": "I won't"}}),
            ChatFailureKind.REFUSED,
        ),
        (Answer(body=completion("a" * 500).data, cut=300), ChatFailureKind.CUT),
        (Answer(body=completion("a" * 500).data[:300]), ChatFailureKind.CUT),
    ],
)
def test_one_answer_one_typed_end_and_no_second_try(answer: Answer, kind: ChatFailureKind | None) -> None:
    found, bodies = asked([answer])
    assert getattr(found, "kind", None) is kind, found
    assert len(bodies) == 1
    assert KEY not in repr(found)


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
def test_d1_a_bad_status_with_a_perfect_answer_is_a_failure(status: int) -> None:
    failure = failure_of([Answer(status=status, body=completion('{"decision": "accept"}').data)] * 3)
    assert failure.status == status
    assert not hasattr(failure, "text")


def test_the_key_is_masked_where_a_provider_repeats_it() -> None:
    failure = failure_of([error(401, f"Incorrect API key provided: {KEY}")])
    assert failure.status == 401
    assert "[masked:TEST_KEY]" in failure.message


@pytest.mark.parametrize("headers", [{"retry-after": "0.05"}, {"retry-after-ms": "50"}, {}])
def test_g2_a_rate_limit_is_waited_for(headers: dict[str, str]) -> None:
    reply = reply_to([error(429, "slow down", headers), completion("yes")])
    [earlier] = reply.earlier
    assert (earlier.kind, earlier.status) == (ChatFailureKind.RATE_LIMIT, 429)
    assert earlier.retry_after_s == (0.05 if headers else None)
    assert reply.latency_s >= (0.05 if headers else 0.01)


def test_a_rate_limit_beyond_the_deadline_is_not_waited_for() -> None:
    failure = failure_of(
        [error(429, "slow down", {"retry-after": formatdate(time.time() + 90, usegmt=True)})]
    )
    assert failure.kind is ChatFailureKind.RATE_LIMIT
    assert failure.retry_after_s == pytest.approx(90, abs=15)
    assert failure.latency_s < 20
    assert failure.earlier == ()


def test_a_server_fault_is_tried_three_times() -> None:
    assert reply_to([error(500, "oops"), completion("yes")]).earlier[0].status == 500
    failure = failure_of([error(503, "oops")])
    assert (failure.kind, failure.status, len(failure.earlier)) == (ChatFailureKind.SERVER_FAULT, 503, 2)


def test_nobody_there() -> None:
    with provider([completion()]) as server:
        url = server.url
    failure = chat_at(url).ask(REQUEST, deadline=Deadline.after(25))
    assert isinstance(failure, ChatFailure)
    assert (failure.kind, len(failure.earlier)) == (ChatFailureKind.UNREACHABLE, 2)
    assert "Connect" in failure.message


@pytest.mark.parametrize(
    ("answer", "extra"),
    [
        (Answer(body=completion().data, wait_s=5), {}),
        (Answer(body=completion().data, pause_s=5), {}),
        (stream("a", "b", pause_s=5), {"stream": "true"}),
        (stream(*"abcdefghijkl", pause_s=0.1), {"stream": "true"}),  # each wait is short, the whole is not
    ],
)
def test_out_of_time_before_and_within_the_answer(answer: Answer, extra: dict[str, str]) -> None:
    threads = threading.active_count()
    found, bodies = asked([answer], limit_s=0.4, **extra)
    assert isinstance(found, ChatFailure)
    assert found.kind is ChatFailureKind.TIMEOUT
    assert found.latency_s < 2
    assert len(bodies) <= 1  # importing the client may have taken all of the time
    until = time.monotonic() + 10
    while threading.active_count() > threads and time.monotonic() < until:
        time.sleep(0.01)  # the server's own thread for the connection may take a moment to see it closed
    assert threading.active_count() <= threads


def test_a_cancellation_is_seen_while_waiting() -> None:
    cancel = threading.Event()
    threading.Timer(0.2, cancel.set).start()
    with provider([Answer(body=completion().data, wait_s=5)]) as server:
        found = chat_at(server.url).ask(REQUEST, deadline=Deadline.after(25), cancel=cancel)
    assert isinstance(found, ChatFailure)
    assert found.kind is ChatFailureKind.CANCELLED
    assert found.latency_s < 2


def test_answers_that_are_whole_but_of_no_use_are_kept_as_they_are() -> None:
    cut = reply_to([completion('{"decision": "acc', finish_reason="length")])
    assert (cut.finish_reason, cut.complete) == (FinishReason.LENGTH, False)
    assert reply_to([completion("")]).text == ""
    assert reply_to([completion(None)]).text == ""
    assert reply_to([completion("ok APPROVED")]).text == "ok APPROVED"
    assert reply_to([completion('{"a": 1}{"a": 2}')]).text == '{"a": 1}{"a": 2}'
    assert len(reply_to([completion("x" * (1 << 20))]).text) == 1 << 20
    assert reply_to([completion(finish_reason="eos")]).finish_reason is FinishReason.UNKNOWN
    assert reply_to([completion(finish_reason=None)]).finish_reason is FinishReason.UNKNOWN
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "yes"}]
    assert reply_to([completion(parts)]).text == "yes"  # type: ignore[arg-type]


def test_a_lone_surrogate_neither_way_breaks_a_record() -> None:
    question = msgspec.structs.replace(REQUEST, messages=(Message(role=ChatRole.USER, content="\udce9"),))
    reply = reply_to([Answer(body=completion("\ud800").data)], question)
    assert canonical_json(reply)


def test_another_model_and_missing_usage_are_told() -> None:
    reply = reply_to([completion(model="gpt-other", usage=None)])
    assert (reply.asked_model, reply.reported_model) == ("gpt-test", "gpt-other")
    assert reply.usage == ChatUsage()
    assert reply_to([completion(model=None, usage={"prompt_tokens": "many"})]).reported_model == ""


def test_logprobs() -> None:
    top = [{"token": "Yes", "logprob": -0.1, "bytes": None}, {"token": "No", "logprob": -2.5, "bytes": None}]
    told = {
        "content": [{"token": "Yes", "logprob": -0.1, "bytes": None, "top_logprobs": top}],
        "refusal": None,
    }
    found, [body] = asked([completion("Yes", choice={"logprobs": told})], _with(logprobs=2))
    assert (body["logprobs"], body["top_logprobs"]) == (True, 2)
    assert isinstance(found, ChatReply)
    [token] = found.logprobs
    assert (token.token, token.logprob, token.others) == ("Yes", -0.1, (("Yes", -0.1), ("No", -2.5)))


def test_a_stream_is_the_same_reply() -> None:
    found, [body] = asked([stream("y", "es")], stream="true")
    assert body["stream_options"] == {"include_usage": True}
    assert isinstance(found, ChatReply)
    assert (found.text, found.finish_reason, found.reported_model) == ("yes", FinishReason.STOP, "gpt-test")
    assert found.usage == ChatUsage(prompt_tokens=11, completion_tokens=7)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (stream("y", "es", finish=None), ChatFailureKind.CUT),
        (stream("y", "es", cut=1), ChatFailureKind.CUT),
        (Answer(pieces=[b'data: {"error": {"message": "overloaded", "code": 503}}\n\n']), "server_fault"),
        (Answer(pieces=[b"data: not json\n\n"]), None),
    ],
)
def test_a_stream_that_ends_badly(answer: Answer, kind: str | None) -> None:
    failure = failure_of([answer], stream="true")
    assert kind is None or failure.kind == kind


def test_a_key_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in (None, "", "   ", "s\u00e9cret"):
        monkeypatch.delenv("TEST_KEY") if value is None else monkeypatch.setenv("TEST_KEY", value)
        found = chat_at("http://127.0.0.1:9").ask(REQUEST, deadline=Deadline.after(25))
        assert isinstance(found, ChatFailure)
        assert found.kind is ChatFailureKind.AUTH
        assert "TEST_KEY" in found.message


def test_the_key_is_read_at_the_call_and_not_kept() -> None:
    chat = chat_at("http://127.0.0.1:9")
    assert KEY not in repr(vars(chat))
    os.environ["TEST_KEY"] = "sk-another-9876543210"
    with provider([completion()]) as server:
        chat_at(server.url).ask(REQUEST, deadline=Deadline.after(25))
        assert server.seen[0].headers["authorization"] == "Bearer sk-another-9876543210"


def test_a_deadline_that_is_over_already() -> None:
    with provider([completion()]) as server:
        found = chat_at(server.url).ask(_with(limit_s=1e-9), deadline=Deadline.after(25))
        assert server.seen == []
    assert isinstance(found, ChatFailure)
    assert found.kind is ChatFailureKind.TIMEOUT


def test_asked_from_within_an_event_loop() -> None:
    import asyncio

    async def within() -> ChatReply | ChatFailure:
        return chat_at(server.url).ask(REQUEST, deadline=Deadline.after(25))

    with provider([completion()]) as server:
        assert isinstance(asyncio.run(within()), ChatReply)


@pytest.mark.parametrize(
    "changed",
    [
        {"base_url": "ftp://x"},
        {"base_url": "http://"},
        {"base_url": "http://me:pass@host/v1"},
        {"model": ""},
        {"extra": {"steam": "true"}},
        {"extra": {"stream": "yes"}},
        {"kind": "opnai"},
    ],
)
def test_settings_that_make_no_sense(changed: dict[str, object]) -> None:
    spec = ModelSpec(name="m", kind="openai", model="gpt-test")
    with pytest.raises(UsageError, match=r"models\.m"):
        open_model(msgspec.structs.replace(spec, **changed))


def test_the_digest_is_of_the_question_alone() -> None:
    assert REQUEST.digest == _with(limit_s=5.0, ordinal=4).digest
    others = [_with(seed=1), _with(model="x"), _with(json_schema=SCHEMA), _with(temperature=0.0)]
    assert len({REQUEST.digest, *(request.digest for request in others)}) == 5
    assert json.loads(canonical_json(REQUEST))["messages"][0]["role"] == "user"


def test_an_answer_without_end_is_not_read_for_ever() -> None:
    flood = Answer(pieces=[b" " * (1 << 20)] * 20)
    flood.headers["content-type"] = "application/json"
    assert failure_of([flood]).kind is ChatFailureKind.MALFORMED


def _with(**changed: object) -> ChatRequest:
    return msgspec.structs.replace(REQUEST, **changed)

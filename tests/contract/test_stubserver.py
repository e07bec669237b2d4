"""The scripted server speaks each API so that the providers' own clients understand it."""

from __future__ import annotations

import json
import urllib.request

import pytest

from showcause.contract.stubserver import Act, Call, Step, StubServer

PACKET = f"PACKET p-1\n[return code 1 of 1: 00aa]\ntext\nEND OF PACKET p-1 nonce {'ab' * 12}"
ANSWER = {
    "packet": "p-1", "codes": ["00aa"], "nonce": "ab" * 12, "outcome": "no_finding", "findings": [],
}  # fmt: skip


@pytest.mark.parametrize("stream", [False, True])
def test_the_clients_of_openai_understand_it(stream: bool) -> None:
    openai = pytest.importorskip("openai")
    messages = [{"role": "user", "content": PACKET}]
    with StubServer([Step()], served="served-1") as server:
        client = openai.OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0)
        chat = client.chat.completions.create(model="m", messages=messages, stream=stream)
        if stream:
            parts = list(chat)
            text = "".join(one.choices[0].delta.content or "" for one in parts if one.choices)
            model = parts[0].model
        else:
            text, model = chat.choices[0].message.content, chat.model
        told = client.responses.create(model="m", input=PACKET, stream=stream)
        if stream:
            told = next(one.response for one in told if one.type == "response.completed")
        client.close()
    assert (json.loads(text), model) == (ANSWER, "served-1")
    assert (json.loads(told.output_text), told.model) == (ANSWER, "served-1")


@pytest.mark.parametrize("stream", [False, True])
def test_the_client_of_anthropic_understands_it(stream: bool) -> None:
    anthropic = pytest.importorskip("anthropic")
    call = Call(name="Write", arguments={"path": "x"})
    asked = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": PACKET}]}
    with StubServer([Step(), Step(act=Act.CALL, calls=(call,))]) as server:
        client = anthropic.Anthropic(api_key="k", base_url=server.url, max_retries=0)
        if stream:
            with client.messages.stream(**asked) as first:
                said = first.get_final_message()
            with client.messages.stream(**asked) as second:
                wants = second.get_final_message()
        else:
            said, wants = client.messages.create(**asked), client.messages.create(**asked)
        client.close()
    assert json.loads(said.content[0].text) == ANSWER
    assert (wants.stop_reason, wants.content[0].name, wants.content[0].input) == (
        "tool_use",
        "Write",
        {"path": "x"},
    )


def post(url: str, body: dict[str, object]) -> tuple[int, bytes]:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_gemini_streams_and_answers_whole() -> None:
    body: dict[str, object] = {"contents": [{"role": "user", "parts": [{"text": PACKET}]}]}
    with StubServer([Step()]) as server:
        _, whole = post(f"{server.url}/v1beta/models/g-1:generateContent", body)
        _, stream = post(f"{server.url}/v1beta/models/g-1:streamGenerateContent?alt=sse", body)
    parts = [json.loads(line[6:]) for line in stream.decode().splitlines() if line.startswith("data: ")]
    text = "".join(one["candidates"][0]["content"]["parts"][0]["text"] for one in parts)
    assert json.loads(text) == ANSWER
    assert parts[-1]["candidates"][0]["finishReason"] == "STOP"
    assert json.loads(whole)["modelVersion"] == "g-1"


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/responses", "/v1/chat/completions"])
def test_errors_cuts_and_the_order_of_a_script(path: str) -> None:
    body: dict[str, object] = {
        "model": "m",
        "stream": True,
        "messages": [{"role": "user", "content": PACKET}],
    }
    other = {**body, "messages": [{"role": "user", "content": "a title, please"}]}
    if path.endswith("responses"):
        body, other = {**body, "input": PACKET}, {**other, "input": "a title, please"}
        del body["messages"], other["messages"]
    steps = [Step(act=Act.ERROR, status=429, retry_after_s=7), Step(act=Act.CUT), Step()]
    with StubServer(steps) as server:
        assert post(server.url + path, other)[0] == 200  # no packet in it: the script does not move
        assert post(server.url + path, body)[0] == 429
        _, cut = post(server.url + path, body)
        _, whole = post(server.url + path, body)
        assert [one.is_main for one in server.asked] == [False, True, True, True]
    ends = (b"message_stop", b"response.completed", b"[DONE]")
    assert not any(end in cut for end in ends)
    assert any(end in whole for end in ends)

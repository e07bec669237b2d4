"""The local engine: what is refused before it starts; and, marked slow, a real small model.

The slow test wants `llama-server` (extra `local`) and a GGUF file: SHOWCAUSE_GGUF names it,
SHOWCAUSE_GGUF_SHA256 its digest. It proves the plumbing; what so small a model says is of no value.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path

import msgspec
import pytest
from needs import need

from showcause.clock import Deadline
from showcause.errors import UsageError
from showcause.models import open_model
from showcause.models.engine import EngineTrouble, find_engine
from showcause.models.local import LocalChat
from showcause.records import (
    ChatFailure,
    ChatFailureKind,
    ChatReply,
    ChatRequest,
    ChatRole,
    JsonSchema,
    Message,
    ModelSpec,
)

QUESTION = Message(
    role=ChatRole.USER, content='Is 2 + 2 = 4? Answer {"decision": "yes"} or {"decision": "no"}.'
)
REQUEST = ChatRequest(messages=(QUESTION,), max_tokens=40, temperature=0.0, seed=1)
SCHEMA = JsonSchema(
    name="vote",
    schema={
        "type": "object",
        "properties": {"decision": {"enum": ["yes", "no"]}},
        "required": ["decision"],
        "additionalProperties": False,
    },
)
# An engine for tests of our side: it takes the same options, answers /health, and records its pid.
ENGINE = """\
#!{python}
import http.server, json, os, sys
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
{trouble}
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        right = self.headers["authorization"] == "Bearer " + os.environ["LLAMA_API_KEY"]
        said = f"{{os.getpid()}} {{right}} {{'logprobs' in asked}}"
        choice = {{"message": {{"content": said}}, "finish_reason": "stop"}}
        body = json.dumps({{"choices": [choice], "model": options["--alias"]}}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body))); self.end_headers(); self.wfile.write(body)
    def log_message(self, *args): pass
http.server.HTTPServer(("127.0.0.1", int(options["--port"])), Handler).serve_forever()
"""


@pytest.fixture
def gguf(tmp_path: Path) -> ModelSpec:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF")
    return ModelSpec(name="l", kind="local", path=str(path), sha256=hashlib.sha256(b"GGUF").hexdigest())


def engine_of(folder: Path, monkeypatch: pytest.MonkeyPatch, trouble: str = "") -> None:
    import sys

    (folder / "bin").mkdir()
    program = folder / "bin" / "llama-server"
    program.write_text(ENGINE.format(python=sys.executable, trouble=trouble))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


def failure(chat: LocalChat, limit_s: float = 20.0) -> ChatFailure:
    found = chat.ask(REQUEST, deadline=Deadline.after(limit_s))
    assert isinstance(found, ChatFailure)
    return found


def local(spec: ModelSpec) -> LocalChat:
    chat = open_model(spec)
    assert isinstance(chat, LocalChat)
    return chat


def test_another_file_than_the_one_that_was_named(gguf: ModelSpec) -> None:
    found = failure(local(msgspec.structs.replace(gguf, sha256="0" * 64)))
    assert found.kind is ChatFailureKind.UNREACHABLE
    assert gguf.sha256 in found.message
    found = failure(local(msgspec.structs.replace(gguf, path=gguf.path + ".none")))
    assert found.kind is ChatFailureKind.UNREACHABLE


def test_the_engine_lives_until_it_is_closed(
    gguf: ModelSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    engine_of(tmp_path, monkeypatch)
    chat = local(gguf)
    request = msgspec.structs.replace(REQUEST, logprobs=1, json_schema=SCHEMA)
    found = chat.ask(request, deadline=Deadline.after(30))
    assert isinstance(found, ChatReply), found
    pid, right, logprobs = found.text.split()
    assert (right, logprobs, found.reported_model) == ("True", "False", "tiny")
    assert found.notes == ("logprobs: wrong under a JSON schema, left out",)
    assert Path(f"/proc/{pid}").exists()
    chat.close()
    assert not Path(f"/proc/{pid}").exists()
    chat.close()


@pytest.mark.parametrize(
    ("trouble", "limit_s", "kind"),
    [
        ("sys.exit('no memory')", 20.0, ChatFailureKind.UNREACHABLE),
        ("import time; time.sleep(60)", 0.7, ChatFailureKind.TIMEOUT),
    ],
)
def test_an_engine_that_does_not_start(
    trouble: str,
    limit_s: float,
    kind: ChatFailureKind,
    gguf: ModelSpec,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine_of(tmp_path, monkeypatch, trouble)
    chat = local(gguf)
    found = failure(chat, limit_s)
    chat.close()
    assert found.kind is kind
    if kind is ChatFailureKind.UNREACHABLE:
        assert "no memory" in found.message


def test_no_engine(gguf: ModelSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("showcause.models.engine._PACKAGE", "no_such_package")
    found = failure(local(gguf))
    assert found.kind is ChatFailureKind.UNREACHABLE
    assert "showcause[local]" in found.message


def test_settings(gguf: ModelSpec) -> None:
    for changed in ({"path": ""}, {"sha256": ""}, {"sha256": "g" * 64}, {"extra": {"threads": "0"}}):
        with pytest.raises(UsageError, match=r"models\.l"):
            open_model(msgspec.structs.replace(gguf, **changed))


@pytest.mark.slow
def test_a_real_small_model() -> None:
    pytest.importorskip("openai")
    path, sha256 = os.environ.get("SHOWCAUSE_GGUF", ""), os.environ.get("SHOWCAUSE_GGUF_SHA256", "")
    need(path and sha256, "SHOWCAUSE_GGUF and SHOWCAUSE_GGUF_SHA256 are not set")
    try:
        find_engine()
    except EngineTrouble as trouble:
        need(False, str(trouble))
    spec = ModelSpec(
        name="l", kind="local", path=path, sha256=sha256, context_tokens=1024, extra={"threads": "2"}
    )
    chat = local(spec)
    try:
        _plumbing(chat)
        pid = chat._engine._thread  # type: ignore[union-attr]
    finally:
        chat.close()
    assert not pid.is_alive()


def _plumbing(chat: LocalChat) -> None:
    deadline = Deadline.after(500)
    shaped = chat.ask(msgspec.structs.replace(REQUEST, json_schema=SCHEMA), deadline=deadline)
    assert isinstance(shaped, ChatReply), shaped
    assert json.loads(shaped.text)["decision"] in ("yes", "no")
    assert shaped.complete
    assert shaped.reported_model == chat.model
    assert shaped.usage.prompt_tokens
    assert shaped.usage.completion_tokens
    again = chat.ask(msgspec.structs.replace(REQUEST, json_schema=SCHEMA), deadline=deadline)
    assert isinstance(again, ChatReply)
    assert again.text == shaped.text  # the same seed
    token = chat.ask(msgspec.structs.replace(REQUEST, max_tokens=1, logprobs=5), deadline=deadline)
    assert isinstance(token, ChatReply)
    assert not token.complete
    assert len(token.logprobs) == 1
    assert len(token.logprobs[0].others) == 5
    long = Message(role=ChatRole.USER, content="word " * 5000)
    refused = chat.ask(msgspec.structs.replace(REQUEST, messages=(long,)), deadline=deadline)
    assert isinstance(refused, ChatFailure)
    assert refused.kind is ChatFailureKind.BAD_REQUEST

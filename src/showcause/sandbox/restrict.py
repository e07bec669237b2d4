"""Level 3: no namespaces to be had. Landlock, a system call filter, resource limits and the reaper.

The tree is a finished copy, used in place. Files outside an allow list can be neither read nor written,
but Landlock knows nothing of modes, owners and times, and others' processes can be seen, so the report
says `partial`. Sockets of the internet families and local ones by path are denied unless the network is the
host's: without a namespace a private loopback cannot be told from the open network.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import weakref
from pathlib import Path

import msgspec

from showcause.errors import SandboxFault
from showcause.process import Command, Reap
from showcause.process.boot import boot
from showcause.records import SandboxReport
from showcause.sandbox import Confinement, Network, mounts
from showcause.sandbox.inside.spec import Spec
from showcause.sandbox.inside.spec import format as format_spec

__all__ = ["RestrictSandbox"]

_OURS = Path(__file__).parent
# All processes of the user count against one limit: base and head at once, other reviews, a browser. It
# stops a fork bomb; a tighter one would fail tests for what others do.
_RUNS_AT_ONCE, _SLACK = 4, 256
_ETC_PLAIN = ("/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts")
_KERNEL = ("/proc", "/sys/devices/system/cpu")  # not /dev: root would own the disks


class RestrictSandbox:
    """Confines by what a process may impose on itself."""

    def __init__(self, report: SandboxReport) -> None:
        self.report = report
        # named by our process, so that the next start finds it should this one be killed
        self._scratch = tempfile.mkdtemp(prefix=f"showcause-{os.getpid()}-")
        self._numbers = itertools.count()
        self._others = _tasks_of_user()
        weakref.finalize(self, shutil.rmtree, self._scratch, ignore_errors=True)

    def confine(self, command: Command, confinement: Confinement) -> Command:
        """The command that runs `command` confined. Raises SandboxFault unless the tree is used in place."""
        if confinement.layers != (confinement.target,):
            raise SandboxFault("this machine mounts nothing: a tree must be a finished copy, used in place")
        scratch = Path(self._scratch, str(next(self._numbers)))
        home, temporary = scratch / "home", scratch / "tmp"
        home.mkdir(parents=True)
        temporary.mkdir()
        python, prefix = mounts.interpreter()
        system = (path for path, _ in mounts.system_directories())
        online = confinement.network is Network.HOST
        spec = Spec(
            namespaces=False,
            cwd=command.cwd,
            network=confinement.network.value,
            user_processes=self._others + _RUNS_AT_ONCE * confinement.processes,
            memory_bytes=confinement.memory_bytes,
            limit_address_space=confinement.limit_address_space,
            writable=(confinement.target, *confinement.writable, str(home), str(temporary)),
            readable=(
                *system, *mounts.etc_files(online=online), *_ETC_PLAIN, *_KERNEL, prefix,
                *confinement.readable,
            ),
        )  # fmt: skip
        argv = (*boot(python, "init", str(_OURS)), *format_spec(spec, command.argv))
        env = {"HOME": str(home), "TMPDIR": str(temporary)} | command.env
        return msgspec.structs.replace(command, argv=argv, cwd="/", env=env, reap=Reap.SUBREAPER)


def _tasks_of_user() -> int:
    """How many tasks the user has now, and a slack."""
    count = 0
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if entry.stat().st_uid == os.getuid():
                count += len(os.listdir(entry / "task"))
        except OSError:
            continue  # gone meanwhile
    return count + _SLACK

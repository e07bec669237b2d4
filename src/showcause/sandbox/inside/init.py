"""Builds the last part of the sandbox from within, gives up every power to undo it, and starts the command.

bwrap has made the namespaces and bound everything that may be seen; the layers of the tree lie below
PRIVATE. Done here because bwrap cannot: an overlay with a size limit, the cap on processes of the pid
namespace, Landlock, and the system call filter. Without namespaces (`restrict`) only the last steps run.

Ends with status 125 and a line `showcause-init: reason` if the sandbox could not be built, 127 if the
command could not be executed.
"""

from __future__ import annotations

import os
import resource
import sys

from showcause.sandbox.inside import kernel, landlock, seccomp
from showcause.sandbox.inside.spec import PRIVATE, Spec, parse

__all__ = ["main"]

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
_RESERVED_PIDS = 300  # the kernel starts again behind them
_PID_MAX_OF_NAMESPACE = (6, 14)
_RLIMIT_OF_NAMESPACE = (5, 14)


def main(args: list[str]) -> None:
    spec, argv = parse(args)
    environment = kernel.initial_environment()
    try:
        if spec.namespaces:
            _build(spec)
        _limit(spec)
        _give_up(spec)
        os.chdir(spec.cwd)
    except OSError as error:
        _end(125, str(error))
    environment["PWD"] = spec.cwd
    kernel.restore_signals()
    try:
        os.execvpe(argv[0], argv, environment)  # noqa: S606 - this is what init is for
    except OSError as error:
        _end(127, f"{argv[0]}: {error.strerror}")


def _end(status: int, why: str) -> None:
    os.write(2, f"showcause-init: {why}\n".encode(errors="replace"))
    os._exit(status)


# ------------------------------------------------------------------ with namespaces


def _build(spec: Spec) -> None:
    # bwrap leaves us in a second user namespace, which may mount in a mount namespace of its own only.
    kernel.new_mount_namespace()
    for name, text in spec.files:
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    if spec.layers:
        _overlay(spec)
    for index, path in enumerate(spec.placed):
        _bind(f"{PRIVATE}/placed{index}", path)
    _cap_processes(spec.processes)
    kernel.mount("none", PRIVATE, "tmpfs", kernel.MS_RDONLY, "size=4k,mode=0755")
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    kernel.mount("none", "/dev/shm", "tmpfs", flags, f"size={spec.upper_bytes},mode=1777")
    # To the kernel root is root, mapped to whatever user: it would own the switches below /proc/sys.
    for path in ("/dev", "/", *_mounts_of_proc()):
        _make_read_only(path)


def _overlay(spec: Spec) -> None:
    """Mount the layers, by their short names, with a throw-away layer on top."""
    rw = f"{PRIVATE}/rw"
    if spec.upper_bytes and not spec.upper_on_disk:
        flags = kernel.MS_NOSUID | kernel.MS_NODEV
        kernel.mount("none", rw, "tmpfs", flags, f"size={spec.upper_bytes},mode=0755")
    for name in ("up", "work"):
        os.makedirs(f"{rw}/{name}", exist_ok=True)
    os.chdir(PRIVATE)  # relative names: the options must fit into one page
    lower = ":".join(f"layer{index}" for index in range(spec.layers))
    options = f"lowerdir={lower},upperdir=rw/up,workdir=rw/work,userxattr"
    kernel.mount("none", spec.target, "overlay", kernel.MS_NOSUID | kernel.MS_NODEV, options)


def _bind(source: str, path: str) -> None:
    if not os.path.lexists(path):
        if os.path.isdir(source):
            os.makedirs(path)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
    kernel.mount(source, path, "", kernel.MS_BIND | kernel.MS_REC)


def _cap_processes(count: int) -> None:
    """Cap the namespace where the kernel can, else the user; the probe tells what came of it.

    The version is asked for since trying could harm: older kernels have one pid_max for the machine,
    which the namespace of a root user may write, and count a user's processes across namespaces.
    """
    version = kernel.version()
    if version >= _PID_MAX_OF_NAMESPACE:
        try:
            with open("/proc/sys/kernel/pid_max", "w", encoding="ascii") as file:
                file.write(str(count + _RESERVED_PIDS))
        except OSError:
            pass  # an old /proc may be read-only: the limit of the user is next best
        else:
            return
    if version >= _RLIMIT_OF_NAMESPACE:
        _lower(resource.RLIMIT_NPROC, count)


def _mounts_of_proc() -> list[str]:
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        points = (line.split()[4] for line in file)
        return [point for point in points if point == "/proc" or point.startswith("/proc/")]


def _make_read_only(path: str) -> None:
    # Flags that a mount came with are locked and must be repeated.
    had = os.statvfs(path).f_flag
    flags = sum(flag for flag in (kernel.MS_NOSUID, kernel.MS_NODEV, kernel.MS_NOEXEC) if had & flag)
    kernel.mount("none", path, "", flags | kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY)


# ------------------------------------------------------------------ everywhere


def _limit(spec: Spec) -> None:
    _lower(resource.RLIMIT_CORE, 0)
    if spec.memory_bytes:
        # Address space that is only reserved (JVM, Go, V8) does not count as data.
        _lower(resource.RLIMIT_AS if spec.limit_address_space else resource.RLIMIT_DATA, spec.memory_bytes)
    if spec.user_processes:
        _lower(resource.RLIMIT_NPROC, spec.user_processes)


def _lower(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    limit = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (limit, limit))


def _give_up(spec: Spec) -> None:
    kernel.no_new_privileges()
    kernel.drop_capabilities()
    everything = landlock.READ | landlock.WRITE
    allowed = [(path, everything) for path in spec.writable]
    allowed += [(path, landlock.READ) for path in spec.readable]
    allowed += [(f"/dev/{name}", landlock.READ | landlock.WRITE_IN_PLACE) for name in _DEVICES]
    allowed += [("/dev/shm", everything)]
    confined = landlock.restrict(allowed, reading=not spec.namespaces, scoped=True)
    if not confined and not spec.namespaces:
        raise OSError("Landlock is not to be had")
    if seccomp.is_known():
        seccomp.install(_families(spec))
    elif not spec.namespaces:
        raise OSError(f"no system call table for {os.uname().machine}")


def _families(spec: Spec) -> tuple[int, ...] | None:
    if spec.network == "host":
        return None
    local = (seccomp.AF_UNIX, seccomp.AF_NETLINK) if spec.namespaces else (seccomp.AF_NETLINK,)
    if spec.network == "loopback" and spec.namespaces:
        return (*local, seccomp.AF_INET, seccomp.AF_INET6)
    return local


if __name__ == "__main__":
    main(sys.argv[1:])

"""The system calls that Python does not offer, through ctypes. Each raises OSError."""

from __future__ import annotations

import ctypes
import os

__all__ = [
    "MS_BIND",
    "MS_NODEV",
    "MS_NOEXEC",
    "MS_NOSUID",
    "MS_RDONLY",
    "MS_REC",
    "MS_REMOUNT",
    "drop_capabilities",
    "initial_environment",
    "mount",
    "new_mount_namespace",
    "no_new_privileges",
    "prctl",
    "restore_signals",
    "syscall",
    "version",
]

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC = 1, 2, 4, 8, 32, 4096, 16384

_CLONE_NEWNS = 0x00020000
_PR_CAPBSET_DROP, _PR_SET_SECUREBITS, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 24, 28, 38, 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_SECBITS_NO_ROOT_LOCKED = 0b11  # uid 0 gets no capabilities by exec, and this cannot be undone
_SIGPIPE, _SIGXFSZ = 13, 25
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(name: str, number: int, *args: object) -> int:
    """A raw system call; the arguments are pointers or integers of machine width."""
    wide = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    return _check(_libc.syscall(ctypes.c_long(number), *wide), name)


def prctl(option: int, *args: object) -> int:
    """prctl with the missing arguments as zeros, as the kernel asks for."""
    wide = [ctypes.c_ulong(arg) if isinstance(arg, int) else arg for arg in args]
    wide += [ctypes.c_ulong(0)] * (4 - len(wide))
    return _check(_libc.prctl(option, *wide), f"prctl {option}")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """mount(2); paths are encoded as the file system does."""
    given = [os.fsencode(text) if text else None for text in (source, target, kind)]
    data = os.fsencode(options) if options else None
    _check(_libc.mount(*given, ctypes.c_ulong(flags), data), f"mount {kind or source} on {target}")


def new_mount_namespace() -> None:
    """Give this process its own mount table; nothing of it is seen by others."""
    _check(_libc.unshare(_CLONE_NEWNS), "unshare")


def no_new_privileges() -> None:
    """Set-uid programs and file capabilities have no effect from here on."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Give up every capability for good: bounding, ambient, inheritable, permitted and effective."""
    for capability in range(64):
        try:
            prctl(_PR_CAPBSET_DROP, capability)
        except OSError:
            break  # past the last one, or not allowed to: then there is none to lose
    try:  # noqa: SIM105 - importing contextlib costs 3 ms, in every run
        prctl(_PR_SET_SECUREBITS, _SECBITS_NO_ROOT_LOCKED)
    except OSError:
        pass  # only a process with capabilities may, and only that one needs to
    prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _check(_libc.capset(header, nothing), "capset")


def initial_environment() -> dict[str, str]:
    """The environment as it was given: the interpreter itself may add LC_CTYPE to its copy (PEP 538)."""
    try:
        with open("/proc/self/environ", "rb") as file:
            pairs = [item.partition(b"=") for item in file.read().split(b"\0") if item]
    except OSError:
        return dict(os.environ)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def restore_signals() -> None:
    """Undo what the interpreter ignores for itself: commands would inherit it, and outlive their readers."""
    for number in (_SIGPIPE, _SIGXFSZ):
        _libc.signal(number, None)


def version() -> tuple[int, int]:
    """The kernel's version; (0, 0) where it cannot be read."""
    numbers = os.uname().release.replace("-", ".").split(".")[:2]
    try:
        return int(numbers[0]), int(numbers[1])
    except (IndexError, ValueError):
        return 0, 0

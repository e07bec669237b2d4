"""A system call filter, put together by hand: a library would be a dependency inside every sandbox.

Denied always: new namespaces, mounts, tracing others, kernel keys, programs and modules, io_uring (it
opens sockets that no filter sees) and typing into terminals. Sockets are left to the named families.
Errors are those that programs know how to fall back from.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from showcause.sandbox.inside.kernel import no_new_privileges, prctl

__all__ = ["AF_INET", "AF_INET6", "AF_NETLINK", "AF_UNIX", "install", "is_known"]

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_KILL, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_NUMBER_AT, _ARCH_AT, _ARGS_AT = 0, 4, 16

_NEW_NAMESPACES = 0x7E020000  # CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET}
_NEW_TIME = 0x80
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C

# Common to both machines since the tables were unified.
_NEWER = {
    "clone3": 435, "io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431,
    "fsmount": 432, "fspick": 433, "mount_setattr": 442,
}  # fmt: skip
# machine -> (audit architecture, numbers)
_MACHINES: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (0xC000003E, _NEWER | {
        "socket": 41, "clone": 56, "ioctl": 16, "unshare": 272, "ptrace": 101, "mount": 165, "umount2": 166,
        "pivot_root": 155, "setns": 308, "keyctl": 250, "add_key": 248, "request_key": 249, "bpf": 321,
        "perf_event_open": 298, "userfaultfd": 323, "process_vm_readv": 310, "process_vm_writev": 311,
        "kexec_load": 246, "kexec_file_load": 320, "init_module": 175, "finit_module": 313,
        "delete_module": 176, "open_by_handle_at": 304, "syslog": 103,
    }),
    "aarch64": (0xC00000B7, _NEWER | {
        "socket": 198, "clone": 220, "ioctl": 29, "unshare": 97, "ptrace": 117, "mount": 40, "umount2": 39,
        "pivot_root": 41, "setns": 268, "keyctl": 219, "add_key": 217, "request_key": 218, "bpf": 280,
        "perf_event_open": 241, "userfaultfd": 282, "process_vm_readv": 270, "process_vm_writev": 271,
        "kexec_load": 104, "kexec_file_load": 294, "init_module": 105, "finit_module": 273,
        "delete_module": 106, "open_by_handle_at": 265, "syslog": 116,
    }),
}  # fmt: skip
_LOOKED_INTO = {"socket", "clone", "unshare", "ioctl"}
_MISSING = {"clone3", "io_uring_setup"}  # glibc falls back to clone, whose flags can be read; others likewise


def is_known() -> bool:
    """Whether the tables hold this machine."""
    return os.uname().machine in _MACHINES


def install(families: tuple[int, ...] | None) -> None:
    """Filter this process and all its children for good. `families` None leaves sockets alone.

    Raises OSError where the kernel refuses, KeyError on an unknown machine (see `is_known`).
    """
    program = b"".join(_program(os.uname().machine, families))
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    no_new_privileges()
    prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.c_char_p(header))


def _program(machine: str, families: tuple[int, ...] | None) -> list[bytes]:
    arch, numbers = _MACHINES[machine]
    code = [_op(_LOAD, _ARCH_AT), *_unless(_IF_EQUAL, arch, _KILL), _op(_LOAD, _NUMBER_AT)]
    if machine == "x86_64":  # the x32 numbers are the same calls under other names
        code += _when(_IF_AT_LEAST, 0x40000000, _ERRNO | errno.ENOSYS)
    for name, number in numbers.items():
        if name not in _LOOKED_INTO:
            code += _when(_IF_EQUAL, number, _ERRNO | (errno.ENOSYS if name in _MISSING else errno.EPERM))
    denied = _ERRNO | errno.EPERM
    code += _argument(numbers["clone"], 0, _when(_IF_BITS, _NEW_NAMESPACES, denied))
    code += _argument(numbers["unshare"], 0, _when(_IF_BITS, _NEW_NAMESPACES | _NEW_TIME, denied))
    typing = [op for request in (_TIOCSTI, _TIOCLINUX) for op in _when(_IF_EQUAL, request, denied)]
    code += _argument(numbers["ioctl"], 1, typing)
    if families is not None:
        known = [op for family in families for op in _when(_IF_EQUAL, family, _ALLOW)]
        code += _argument(numbers["socket"], 0, [*known, _op(_RETURN, _ERRNO | errno.EACCES)])
    return [*code, _op(_RETURN, _ALLOW)]


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _when(test: int, value: int, result: int) -> list[bytes]:
    return [_op(test, value, 0, 1), _op(_RETURN, result)]


def _unless(test: int, value: int, result: int) -> list[bytes]:
    return [_op(test, value, 1, 0), _op(_RETURN, result)]


def _argument(number: int, index: int, then: list[bytes]) -> list[bytes]:
    """For one call: load the low half of an argument, test it, and allow what no test has denied."""
    block = [_op(_LOAD, _ARGS_AT + 8 * index), *then, _op(_RETURN, _ALLOW)]
    return [_op(_IF_EQUAL, number, 0, len(block)), *block]

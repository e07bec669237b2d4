"""The allow list: what of the machine a confined command may see besides its tree."""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import sys
from pathlib import Path

__all__ = [
    "etc_files",
    "homes",
    "interpreter",
    "is_within",
    "mounts_below",
    "synthesised",
    "system_directories",
]

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store")
_ETC = (
    "/etc/alternatives", "/etc/ca-certificates", "/etc/crypto-policies", "/etc/fonts", "/etc/java",
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/mime.types",
    "/etc/os-release", "/etc/php", "/etc/pki/ca-trust", "/etc/pki/tls", "/etc/protocols", "/etc/services",
    "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/timezone",
)  # fmt: skip
_NOBODY = "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"  # all owners who are not mapped
_ETC_ONLINE = ("/etc/hosts", "/etc/resolv.conf")


def is_within(path: str, outer: str) -> bool:
    """Whether `path` is `outer` or lies below it; both absolute."""
    return path == outer or path.startswith(outer.rstrip("/") + "/")


@functools.cache
def system_directories() -> tuple[tuple[str, str], ...]:
    """(path, link target or "") of each system directory that exists; links such as /bin stay links."""
    found = []
    for path in _SYSTEM:
        if os.path.islink(path):
            found.append((path, os.readlink(path)))
        elif Path(path).is_dir():
            found.append((path, ""))
    return tuple(found)


@functools.cache
def etc_files(*, online: bool) -> tuple[str, ...]:
    """What of /etc is shown as it is. `online` adds what only the host's own network needs.

    Versioned directories of the JDK, /etc/java-17-openjdk and the like, belong to it.
    """
    names = _ETC + (_ETC_ONLINE if online else ())
    java = (str(path) for path in Path("/etc").glob("java-*"))
    return tuple(path for path in (*names, *java) if os.path.exists(path))


def synthesised(home: str, *, online: bool) -> tuple[tuple[str, str], ...]:
    """Path and text of the files of /etc that are made up: they would name the machine's users."""
    files = [
        ("/etc/passwd", f"root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:{home}:/bin/sh\n{_NOBODY}"),
        ("/etc/group", "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n"),
        ("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
    ]
    if not online:
        files.append(("/etc/hosts", "127.0.0.1 localhost showcause\n::1 localhost ip6-localhost\n"))
    return tuple(files)


def homes() -> tuple[str, ...]:
    """The user's home, by the environment and by the password file; the root directory is none."""
    found = [os.path.expanduser("~")]
    with contextlib.suppress(KeyError):  # a uid without an entry, as in many containers
        found.append(pwd.getpwuid(os.getuid()).pw_dir)
    return tuple(dict.fromkeys(path.rstrip("/") for path in found if path.startswith("/") and path != "/"))


def interpreter() -> tuple[str, str]:
    """The interpreter that runs our own code inside, free of any virtual environment, and its prefix."""
    return os.path.realpath(sys.executable), sys.base_prefix


def mounts_below(root: str) -> tuple[str, ...]:
    """Real paths below `root`, itself not, at which something else is mounted.

    In a user namespace the kernel refuses to show what such a mount covers, so no overlay can be made of
    `root`; the way out is a copy as the only layer, and these paths as readable.
    """
    real = os.path.realpath(root)
    with open("/proc/self/mountinfo", "rb") as file:
        points = {_unescape(line.split()[4]) for line in file}
    return tuple(sorted(point for point in points if point != real and is_within(point, real)))


def _unescape(raw: bytes) -> str:
    for octal in (b"\\040", b"\\011", b"\\012"):
        raw = raw.replace(octal, bytes([int(octal[1:], 8)]))
    return os.fsdecode(raw.replace(b"\\134", b"\\"))

"""Landlock: which paths this process and all its children may write, or read, from here on.

Numbers and layouts: Linux `include/uapi/linux/landlock.h`. What a kernel knows is asked for, never
derived from its version.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct

from showcause.sandbox.inside.kernel import no_new_privileges, syscall

__all__ = ["READ", "WRITE", "WRITE_IN_PLACE", "abi", "restrict"]

_CREATE, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_CHANGE_DIR = sum(1 << bit for bit in range(4, 13))  # remove and make entries of every kind

READ = _EXECUTE | _READ_FILE | _READ_DIR
WRITE_IN_PLACE = _WRITE_FILE | _TRUNCATE  # existing files only: devices, /proc/self
WRITE = WRITE_IN_PLACE | _CHANGE_DIR | _REFER
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE

_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1, 2


def abi() -> int:
    """The version of Landlock that this kernel offers; 0 for none."""
    try:
        return syscall("landlock_create_ruleset", _CREATE, 0, 0, _VERSION)
    except OSError:
        return 0


def restrict(allowed: list[tuple[str, int]], *, reading: bool, scoped: bool) -> bool:
    """Allow on and beneath each path what is named with it, and nothing else; False if that is not to be had.

    Reading is left alone unless `reading`. `scoped` keeps signals and abstract sockets within, if known.
    Below version 2 nothing is done, since files could not be moved between directories at all then.
    Paths that do not exist are passed over.
    """
    version = abi()
    if version < 2:
        return False
    handled = WRITE | (READ if reading else 0)
    if version < 3:
        handled &= ~_TRUNCATE
    scopes = _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS if scoped and version >= 6 else 0
    attributes = struct.pack("=QQQ", handled, 0, scopes)[: 8 if version < 4 else 16 if version < 6 else 24]
    ruleset = syscall("landlock_create_ruleset", _CREATE, ctypes.c_char_p(attributes), len(attributes), 0)
    try:
        for path, access in allowed:
            _allow(ruleset, path, access & handled)
        no_new_privileges()
        syscall("landlock_restrict_self", _RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return True


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            access &= _ON_FILES
        if access:
            rule = struct.pack("=Qi", access, fd)
            syscall("landlock_add_rule", _ADD_RULE, ruleset, _PATH_BENEATH, ctypes.c_char_p(rule), 0)
    finally:
        os.close(fd)

"""What decides how runs are confined, without trying it: part of the key of a settled review."""

from __future__ import annotations

import os

from showcause.canon import digest_record
from showcause.sandbox import LEVEL_VARIABLE
from showcause.sandbox.bwrap import find_bwrap

__all__ = ["sandbox_identity"]


def sandbox_identity() -> str:
    """Digest of kernel, user, forced level and bwrap programs. A change of any may change confinement."""
    kernel = os.uname()
    programs = [(path, os.stat(path).st_mtime_ns) for path in find_bwrap()]
    forced = os.environ.get(LEVEL_VARIABLE, "")
    return digest_record([kernel.sysname, kernel.release, kernel.version, os.getuid(), forced, programs])

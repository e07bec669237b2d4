"""Files from outside the repository as objects of the private store."""

from __future__ import annotations

import os
import stat

from showcause.git.call import Repo, call
from showcause.git.write import Entry

__all__ = ["store_files"]


def store_files(repo: Repo, folder: str) -> dict[str, Entry]:
    """Store every regular file below `folder` as it is, unfiltered: path below `folder` -> entry."""
    found: dict[str, str] = {}
    for place, _, names in os.walk(folder):
        for name in names:
            file = os.path.join(place, name)
            if stat.S_ISREG(os.lstat(file).st_mode):
                found[os.path.relpath(file, folder)] = file
    if not found:
        return {}
    stdin = b"".join(os.fsencode(os.path.abspath(file)) + b"\n" for file in found.values())
    oids = call(repo, "hash-object", "-w", "--no-filters", "--stdin-paths", stdin=stdin).decode().split()
    modes = ["100755" if os.access(file, os.X_OK) else "100644" for file in found.values()]
    return {path: Entry(mode=mode, oid=oid) for path, mode, oid in zip(found, modes, oids, strict=True)}

"""One digest over our own code of the contract: which runtime made an attempt."""

from __future__ import annotations

import functools
from pathlib import Path

from showcause.canon import digest, digest_record

__all__ = ["sources_digest"]

_HERE = Path(__file__).parent


@functools.cache
def sources_digest() -> str:
    """SHA-256 over names and contents of this package's files and the process door's."""
    folders = (_HERE, _HERE.parent / "process", _HERE.parent / "sandbox")
    files = sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".txt"))
    return digest_record([[str(path.relative_to(_HERE.parent)), digest(path.read_bytes())] for path in files])

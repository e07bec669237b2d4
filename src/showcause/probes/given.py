"""Probes as they are handed in, by a person or by a model: the one shape, and what it must fulfil."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import msgspec

from showcause.canon import digest_record
from showcause.errors import UsageError
from showcause.records import Probe, ProbeRole, Record
from showcause.trees import SurfaceKind, surface_kind

__all__ = ["FORMAT", "Draft", "probe_of", "read_probes", "unusable"]

FORMAT = (
    '{"probes": [{"role": "probe" or "guard", "files": {"path": "text"}, "tests": ["id"], '
    '"quote": "words of the issue", "shows": "what it shows"}]}'
)

_MOST_FILES, _MOST_BYTES = 20, 256 * 1024
_NOT_A_TEST = (
    SurfaceKind.CONFTEST,
    SurfaceKind.RUNNER_CONFIG,
    SurfaceKind.CI,
    SurfaceKind.INTERPRETER_HOOK,
)


class Draft(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One probe as its writer gives it."""

    files: dict[str, str]
    tests: tuple[str, ...]
    shows: str
    quote: str = ""
    role: ProbeRole = ProbeRole.PROBE
    remarks: str = ""


class _File(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    probes: tuple[Draft, ...]


def read_probes(path: str) -> tuple[Probe, ...]:
    """The probes in a file. Raises UsageError naming the file and what is wrong."""
    try:
        told = msgspec.json.decode(Path(path).read_bytes(), type=_File)
    except OSError as error:
        raise UsageError(f"--probe {path}: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise UsageError(f"--probe {path} holds no probes: {error}; expected: {FORMAT}") from error
    if not told.probes:
        raise UsageError(f"--probe {path} holds no probes")
    return tuple(probe_of(draft, generator=Path(path).name) for draft in told.probes)


def probe_of(draft: Draft, *, generator: str) -> Probe:
    """A draft with its id."""
    return Probe(
        id=digest_record([draft.role, draft.files, draft.tests])[:12],
        role=draft.role,
        generator=generator,
        files=draft.files,
        tests=draft.tests,
        quote=draft.quote,
        shows=draft.shows,
        remarks=draft.remarks,
    )


def unusable(probe: Probe, existing: Iterable[str]) -> str:
    """Why the files of a probe cannot be laid over the trees, or "". `existing` are paths that are taken."""
    if not probe.tests or not all(test.strip() for test in probe.tests):
        return "it names no test"
    if not 0 < len(probe.files) <= _MOST_FILES:
        return f"it has {len(probe.files)} files (1 to {_MOST_FILES} may be)"
    if sum(len(text.encode("utf-8", "replace")) for text in probe.files.values()) > _MOST_BYTES:
        return f"its files are longer than {_MOST_BYTES} bytes"
    taken = set(existing)
    for path in probe.files:
        if why := _bad_path(path) or ("it exists already" if path in taken else ""):
            return f"{path}: {why}"
    return ""


def _bad_path(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not path or path != "/".join(parts) or path.startswith("/") or ".." in parts or "\\" in path:
        return "no plain path below the repository"
    if any(part.startswith(".") for part in parts) or not path.isprintable():
        return "a hidden or unprintable name"
    if surface_kind(path, frozenset()) in _NOT_A_TEST:
        return "configures the tests of others"
    return ""

"""Cases whose answers are known: shipped ones, and the user's own in the same shape.

One JSON object a line: `id`, `issue`, `before` (path -> text), `good` and `bad` (the files that a correct
and a defective patch leave, path -> text), `lacks` (what the defective one leaves out; for people).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path

import msgspec

from showcause import git
from showcause.errors import UsageError
from showcause.patch import parse
from showcause.records import CodeExcerpt, Patch, Record

__all__ = ["Known", "KnownPatch", "patches_of", "read_cases", "shipped_cases"]


class Known(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One issue with a correct and a defective answer."""

    id: str
    issue: str
    before: dict[str, str]
    good: dict[str, str]
    bad: dict[str, str]
    lacks: str


class KnownPatch(Record, frozen=True, kw_only=True):
    """One answer as a patch on its base. `code` is what base holds."""

    case: str
    issue: str
    is_defective: bool
    patch: Patch
    code: tuple[CodeExcerpt, ...]


def shipped_cases() -> tuple[Known, ...]:
    """The cases that come with showcause."""
    return _decoded((files("showcause.calibrate") / "known.jsonl").read_bytes(), "known.jsonl")


def read_cases(path: str) -> tuple[Known, ...]:
    """The user's own cases. Raises UsageError naming the line that is wrong."""
    try:
        return _decoded(Path(path).read_bytes(), path)
    except OSError as error:
        raise UsageError(f"--cases {path}: {error.strerror}") from error


def _decoded(data: bytes, name: str) -> tuple[Known, ...]:
    found = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            found.append(msgspec.json.decode(line, type=Known))
        except msgspec.MsgspecError as error:
            raise UsageError(f"{name}:{number}: {error}") from error
    return tuple(found)


def patches_of(case: Known) -> Iterator[KnownPatch]:
    """Both answers, as git makes them, in a repository that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="showcause-known-") as folder:
        _write(folder, case.before)
        git.make_repository(folder, case.id)
        repo = git.open_repo(folder)
        code = tuple(CodeExcerpt(path=path, text=text) for path, text in case.before.items())
        for is_defective, answer in ((False, case.good), (True, case.bad)):
            _write(folder, case.before | answer)
            head = git.snapshot(repo, "known").tree
            data = git.diff(repo, repo.head_tree, head)
            patch = parse(data, base_tree=repo.head_tree, head_tree=head)
            yield KnownPatch(
                case=case.id, issue=case.issue, is_defective=is_defective, patch=patch, code=code
            )


def _write(folder: str, texts: Mapping[str, str]) -> None:
    for path, text in texts.items():
        place = Path(folder) / path
        if not os.path.realpath(place).startswith(os.path.realpath(folder) + os.sep):
            raise UsageError(f"{path}: a case may hold only paths of its own")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

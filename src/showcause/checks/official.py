"""The official suite: tests that the user declares to be the whole oracle. It decides both ways.

A suite file is JSON: `{"tests": ..., "fail_to_pass": [ids], "pass_to_pass": [ids]}`, where `tests` is
a patch (a path ending in .diff or .patch, or the text itself) or a directory whose files are laid over
the tree; paths are relative to the suite file. Its tests and ids are run, never shown to a reviewer.

What of it lies in the repository is read from base, where base has it: no patch edits its own judge.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from showcause import git
from showcause.canon import digest_record
from showcause.checks.workbench import Plan, Workbench
from showcause.errors import EnvironmentFault, Unappliable, UsageError
from showcause.gate import FAIL_TO_PASS, OFFICIAL, PASS_TO_PASS
from showcause.git import Entry, Repo
from showcause.patch import raw_changes
from showcause.records import CheckResult, Record, Stage
from showcause.trees import apply_diff, lay_over

__all__ = ["OfficialSuite", "keep_suite", "kept_suite", "official_check", "read_suite"]


class OfficialSuite(Record, frozen=True, kw_only=True):
    """An official suite, its files stored as git objects: path -> entry, None for a file it removes."""

    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    entries: dict[str, Entry | None]

    @property
    def digest(self) -> str:
        return digest_record(self)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tests: str
    fail_to_pass: list[str]
    pass_to_pass: list[str] = msgspec.field(default_factory=list)


def read_suite(path: str, repo: Repo, base_tree: str) -> OfficialSuite:
    """Read a suite file and store its tests. Raises UsageError naming the file and what is wrong."""
    place = _Place(repo, base_tree)
    try:
        told = msgspec.json.decode(place.read(path), type=_File)
        entries = _entries(told.tests, os.path.dirname(path), place)
    except OSError as error:
        raise UsageError(f"{error.filename or path} cannot be read: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise UsageError(f"{path} is not an official suite: {error}") from error
    except Unappliable as error:
        raise UsageError(f"{path}: its tests do not go onto base: {error}") from error
    if not told.fail_to_pass:
        raise UsageError(f"{path}: fail_to_pass names no test, so nothing would be shown")
    return OfficialSuite(
        fail_to_pass=tuple(dict.fromkeys(told.fail_to_pass)),
        pass_to_pass=tuple(dict.fromkeys(told.pass_to_pass)),
        entries=entries,
    )


class _Place:
    """Reads files and folders: from the base tree what it has, from disk what it has not."""

    def __init__(self, repo: Repo, base_tree: str) -> None:
        self.repo, self.base_tree = repo, base_tree

    def read(self, path: str) -> bytes:
        inside = self._inside(path)
        held = git.files(self.repo, self.base_tree, [inside]) if inside else ()
        if held and held[0].path == inside:
            return git.blobs(self.repo, {held[0].oid})[held[0].oid]
        return Path(path).read_bytes()

    def folder(self, path: str) -> dict[str, Entry | None] | None:
        """Path below the folder -> entry; None if there is no such folder."""
        inside = self._inside(path)
        held = git.files(self.repo, self.base_tree, [f"{inside}/"]) if inside else ()
        if held:
            start = len(inside) + 1
            return {file.path[start:]: Entry(mode=file.mode, oid=file.oid) for file in held}
        return dict(git.store_files(self.repo, path)) if os.path.isdir(path) else None

    def _inside(self, path: str) -> str:
        """The path in the repository, "" for one that lies outside."""
        inside = os.path.relpath(os.path.realpath(path), os.path.realpath(self.repo.top))
        return "" if inside.split(os.sep)[0] == os.pardir else inside


def _entries(tests: str, beside: str, place: _Place) -> dict[str, Entry | None]:
    path = os.path.join(beside, tests)
    folder = place.folder(path) if "\n" not in tests else None
    if folder is not None:
        return folder
    patch = tests.encode() if "\n" in tests else place.read(path)
    applied = apply_diff(place.repo, place.base_tree, patch)
    changes = raw_changes(git.diff_raw(place.repo, place.base_tree, applied.tree))
    return {
        change.path: Entry(mode=change.new_mode, oid=change.new_oid) if change.new_oid.strip("0") else None
        for change in changes
    }


def keep_suite(repo: Repo, suite: OfficialSuite) -> None:
    """Keep the suite beside the receipts, so that its causes can be shown again later."""
    place = _kept(repo, suite.digest)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    partial = f"{place}.{os.getpid()}"
    Path(partial).write_bytes(msgspec.json.encode(suite))
    os.replace(partial, place)


def kept_suite(repo: Repo, digest: str) -> OfficialSuite:
    """A suite that an earlier review kept. Raises EnvironmentFault if it is gone."""
    try:
        return msgspec.json.decode(Path(_kept(repo, digest)).read_bytes(), type=OfficialSuite)
    except (OSError, msgspec.MsgspecError) as error:
        raise EnvironmentFault(f"the official suite {digest[:12]} of that review is gone: {error}") from error


def _kept(repo: Repo, digest: str) -> str:
    return os.path.join(repo.private, "suites", f"{digest}.json")


def official_check(
    bench: Workbench, suite: OfficialSuite, *, budget_s: float, select: tuple[str, ...] = ()
) -> tuple[CheckResult, CheckResult]:
    """(fail_to_pass, pass_to_pass): both parts run at once, told apart afterwards.

    `select` limits the run to some of its ids.
    """
    over = bench.with_trees(lay_over(bench.trees, suite.entries), "official")
    running = bench.kit.running
    wanted = select or (*suite.fail_to_pass, *suite.pass_to_pass)
    plan = Plan(
        check=OFFICIAL,
        stage=Stage.OFFICIAL,
        runner=running.runner,
        select=wanted,
        expect=wanted,
        budget_s=budget_s,
        repeats=2,
        repeat_failures=True,
        config=running.config,
        workdir=running.workdir,
    )
    whole = over.compare(plan)
    return _part(whole, FAIL_TO_PASS, suite.fail_to_pass), _part(whole, PASS_TO_PASS, suite.pass_to_pass)


def _part(whole: CheckResult, check_id: str, ids: tuple[str, ...]) -> CheckResult:
    wanted = set(ids)
    items = tuple(item for item in whole.items if item.id in wanted)
    return msgspec.structs.replace(whole, id=check_id, items=items)

"""The bundled little repository: one issue, six patches, and a suite that settles each.

`make_demo` writes it as a real git repository; `PATCHES` says what each patch is.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from showcause import git
from showcause.records import Record

__all__ = ["HERE", "ISSUE", "OFFICIAL", "PATCHES", "DemoPatch", "make_demo"]

HERE = Path(__file__).parent
ISSUE = HERE / "issue.md"
OFFICIAL = HERE / "official" / "suite.json"


class DemoPatch(Record, frozen=True, kw_only=True):
    """One patch of the demo. `file` is its diff."""

    title: str
    file: Path


PATCHES: tuple[DemoPatch, ...] = tuple(
    DemoPatch(title=title, file=HERE / "patches" / name)
    for name, title in (
        ("1-correct.diff", "correct"),
        ("2-omits-behaviour.diff", "omits behaviour"),
        ("3-undefined-name.diff", "undefined name"),
        ("4-breaks-another-test.diff", "breaks another test"),
        ("5-edits-the-tests.diff", "edits the tests"),
        ("6-empty.diff", "empty"),
    )
)


def make_demo(folder: str) -> str:
    """Write the demo's project as a repository of one commit in `folder`; returns its path."""
    place = Path(folder) / "till"
    shutil.copytree(HERE / "project", place, ignore=shutil.ignore_patterns("__pycache__"))
    git.make_repository(str(place), "the till, before discount codes")
    return str(place)

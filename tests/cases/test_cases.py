"""Reviews of real patches end as executing their official suites did.

The cases are no part of this repository: SHOWCAUSE_CASES names their folder. Environments and trees are
made anew, or kept in SHOWCAUSE_CASES_WORK.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.cases import ENVIRON, agrees, review_patch
from benchmarks.casework import REFERENCE, Case, HandedIn, Prepared, Unprepared, prepare, read_cases

FOLDER = os.environ.get(ENVIRON, "")
WORK = os.environ.get("SHOWCAUSE_CASES_WORK", "")

pytestmark = [
    pytest.mark.cases,
    pytest.mark.skipif(not FOLDER, reason=f"{ENVIRON} names no folder with real cases"),
]


@pytest.fixture(params=["flask", "requests"])
def ready(request: pytest.FixtureRequest, tmp_path: Path) -> Prepared:
    """A case with its repository and environment. What CI asked for and cannot have is a failure there."""
    case = read_cases(Path(FOLDER), wanted=request.param, reference=True)[0]
    try:
        return prepare(case, Path(WORK) if WORK else tmp_path)
    except Unprepared as error:
        if os.environ.get("SHOWCAUSE_CI"):
            raise
        pytest.skip(str(error))


def chosen(case: Case) -> list[HandedIn]:
    """The reference, the first good and the first bad patch: each is the first of its kind."""
    by_kind = {"bad": lambda label: label.startswith("reject"), "good": lambda label: label == "accept"}
    by_kind["reference"] = lambda label: label == REFERENCE
    firsts = (next((p for p in case.patches if is_kind(p.label)), None) for is_kind in by_kind.values())
    return [patch for patch in firsts if patch is not None]


def test_verdicts_are_the_executed_labels(ready: Prepared, tmp_path: Path) -> None:
    patches = chosen(ready.case)
    assert len(patches) >= 2
    store = str(tmp_path / "store.sqlite3")
    for patch in patches:
        seen = review_patch(ready, patch, store=store, budget_s=60.0, with_suite=True)
        assert agrees(patch.label, seen), f"{patch.name}: {patch.label}, but {seen}"

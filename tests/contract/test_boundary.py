"""The boundary scan of every adapter: no false completion, and every broken runtime is caught."""

from __future__ import annotations

from pathlib import Path

import pytest

from showcause.contract.adapters import ADAPTERS
from showcause.contract.boundary import scan
from showcause.records.contract import ReviewerKind
from showcause.sandbox import find_sandbox
from showcause.sandbox.bare import BareSandbox


@pytest.mark.parametrize("kind", [ReviewerKind.COMMAND, ReviewerKind.CLAUDE_CODE])
def test_the_scan_holds(tmp_path: Path, kind: ReviewerKind) -> None:
    _holds(tmp_path, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in ADAPTERS if kind is not ReviewerKind.COMMAND])
def test_the_scan_holds_for_every_adapter(tmp_path: Path, kind: ReviewerKind) -> None:
    _holds(tmp_path, kind)


def _holds(folder: Path, kind: ReviewerKind) -> None:
    report = scan(ADAPTERS[kind], BareSandbox("a test", allowed=True), folder)
    assert [row for row in report.rows if not row.holds] == []
    assert [row for row in report.rows if row.is_false_completion] == []
    caught = {one.name: one.is_caught for one in report.broken}
    if kind is ReviewerKind.KIMI:  # no input to be cut
        assert caught.pop("cut input accepted") is False
    assert set(caught.values()) == {True}
    assert len(report.rows) >= 25


@pytest.mark.needs_sandbox
def test_the_scan_holds_in_the_sandbox(tmp_path: Path) -> None:
    sandbox = find_sandbox(allow_unsandboxed=True)
    report = scan(ADAPTERS[ReviewerKind.CODEX], sandbox, tmp_path)
    assert report.holds, [row for row in report.rows if not row.holds]

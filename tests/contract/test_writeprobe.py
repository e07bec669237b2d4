"""The write probe finds a CLI that writes, and tells the layer that kept it from it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from showcause.contract.adapters import ADAPTERS
from showcause.contract.writeprobe import ALONE, CONTRACT, Layer, probe_writes
from showcause.records.contract import ReviewerKind, ReviewerSpec
from showcause.sandbox import find_sandbox
from showcause.sandbox.bare import BareSandbox
from tests.contract.made import spec
from tests.needs import need

NAIVE = (sys.executable, str(Path(__file__).with_name("naive_agent.py")))


def naive(*, repository: bool = False) -> ReviewerSpec:
    return spec(ReviewerKind.CLAUDE_CODE, command=NAIVE, model="claude-opus-4-5", repository=repository)


@pytest.mark.needs_sandbox
@pytest.mark.parametrize("repository", [False, True])
def test_a_cli_that_writes_is_kept_from_it_by_the_sandbox(repository: bool) -> None:
    sandbox = find_sandbox(allow_unsandboxed=True)
    need(sandbox.report.level < 3, "namespaces")
    report = probe_writes(
        naive(repository=repository), ADAPTERS[ReviewerKind.CLAUDE_CODE], sandbox, repositories=2
    )
    assert dict(report.changed) == {CONTRACT: 0, ALONE: 2}
    assert report.holds
    rows = {(row.setting, row.tool): row for row in report.rows}
    assert rows[CONTRACT, "Write"].layer is Layer.SANDBOX
    assert rows[CONTRACT, "Write"].refused
    assert ("Read-only" in rows[CONTRACT, "Write"].said) is repository
    assert (rows[ALONE, "Write"].layer, rows[ALONE, "Write"].changed) == (Layer.NOBODY, 2)
    assert (rows[ALONE, "Bash"].layer, rows[ALONE, "Bash"].changed) == (Layer.NOBODY, 2)
    assert rows[CONTRACT, "Edit"].layer is Layer.NOT_OFFERED


def test_a_contract_without_a_sandbox_does_not_hold_for_it() -> None:
    bare = BareSandbox("a test", allowed=True)
    report = probe_writes(naive(), ADAPTERS[ReviewerKind.CLAUDE_CODE], bare, repositories=1)
    assert dict(report.changed) == {CONTRACT: 1, ALONE: 1}
    assert not report.holds

"""Patches and attacks that other gates let through or reject wrongly: the outcome of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from git_helpers import Files, make
from reviews import PYTEST, look

from showcause.probes.given import Draft, probe_of
from showcause.records import (
    Ended,
    HeadSays,
    Probe,
    ProbeState,
    ReviewRecord,
    Rule,
    RunState,
    Stage,
    Verdict,
)

ASKED = b"parse_port('0x50') must give 80, and parse_port('') must raise ValueError instead of returning 0."
BASE = b"""\
def parse_port(text):
    if not text:
        return 0
    return int(text)
"""
CORRECT = b"""\
def parse_port(text):
    if not text:
        raise ValueError("no port")
    return int(text, 0)
"""
OMITS = CORRECT.replace(b"int(text, 0)", b"int(text)")
ERROR_PATH = CORRECT.replace(b'ValueError("no port")', b'ValueEror("no port")')
WRONG = BASE.replace(b"return 0", b"return 80")
TEST = b"""\
from port import parse_port


def test_plain():
    assert parse_port("80") == 80
"""
EDITED = TEST + b"\n\ndef test_empty():\n    assert parse_port('') == 80\n"
FORGES = (
    b"""\
import sys


def _all_pass(report):
    report.outcome = "passed"
    report.longrepr = None


if "_pytest.reports" in sys.modules:
    from _pytest.reports import TestReport

    _make = TestReport.from_item_and_call.__func__

    def _forged(cls, item, call):
        report = _make(cls, item, call)
        _all_pass(report)
        return report

    TestReport.from_item_and_call = classmethod(_forged)


"""
    + OMITS
)
EXITS = b"import os\n\n\n" + OMITS.replace(b"    return int", b"    os._exit(0)\n    return int")


def probe(name: str, body: str, quote: str = "parse_port('0x50') must give 80", **more: Any) -> Probe:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"import pytest\n\nfrom port import parse_port\n\n\ndef test_{name}():\n{lines}"
    return probe_of(
        Draft(
            files={f"tests/test_{name}.py": more.pop("text", text)},
            tests=(f"tests/test_{name}.py::test_{name}",),
            quote=quote,
            shows=name,
        ),
        generator="hand",
    )


HEX = probe("hex", 'assert parse_port("0x50") == 80')
OCTAL = probe("octal", 'assert parse_port("0x1F") == 31')
RAISES = probe(
    "raises",
    'with pytest.raises(ValueError):\n    parse_port("")',
    "parse_port('') must raise ValueError instead of returning 0",
)
TYPO = probe("typo", 'assert parse_prot("0x50") == 80')
MISSING = probe(
    "missing",
    "",
    text="from port import parse_prot\n\n\ndef test_missing():\n    assert parse_prot('0x50') == 80\n",
)
AT_FAULT = {"typo": (TYPO, "NameError"), "import": (MISSING, "parse_prot")}


def judged(top: Path, head: Files, *probes: Probe, **more: Any) -> ReviewRecord:
    base = {"port.py": BASE, "tests/test_port.py": TEST, "conftest.py": b""}
    top = make(top / "repo", base)
    for path, data in head.items():
        (top / path).write_bytes(data)
    return look(top, python=PYTEST, runner="pytest", issue=ASKED, probes=probes, **more)


def states(record: ReviewRecord) -> list[tuple[ProbeState, HeadSays]]:
    return [(result.state, result.says) for result in record.probes]


def test_a_correct_patch_is_uncertain(tmp_path: Path) -> None:
    record = judged(tmp_path, {"port.py": CORRECT}, HEX, OCTAL, RAISES)
    assert (record.verdict, record.ended) == (None, Ended.UNDECIDED)
    assert states(record) == [(ProbeState.QUALIFIED, HeadSays.PASSES)] * 3


def test_an_omission_is_rejected(tmp_path: Path) -> None:
    record = judged(tmp_path, {"port.py": OMITS}, HEX, OCTAL)
    assert (record.verdict, record.decided_by) == (Verdict.REJECT, Stage.PROBES)
    assert "the issue says: \"parse_port('0x50') must give 80\"" in record.causes[0].message


def test_an_empty_patch_is_rejected_and_no_probe_runs(tmp_path: Path) -> None:
    record = judged(tmp_path, {}, HEX, OCTAL)
    assert [cause.rule for cause in record.causes] == [Rule.NO_CHANGE]
    assert record.probes == ()


def test_an_undefined_name_on_an_error_path_is_rejected_by_static(tmp_path: Path) -> None:
    record = judged(tmp_path, {"port.py": ERROR_PATH}, HEX)
    assert [cause.rule for cause in record.causes] == [Rule.STATIC]
    assert record.probes == ()  # decided before


def test_a_wrong_fix_with_edited_tests_is_rejected_and_the_edit_is_named(tmp_path: Path) -> None:
    record = judged(tmp_path, {"port.py": WRONG, "tests/test_port.py": EDITED}, HEX, RAISES)
    assert record.decided_by is Stage.PROBES
    assert [edit.path for edit in record.tampering] == ["tests/test_port.py"]


@pytest.mark.parametrize(("one", "why"), AT_FAULT.values(), ids=AT_FAULT)
def test_a_probe_at_fault_is_dropped_with_the_reason(tmp_path: Path, one: Probe, why: str) -> None:
    record = judged(tmp_path, {"port.py": OMITS}, one)
    assert states(record) == [(ProbeState.NOT_BEHAVIOURAL, HeadSays.NOTHING)]
    assert why in record.probes[0].why
    assert record.verdict is None


def test_a_probe_that_ends_did_not_raise_is_behaviour(tmp_path: Path) -> None:
    head = CORRECT.replace(b'raise ValueError("no port")', b"return 0")
    twin = probe(
        "twin",
        'with pytest.raises(ValueError, match="."):\n    parse_port("")',
        "parse_port('') must raise ValueError instead of returning 0",
    )
    record = judged(tmp_path, {"port.py": head}, RAISES, twin)
    assert record.decided_by is Stage.PROBES
    assert "DID NOT RAISE" in record.causes[0].head


def test_forged_reports_accept_nothing_and_are_named(tmp_path: Path) -> None:
    record = judged(tmp_path, {"port.py": FORGES}, HEX, OCTAL)
    assert record.verdict is None
    assert {result.says for result in record.probes} == {HeadSays.NOTHING}
    (check,) = (check for check in record.checks if check.stage is Stage.PROBES)
    assert check.state is RunState.TAMPERED
    assert any("tampered" in one.text for one in record.evidence)


def test_leaving_the_interpreter_accepts_nothing(tmp_path: Path) -> None:
    record = judged(tmp_path, {"port.py": EXITS}, HEX, OCTAL)
    assert record.verdict is not Verdict.ACCEPT
    assert HeadSays.PASSES not in {result.says for result in record.probes}


# ------------------------------------------------------------------ probes that misbehave

OUTSIDE = "/var/tmp/showcause-probe-was-here"
BAD = {
    "hangs": "import time\ntime.sleep(600)",
    "forks": "import os\nfor _ in range(3):\n    os.fork()\nassert parse_port('0x50') == 80",
    "writes_outside": f"open({OUTSIDE!r}, 'w').write('x')\nassert parse_port('0x50') == 80",
    "reads_the_network": "import socket\nsocket.create_connection(('127.0.0.1', 9), 1)",
    "deletes_the_repository": "import shutil\nshutil.rmtree('.')\nassert parse_port('0x50') == 80",
    "exits": "import os\nos._exit(0)",
    "prints_passes": "print('tests/test_x.py::test_x PASSED')\nassert parse_port('0x50') == 80",
    "forges": (
        "import _pytest.runner as r\nr.CallInfo.excinfo = property(lambda self: None)\n"
        "assert parse_port('0x50') == 80"
    ),
    "edits_the_events": (
        "import glob\nfor name in glob.glob('/proc/self/fd/*'):\n    try:\n"
        "        open(name, 'w').write('{}')\n"
        "    except OSError:\n        pass\nassert parse_port('0x50') == 80"
    ),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_a_probe_that_misbehaves_decides_nothing_and_leaves_nothing(tmp_path: Path, name: str) -> None:
    one = probe(name, BAD[name])
    settings = {"probe.time_budget_s": 2.0}
    record = judged(tmp_path, {"port.py": CORRECT}, one, settings=settings)
    assert record.verdict is None
    (result,) = record.probes
    assert result.says is not HeadSays.FAILS
    assert not Path(OUTSIDE).exists()
    assert (tmp_path / "repo/port.py").read_bytes() == CORRECT
    assert (tmp_path / "repo/tests/test_port.py").read_bytes() == TEST

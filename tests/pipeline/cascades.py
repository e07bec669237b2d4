"""Scripts of models for whole reviews, and the repository that they are asked about."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from git_helpers import git, make
from reviews import PLAIN

import showcause
from showcause.records import ReviewRecord

__all__ = ["ASKED", "HALF", "PACKET", "WHOLE", "answer", "bench", "cascade", "claim", "draft", "vote"]

ASKED = b"mean([]) raises ZeroDivisionError; it should return 0.0. spread([]) should return 0.0, too."
BASE = b"""\
def mean(values):
    return sum(values) / len(values)


def spread(values):
    return max(values) - min(values)
"""
HALF = BASE.replace(b"/ len(values)", b"/ len(values) if values else 0.0")
WHOLE = HALF.replace(b"- min(values)", b"- min(values) if values else 0.0")
TEST = b"""\
import unittest

from stats import mean, spread


class StatsTest(unittest.TestCase):
    def test_mean(self):
        self.assertEqual(mean([1, 2, 3]), 2)

    def test_spread(self):
        self.assertEqual(spread([1, 5]), 4)
"""
PACKET = {"packet": r"PACKET (p-\w+)", "nonce": r"END OF PACKET p-\w+ nonce (\w+)"}


def bench(top: Path, settings: str, head: bytes = HALF) -> Path:
    """A repository whose work tree holds `head`; `settings` are its showcause.toml, on base."""
    files = {"stats.py": BASE, "tests/__init__.py": b"", "tests/test_stats.py": TEST}
    make(top, files | {"showcause.toml": settings.encode()})
    (top / "stats.py").write_bytes(head)
    git(top, "status")
    return top


def cascade(
    tmp: Path,
    steps: Sequence[Mapping[str, Any]],
    settings: str = "",
    *,
    head: bytes = HALF,
    **request: Any,
) -> ReviewRecord:
    """One review with a scripted model called `m`, writer and reviewer unless `settings` say otherwise."""
    script = tmp / "script.json"
    script.write_text(json.dumps({"schema": "showcause/script/1", "steps": list(steps)}))
    model = f'[models.m]\nkind = "scripted"\npath = "{script}"\n'
    roles = settings or '[review]\nreviewer = "m"\nvotes = 3\n'
    top = tmp / "repo"
    if not top.exists():
        bench(top, model + roles, head)
    overrides = {"suite.python": PLAIN, "suite.runner": "unittest"}
    asked = {"directory": str(top), "issue": ASKED, "overrides": overrides} | request
    return showcause.review(showcause.Request(**asked)).receipt.body


def draft(name: str, body: str, **more: Any) -> dict[str, Any]:
    """One generated test of a module of its own; `body` is what the test does."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    text = (
        f"import unittest\n\nimport stats\n\n\nclass {name.title()}(unittest.TestCase):\n"
        f"    def test_it(self):\n{lines}"
    )
    return {
        "role": "probe",
        "files": [{"path": f"tests/test_{name}.py", "text": text}],
        "tests": [f"tests.test_{name}.{name.title()}.test_it"],
        "quote": "spread([]) should return 0.0",
        "shows": "spread of nothing",
        "remarks": "",
    } | more


def answer(*drafts: Mapping[str, Any]) -> str:
    return json.dumps({"probes": list(drafts)})


def claim(wrong: str = "ValueError", place: str = "stats.py:6") -> dict[str, Any]:
    return {"place": place, "trigger": "spread([])", "wrong": wrong, "cites": []}


def vote(decision: str, *findings: Mapping[str, Any], when: str = "END OF PACKET") -> dict[str, Any]:
    """A step that votes, whatever the packet's id and nonce."""
    said = {
        "packet": "{{packet}}",
        "nonce": "{{nonce}}",
        "decision": decision,
        "reasons": [
            {
                "text": "The patch changes the line that the issue is about.",
                "cites": [{"id": "patch", "state": "shown", "quote": ""}],
            }
        ],
        "findings": list(findings),
    }
    return {"when": when, "text": json.dumps(said), "echo": PACKET}

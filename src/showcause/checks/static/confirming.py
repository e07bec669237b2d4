"""Questions are put to the project's interpreter, inside the sandbox, on one side's tree."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import msgspec

from showcause import process
from showcause.checks.static.asking import Question
from showcause.checks.workbench import Workbench
from showcause.records import Record, Side

__all__ = ["Answer", "Answered", "ask", "read_events", "script_job"]

LIMIT_S = 40.0


class Answer(StrEnum):
    HOLDS = "holds"
    ABSENT = "absent"
    UNKNOWN = "unknown"


class Answered(Record, frozen=True, kw_only=True):
    """An answer and its reason. `holds` and `absent` are given only for code that is the tree's own."""

    answer: Answer
    why: str


def ask(bench: Workbench, side: Side, questions: Sequence[Question]) -> dict[int, Answered]:
    """Question id -> answer; every question has one. Raises Cancelled."""
    if not questions:
        return {}
    job = script_job(bench, side, questions)
    touched = job["touched"]
    run = bench.script(side, "showcause_confirm.py", job, limit_s=LIMIT_S)
    events = read_events(run.events)
    answers = {e["id"]: e for e in events if e.get("ev") == "answer"}
    facts = [item for e in events if e.get("ev") == "loaded" for item in e["items"]]
    foreign = _foreign(facts, touched)
    return {q.id: _answered(q, answers.get(q.id), foreign, run.finished) for q in questions}


def script_job(bench: Workbench, side: Side, questions: Sequence[Question]) -> dict[str, Any]:
    """What the script is told."""
    return {
        "root": bench.places.of(side).root,
        "sources": bench.kit.project.sources,
        "touched": bench.digests(side, sorted({question.path for question in questions})),
        "questions": [_told(question) for question in questions],
    }


def _told(question: Question) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(question)
    told["class"] = told.pop("cls")
    return told


def read_events(data: bytes) -> list[dict[str, Any]]:
    """The lines that are ours; what the project's code wrote among them is passed over."""
    found = []
    for line in data.splitlines():
        try:
            told = json.loads(line)  # it reads names that are not UTF-8
        except (ValueError, RecursionError):
            continue
        if isinstance(told, dict):
            found.append(told)
    return found


def _answered(
    question: Question, told: dict[str, Any] | None, foreign: dict[str, str], finished: process.Finished
) -> Answered:
    if told is None:
        return Answered(answer=Answer.UNKNOWN, why=f"the interpreter did not answer: {_ended(finished)}")
    if question.path in foreign:
        return Answered(answer=Answer.UNKNOWN, why=foreign[question.path])
    try:
        return Answered(answer=Answer(told["answer"]), why=str(told["why"]))
    except (KeyError, ValueError):
        return Answered(answer=Answer.UNKNOWN, why="its answer is not one of ours")


def _foreign(facts: Sequence[dict[str, Any]], touched: dict[str, str]) -> dict[str, str]:
    """Path -> why what was loaded under its name is not the tree's own file, where that is so."""
    wrong = {}
    for fact in facts:
        path = fact.get("path", "")
        same = fact.get("same") and not fact.get("parent")
        if not same or fact.get("sha256") != touched.get(path) or fact.get("code") not in ("none", "same"):
            wrong[path] = (
                f"{fact.get('module')} was loaded from {fact.get('place')}, not from the tree as it is"
            )
    return wrong


def _ended(finished: process.Finished) -> str:
    lines = finished.stderr.kept.decode("utf-8", "backslashreplace").strip().splitlines()
    last = f": {lines[-1][:200]}" if lines else ""
    return f"{finished.how.value} ({finished.exit_status}){last}"

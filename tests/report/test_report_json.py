"""The JSON report: its shape, its schema, and one exit status for all formats."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import jsonschema
import pytest
from report_samples import samples

from showcause.errors import UsageError
from showcause.receipt import exit_status
from showcause.records import Ended, Rule, Stage, Verdict
from showcause.report import FORMATS, render
from showcause.report.json import schema

SCHEMA = Path(__file__).parents[2] / "docs" / "schema" / "review-1.json"
SAMPLES = samples()


def test_the_schema_file_is_current() -> None:
    if os.environ.get("SHOWCAUSE_REBUILD"):
        SCHEMA.write_bytes(schema())
    assert SCHEMA.read_bytes() == schema(), (
        "run the tests with SHOWCAUSE_REBUILD=1 and look at the difference"
    )
    jsonschema.Draft202012Validator.check_schema(json.loads(schema()))


@pytest.mark.parametrize("name", SAMPLES)
def test_reports_are_valid(name: str) -> None:
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_bytes()))
    report = json.loads(render(SAMPLES[name], "json"))
    validator.validate(report)
    validator.validate(report | {"a_later_field": 1})
    for field in list(report):
        less = {key: value for key, value in report.items() if key != field}
        assert not validator.is_valid(less), field
    assert not validator.is_valid(report | {"schema": "showcause/review/2"})
    assert not validator.is_valid(report | {"verdict": "approved"})


def test_the_fields_of_version_1() -> None:
    report = json.loads(render(SAMPLES["reject"], "json"))
    assert report["schema"] == "showcause/review/1"
    assert report["receipt"] == "3f2a9c01d4e5"
    assert (report["verdict"], report["ended"], report["exit_status"]) == ("reject", "decided", 1)
    assert report["decided_by"] == "execution"
    assert {"rule", "stage", "message", "path", "line", "base", "head", "reproduce"} <= set(
        report["causes"][0]
    )
    assert report["causes"][0]["reproduce"] == ["showcause", "reproduce", "3f2a9c01d4e5#1"]
    assert {"id", "kind", "state", "text"} <= set(report["evidence"][0])
    assert {"id", "stage", "items"} <= set(report["checks"][0])
    assert {"id", "base", "head", "attribution", "runs"} <= set(report["checks"][0]["items"][0])
    assert set(report["bound_to"]) == {"base_tree", "head_tree", "patch", "policy"}
    assert report["review"] == {}


def test_enums_are_those_of_records() -> None:
    defs = json.loads(schema())["$defs"]
    for enum in (Verdict, Ended, Stage, Rule):
        assert set(defs[enum.__name__]["enum"]) == {member.value for member in enum}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_verdict_is_null_only_for_nothing(name: str) -> None:
    report = json.loads(render(SAMPLES[name], "json"))
    assert (report["verdict"] is None) == (report["ended"] == "nothing_to_review")
    decided = report["ended"] == "decided" and name != "contradiction"
    assert (report["verdict"] in ("accept", "reject")) == decided


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("format", FORMATS)
def test_no_format_changes_the_exit_status(name: str, format: str) -> None:
    receipt = SAMPLES[name]
    before = receipt.body.exit_status
    text = render(receipt, format).decode()
    told = re.search(r'"exit_status": (\d+),$|exit status (\d+)\b', text, re.MULTILINE)
    assert told is not None
    assert int(told[1] or told[2]) == receipt.body.exit_status == before
    allowed = name == "undecided_allowed"
    assert before == exit_status(receipt.body.ended, receipt.body.verdict, allowed)


def test_no_byte_steers_a_terminal() -> None:
    text = render(SAMPLES["hostile"], "json").decode()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]", text)
    assert json.loads(text)["why"] == SAMPLES["hostile"].body.why


def test_an_unknown_format() -> None:
    with pytest.raises(UsageError, match="there is: text, json"):
        render(SAMPLES["accept"], "xml")

"""The versioned JSON report, `showcause/review/1` (docs/schema/review-1.json).

Fields may be added within a version, never changed or removed. The schema is made from the records
below; a test proves that the file is current.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from showcause.receipt import Receipt, cause_id, ending
from showcause.records import (
    Attribution,
    BoundTo,
    Cause,
    CheckResult,
    Ended,
    Evidence,
    FileChange,
    Item,
    ItemRun,
    NotChecked,
    Outcome,
    ProbeResult,
    Record,
    ReviewStage,
    Rule,
    RunState,
    SandboxReport,
    Stage,
    Tampering,
    Verdict,
    Written,
)

__all__ = ["SCHEMA", "Review", "render", "schema", "shape"]

SCHEMA = "showcause/review/1"

# Valid JSON may hold characters that steer a terminal or hide text; escaped they mean the same.
_UNSAFE = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)


class JsonCause(Record, frozen=True, kw_only=True):
    """Why the patch was rejected. `reproduce` is an argv list. `id` is stable over reruns."""

    rule: Rule
    stage: Stage
    message: str
    path: str
    line: int | None
    base: str
    head: str
    reproduce: tuple[str, ...]
    id: str
    item: str


class JsonItem(Record, frozen=True, kw_only=True):
    """One item on both sides, with every run of it."""

    id: str
    base: Outcome
    head: Outcome
    attribution: Attribution
    runs: tuple[ItemRun, ...]
    contested: bool
    self_hosted: bool
    note: str


class JsonCheck(Record, frozen=True, kw_only=True):
    """One check. `state` says whether its runs may be believed, `why` says why not."""

    id: str
    stage: Stage
    items: tuple[JsonItem, ...]
    version: str
    state: RunState
    why: str
    argv: tuple[str, ...]
    wall_s: float


class Review(Record, frozen=True, kw_only=True):
    """A review. `verdict` is null only where there was nothing to review; `sandbox` where nothing ran."""

    schema: Literal["showcause/review/1"]
    receipt: str
    verdict: Verdict | None
    ended: Ended
    exit_status: int
    decided_by: Stage | None
    causes: tuple[JsonCause, ...]
    evidence: tuple[Evidence, ...]
    checks: tuple[JsonCheck, ...]
    tampering: tuple[Tampering, ...]
    not_checked: tuple[NotChecked, ...]
    bound_to: BoundTo
    sandbox: SandboxReport | None
    probes: tuple[ProbeResult, ...]
    written: tuple[Written, ...]
    review: dict[str, Any]
    why: str
    changes: tuple[FileChange, ...]
    issue: str
    settings: str
    environment: str
    started: str
    created: str
    wall_s: float
    digest: str


def render(receipt: Receipt) -> bytes:
    """The report as indented JSON, UTF-8, with a final newline."""
    text = msgspec.json.format(msgspec.json.encode(shape(receipt)), indent=2).decode()
    return (_UNSAFE.sub(_escape, text) + "\n").encode()


def schema() -> bytes:
    """The JSON Schema of the report, as the text of docs/schema/review-1.json."""
    (top,), components = msgspec.json.schema_components([Review], ref_template="#/$defs/{name}")
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "showcause-review-1",
        "title": "showcause review report, version 1",
        **top,
        "$defs": components,
    }
    encoded = msgspec.json.encode(document, order="deterministic")
    return msgspec.json.format(encoded, indent=2) + b"\n"


def shape(receipt: Receipt) -> Review:
    """The report as a record."""
    body = receipt.body
    return Review(
        schema="showcause/review/1",
        receipt=receipt.id,
        verdict=ending(body.ended, body.verdict).verdict,
        ended=body.ended,
        exit_status=body.exit_status,
        decided_by=body.decided_by,
        causes=tuple(_cause(receipt, number, cause) for number, cause in enumerate(body.causes, 1)),
        evidence=body.evidence,
        checks=tuple(map(_check, body.checks)),
        tampering=body.tampering,
        not_checked=body.not_checked,
        bound_to=body.bound_to,
        sandbox=body.sandbox,
        probes=body.probes,
        written=body.written,
        review=_review(body.review),
        why=body.why,
        changes=body.changes,
        issue=body.issue,
        settings=body.settings,
        environment=body.environment,
        started=body.started,
        created=receipt.created,
        wall_s=body.wall_s,
        digest=receipt.digest,
    )


def _review(review: ReviewStage | None) -> dict[str, Any]:
    """The stage as recorded, empty where no reviewer was asked. The packet text stays in the store."""
    if review is None:
        return {}
    told: dict[str, Any] = msgspec.to_builtins(review)
    del told["packet"]["text"]
    return told


def _cause(receipt: Receipt, number: int, cause: Cause) -> JsonCause:
    return JsonCause(
        rule=cause.rule,
        stage=cause.stage,
        message=cause.message,
        path=cause.path,
        line=cause.line,
        base=cause.base,
        head=cause.head,
        reproduce=("showcause", "reproduce", f"{receipt.id}#{number}"),
        id=cause_id(cause),
        item=cause.item,
    )


def _check(check: CheckResult) -> JsonCheck:
    return JsonCheck(
        id=check.id,
        stage=check.stage,
        items=tuple(map(_item, check.items)),
        version=check.version,
        state=check.state,
        why=check.why,
        argv=check.argv,
        wall_s=check.wall_s,
    )


def _item(item: Item) -> JsonItem:
    return JsonItem(
        id=item.id,
        base=item.base,
        head=item.head,
        attribution=item.attribution,
        runs=item.runs,
        contested=item.contested,
        self_hosted=item.self_hosted,
        note=item.note,
    )


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))

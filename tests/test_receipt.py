"""Receipts and endings: digests, round trips, and the table of exit statuses."""

from __future__ import annotations

import math
import os
from itertools import product
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcause.canon import printable
from showcause.errors import StoreFault, UsageError
from showcause.receipt import (
    GENESIS,
    Kind,
    cause_id,
    digest_of,
    ending,
    exit_status,
    make,
    new_id,
    open_entry,
    read_key,
    seal,
    signature_of,
)
from showcause.records import BoundTo, Cause, Ended, ReviewRecord, Rule, Stage, Verdict

CREATED = "2026-01-02T03:04:05.000000+00:00"


def record(**changes: object) -> ReviewRecord:
    made = ReviewRecord(
        verdict=None,
        ended=Ended.UNDECIDED,
        why="",
        exit_status=3,
        decided_by=None,
        causes=(),
        evidence=(),
        checks=(),
        tampering=(),
        not_checked=(),
        changes=(),
        bound_to=BoundTo(base_tree="a", head_tree="b", patch="c", policy="d"),
        sandbox=None,
        issue="",
        settings="",
        environment="",
        started=CREATED,
        wall_s=0.1,
    )
    return msgspec.structs.replace(made, **changes)


def cause(message: str) -> Cause:
    return Cause(
        rule=Rule.STATIC, stage=Stage.STATIC, item="F821", message=message, path="a.py", line=3,
        base="", head="", reproduce=(),
    )  # fmt: skip


# ------------------------------------------------------------------ receipts


def test_a_path_that_is_not_utf8_is_written_as_bytes_and_stays_the_same() -> None:
    made = make(record(why="a\udcff\x00\u2028é"), id=new_id(), previous=GENESIS, created=CREATED)
    assert made.body.why == "a\\xff\x00\u2028é"
    again = make(made.body, id=made.id, previous=GENESIS, created=CREATED)
    assert again == made


PATHS = st.binary(max_size=40).map(os.fsdecode) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=40
)


@given(why=PATHS, wall_s=st.floats(allow_nan=False, allow_infinity=False))
def test_what_was_made_is_read_back_exactly(why: str, wall_s: float) -> None:
    made = make(record(why=why, wall_s=wall_s), id=new_id(), previous=GENESIS, created=CREATED)
    assert made.body == record(why=printable(why), wall_s=wall_s)
    assert make(made.body, id=made.id, previous=GENESIS, created=CREATED) == made


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_no_nan_reaches_a_receipt(bad: float) -> None:
    with pytest.raises(ValueError, match="no place in a record"):
        seal(record(wall_s=bad), id=new_id(), previous=GENESIS, created=CREATED)


@pytest.mark.parametrize(
    "field", ["version", "id", "kind", "created", "settled", "previous", "signature", "body"]
)
def test_each_field_is_covered_by_the_digest(field: str) -> None:
    entry = seal(record(), id=new_id(), previous=GENESIS, created=CREATED)
    assert digest_of(entry) == entry.digest
    changed = msgspec.structs.replace(entry, **{field: getattr(entry, field) + " "})
    assert digest_of(changed) != entry.digest


def test_the_digest_outlives_a_new_field_of_the_record() -> None:
    entry = seal(record(), id=new_id(), previous=GENESIS, created=CREATED)
    older = msgspec.json.decode(entry.body)
    del older["wall_s"]  # as if this record had not had the field
    text = msgspec.json.encode(older).decode()
    old = msgspec.structs.replace(entry, body=text)
    old = msgspec.structs.replace(old, digest=digest_of(old))
    assert digest_of(old) == old.digest
    with pytest.raises(StoreFault, match="wall_s"):  # the field has no default: read strictly
        open_entry(old)


def test_reading_is_strict() -> None:
    entry = seal(record(), id=new_id(), previous=GENESIS, created=CREATED)
    for body in (
        entry.body.replace('"undecided"', '"maybe"'),
        entry.body.replace("0.1", '"0.1"'),
        "",
        "{",
        "null",
    ):
        with pytest.raises(StoreFault) as caught:
            open_entry(msgspec.structs.replace(entry, body=body))
        assert caught.value.cure
    with pytest.raises(StoreFault, match="unknown version"):
        open_entry(msgspec.structs.replace(entry, version="showcause/receipt/9"))
    with pytest.raises(StoreFault, match="cannot be read"):
        open_entry(msgspec.structs.replace(entry, kind="other"))
    assert open_entry(entry).kind is Kind.REVIEW


def test_a_signature_needs_the_key() -> None:
    entry = seal(record(), id=new_id(), previous=GENESIS, created=CREATED, key=b"k" * 16)
    assert entry.signature == signature_of(entry, b"k" * 16) != signature_of(entry, b"j" * 16)
    assert seal(record(), id=entry.id, previous=GENESIS, created=CREATED).signature == ""


def test_a_key_comes_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    with pytest.raises(UsageError, match="cannot be read"):
        read_key(file)
    file.write_bytes(b"short\n")
    with pytest.raises(UsageError, match="shorter"):
        read_key(file)
    file.write_bytes(b"0123456789abcdef\n")
    assert read_key(file) == b"0123456789abcdef"


def test_ids_are_short_and_new() -> None:
    ids = {new_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert {len(id) for id in ids} == {12}


# ------------------------------------------------------------------ exit status: a row per case

ACCEPT, REJECT, UNCERTAIN = Verdict.ACCEPT, Verdict.REJECT, Verdict.UNCERTAIN
OUR_FAULT = (4, 4)
TABLE = {  # (ended, verdict) -> exit status without and with --allow-uncertain
    (Ended.DECIDED, ACCEPT): (0, 0),
    (Ended.DECIDED, REJECT): (1, 1),
    (Ended.DECIDED, UNCERTAIN): (3, 3),
    (Ended.DECIDED, None): OUR_FAULT,
    (Ended.UNDECIDED, ACCEPT): OUR_FAULT,
    (Ended.UNDECIDED, REJECT): OUR_FAULT,
    (Ended.UNDECIDED, UNCERTAIN): (3, 0),
    (Ended.UNDECIDED, None): (3, 0),
    (Ended.NOTHING_TO_REVIEW, ACCEPT): OUR_FAULT,
    (Ended.NOTHING_TO_REVIEW, REJECT): OUR_FAULT,
    (Ended.NOTHING_TO_REVIEW, UNCERTAIN): OUR_FAULT,
    (Ended.NOTHING_TO_REVIEW, None): (0, 0),
    **{(Ended.UNAPPLIABLE, verdict): (3, 3) for verdict in (*Verdict, None)},
    **{(Ended.MOVED, verdict): (3, 3) for verdict in (*Verdict, None)},
    **{(Ended.INTERRUPTED, verdict): (130, 130) for verdict in (*Verdict, None)},
    **{(Ended.ENVIRONMENT, verdict): (4, 4) for verdict in (*Verdict, None)},
}


def test_the_table_is_complete() -> None:
    assert set(TABLE) == set(product(Ended, (*Verdict, None)))


@pytest.mark.parametrize(("ended", "verdict"), TABLE)
def test_exit_status(ended: Ended, verdict: Verdict | None) -> None:
    assert (exit_status(ended, verdict, False), exit_status(ended, verdict, True)) == TABLE[ended, verdict]


@pytest.mark.parametrize(("ended", "verdict"), TABLE)
def test_only_a_decided_acceptance_reads_as_approval(ended: Ended, verdict: Verdict | None) -> None:
    end = ending(ended, verdict, True)
    approves = (ended, verdict) == (Ended.DECIDED, ACCEPT)
    assert (end.verdict is ACCEPT) == approves == end.title.startswith("Accepted")
    if end.verdict is UNCERTAIN:
        assert "not an approval" in end.note
    assert (end.verdict is None) == (end.title == "Nothing to review")
    assert end.why


# ------------------------------------------------------------------ names of findings


def test_a_cause_has_the_same_name_on_the_next_run() -> None:
    first = cause_id(cause("<A object at 0x7f00aa11bb22> in /tmp/x1/a.py after 0.12 s"))
    again = cause_id(cause("<A object at 0x7f99cc33dd44> in /tmp/y2/a.py after 3.4 s"))
    assert first == again
    assert cause_id(cause("1 == 2")) != cause_id(cause("1 == 3"))

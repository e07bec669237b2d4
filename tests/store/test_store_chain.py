"""What a chain shows, and what it says it cannot show."""

from __future__ import annotations

import msgspec
import pytest
from store_made import record

from showcause.errors import UsageError
from showcause.receipt import GENESIS, Entry, digest_of, seal
from showcause.store.chain import ProblemKind, check, verify

KEY = b"sixteen bytes ok"


def chain(length: int, key: bytes = b"") -> list[Entry]:
    entries: list[Entry] = []
    for number in range(length):
        previous = entries[-1].digest if entries else GENESIS
        id = f"{number:012x}"
        entries.append(seal(record(), id=id, previous=previous, created=f"day {number}", key=key))
    return entries


def kinds(entries: list[Entry], **options: str | bytes) -> list[tuple[int, str]]:
    report = verify(entries, **options)  # type: ignore[arg-type]
    assert report.is_valid == (not report.problems)
    return [(problem.position, problem.kind.value) for problem in report.problems]


def forged(entry: Entry, **changes: str) -> Entry:
    """Changed by somebody who knows how digests are made."""
    changed = msgspec.structs.replace(entry, **changes)
    return msgspec.structs.replace(changed, digest=digest_of(changed))


def test_an_empty_chain_and_a_whole_one_are_valid() -> None:
    assert verify([]).head == GENESIS
    assert verify([]).is_valid
    entries = chain(5)
    report = verify(entries)
    assert (report.count, report.head, report.problems) == (5, entries[-1].digest, ())


@pytest.mark.parametrize("at", range(5))
def test_a_changed_body_shows(at: int) -> None:
    entries = chain(5)
    entries[at] = msgspec.structs.replace(entries[at], body=entries[at].body.replace("undecided", "decided"))
    assert kinds(entries) == [(at + 1, "changed")]


@pytest.mark.parametrize("at", range(4))
def test_a_change_with_a_new_digest_shows_at_the_next_receipt(at: int) -> None:
    entries = chain(5)
    entries[at] = forged(entries[at], created="another day")
    assert kinds(entries) == [(at + 2, "removed")]


@pytest.mark.parametrize("at", range(4))
def test_a_removed_receipt_shows(at: int) -> None:
    entries = chain(5)
    del entries[at]
    assert kinds(entries) == [(at + 1, "removed")]


def test_reordered_receipts_show() -> None:
    first, second, third, fourth = chain(4)
    assert kinds([first, third, second, fourth]) == [(2, "reordered"), (3, "reordered"), (4, "reordered")]
    assert kinds([second, third, fourth, first])[0] == (1, "reordered")


def test_a_copied_receipt_shows() -> None:
    first, second = chain(2)
    assert kinds([first, second, second]) == [(3, "reordered")]


def test_a_foreign_version_is_named_and_its_links_still_count() -> None:
    entries = chain(3)
    entries[1] = msgspec.structs.replace(entries[1], version="showcause/receipt/9")
    assert kinds(entries) == [(2, "foreign_version")]


def test_text_that_is_not_utf8_is_a_change() -> None:
    entry = msgspec.structs.replace(chain(1)[0], created="\udcff")
    problem = check(entry)
    assert problem is not None
    assert problem.kind is ProblemKind.CHANGED


# ------------------------------------------------------------------ the honest limits


def test_a_removed_tail_shows_only_against_a_pinned_head() -> None:
    entries = chain(5)
    head = entries[-1].digest
    assert kinds(entries[:3]) == []
    assert any("removed from the end" in limit for limit in verify(entries[:3]).limits)
    assert kinds(entries[:3], head=head) == [(0, "head_missing")]
    assert verify(entries, head=head).limits == ()


def test_a_chain_written_anew_shows_only_against_a_head_or_a_key() -> None:
    entries = chain(3)
    other = [seal(record(items=1), id="0" * 12, previous=GENESIS, created="x")]
    assert kinds(other) == []
    assert any("written anew" in limit for limit in verify(other).limits)
    assert kinds(other, head=entries[-1].digest) == [(0, "head_missing")]
    assert kinds(other, key=KEY) == [(1, "unsigned")]


def test_a_chain_may_have_grown_since_its_head_was_pinned() -> None:
    entries = chain(5)
    report = verify(entries, head=entries[2].digest)
    assert report.is_valid
    assert len(report.limits) == 1


@pytest.mark.parametrize("head", ["abc", "A" * 64, "0" * 63, "0" * 64 + "\n"])
def test_a_head_is_a_whole_digest(head: str) -> None:
    with pytest.raises(UsageError, match="64"):
        verify([], head=head)


def test_signatures() -> None:
    entries = chain(4, KEY)
    assert kinds(entries, key=KEY) == []
    assert kinds(entries) == []  # who has no key still sees the chain
    assert {kind for _, kind in kinds(entries, key=b"another key of 16")} == {"bad_signature", "unsigned"}
    entries[3] = forged(entries[3], signature="")
    assert kinds(entries, key=KEY) == [(4, "unsigned")]


def test_a_signature_covers_what_was_there_before_the_key() -> None:
    old = chain(2)
    signed = seal(record(), id="f" * 12, previous=old[-1].digest, created="x", key=KEY)
    assert kinds([*old, signed], key=KEY) == []

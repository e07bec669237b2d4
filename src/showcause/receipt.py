"""Receipts: what is kept of a review, each chained to the one before it.

The digest of a receipt is SHA-256 over the canonical JSON of everything in it but the digest itself,
the digest of the receipt before it included. It is always taken over the JSON text *as it was
written*: an `Entry` holds that text, so a receipt still verifies after the records gained a field.
`Receipt` is an entry with its body decoded, for those who read it.

A chain of entries is verified by `showcause.store.chain`. The exit status and the words of an ending
come from one place: `ending`.
"""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import assert_never

import msgspec

from showcause.canon import canonical_json, digest, finding_id
from showcause.errors import StoreFault, UsageError
from showcause.records import Cause, Ended, Record, ReviewRecord, Verdict

__all__ = [
    "GENESIS",
    "VERSION",
    "Ending",
    "Entry",
    "Kind",
    "Receipt",
    "cause_id",
    "digest_of",
    "ending",
    "exit_status",
    "make",
    "new_id",
    "open_entry",
    "read_key",
    "seal",
    "signature_of",
]

VERSION = "showcause/receipt/1"
GENESIS = "0" * 64  # what the first receipt is chained to
_MIN_KEY_BYTES = 16
_encoder = msgspec.json.Encoder(order="sorted")


class Kind(StrEnum):
    """What a receipt is about."""

    REVIEW = "review"
    ATTEMPT = "attempt"  # of a reviewer's turn: see store/attempts.py


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A receipt as it is stored. `body` is canonical JSON text; nothing in it was interpreted yet."""

    version: str
    id: str
    kind: str
    created: str
    settled: str
    previous: str
    signature: str
    digest: str
    body: str


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """The durable record of a review.

    id         12 hexadecimal digits, given out when the work starts; any unique prefix addresses it
    settled    the key under which the result may answer for an equal review; empty: under none
    previous   digest of the receipt before it, GENESIS for the first
    signature  HMAC-SHA256 of everything but signature and digest; empty without a key
    """

    version: str
    id: str
    kind: Kind
    created: str
    settled: str
    previous: str
    signature: str
    digest: str
    body: ReviewRecord


# ------------------------------------------------------------------ making and reading one


def new_id() -> str:
    """A new receipt id: random, so that a short prefix is enough to address it."""
    return os.urandom(6).hex()


def seal(
    body: Record,
    *,
    id: str,
    previous: str,
    created: str,
    settled: str = "",
    key: bytes = b"",
    kind: Kind = Kind.REVIEW,
) -> Entry:
    """The entry for `body`, chained to the digest `previous`; signed where a key is given. Pure.

    Text that is not UTF-8 is written as `\\xNN`. Raises ValueError on NaN or infinity.
    """
    entry = Entry(
        version=VERSION,
        id=id,
        kind=kind.value,
        created=created,
        settled=settled,
        previous=previous,
        signature="",
        digest="",
        body=canonical_json(body).decode(),
    )
    if key:
        entry = msgspec.structs.replace(entry, signature=signature_of(entry, key))
    return msgspec.structs.replace(entry, digest=digest_of(entry))


def make(
    body: ReviewRecord, *, id: str, previous: str, created: str, settled: str = "", key: bytes = b""
) -> Receipt:
    """As `seal`, decoded again: exactly what a store would give back."""
    return open_entry(seal(body, id=id, previous=previous, created=created, settled=settled, key=key))


def open_entry(entry: Entry) -> Receipt:
    """The entry with its body decoded, strictly typed. Does not check the digest.

    Raises StoreFault if it is of a version or a shape that this showcause does not know.
    """
    if entry.version != VERSION:
        raise StoreFault(
            f"receipt {entry.id} has the unknown version {entry.version!r}",
            cure="upgrade showcause: another version of it wrote this receipt",
        )
    try:
        return Receipt(
            version=entry.version,
            id=entry.id,
            kind=Kind(entry.kind),
            created=entry.created,
            settled=entry.settled,
            previous=entry.previous,
            signature=entry.signature,
            digest=entry.digest,
            body=msgspec.json.decode(entry.body, type=ReviewRecord),
        )
    except (ValueError, msgspec.MsgspecError) as error:
        raise StoreFault(
            f"receipt {entry.id} cannot be read: {error}",
            cure="run `showcause verify`: it was changed, or written by a newer showcause",
        ) from error


def read_key(path: Path) -> bytes:
    """The signing key in a file: its bytes without one final newline.

    Raises UsageError if the file cannot be read or holds fewer than 16 bytes.
    """
    try:
        key = path.read_bytes().removesuffix(b"\n")
    except OSError as error:
        raise UsageError(f"the signing key {path} cannot be read: {error.strerror}") from error
    if len(key) < _MIN_KEY_BYTES:
        raise UsageError(f"the signing key {path} is shorter than {_MIN_KEY_BYTES} bytes")
    return key


def _covered(entry: Entry, *without: str) -> bytes:
    """Canonical JSON of an entry but for some fields, with the body's text as it stands."""
    fields = {name: getattr(entry, name) for name in Entry.__struct_fields__ if name not in without}
    return _encoder.encode(fields | {"body": msgspec.Raw(entry.body.encode())})


def digest_of(entry: Entry) -> str:
    """The digest that an entry with this content has. Raises UnicodeEncodeError on text that is not UTF-8."""
    return digest(_covered(entry, "digest"))


def signature_of(entry: Entry, key: bytes) -> str:
    """The signature that an entry with this content has under `key`."""
    import hmac

    return hmac.new(key, _covered(entry, "digest", "signature"), "sha256").hexdigest()


# ------------------------------------------------------------------ how a review ends


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """What an ending means to a caller and to a reader. `verdict` is the one to show."""

    exit_status: int
    verdict: Verdict | None
    title: str
    why: str  # used where the record itself gives no reason
    note: str  # what must not be misread


_NOT_APPROVAL = "This is not an approval."
_BOUND = "It holds for exactly this base and this head."
_UNDECIDED = Ending(
    exit_status=3,
    verdict=Verdict.UNCERTAIN,
    title="Uncertain",
    why="no cause to reject it was found, and no check can show that it is right",
    note=_NOT_APPROVAL,
)


def exit_status(ended: Ended, verdict: Verdict | None, allow_uncertain: bool) -> int:
    """The exit status of a review, the same for every output format (see `ending`)."""
    return ending(ended, verdict, allow_uncertain).exit_status


def ending(ended: Ended, verdict: Verdict | None, allow_uncertain: bool = False) -> Ending:
    """Exit status and words of a review that ended so. Pure; a table test has a row for each case.

    0 accept or nothing to review, 1 reject, 3 uncertain or incomplete, 4 environment or our own
    fault, 130 interrupted. `allow_uncertain` turns the 3 of `undecided` into 0, and no other.
    A record that contradicts itself is our fault: 4, never 0 and never 1.
    """
    match ended:
        case Ended.DECIDED:
            return _decided(verdict)
        case Ended.UNDECIDED if verdict in (None, Verdict.UNCERTAIN):
            return msgspec.structs.replace(_UNDECIDED, exit_status=0 if allow_uncertain else 3)
        case Ended.NOTHING_TO_REVIEW if verdict is None:
            return _end(0, "Nothing to review", "the patch is empty and no task was given", "", None)
        case Ended.UNDECIDED | Ended.NOTHING_TO_REVIEW:
            return _contradiction(ended, verdict)
        case Ended.UNAPPLIABLE:
            note = f"{_NOT_APPROVAL} It says nothing about the change itself either."
            return _end(3, "Uncertain, not reviewed", "the patch does not apply to its base", note)
        case Ended.MOVED:
            note = f"{_NOT_APPROVAL} Review it again."
            return _end(3, "Uncertain, void", "the files changed while they were reviewed", note)
        case Ended.INTERRUPTED:
            return _end(130, "Interrupted, no verdict", "the review was stopped before its end")
        case Ended.ENVIRONMENT:
            return _end(4, "No verdict", "something outside showcause is missing or broken")
        case _:
            assert_never(ended)


def _end(
    status: int,
    title: str,
    why: str,
    note: str = _NOT_APPROVAL,
    verdict: Verdict | None = Verdict.UNCERTAIN,
) -> Ending:
    return Ending(exit_status=status, verdict=verdict, title=title, why=why, note=note)


def _decided(verdict: Verdict | None) -> Ending:
    match verdict:
        case Verdict.ACCEPT:
            return _end(0, "Accepted", "what may accept did so", _BOUND, verdict)
        case Verdict.REJECT:
            return _end(1, "Rejected", "a cause was found that anyone can run again", "", verdict)
        case Verdict.UNCERTAIN:
            return _UNDECIDED
        case None:
            return _contradiction(Ended.DECIDED, verdict)
        case _:
            assert_never(verdict)


def _contradiction(ended: Ended, verdict: Verdict | None) -> Ending:
    why = f"the record contradicts itself (ended {ended.value}, verdict {verdict}): a fault of showcause"
    return _end(4, "No verdict", why)


def cause_id(cause: Cause) -> str:
    """The name of a cause: rule, path, item and message."""
    return finding_id(cause.rule.value, cause.path, f"{cause.item}\n{cause.message}")

"""What proves that a reviewer was given all of its packet, and that a model had it before it. Pure.

The process door counts the bytes that the pipe took. That is not receipt: some CLIs read their input and
drop or summarise it. So return codes stand all through the packet and a nonce in its last line; an answer
without every one of them comes from something that did not have the whole.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from showcause.canon import digest
from showcause.packet import estimate_tokens
from showcause.records import Record

__all__ = ["AROUND", "Parcel", "fits", "pack", "too_large"]

_EVERY = 40_000  # characters between two codes
_FEWEST, _MOST = 3, 16
AROUND = 12_000  # tokens that a CLI's own prompt takes, and an answer


class Parcel(Record, frozen=True, kw_only=True):
    """Exactly what a reviewer is given. `codes` stand in `text` in this order, `nonce` in its last line."""

    id: str
    text: str
    codes: tuple[str, ...]
    nonce: str

    @property
    def data(self) -> bytes:
        return self.text.encode("utf-8", "backslashreplace")

    @property
    def digest(self) -> str:
        return digest(self.data)


def pack(told: str, packet: str, *, id: str, nonce: str, codes: Sequence[str] = ()) -> Parcel:
    """`told` (the instructions), then `packet` with return codes in it; its last line, with the nonce, stays.

    New random codes are drawn unless some are given. Code lines stand between lines of the packet where
    there are lines, and break one that is very long. The text ends with the nonce's last character, so
    that no character at all can be missing. Raises ValueError for a packet that does not end in its nonce.
    """
    packet = packet.rstrip()
    cut = packet.rfind("\n") + 1
    body, last = packet[:cut], packet[cut:]
    if not nonce or not last.endswith(nonce):
        raise ValueError("a packet ends in its nonce")
    chosen = tuple(codes) or _draw(packet)
    return Parcel(
        id=id, text=f"{told.rstrip()}\n\n{_scattered(body, chosen)}{last}", codes=chosen, nonce=nonce
    )


def fits(parcel: Parcel, *, context_tokens: int) -> bool:
    """Whether a model with that window has room for the parcel, a CLI's own prompt and an answer."""
    return estimate_tokens(parcel.text) + AROUND <= context_tokens


def too_large(parcel: Parcel, *, context_tokens: int, characters: int, size: int) -> str:
    """Why the parcel may not be sent, or "". `characters` and `size` (bytes) are what the CLI takes."""
    tokens, data = estimate_tokens(parcel.text), parcel.data
    if not fits(parcel, context_tokens=context_tokens):
        return f"about {tokens} tokens and {AROUND} around them are more than a window of {context_tokens}"
    if len(parcel.text) > characters:
        return f"{len(parcel.text)} characters are more than the {characters} that this CLI takes"
    if len(data) > size:
        return f"{len(data)} bytes are more than the {size} that this CLI takes"
    return ""


def _draw(packet: str) -> tuple[str, ...]:
    many = min(_MOST, max(_FEWEST, 1 + len(packet) // _EVERY))
    drawn: list[str] = []
    while len(drawn) < many:
        code = secrets.token_hex(4)
        if code not in packet and code not in drawn:
            drawn.append(code)
    return tuple(drawn)


def _scattered(packet: str, codes: Sequence[str]) -> str:
    """The packet with one code in each of as many equal parts: the first before it, the last after it."""
    steps = max(1, len(codes) - 1)
    cuts = [_line_end(packet, len(packet) * step // steps) for step in range(steps + 1)][: len(codes)]
    parts, last = [], 0
    for number, (cut, code) in enumerate(zip(cuts, codes, strict=True), 1):
        at = max(cut, last)
        parts += [packet[last:at], _code_line(number, len(codes), code, packet[last:at])]
        last = at
    return "".join([*parts, packet[last:]])


def _line_end(text: str, at: int) -> int:
    """The end of a line near `at`, else `at` itself: a code breaks only a line that is very long."""
    if at <= 0 or at >= len(text):
        return min(max(at, 0), len(text))
    found = text.rfind("\n", max(0, at - _EVERY // 4), at)
    return found + 1 if found >= 0 else at


def _code_line(number: int, of: int, code: str, before: str) -> str:
    begin = "" if not before or before.endswith("\n") else "\n"
    return f"{begin}[return code {number} of {of}: {code}]\n"

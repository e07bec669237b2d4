"""Untrusted text made safe to stand in a packet: secrets masked, hidden characters shown, fenced."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from showcause.canon import digest

__all__ = ["Cleaner", "fenced", "marker", "shorten"]

_SHORTEST = 6  # a shorter value would be found by chance in any text
_SHORTEST_LINE = 12
# Invisible or direction-turning characters and control characters: a person who reads the packet must see
# what the model sees.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
)


class Cleaner:
    """Masks known secrets by value and shows hidden characters by their code.

    A secret of several lines is also found line by line: a diff puts a sign before each.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        values: dict[str, str] = {}
        for name, value in secrets.items():
            lines = [line.strip() for line in value.splitlines()]
            for piece in (value.strip(), *(line for line in lines if len(line) >= _SHORTEST_LINE)):
                if len(piece) >= _SHORTEST:
                    values.setdefault(piece, name)
        longest_first = sorted(values, key=len, reverse=True)
        self._names = values
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if values else None

    def clean(self, text: str) -> str:
        if self._pattern is not None:
            text = self._pattern.sub(lambda found: _mask(self._names[found[0]]), text)
        return _HIDDEN.sub(_code, text)

    def masked_in(self, text: str) -> int:
        """How many masks stand in `text`."""
        return sum(text.count(_mask(name)) for name in set(self._names.values()))


def _mask(name: str) -> str:
    return f"[masked:{name}]"


def _code(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8, as `os.fsdecode` gives it
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def marker(seed: str, texts: Iterable[str]) -> str:
    """A word of 24 hexadecimal digits that stands in none of `texts`, made from `seed`.

    Whoever does not know the seed cannot write it beforehand.
    """
    held = tuple(texts)
    number = 0
    while True:
        word = digest(f"{seed}:{number}".encode())[:24]
        if not any(word in text for text in held):
            return word
        number += 1


def fenced(word: str, title: str, text: str) -> str:
    """`text` as data between two lines that carry `word`."""
    end = "" if text.endswith("\n") or not text else "\n"
    return f"<<DATA {word} {title}\n{text}{end}DATA {word}>>\n\n"


def shorten(text: str, size: int) -> tuple[str, int]:
    """At most `size` bytes of `text`: whole lines from its start and its end, with a line between that
    counts what is gone; and the bytes that were kept."""
    data = text.encode()
    if len(data) <= size:
        return text, len(data)
    room = max(0, size - 40)
    head = data[: room * 2 // 3]
    head = head[: head.rfind(b"\n") + 1] or head
    tail = data[len(data) - room // 3 :] if room >= 3 else b""
    tail = tail[tail.find(b"\n") + 1 :]
    first, last = head.decode(errors="ignore"), tail.decode(errors="ignore")
    kept = len(first.encode()) + len(last.encode())
    return f"{first}\n[... {len(data) - kept} bytes not sent ...]\n{last}", kept

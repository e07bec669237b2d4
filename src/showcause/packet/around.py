"""Code of base around what a patch changes, and tests that show how tests are written here. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from showcause.packet.diff import Importance, importance, sections
from showcause.records import CodeExcerpt, Patch

__all__ = ["around", "beginning"]

_WIDE = 40  # lines before and after a hunk
_WHOLE = 250  # a file of so few lines is shown as it is
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? ", re.MULTILINE)


def around(patch: Patch, base: Mapping[str, bytes]) -> tuple[CodeExcerpt, ...]:
    """What stands in base around the hunks of changed sources. `base`: path -> content."""
    found = []
    for section in sections(patch):
        path = section.change.old_path or section.change.path
        if path in base and importance(section, frozenset()) is Importance.SOURCE:
            lines = base[path].decode("utf-8", "replace").splitlines()
            found += [
                CodeExcerpt(path=where, text=text) for where, text in _parts(path, lines, section.pieces)
            ]
    return tuple(found)


def beginning(path: str, content: bytes, lines: int = 80) -> CodeExcerpt:
    """The first lines of a file: how its tests are written."""
    text = content.decode("utf-8", "replace").splitlines()
    more = f"\n[... {len(text) - lines} more lines in the repository ...]" if len(text) > lines else ""
    return CodeExcerpt(path=f"{path} (an existing test)", text="\n".join(text[:lines]) + more)


def _parts(path: str, lines: Sequence[str], pieces: Iterable[bytes]) -> list[tuple[str, str]]:
    if len(lines) <= _WHOLE:
        return [(path, "\n".join(lines))]
    found: list[tuple[str, str]] = []
    hunks = [hunk for piece in pieces if (hunk := _HUNK.match(piece))]
    for first, last in _joined([_span(hunk, len(lines)) for hunk in hunks]):
        found.append((f"{path}, lines {first}-{last}", "\n".join(lines[first - 1 : last])))
    return found


def _span(hunk: re.Match[bytes], length: int) -> tuple[int, int]:
    start, many = int(hunk[1]), int(hunk[2] or b"1")
    return max(1, start - _WIDE), min(length, start + many + _WIDE)


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans that touch are one."""
    found: list[tuple[int, int]] = []
    for first, last in spans:
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found

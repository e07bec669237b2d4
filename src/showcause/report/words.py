"""Text from outside made harmless, and the sentence that sums up a review.

Messages, ids and paths come from the code under review. A character that moves the cursor, turns
the direction of writing, or cannot be seen is shown by its code, in every report for people.
"""

from __future__ import annotations

import unicodedata

from showcause.receipt import Receipt, ending
from showcause.records import Ended, Stage, Verdict

__all__ = ["headline", "outcome_word", "paragraph", "plural", "short_id", "status_line", "visible"]

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_SHORT = 12


def visible(text: str, limit: int = 300) -> str:
    """`text` as one harmless line of at most `limit` characters and a count of what was cut."""
    return _cut("".join(map(_char, " ".join(text.split()))), limit)


def paragraph(text: str, lines: int, limit: int) -> list[str]:
    """`text` as harmless lines, the first `lines` of them (the last then says how many more)."""
    found = [line for line in text.split("\n") if line.strip()]
    shown = [_cut("".join(map(_char, line.rstrip().expandtabs(4))), limit) for line in found[:lines]]
    if len(found) > lines:
        shown.append(f"... {plural(len(found) - lines, 'more line')}")
    return shown


def plural(count: int, noun: str) -> str:
    """`1 cause`, `2 causes`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def short_id(id: str) -> str:
    """The first digits of an object id or a digest."""
    return visible(id)[:_SHORT] or "-"


def outcome_word(ended: Ended, verdict: Verdict | None) -> str:
    """How a review came out, in one word for listings: its verdict, or what kept it from one."""
    shown = ending(ended, verdict).verdict
    is_judged = ended in (Ended.DECIDED, Ended.UNDECIDED)
    return shown.value if is_judged and shown is not None else ended.value


def headline(receipt: Receipt) -> str:
    """The verdict in words and the reason, on one line."""
    body = receipt.body
    end = ending(body.ended, body.verdict)
    title = end.title
    if body.ended is Ended.DECIDED and body.decided_by is Stage.REVIEWER:
        title = f"{title} by the reviewer"
    contradicts = end.exit_status == 4 and body.ended is not Ended.ENVIRONMENT
    return f"{title}: {visible((not contradicts and (body.why or _first_cause(receipt))) or end.why)}"


def _first_cause(receipt: Receipt) -> str:
    """What a rejection is for, in one clause."""
    body = receipt.body
    if body.ended is not Ended.DECIDED or body.verdict is not Verdict.REJECT or not body.causes:
        return ""
    more = f" (and {plural(len(body.causes) - 1, 'more cause')})" if len(body.causes) > 1 else ""
    return body.causes[0].message + more


def status_line(receipt: Receipt) -> str:
    """One line for every outcome: verdict, reason, coverage, receipt. For hooks and logs."""
    body = receipt.body
    compared = sum(len(check.items) for check in body.checks)
    parts = [headline(receipt)]
    if body.verdict is Verdict.REJECT and body.causes:
        parts.append(plural(len(body.causes), "cause"))
    parts += [f"{plural(compared, 'item')} compared", f"{len(body.not_checked)} not checked"]
    return "showcause: " + "; ".join(parts) + f"; receipt {visible(receipt.id)}"


def _char(char: str) -> str:
    if " " <= char <= "~" or unicodedata.category(char) not in _HIDDEN:
        return char
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8, as `os.fsdecode` gives it
        code -= 0xDC00
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _cut(text: str, limit: int) -> str:
    """At the end of a word, unless the last one is too long for that."""
    if len(text) <= limit:
        return text
    space = text.rfind(" ", limit - limit // 4, limit + 1)
    shown = text[: space if space > 0 else limit].rstrip()
    return f"{shown}... (+{len(text) - len(shown)} characters)"

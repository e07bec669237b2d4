"""What a check's items came to, in words. Every item is counted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import assert_never

from showcause.records import Attribution, CheckResult, Item, Outcome, RunState
from showcause.report.words import visible

__all__ = ["in_words", "tally"]

_STATE = {
    RunState.COMPLETE: "",
    RunState.ENVIRONMENT: "did not count: environment",
    RunState.TAMPERED: "did not count: its report is forged or broken",
    RunState.CRASHED: "did not count: it ended too early",
    RunState.TIMEOUT: "did not count: out of time",
    RunState.CANCELLED: "did not count: cancelled",
}
_NAMED, _NAME = 3, 80
_IDLE = (Outcome.SKIPPED, Outcome.NOT_RUN)


def in_words(check: CheckResult) -> str:
    """`1 broken by the patch, 12 passed on both`, led by the state of a check that is not complete."""
    named = {_PRE: _names([item for item in check.items if item.attribution is Attribution.PRE_EXISTING])}
    counted = ", ".join(f"{count} {words}{named.get(words, '')}" for words, count in tally(check).items())
    state = _STATE[check.state]
    if state and check.why:
        state = f"{state} ({visible(check.why)})"
    return "; ".join(part for part in (state, counted or "no items") if part)


def _names(items: Sequence[Item]) -> str:
    shown = ", ".join(visible(item.id, _NAME) for item in items[:_NAMED])
    more = f" and {len(items) - _NAMED} more" if len(items) > _NAMED else ""
    return f" ({shown}{more})"


def tally(check: CheckResult) -> Counter[str]:
    """Words -> how many items of the check they describe, what matters most first."""
    counts = Counter(map(_words, check.items))
    order = [words for words in _ORDER if words in counts]
    return Counter({words: counts[words] for words in order})


_BROKEN = "broken by the patch"
_CONTESTED = "broken in tests that the patch edits"
_SELF_HOSTED = "broken where the repository is its own runner"
_GONE = "gone or skipped since the patch"
_FIXED = "pass only with the patch"
_CHANGED = "differ because of the patch"
_PRE = "failing on base already"
_FLAKY = "flaky"
_ENVIRONMENT = "stopped by the environment"
_UNATTRIBUTED = "of unknown cause"
_BOTH = "passed on both"
_NEITHER = "skipped or not run on both"
_SAME = "the same on both"
_ORDER = (
    _BROKEN,
    _CONTESTED,
    _SELF_HOSTED,
    _GONE,
    _CHANGED,
    _FIXED,
    _PRE,
    _FLAKY,
    _ENVIRONMENT,
    _UNATTRIBUTED,
    _BOTH,
    _SAME,
    _NEITHER,
)


def _words(item: Item) -> str:
    match item.attribution:
        case Attribution.PATCH_CAUSED:
            return _caused(item)
        case Attribution.PRE_EXISTING:
            return _PRE
        case Attribution.FLAKY:
            return _FLAKY
        case Attribution.ENVIRONMENT:
            return _ENVIRONMENT
        case Attribution.UNATTRIBUTED:
            return _UNATTRIBUTED
        case Attribution.UNCHANGED:
            if item.base is item.head is Outcome.PASSED:
                return _BOTH
            return _NEITHER if item.base in _IDLE and item.head in _IDLE else _SAME
        case _:
            assert_never(item.attribution)


def _caused(item: Item) -> str:
    if item.head is Outcome.PASSED:
        return _FIXED
    if item.head in _IDLE:
        return _GONE
    if item.contested:
        return _CONTESTED
    if item.self_hosted:
        return _SELF_HOSTED
    return _BROKEN if item.base is Outcome.PASSED else _CHANGED

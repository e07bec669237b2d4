"""Each row of the adapters' tables, on what the real CLIs wrote (against a scripted server, offline).

The samples are re-recorded by `tests/contract/record.py`; the ends below are what they must come to.
"""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showcause.contract import Attempted, Runtime, attempt, pool_of
from showcause.contract.adapters import ADAPTERS
from showcause.contract.deliver import Parcel
from showcause.process import Command, Finished, How
from showcause.process.nouns import Stream
from showcause.records.contract import (
    AttemptEnd,
    AttemptRecord,
    Echo,
    ProviderFaultKind,
    ReviewerKind,
    ToolState,
)
from tests.contract.made import means, order, spec

SAMPLES = Path(__file__).parent / "samples"
MODELS = {
    ReviewerKind.CLAUDE_CODE: "claude-opus-4-5",
    ReviewerKind.CODEX: "gpt-5",
    ReviewerKind.GEMINI: "gemini-3-pro",
    ReviewerKind.QWEN: "qwen3-coder",
    ReviewerKind.OPENCODE: "deepseek-v3",
    ReviewerKind.KIMI: "kimi-k2",
}
CLAUDE, CODEX, GEMINI, QWEN = list(MODELS)[:4]
OPENCODE, KIMI = ReviewerKind.OPENCODE, ReviewerKind.KIMI
END, FAULT = AttemptEnd, ProviderFaultKind

ROWS: list[tuple[ReviewerKind, str, AttemptEnd, ProviderFaultKind | None]] = [
    (CLAUDE, "ok", END.COMPLETED, None),
    (CLAUDE, "other_model", END.MODEL_MISMATCH, None),
    (CLAUDE, "empty", END.EMPTY_RESPONSE, None),
    (CLAUDE, "prose", END.MALFORMED_OUTPUT, None),
    (CLAUDE, "e400", END.PROVIDER_FAULT, FAULT.BAD_REQUEST),
    (CLAUDE, "e401", END.PROVIDER_FAULT, FAULT.AUTH),
    (CLAUDE, "e429", END.PROVIDER_FAULT, FAULT.RATE_LIMIT),
    (CLAUDE, "e500", END.PROVIDER_FAULT, FAULT.SERVER),
    (CLAUDE, "cut", END.PROVIDER_FAULT, FAULT.SERVER),
    (CLAUDE, "break", END.PROVIDER_FAULT, FAULT.SERVER),
    (CLAUDE, "tools", END.COMPLETED, None),
    (CLAUDE, "turns", END.PROVIDER_FAULT, FAULT.LIMIT),
    (CODEX, "ok", END.COMPLETED, None),
    (CODEX, "other_model", END.COMPLETED, None),  # it does not say which model answers
    (CODEX, "empty", END.EMPTY_RESPONSE, None),
    (CODEX, "prose", END.MALFORMED_OUTPUT, None),
    (CODEX, "e400", END.PROVIDER_FAULT, FAULT.BAD_REQUEST),
    (CODEX, "e401", END.PROVIDER_FAULT, FAULT.AUTH),
    (CODEX, "e429", END.PROVIDER_FAULT, FAULT.RATE_LIMIT),
    (CODEX, "e500", END.PROVIDER_FAULT, FAULT.SERVER),
    (CODEX, "cut", END.PROVIDER_FAULT, FAULT.SERVER),
    (CODEX, "break", END.PROVIDER_FAULT, FAULT.UNREACHABLE),
    (CODEX, "tools", END.COMPLETED, None),
    (GEMINI, "ok", END.COMPLETED, None),
    (GEMINI, "other_model", END.MODEL_MISMATCH, None),
    (GEMINI, "empty", END.EMPTY_RESPONSE, None),
    (GEMINI, "prose", END.MALFORMED_OUTPUT, None),
    (GEMINI, "e400", END.PROVIDER_FAULT, FAULT.BAD_REQUEST),
    (GEMINI, "e401", END.PROVIDER_FAULT, FAULT.AUTH),
    (GEMINI, "e429", END.PROVIDER_FAULT, FAULT.RATE_LIMIT),
    (GEMINI, "e500", END.PROVIDER_FAULT, FAULT.SERVER),
    (GEMINI, "cut", END.PROVIDER_FAULT, FAULT.SERVER),
    (GEMINI, "break", END.PROVIDER_FAULT, FAULT.SERVER),
    (GEMINI, "tools", END.COMPLETED, None),
    (GEMINI, "turns", END.PROVIDER_FAULT, FAULT.LIMIT),
    (QWEN, "ok", END.COMPLETED, None),
    (QWEN, "other_model", END.COMPLETED, None),  # it repeats what was asked for
    (QWEN, "empty", END.EMPTY_RESPONSE, None),
    (QWEN, "prose", END.MALFORMED_OUTPUT, None),
    (QWEN, "e400", END.PROVIDER_FAULT, FAULT.BAD_REQUEST),
    (QWEN, "e401", END.PROVIDER_FAULT, FAULT.AUTH),
    (QWEN, "cut", END.PROVIDER_FAULT, FAULT.SERVER),
    (QWEN, "break", END.PROVIDER_FAULT, FAULT.SERVER),
    (QWEN, "tools", END.COMPLETED, None),
    (QWEN, "turns", END.PROVIDER_FAULT, FAULT.LIMIT),
    (OPENCODE, "ok", END.COMPLETED, None),
    (OPENCODE, "other_model", END.COMPLETED, None),  # it does not say which model answers
    (OPENCODE, "empty", END.EMPTY_RESPONSE, None),
    (OPENCODE, "prose", END.MALFORMED_OUTPUT, None),
    (OPENCODE, "e400", END.PROVIDER_FAULT, FAULT.BAD_REQUEST),
    (OPENCODE, "e401", END.PROVIDER_FAULT, FAULT.AUTH),
    (OPENCODE, "e429", END.PROVIDER_FAULT, FAULT.RATE_LIMIT),
    (OPENCODE, "tools", END.COMPLETED, None),
    (KIMI, "ok", END.COMPLETED, None),
    (KIMI, "other_model", END.COMPLETED, None),  # it does not say which model answers
    (KIMI, "prose", END.MALFORMED_OUTPUT, None),
    (KIMI, "e400", END.PROVIDER_FAULT, FAULT.BAD_REQUEST),
    (KIMI, "e401", END.PROVIDER_FAULT, FAULT.AUTH),
    (KIMI, "cut", END.MALFORMED_OUTPUT, None),  # a partial text as the answer, with status 0
    (KIMI, "tools", END.COMPLETED, None),
    (KIMI, "turns", END.PROVIDER_FAULT, FAULT.LIMIT),
]


def parcel() -> Parcel:
    codes = ("11111111", "22222222", "33333333")
    return Parcel(id="p-0123", text=(SAMPLES / "sent.txt").read_text(), codes=codes, nonce="ab" * 12)


def read(
    kind: ReviewerKind, out: bytes, err: bytes, *, exit_status: int | None = 0, signal: int | None = None
) -> Attempted:
    """What an attempt comes to whose process wrote this and ended so."""

    def door(command: Command, **_how: object) -> Finished:
        return Finished(
            argv=command.argv,
            how=How.EXITED if signal is None else How.SIGNALLED,
            exit_status=exit_status if signal is None else None,
            signal=signal,
            stdout=Stream(head=out, tail=b"", total_bytes=len(out)),
            stderr=Stream(head=err, tail=b"", total_bytes=len(err)),
            stdin_accepted=len(command.stdin),
            wall_s=0.1,
            leaked=0,
        )

    primary = pool_of("xai/team-a")
    reviewer = spec(kind=kind, model=MODELS.get(kind, "gpt-5"), command=("true",))
    return attempt(order(reviewer, parcel=parcel(), primary_pool=primary), means(runtime=Runtime(door=door)))


def sample(kind: ReviewerKind, name: str) -> AttemptRecord:
    folder = SAMPLES / kind.value
    ended = json.loads((folder / f"{name}.json").read_text())
    out, err = ((folder / f"{name}.{end}").read_bytes() for end in ("out", "err"))
    return read(kind, out, err, exit_status=ended["exit_status"], signal=ended["signal"]).record


@pytest.mark.parametrize(("kind", "name", "end", "fault"), ROWS)
def test_each_row_of_the_tables(
    kind: ReviewerKind, name: str, end: AttemptEnd, fault: ProviderFaultKind | None
) -> None:
    record = sample(kind, name)
    assert (record.ended, record.fault) == (end, fault), record.why
    assert record.is_eligible == (end is END.COMPLETED)


def test_every_sample_has_its_row() -> None:
    found = {(path.parent.name, path.stem) for path in SAMPLES.glob("*/*.json")}
    assert found == {(kind.value, name) for kind, name, _, _ in ROWS}


@pytest.mark.parametrize("kind", [CLAUDE, GEMINI])
def test_the_served_model_is_told_with_its_proof(kind: ReviewerKind) -> None:
    told = sample(kind, "ok").models
    assert told.main == told.asked == MODELS[kind]
    assert [one.served for one in told.reported] == [False, True]
    assert all(len(one.fragment) == 64 for one in told.reported)


@pytest.mark.parametrize("kind", [CODEX, QWEN])
def test_a_model_that_is_not_told_is_undisclosed(kind: ReviewerKind) -> None:
    assert sample(kind, "other_model").models.main == "undisclosed"


@pytest.mark.parametrize("kind", [CLAUDE, GEMINI])
def test_the_echo_is_compared(kind: ReviewerKind) -> None:
    delivery = sample(kind, "ok").delivery
    assert delivery is not None
    assert delivery.echo is Echo.EQUAL
    folder = SAMPLES / kind.value
    cut = (folder / "ok.out").read_bytes().replace(b"finished turn of another agent", b"finished turn")
    changed = read(kind, cut, b"").record
    assert changed.ended is END.INPUT_DELIVERY_FAILED


@pytest.mark.parametrize("kind", [CLAUDE, GEMINI, QWEN, OPENCODE])
def test_refused_tools_are_told(kind: ReviewerKind) -> None:
    tools = sample(kind, "tools").tools
    assert len(tools) == 2
    assert {one.state for one in tools} == {ToolState.REFUSED}
    assert all(one.why for one in tools)


# ------------------------------------------------------------------ what is only nearly right


@pytest.mark.parametrize("kind", list(MODELS))
def test_a_perfect_answer_with_a_bad_end_is_none(kind: ReviewerKind) -> None:
    out = spoken(kind)
    assert read(kind, out, b"").record.ended is END.COMPLETED
    assert read(kind, out, b"", exit_status=1).record.ended is END.PROCESS_CRASH
    assert read(kind, out, b"", signal=9).record.ended is END.PROCESS_CRASH
    assert read(kind, b"", b"").record.ended is END.EMPTY_RESPONSE


@pytest.mark.parametrize("kind", list(MODELS))
def test_a_banner_before_the_stream_does_no_harm(kind: ReviewerKind) -> None:
    out = b"Welcome to version 9!\nA new version is there.\n\n" + spoken(kind)
    assert read(kind, out, b"").record.ended is END.COMPLETED


@pytest.mark.parametrize("kind", list(MODELS))
def test_no_cut_of_a_valid_stream_is_complete(kind: ReviewerKind) -> None:
    """Every line cut away from the end, and every cut within the last line."""
    out = spoken(kind).rstrip(b"\n")
    last = out.rfind(b"\n") + 1
    cuts = [at for at, sign in enumerate(out) if sign == 10] + list(range(last, len(out), 7))
    for at in cuts:
        assert read(kind, out[:at], b"").record.ended is not END.COMPLETED, out[:at][-60:]


def spoken(kind: ReviewerKind) -> bytes:
    """A valid output of that CLI, with a valid answer to the parcel."""
    sent = parcel()
    answer = json.dumps(
        {"packet": sent.id, "codes": sent.codes, "nonce": sent.nonce, "outcome": "no_finding", "findings": []}
    )
    raw = ADAPTERS[kind].speak(answer, MODELS[kind])
    return raw.replace(b"@SENT_IN_JSON@", json.dumps(sent.text)[1:-1].encode())


_LINE = st.one_of(
    st.binary(max_size=60),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=12),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "message", "content", "result", "role", "model", "item", "part", "text", "error",
                 "stats", "models", "usage", "tool_calls", "status", "is_error", "subtype", "state", "errors"]
            )
            | st.text(max_size=5),
            inner | st.sampled_from(["result", "assistant", "user", "message", "text", "success", "error",
                                     "turn.completed", "item.completed", "agent_message", "step_finish"]),
            max_size=5,
        ),
        max_leaves=12,
    ).map(lambda value: json.dumps(value).encode()),
)  # fmt: skip


@pytest.mark.parametrize("kind", list(ADAPTERS))
@given(lines=st.lists(_LINE, max_size=6), err=st.binary(max_size=80))
@settings(max_examples=100, deadline=None)
def test_no_output_is_read_as_a_review_by_chance(kind: ReviewerKind, lines: list[bytes], err: bytes) -> None:
    adapter = ADAPTERS[kind]
    out = b"\n".join(lines)
    reading = adapter.read(out, err, "sent")
    assert msgspec.json.decode(msgspec.json.encode(reading), type=type(reading)) == reading
    adapter.status(1, err)
    assert read(kind, out, err).record.ended is not END.COMPLETED

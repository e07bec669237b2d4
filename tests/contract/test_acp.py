"""An agent by the Agent Client Protocol: a conversation, with a no to whatever it asks for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from showcause import contract
from showcause.contract import attempt
from showcause.records.contract import AttemptEnd, ProviderFaultKind, ReviewerKind, ToolState
from tests.contract.made import means, order, parcel, spec

AGENT = (sys.executable, str(Path(__file__).with_name("acp_agent.py")), str(Path(contract.__file__).parent))
END = AttemptEnd


@pytest.mark.parametrize("size", [0, 200, 300_000, 3_000_000])
def test_a_whole_conversation_is_a_review(size: int) -> None:
    reviewer = spec(ReviewerKind.ACP, command=(*AGENT, "ok"), context_tokens=2_000_000)
    done = attempt(order(reviewer, parcel=parcel(size)), means()).record
    assert (done.ended, done.why, done.why_not) == (END.COMPLETED, "", ())
    assert done.delivery is not None
    assert done.delivery.accepted_bytes == done.delivery.total_bytes > size
    assert [(one.name, one.state) for one in done.tools] == [("write file", ToolState.REFUSED)]


@pytest.mark.parametrize(
    ("mode", "end", "fault"),
    [
        ("auth", END.PROVIDER_FAULT, ProviderFaultKind.AUTH),
        ("silent", END.EMPTY_RESPONSE, None),
        ("gone", END.OUTPUT_TRUNCATED, None),
        ("max_tokens", END.OUTPUT_TRUNCATED, None),
        ("refusal", END.PROVIDER_FAULT, ProviderFaultKind.REFUSED),
        ("status", END.PROCESS_CRASH, None),
    ],
)
def test_each_other_end_has_its_type(mode: str, end: AttemptEnd, fault: ProviderFaultKind | None) -> None:
    done = attempt(order(spec(ReviewerKind.ACP, command=(*AGENT, mode))), means()).record
    assert (done.ended, done.fault) == (end, fault), done.why


def test_an_agent_that_ends_before_the_prompt_had_no_input() -> None:
    done = attempt(order(spec(ReviewerKind.ACP, command=("true",))), means()).record
    assert done.ended is END.INPUT_DELIVERY_FAILED


def test_an_agent_that_never_answers_is_late() -> None:
    done = attempt(order(spec(ReviewerKind.ACP, command=("sleep", "600"), deadline_s=0.5)), means()).record
    assert done.ended is END.TIMEOUT

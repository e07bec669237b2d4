"""A scripted model server on this machine: Anthropic's Messages, OpenAI's Responses, chat completions,
Gemini's generateContent; streamed or whole; with answers, tool calls, errors, hangs and cuts.

    with StubServer([Step(act=Act.CRITIQUE)]) as server:
        ... base_url=server.url + "/v1" ...

It is part of the product: anyone can look at what a version of a CLI does before trusting it, offline. Only
requests that hold a packet follow the script; a CLI's other questions (titles, summaries) are answered "ok".
"""

from __future__ import annotations

from showcause.contract.stubserver.nouns import Act, Asked, Call, Step
from showcause.contract.stubserver.serving import StubServer

__all__ = ["Act", "Asked", "Call", "Step", "StubServer"]

"""The whole cascade with the providers' own client libraries against a loopback server, recorded, then
replayed with nobody there (issue 4)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cascades import ASKED, PACKET, answer, bench, claim, draft, vote
from models.server import Answer, Seen, completion, message, provider
from reviews import PLAIN

import showcause
from showcause.records import ReviewRecord, Stage, Verdict

SPREAD = draft("one", "self.assertEqual(stats.spread([]), 0.0)")
TUPLE = draft("two", "self.assertEqual(stats.spread(()), 0.0)")
KEY = "sk-secret-0123456789"


def said(question: str) -> str:
    """What either provider answers: a draft to a writer, a vote or a witness to a reviewer."""
    if "You write tests" in question:
        return answer(SPREAD)
    if "You reviewed a patch" in question:
        return answer(TUPLE)
    text: str = vote("reject", claim())["text"]
    for name, pattern in PACKET.items():
        found = re.search(pattern, question)
        assert found is not None
        text = text.replace("{{" + name + "}}", found[1])
    return text


def plays(seen: Seen) -> Answer:
    question = json.dumps(seen.body, ensure_ascii=False)
    if seen.path.endswith("/messages"):
        return message({"type": "text", "text": said(question)})
    return completion(said(question))


def look(top: Path, **request: Any) -> ReviewRecord:
    overrides = {"suite.python": PLAIN, "suite.runner": "unittest"}
    asked = showcause.Request(directory=str(top), issue=ASKED, overrides=overrides, fresh=True, **request)
    return showcause.review(asked).receipt.body


def test_a_cascade_of_two_providers_is_recorded_and_replayed_byte_for_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    tape = tmp_path / "tape"
    with provider(plays) as server:
        models = "".join(
            f'[models.{name}]\nkind = "{kind}"\nmodel = "{model}"\nbase_url = "{url}"\n'
            'api_key_env = "TEST_KEY"\n'
            for name, kind, model, url in (
                ("writer", "openai", "gpt-test", f"{server.url}/v1"),
                ("judge", "anthropic", "claude-test", server.url),
            )
        )
        roles = '[probe]\nmodels = ["writer"]\n[review]\nreviewer = "judge"\nvotes = 2\n'
        top = bench(tmp_path / "repo", models + roles)
        first = look(top, record=str(tape))
        assert {seen.path for seen in server.seen} == {"/v1/chat/completions", "/v1/messages"}
    assert (first.verdict, first.decided_by) == (Verdict.REJECT, Stage.REVIEWER)
    kept = {path: path.read_bytes() for path in sorted(tape.rglob("*")) if path.is_file()}
    assert not any(KEY.encode() in data for data in kept.values())

    monkeypatch.delenv("TEST_KEY")
    second = look(top, replay=str(tape))  # nobody listens at that address any more
    assert first.review is not None
    assert second.review is not None
    assert [one.raw_digest for one in second.review.ballot.votes] == [
        one.raw_digest for one in first.review.ballot.votes
    ]
    assert second.review.packet.text == first.review.packet.text
    assert [(one.rule, one.item, one.message) for one in second.causes] == [
        (one.rule, one.item, one.message) for one in first.causes
    ]
    assert kept == {path: path.read_bytes() for path in sorted(tape.rglob("*")) if path.is_file()}


def test_a_replay_that_has_no_such_exchange_asks_nobody(tmp_path: Path) -> None:
    tape = tmp_path / "tape"
    with provider(plays) as server:
        url = f"{server.url}/v1"
        model = f'[models.m]\nkind = "openai"\nmodel = "gpt-test"\nbase_url = "{url}"\n'
        top = bench(tmp_path / "repo", model + '[review]\nreviewer = "m"\nvotes = 1\n')
        look(top, record=str(tape))
        (top / "stats.py").write_bytes((top / "stats.py").read_bytes() + b"\n\nMORE = 1\n")
        asked = len(server.seen)
        record = look(top, replay=str(tape))
        assert len(server.seen) == asked
    assert record.verdict is None
    assert record.review is not None
    assert "not_recorded" in record.review.ballot.votes[0].why

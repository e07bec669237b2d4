from __future__ import annotations

import pytest

KEY = "sk-secret-0123456789"


@pytest.fixture(autouse=True)
def _only_our_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """No credential or proxy of this machine, and one key that is ours."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # would be refused, if it were asked
    monkeypatch.setenv("TEST_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")

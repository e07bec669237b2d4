"""The real CLIs against the scripted server: offline, with an invented key.

SHOWCAUSE_CLIS=/path/to/node_modules/.bin:/another scripts/test -m clis
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from showcause.contract import attempt, pool_of
from showcause.contract.adapters import ADAPTERS
from showcause.contract.stubserver import Act, Step, StubServer
from showcause.contract.writeprobe import CONTRACT, probe_writes
from showcause.records.contract import AttemptEnd, Echo, ProviderFaultKind, ReviewerKind, ReviewerSpec
from showcause.sandbox import Sandbox, find_sandbox
from tests.contract.made import means, order, parcel, spec
from tests.needs import need

pytestmark = [pytest.mark.clis, pytest.mark.slow]

MODELS = {
    ReviewerKind.CLAUDE_CODE: "claude-opus-4-5",
    ReviewerKind.CODEX: "gpt-5",
    ReviewerKind.GEMINI: "gemini-3-pro",
    ReviewerKind.QWEN: "qwen3-coder",
    ReviewerKind.OPENCODE: "deepseek-v3",
    ReviewerKind.KIMI: "kimi-k2",
}
SHOWN = (ReviewerKind.CLAUDE_CODE, ReviewerKind.GEMINI)
PLAIN = (ReviewerKind.CLAUDE_CODE, ReviewerKind.GEMINI)  # no /v1 in their base address
KINDS = pytest.mark.parametrize("kind", list(MODELS))


@pytest.fixture(autouse=True)
def _programs(monkeypatch: pytest.MonkeyPatch) -> None:
    if folders := os.environ.get("SHOWCAUSE_CLIS"):
        monkeypatch.setenv("PATH", f"{folders}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("LIVE_KEY", "not-a-key-0123456789")


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return find_sandbox(allow_unsandboxed=False)


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer([Step()]) as server:
        yield server


def reviewer(kind: ReviewerKind, server: StubServer | None = None, **more: object) -> ReviewerSpec:
    program = ADAPTERS[kind].program
    need(shutil.which(program), f"{program} is not installed")
    url = f"{server.url}{'' if kind in PLAIN else '/v1'}" if server else ""
    told = {"base_url": url, "api_key_env": "LIVE_KEY", "deadline_s": 120.0, "context_tokens": 1_000_000}
    return spec(kind, model=MODELS[kind], **{**told, **more})


@KINDS
def test_a_valid_review_completes(kind: ReviewerKind, sandbox: Sandbox, stub: StubServer) -> None:
    done = attempt(
        order(reviewer(kind, stub), primary_pool=pool_of("xai/team-a")), means(sandbox=sandbox)
    ).record
    assert (done.ended, done.why, done.why_not) == (AttemptEnd.COMPLETED, "", ())
    assert done.models.main == (MODELS[kind] if kind in SHOWN else "undisclosed")
    assert done.delivery is not None
    assert done.delivery.echo is (Echo.EQUAL if kind in SHOWN else Echo.NOT_OFFERED)
    assert done.launched is not None
    assert done.launched.version
    assert [one.text.count(parcel().nonce) for one in stub.asked if one.is_main] == [1]


@pytest.mark.parametrize("kind", [kind for kind in MODELS if kind is not ReviewerKind.KIMI])
def test_a_large_packet_arrives_whole(kind: ReviewerKind, sandbox: Sandbox, stub: StubServer) -> None:
    sent = parcel(300_000)
    ours = order(reviewer(kind, stub), parcel=sent, primary_pool=pool_of("xai/team-a"))
    assert attempt(ours, means(sandbox=sandbox)).record.ended is AttemptEnd.COMPLETED
    assert any(sent.text in one.text for one in stub.asked)


@KINDS
def test_nothing_is_written_in_five_repositories(kind: ReviewerKind, sandbox: Sandbox) -> None:
    report = probe_writes(reviewer(kind), ADAPTERS[kind], sandbox, repositories=5)
    assert dict(report.changed)[CONTRACT] == 0
    assert report.holds, report.ends
    assert all(row.attempted for row in report.rows)


@KINDS
def test_a_refused_key_is_told(kind: ReviewerKind, sandbox: Sandbox) -> None:
    with StubServer([Step(act=Act.ERROR, status=401, message="invalid key")]) as server:
        ours = order(reviewer(kind, server), primary_pool=pool_of("xai/team-a"))
        done = attempt(ours, means(sandbox=sandbox)).record
    assert (done.ended, done.fault) == (AttemptEnd.PROVIDER_FAULT, ProviderFaultKind.AUTH)


@KINDS
def test_a_model_that_hangs_ends_at_the_deadline(kind: ReviewerKind, sandbox: Sandbox) -> None:
    with StubServer([Step(act=Act.HANG)]) as server:
        ours = order(reviewer(kind, server, deadline_s=10.0), primary_pool=pool_of("xai/team-a"))
        done = attempt(ours, means(sandbox=sandbox)).record
    assert done.ended is AttemptEnd.TIMEOUT
    assert done.launched is not None
    assert done.launched.left == 0


@KINDS
def test_killing_us_leaves_no_process(kind: ReviewerKind, tmp_path: Path) -> None:
    """SIGKILL while the CLI waits for its model: the namespace takes everything with it."""
    program = textwrap.dedent(
        """
        import sys
        from showcause.contract import attempt, pool_of
        from showcause.records.contract import ReviewerKind
        from showcause.sandbox import find_sandbox
        from tests.contract.made import means, order, spec

        kind, model, url = sys.argv[1:]
        ours = spec(ReviewerKind(kind), model=model, base_url=url, api_key_env="LIVE_KEY", deadline_s=120)
        box = find_sandbox(allow_unsandboxed=False)
        attempt(order(ours, primary_pool=pool_of("xai/team-a")), means(sandbox=box))
        """
    )
    root = Path(__file__).parents[2]
    with StubServer([Step(act=Act.HANG)]) as server:
        ours = reviewer(kind, server)
        env = {**os.environ, "PYTHONPATH": f"{root}:{root / 'src'}", "TMPDIR": str(tmp_path)}
        child = subprocess.Popen(
            [sys.executable, "-c", program, kind.value, ours.model, ours.base_url], env=env
        )
        until = time.monotonic() + 100
        while not server.asked and time.monotonic() < until:
            time.sleep(0.05)
        assert server.asked
        assert _naming(tmp_path)
        child.send_signal(signal.SIGKILL)
        child.wait()
        until = time.monotonic() + 20
        while _naming(tmp_path) and time.monotonic() < until:
            time.sleep(0.05)
        assert _naming(tmp_path) == []


def _naming(folder: Path) -> list[str]:
    """Living processes whose command line or environment names the folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in words and int(entry.name) != os.getpid():
            found.append(entry.name)
    return found

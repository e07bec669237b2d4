"""One file per CLI: how it is called at its strictest, and how its output is read."""

from __future__ import annotations

from showcause.contract.adapters.acp import AcpAdapter
from showcause.contract.adapters.base import Adapter, Composed, Job
from showcause.contract.adapters.claude_code import ClaudeCodeAdapter
from showcause.contract.adapters.codex import CodexAdapter
from showcause.contract.adapters.command import CommandAdapter
from showcause.contract.adapters.gemini import GeminiAdapter
from showcause.contract.adapters.kimi import KimiAdapter
from showcause.contract.adapters.opencode import OpencodeAdapter
from showcause.contract.adapters.qwen import QwenAdapter
from showcause.records.contract import ReviewerKind

__all__ = ["ADAPTERS", "Adapter", "Composed", "Job"]

_ALL: tuple[Adapter, ...] = (
    ClaudeCodeAdapter(),
    CodexAdapter(),
    GeminiAdapter(),
    QwenAdapter(),
    OpencodeAdapter(),
    KimiAdapter(),
    AcpAdapter(),
    CommandAdapter(),
)
ADAPTERS: dict[ReviewerKind, Adapter] = {one.kind: one for one in _ALL}

"""The noun of an agent that the settings name as a reviewer."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec

from showcause.records.base import Record
from showcause.records.chat import ModelSpec

__all__ = ["ReviewerKind", "ReviewerSpec"]


class ReviewerKind(StrEnum):
    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    GEMINI = "gemini"
    QWEN = "qwen"
    OPENCODE = "opencode"
    KIMI = "kimi"
    ACP = "acp"  # any agent that speaks the Agent Client Protocol
    COMMAND = "command"  # any command line: packet on standard input, answer on standard output
    MODEL = "model"  # one call of a language model


_Name = Annotated[str, msgspec.Meta(pattern=r"^[\w.-]+$")]
_Variable = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class ReviewerSpec(Record, frozen=True, kw_only=True):
    """One `[reviewers.NAME]` of the settings.

    command         the program, with nothing but what it takes to start it (["node", "cli.js"]); our adapter
                    adds every flag. Empty: the kind's usual name on PATH. For kinds `command` and `acp` the
                    whole command line
    model           the model id to ask for: its provider's family is computed from it. For kind `model`
                    the name of a `[models.NAME]`, which `asks` then holds
    pool            the account or subscription it draws on: "ACCOUNT" or "PROVIDER/ACCOUNT"
    deadline_s      from spawn to the end of reaping
    context_tokens  the model's window; unset: what the adapter takes for sure
    base_url        another endpoint than the provider's own
    api_key_env     the variable that holds the key, here and (under the CLI's own name) there
    env             names of further variables that are passed on
    login           files of the user's home that the CLI needs to be logged in, copied into its own home
    repository      whether it may read the repository, read-only, at its own path
    """

    name: _Name
    kind: ReviewerKind
    command: tuple[str, ...] = ()
    model: str = ""
    pool: str = ""
    deadline_s: Annotated[float, msgspec.Meta(gt=0, le=86400)] = 600.0
    context_tokens: Annotated[int, msgspec.Meta(gt=0)] | None = None
    base_url: str = ""
    api_key_env: str = ""
    env: tuple[_Variable, ...] = ()
    login: tuple[str, ...] = ()
    repository: bool = False
    asks: ModelSpec | None = None
    extra: dict[str, str] = {}

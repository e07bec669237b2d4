"""What a test needs of the machine. Where it is missing the test skips; where CI promised it, it fails."""

from __future__ import annotations

import os
import shutil

import pytest

__all__ = ["need", "need_program"]


def need(is_there: object, reason: str) -> None:
    """Skip the calling test unless `is_there`; fail instead where SHOWCAUSE_CI is set."""
    if is_there:
        return
    if os.environ.get("SHOWCAUSE_CI"):
        pytest.fail(f"CI must have it: {reason}")
    pytest.skip(reason)


def need_program(name: str) -> str:
    """The path of a program, or the test skips."""
    found = shutil.which(name)
    need(found, f"{name} is not installed")
    return str(found)

"""The order of everything: a patch becomes two trees, checks, a decision, and a receipt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from showcause.pipeline.request import Request, Reviewed
from showcause.pipeline.reviewing import STORE_FILE, review, store_of

if TYPE_CHECKING:
    from showcause.pipeline.reproducing import Reproduced, reproduce

__all__ = ["STORE_FILE", "Reproduced", "Request", "Reviewed", "reproduce", "review", "store_of"]


def __getattr__(name: str) -> Any:
    """Load what runs a cause again when it is asked for: a settled review needs none of it."""
    if name not in ("Reproduced", "reproduce"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from showcause.pipeline import reproducing

    return getattr(reproducing, name)

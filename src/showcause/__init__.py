"""showcause reviews the patches that coding agents hand in.

    from showcause import Request, review

    reviewed = review(Request(directory="."))
    reviewed.receipt.body.verdict       # Verdict.REJECT, or None: nothing was shown either way

Nothing here prints. Errors are those of `showcause.errors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from showcause.gate import decide
    from showcause.pipeline import Request, Reviewed, reproduce, review
    from showcause.records import Verdict

__version__ = "0.1.0"
__all__ = ["Request", "Reviewed", "Verdict", "__version__", "decide", "reproduce", "review"]

_WHERE = {
    "Request": "showcause.pipeline",
    "Reviewed": "showcause.pipeline",
    "Verdict": "showcause.records",
    "decide": "showcause.gate",
    "reproduce": "showcause.pipeline",
    "review": "showcause.pipeline",
}


def __getattr__(name: str) -> Any:
    """Load public names when they are asked for: `showcause --version` needs none of them."""
    if name not in _WHERE:
        raise AttributeError(f"module 'showcause' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_WHERE[name]), name)

"""What a caller asks for, and what they get."""

from __future__ import annotations

from showcause.receipt import Receipt
from showcause.records import Record

__all__ = ["Request", "Reviewed"]


class Request(Record, frozen=True, kw_only=True):
    """One review to make. Of `staged`, `commit`, `diff` and `head` at most one is given; none of them
    means the work tree.

    base       revision to compare with; empty: the merge base with the default branch, or HEAD
    diff       a patch as bytes, to go onto base
    issue      the text of the task, if one was given
    official   path of an official suite; settings may name one too
    overrides  settings from the command line: "suite.python" -> value
    budget_s   seconds for the project's tests where the settings give none
    fresh      review again even if an equal review was settled
    """

    directory: str = "."
    base: str = ""
    head: str = ""
    staged: bool = False
    commit: str = ""
    diff: bytes | None = None
    issue: bytes | None = None
    official: str = ""
    overrides: dict[str, object] = {}
    budget_s: float = 60.0
    fresh: bool = False


class Reviewed(Record, frozen=True, kw_only=True):
    """The receipt of a review; `from_store` if an earlier equal review answered. `notes` are for the user."""

    receipt: Receipt
    from_store: bool
    notes: tuple[str, ...]

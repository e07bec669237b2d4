"""What a caller asks for, and what they get."""

from __future__ import annotations

from showcause.receipt import Receipt
from showcause.records import ModelSpec, Packet, Probe, Record

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
    probes     generated tests that were given by hand
    models     models of the caller's own, beside those of the settings
    record     folder in which every exchange with a model is kept; "" for none
    replay     folder from which exchanges are taken instead of asking
    only_packet  make the reviewer's packet, ask nobody
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
    probes: tuple[Probe, ...] = ()
    models: tuple[ModelSpec, ...] = ()
    record: str = ""
    replay: str = ""
    only_packet: bool = False


class Reviewed(Record, frozen=True, kw_only=True):
    """The receipt of a review; `from_store` if an earlier equal review answered. `notes` are for the user.

    `packet` is what a reviewer would be given, where only that was asked for and the checks leave it open.
    """

    receipt: Receipt
    from_store: bool
    notes: tuple[str, ...]
    packet: Packet | None = None

"""What a run loaded -> records. Pure. A run counts only if it proves what it loaded (law 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from showcause.records import Loaded, LoadedState, Origin
from showcause.runners.events import LoadedFact
from showcause.runners.failures import Places

__all__ = ["judge_loaded", "why_not_ours"]

_CURE = "install the project in editable mode (pip install -e .) so that the tree under test is imported"
_STALE = "remove its __pycache__ entries"


def judge_loaded(
    facts: Iterable[LoadedFact], touched: Mapping[str, str], places: Places
) -> tuple[Loaded, ...]:
    """One record for each (touched Python path, module); `not_loaded` for paths that no module came from."""
    told: dict[str, list[Loaded]] = {path: [] for path in sorted(touched) if path.endswith(".py")}
    for fact in facts:
        if fact.path not in told:
            continue
        state = _state(fact, touched[fact.path], places)
        if state is not LoadedState.NOT_LOADED:
            told[fact.path].append(
                Loaded(path=fact.path, module=fact.module, file=fact.file, sha256=fact.sha256, state=state)
            )
    nothing = LoadedState.NOT_LOADED
    return tuple(
        record
        for path, records in told.items()
        for record in records or [Loaded(path=path, module="", file="", sha256="", state=nothing)]
    )


def _state(fact: LoadedFact, digest: str, places: Places) -> LoadedState:
    if fact.same and not fact.parent:
        good = fact.sha256 == digest and fact.code in ("none", "same")
        return LoadedState.MATCHES if good else LoadedState.OTHER_CONTENT
    inside = not fact.place.startswith("/") and places.origin(fact.place) is not Origin.OUTSIDE
    if not inside:
        return LoadedState.OUTSIDE
    if fact.parent or "." not in fact.module or not digest:
        # Another folder's conftest or script of the same name; or the path moved within the tree.
        return LoadedState.NOT_LOADED
    same = fact.sha256 == digest and fact.code in ("none", "same")
    return LoadedState.MATCHES if same else LoadedState.OTHER_CONTENT


def why_not_ours(loaded: Iterable[Loaded]) -> str:
    """Why the run tested other code than the tree's, with the cure; "" if it did not."""
    for record in loaded:
        if record.state is LoadedState.OUTSIDE:
            return (
                f"module {record.module} ({record.path}) was loaded from {record.file}, "
                f"outside the tree: {_CURE}"
            )
        if record.state is LoadedState.OTHER_CONTENT:
            return (
                f"module {record.module} was loaded from {record.file} with other content than "
                f"{record.path} has (stale byte code or a changed copy): {_STALE}, or {_CURE}"
            )
    return ""

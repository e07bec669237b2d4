"""Reads what `checks.effective` judges: the changed files on both sides, and who speaks of new ones."""

from __future__ import annotations

from showcause import git
from showcause.checks.effective import Version, effects_of, no_effective_change
from showcause.records import ChangeKind, Evidence, FileChange
from showcause.trees import Trees

__all__ = ["effect_of"]

_MOST_CHANGES = 2000


def effect_of(trees: Trees) -> tuple[Evidence, ...]:
    """That the patch changes no code that runs, if that is so; else nothing."""
    changes = trees.patch.changes
    if len(changes) > _MOST_CHANGES:
        return ()
    oids = {oid for change in changes for oid in (_oid(change, old=True), _oid(change, old=False)) if oid}
    held = git.blobs(trees.repo, oids)
    versions = {
        change.path: Version(before=held.get(_oid(change, old=True)), after=held.get(_oid(change, old=False)))
        for change in changes
    }
    stems = {c.path.partition(".")[0]: c.path for c in changes if _is_new_in_root(c)}
    mentioned = frozenset(stem for stem, path in stems.items() if _spoken_of(trees, stem, path))
    return no_effective_change(effects_of(changes, versions, trees.surface, mentioned=mentioned))


def _oid(change: FileChange, *, old: bool) -> str:
    mode, oid = (change.old_mode, change.old_oid) if old else (change.new_mode, change.new_oid)
    return oid if mode.startswith("100") and oid.strip("0") else ""


def _is_new_in_root(change: FileChange) -> bool:
    return change.kind is ChangeKind.ADDED and "/" not in change.path and not change.path.startswith(".")


def _spoken_of(trees: Trees, stem: str, path: str) -> bool:
    found = git.grep(trees.repo, trees.patch.head_tree, [stem], whole_words=True)
    return any(other != path for other in found)

"""Edits of the patch to what judges it, by path. Pure.

Whatever is listed here comes from base when the patch is judged, so the edit changes nothing; it is named
because somebody should look at it.
"""

from __future__ import annotations

import posixpath

from showcause.records import ChangeKind, Tampering
from showcause.trees import SurfaceKind, Trees

__all__ = ["TAMPERING_WORDS", "tampering"]

TAMPERING_WORDS = {
    SurfaceKind.TEST: "an existing test",
    SurfaceKind.TEST_DATA: "test data",
    SurfaceKind.CONFTEST: "pytest fixtures or hooks (conftest.py)",
    SurfaceKind.RUNNER_CONFIG: "the configuration of tests or tools",
    SurfaceKind.CI: "continuous integration",
    SurfaceKind.INTERPRETER_HOOK: "code that runs at every start of the interpreter",
    SurfaceKind.NONE: "git attributes, which can hide a change from a diff",
}
"""What each kind of path is called. The last is for `.gitattributes`, which is no test surface: a tree is
written with its own."""


def tampering(trees: Trees) -> tuple[Tampering, ...]:
    """Edits of the patch to what judges it. Added tests are none; they are the author's testimony."""
    changes = {change.path: change for change in trees.patch.changes}
    found = []
    for path, kind in sorted(trees.surface.items()):
        change = changes.get(path)
        is_new = change is not None and change.kind in (ChangeKind.ADDED, ChangeKind.COPIED)
        if is_new and kind in (SurfaceKind.TEST, SurfaceKind.TEST_DATA):
            continue
        if kind is SurfaceKind.NONE and posixpath.basename(path) != ".gitattributes":
            continue
        verb = "deletes" if change is None or change.kind is ChangeKind.DELETED else "edits"
        verb = "adds" if is_new else verb
        found.append(Tampering(path=path, what=f"{verb} {TAMPERING_WORDS[kind]}"))
    return tuple(found)

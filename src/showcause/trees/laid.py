"""Files laid over every side of a review: an official suite, probes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from showcause import git
from showcause.git import Entry
from showcause.trees.composite import Trees, as_on_disk
from showcause.trees.surface import SurfaceKind

__all__ = ["lay_over"]


def lay_over(trees: Trees, entries: Mapping[str, Entry | None]) -> Trees:
    """The same sides with `entries` over each of them (None: no such file). They count as test surface."""
    unknown = [path for path in entries if path not in trees.disk]
    on_disk = _held(trees, trees.worktree, unknown)
    in_base = _held(trees, trees.patch.base_tree, unknown)
    disk = {path: as_on_disk(trees.repo.top, path, entry) for path, entry in on_disk.items()}
    return msgspec.structs.replace(
        trees,
        disk=trees.disk | disk,
        base=trees.base | in_base,
        sides={side: {**in_base, **held, **entries} for side, held in trees.sides.items()},
        surface=trees.surface | dict.fromkeys(entries, SurfaceKind.TEST),
    )


def _held(trees: Trees, tree: str, paths: Iterable[str]) -> dict[str, Entry | None]:
    wanted = list(paths)
    if not wanted:
        return {}
    found = {file.path: Entry(mode=file.mode, oid=file.oid) for file in git.files(trees.repo, tree, wanted)}
    return {path: found.get(path) for path in wanted}

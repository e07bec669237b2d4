"""The trees of one review: what each side holds, and how it gets on disk at O(patch) cost."""

from showcause.trees.composite import Trees, make_trees
from showcause.trees.digest import disk_digest
from showcause.trees.export import Export, Way, export
from showcause.trees.intake import Applied, apply_diff, moved
from showcause.trees.laid import lay_over
from showcause.trees.layer import LAYER_MTIME, Layer, make_layer
from showcause.trees.reader import TreeReader
from showcause.trees.surface import (
    SurfaceKind,
    is_test_surface,
    surface_files,
    surface_kind,
    test_directories,
)

__all__ = [
    "LAYER_MTIME",
    "Applied",
    "Export",
    "Layer",
    "SurfaceKind",
    "TreeReader",
    "Trees",
    "Way",
    "apply_diff",
    "disk_digest",
    "export",
    "is_test_surface",
    "lay_over",
    "make_layer",
    "make_trees",
    "moved",
    "surface_files",
    "surface_kind",
    "test_directories",
]

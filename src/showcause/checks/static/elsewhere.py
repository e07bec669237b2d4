"""Whether an attribute is defined anywhere in head at all: by a class, an assignment, a list of names.

A type checker sees one class; instances may be of another, or get their attributes from code far away.
Where any code of the tree defines an attribute of that name, its absence is not taken as shown.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from showcause import git
from showcause.checks.static.source import Source
from showcause.trees import Trees

__all__ = ["attributes_defined"]

_MOST_FILES = 300


def attributes_defined(trees: Trees, names: Collection[str]) -> dict[str, str]:
    """Name -> where in head it is defined or set as an attribute, for those names for which that is so.

    Names in more files than can be read are taken to be defined.
    """
    if not names:
        return {}
    tree = trees.patch.head_tree
    paths = git.grep(trees.repo, tree, sorted(names), whole_words=True, only="*.py")
    if len(paths) > _MOST_FILES:
        return dict.fromkeys(names, f"one of {len(paths)} files")
    oids = {file.path: file.oid for file in git.files(trees.repo, tree, sorted(paths))} if paths else {}
    held = git.blobs(trees.repo, set(oids.values()))
    found: dict[str, str] = {}
    for path, oid in oids.items():
        source = Source(held[oid])
        if source.tree is None:
            spoken = (name for name in names if name in source.text)
            found |= {name: path for name in spoken if name not in found}
            continue
        for name, line in _defined(source.tree):
            if name in names:
                found.setdefault(name, f"{path}:{line}")
    return found


def _defined(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                yield name, node.lineno
            case ast.ClassDef():
                yield from _in_class(node)
            case ast.Constant(value=str(text)) if len(text) < 500:
                yield from ((name, node.lineno) for name in _listed(text))


def _in_class(node: ast.ClassDef) -> Iterator[tuple[str, int]]:
    for inner in node.body:
        for part in ast.walk(inner) if not isinstance(inner, _FUNCTIONS) else [inner]:
            match part:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    yield name, part.lineno
                case ast.Name(id=name, ctx=ast.Store()):
                    yield name, part.lineno
                case ast.alias():
                    yield (part.asname or part.name).partition(".")[0], part.lineno


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _listed(text: str) -> list[str]:
    """The names of a text that is nothing but names: `__slots__`, `setattr`, fields of a named tuple."""
    parts = re.split(r"[,\s]+", text.strip())
    return parts if all(part.isidentifier() for part in parts) else []

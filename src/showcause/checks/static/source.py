"""One Python file as text and syntax tree: what stands at the place a finding speaks of. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from showcause.checks.static.nouns import Finding

__all__ = ["Source", "Step"]

Step = tuple[ast.AST, str]
"""A node, and in which field of it the way goes on."""


class Source:
    """A file. `tree` is None where our own interpreter cannot parse it: nothing is known of it then."""

    def __init__(self, data: bytes) -> None:
        self.text = data.decode("utf-8", "replace")
        self.lines = self.text.splitlines()

    @cached_property
    def tree(self) -> ast.Module | None:
        try:
            return ast.parse(self.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the tree; none where there is no tree."""
        return tuple(ast.walk(self.tree)) if self.tree else ()

    def line(self, number: int) -> str:
        """A line without its indentation, "" if there is none."""
        return self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ""

    def way(self, finding: Finding) -> list[Step]:
        """From the module to the innermost node that holds the whole place; the last field is ""."""
        start = (finding.line, self._byte(finding.line, finding.column))
        end = (finding.end_line, self._byte(finding.end_line, finding.end_column))
        return list(_way(self.tree, start, max(start, end))) if self.tree else []

    def _byte(self, line: int, column: int) -> int:
        """A column in characters, from 1, as `ast` counts: bytes, from 0."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return len(text[: column - 1].encode("utf-8", "replace"))


_Place = tuple[int, int]
_Placed = ast.stmt | ast.expr | ast.excepthandler | ast.arg | ast.keyword | ast.alias | ast.pattern


def _way(node: ast.AST, start: _Place, end: _Place) -> Iterator[Step]:
    while True:
        for field, child in _children(node):
            if _holds(child, start, end):
                yield node, field
                node = child
                break
        else:
            yield node, ""
            return


def _children(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield field, child


def _holds(node: ast.AST, start: _Place, end: _Place) -> bool:
    """Whether the node covers the place; nodes without a place do if one of their children does."""
    if not isinstance(node, _Placed):
        return any(_holds(child, start, end) for _, child in _children(node))
    first = (node.lineno, node.col_offset)
    for decorator in getattr(node, "decorator_list", ()):
        first = min(first, (decorator.lineno, decorator.col_offset))
    return first <= start and end <= (node.end_lineno or node.lineno, node.end_col_offset or 0)

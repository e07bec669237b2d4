"""Which files the static stage looks at: Python sources that the patch touches, and who imports them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from showcause import git
from showcause.checks.imports_graph import Exports, Modules, dotted_name
from showcause.checks.imports_read import has_word, read_names, scan_imports
from showcause.checks.selection_names import nearness
from showcause.checks.static.source import Source
from showcause.project import BaseTree
from showcause.records import Record
from showcause.trees import SurfaceKind, Trees

__all__ = ["Contents", "Scope", "find_scope"]

MOST_IMPORTERS = 24
_MOST_READ = 400
_MOST_WORDS = 100
_NOTHING = Source(b"")


class Scope(Record, frozen=True, kw_only=True):
    """Paths on each side: what the patch touches, and the importers, which both sides have alike.
    `left_out` are importers beyond the most that are looked at."""

    base: tuple[str, ...]
    head: tuple[str, ...]
    importers: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def on_base(self) -> tuple[str, ...]:
        return (*self.base, *self.importers)

    @property
    def on_head(self) -> tuple[str, ...]:
        return (*self.head, *self.importers)


class Contents:
    """The files of a scope as both sides have them; each is read and parsed once."""

    def __init__(self, base: dict[str, bytes], head: dict[str, bytes]) -> None:
        self._base, self._head = base, head
        self._made: dict[tuple[str, bool], Source] = {}

    def base(self, path: str) -> Source:
        return self._source(path, self._base, False)

    def head(self, path: str) -> Source:
        return self._source(path, self._head, True)

    def _source(self, path: str, held: dict[str, bytes], is_head: bool) -> Source:
        if path not in held:
            return _NOTHING
        key = (path, is_head)
        if key not in self._made:
            self._made[key] = Source(held[path])
        return self._made[key]


def find_scope(
    trees: Trees, reader: BaseTree, tests: Iterable[str], sources: Sequence[str]
) -> tuple[Scope, Contents]:
    """The scope and its contents. `tests` are the files of base that belong to its tests: they import
    what they test by the names base has, and what the patch makes of that is for the suite to tell."""
    before, after = _touched(trees)
    old = dict(reader.read(sorted(before)))
    new = git.blobs(trees.repo, set(after.values()))
    head = {path: new[oid] for path, oid in after.items()}
    found = _importers(reader, old, head, frozenset(tests), sources)
    chosen, left = found[:MOST_IMPORTERS], found[MOST_IMPORTERS:]
    texts = dict(reader.read(chosen))
    scope = Scope(
        base=tuple(sorted(old)), head=tuple(sorted(head)), importers=tuple(chosen), left_out=tuple(left)
    )
    return scope, Contents(old | texts, head | texts)


def _touched(trees: Trees) -> tuple[set[str], dict[str, str]]:
    """Python sources: the paths in base, and head's with their objects."""
    before: set[str] = set()
    after: dict[str, str] = {}
    for change in trees.patch.changes:
        kinds = (trees.surface.get(path, SurfaceKind.NONE) for path in (change.path, change.old_path) if path)
        if any(kind is not SurfaceKind.NONE for kind in kinds):
            continue
        old = change.old_path or change.path
        if old.endswith(".py") and change.old_mode.startswith("100"):
            before.add(old)
        if change.path.endswith(".py") and change.new_mode.startswith("100") and change.new_oid.strip("0"):
            after[change.path] = change.new_oid
    return before, after


def _importers(
    reader: BaseTree,
    old: dict[str, bytes],
    head: dict[str, bytes],
    tests: frozenset[str],
    sources: Sequence[str],
) -> list[str]:
    """Files that import a touched module and are untouched themselves: first those that speak of what
    changed in it, then the nearest."""
    lost = {path: _changed(data, head.get(path)) for path, data in old.items()}
    if not any(lost.values()):
        return []
    paths = frozenset(reader.paths())
    modules = Modules(paths, sources)
    own = {path: read_names(data) for path, data in old.items()}
    exports = Exports(modules, own, sources)
    packages = {f"{folder}/__init__.py" for path in own for folder in _folders(path)} & paths
    exports.learn({p: d.decode("utf-8", "replace") for p, d in reader.read(sorted(packages)).items()})
    names = {name for changed in lost.values() for name in changed}
    lasts = {dotted_name(path, sources).rpartition(".")[2] for path in own}
    words = sorted((lasts | (names & exports.names)) - {""})[:_MOST_WORDS]
    hits = [p for p in reader.grep(words) if p not in old and p not in head and p not in tests]
    hits.sort(key=lambda path: (-max(nearness(path, one) for one in own), path))
    telling = exports.telling
    found: dict[str, int] = {}
    for path, data in reader.read(hits[:_MOST_READ]).items():
        text = data.decode("utf-8", "replace")
        if exports.use(path, text, scan_imports(text, telling)):
            found[path] = sum(has_word(text, name) for name in names)
    return sorted(found, key=lambda path: -found[path])


def _folders(path: str) -> Iterable[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _changed(before: bytes, after: bytes | None) -> frozenset[str]:
    """Names of functions, methods and classes whose outside differs, and of variables that are gone.

    A body that changes is nobody else's business here: names and parameters are.
    """
    old = _outside(before)
    new = _outside(after) if after is not None else {}
    return frozenset(name.rpartition(".")[2] for name in old if old[name] != new.get(name))


def _outside(data: bytes) -> dict[str, str]:
    tree = Source(data).tree
    found: dict[str, str] = {}
    for node in tree.body if tree else ():
        if isinstance(node, ast.ClassDef):
            found[node.name] = "".join(map(ast.dump, (*node.bases, *node.keywords, *node.decorator_list)))
            for inner in node.body:
                found |= {f"{node.name}.{name}": told for name, told in _told(inner).items()}
        else:
            found |= _told(node)
    return found


def _told(node: ast.stmt) -> dict[str, str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return {node.name: ast.dump(node.args) + "".join(map(ast.dump, node.decorator_list))}
    names = (n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    aliases = (a for n in ast.walk(node) if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names)
    inner = (
        n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    )
    bound = (*names, *((a.asname or a.name).partition(".")[0] for a in aliases), *inner)
    return dict.fromkeys(bound, "")

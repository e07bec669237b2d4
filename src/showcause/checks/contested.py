"""Whether the patch has a hand in a base test: then its failing on head is no plain break.

A test is contested where the patch edits or deletes it, or something of its own file that it uses
(a helper, a fixture, set-up of its class), or a conftest.py or other helper of its tests' folders.
An untouched test beside an edited one is not.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Callable, Mapping

from showcause import git
from showcause.trees import SurfaceKind, Trees

__all__ = ["contested_by", "locate"]


def contested_by(trees: Trees) -> Callable[[str], str]:
    """A function from a test id to why it is contested, or ""."""
    edited = {p for p, kind in trees.surface.items() if kind in _WITH_A_HAND}
    contents = _contents(trees, {p for p in edited if p.endswith(".py")})
    changed = {path: _changed_names(*contents[path]) for path in contents}
    shared = {p: posixpath.dirname(p) for p in edited if _is_shared(p, trees, changed)}

    def why(test_id: str) -> str:
        path, names = locate(test_id, changed)
        if path and _touches(names, changed[path]):
            return f"the patch edits it or what it uses in {path}"
        folder = posixpath.dirname(path or test_id.partition("::")[0].replace(".", "/"))
        for helper, where in shared.items():
            if not where or f"{folder}/".startswith(f"{where}/"):
                return f"the patch edits {helper}, which its tests share"
        return ""

    return why


_WITH_A_HAND = (SurfaceKind.TEST, SurfaceKind.TEST_DATA, SurfaceKind.CONFTEST)


def _is_shared(path: str, trees: Trees, changed: Mapping[str, frozenset[str] | None]) -> bool:
    """Whether tests beside and below `path` may use what the patch changes there.

    What base did not have no base test uses. A hook of pytest (`pytest_*`) is no helper of a test: were
    it one, adding a hook to a conftest.py would take its weight from every regression below.
    """
    if _is_test_file(path) or trees.base.get(path) is None:
        return False
    names = changed.get(path)
    return names is None or any(not name.startswith("pytest_") for name in names)


def _is_test_file(path: str) -> bool:
    name = posixpath.basename(path)
    return name.startswith("test") or name.endswith("_test.py")


def _contents(trees: Trees, paths: set[str]) -> dict[str, tuple[bytes, bytes]]:
    changes = {c.path: c for c in trees.patch.changes} | {
        c.old_path: c for c in trees.patch.changes if c.old_path
    }
    wanted = {
        oid
        for path in paths
        for mode, oid in (
            (changes[path].old_mode, changes[path].old_oid),
            (changes[path].new_mode, changes[path].new_oid),
        )
        if oid.strip("0") and mode.startswith("100")
    }
    held = git.blobs(trees.repo, wanted)
    return {p: (held.get(changes[p].old_oid, b""), held.get(changes[p].new_oid, b"")) for p in paths}


def locate(test_id: str, paths: Mapping[str, object]) -> tuple[str, tuple[str, ...]]:
    """(path, names below it) of a test id of pytest (`a/t.py::C::m[x]`) or unittest (`a.t.C.m`)."""
    if "::" in test_id:
        path, *names = test_id.partition("[")[0].split("::")
        return (path, tuple(names)) if path in paths else ("", ())
    for path in paths:
        module = path.removesuffix(".py").replace("/", ".")
        for start in _starts(module):
            if test_id.startswith(f"{start}."):
                return path, tuple(test_id.removeprefix(f"{start}.").split("."))
    return "", ()


def _starts(module: str) -> list[str]:
    """A module name and its tails of two parts or more: runners start in folders below the top."""
    parts = module.split(".")
    return [".".join(parts[i:]) for i in range(max(1, len(parts) - 1))]


def _changed_names(before: bytes, after: bytes) -> frozenset[str] | None:
    """Dotted names of the definitions that differ; None if one side cannot be read: all may differ."""
    try:
        old, new = _definitions(before), _definitions(after)
    except (SyntaxError, ValueError):
        return None
    return frozenset(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def _definitions(source: bytes) -> dict[str, str]:
    """Dotted name -> its code and the names it uses, one level into classes. Imports bind names too."""
    found: dict[str, str] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            rest = []
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                    found[f"{node.name}.{inner.name}"] = ast.dump(inner)
                else:
                    rest.append(ast.dump(inner))
            found[node.name] = "".join([*map(ast.dump, (*node.bases, *node.decorator_list)), *rest])
        else:
            for name in _bound(node):
                found[name] = ast.dump(node)
    return found


def _bound(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return [node.name]
        case ast.Import() | ast.ImportFrom():
            return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
        case ast.Assign():
            return [n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case _:
            return ["<module>"]


def _touches(names: tuple[str, ...], changed: frozenset[str] | None) -> bool:
    if changed is None or not names:
        return True
    own = ".".join(names[:2])
    helpers = {name for name in changed if not _is_test_name(name)}
    of_class = {name for name in helpers if "." in name and name.split(".")[0] == names[0]}
    return own in changed or names[0] in changed or bool(of_class) or bool(helpers - _in_classes(helpers))


def _in_classes(names: set[str]) -> set[str]:
    return {name for name in names if "." in name or name[:1].isupper()}


def _is_test_name(name: str) -> bool:
    return name.rsplit(".", maxsplit=1)[-1].startswith("test")

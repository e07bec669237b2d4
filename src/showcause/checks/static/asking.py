"""A finding -> the question whose answer confirms it, or why there is none. Pure."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from showcause.checks.static.nouns import Finding, Sort
from showcause.checks.static.source import Source, Step
from showcause.records import Record

__all__ = ["Names", "Question", "Refusal", "question_for"]

_MODULE_LACKS = re.compile(r"^Module `([\w.]+)` has no member")
_CLASS_LACKS = re.compile(r"^(?:Object of type|Class) `(\w+)(@\w+)?` has no attribute")
_METHOD = re.compile(r"of bound method `(\w+)\.(\w+)`")
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Refusal(Exception):
    """The finding cannot be put as a question; the message says why."""


class Names(Record, frozen=True, kw_only=True):
    """What names mean: the import name of the file ("" if it cannot be imported, and why), and the
    project's own top-level names."""

    module: str
    why: str
    is_package: bool
    own: frozenset[str]

    def absolute(self, level: int, module: str | None) -> str:
        """The full name of what a `from` statement names."""
        if not level:
            return module or ""
        parts = self.module.split(".")
        kept = parts[: len(parts) - level + self.is_package]
        return ".".join([*kept, *([module] if module else [])])

    def is_own(self, module: str) -> bool:
        return module.partition(".")[0] in self.own


class Via(Record, frozen=True, kw_only=True):
    """An import inside a function that binds the first part of a callee; `name` "" for a module."""

    module: str
    name: str


class Question(Record, frozen=True, kw_only=True):
    """What `runners/inside/showcause_confirm.py` is asked; the fields that a sort does not use are empty."""

    id: int
    sort: str
    path: str
    line: int
    module: str = ""
    name: str = ""
    target: str = ""
    cls: str = ""
    callee: str = ""
    method: str = ""
    via: Via | None = None
    positional: int = 0
    keywords: tuple[str, ...] = ()
    at_top: bool = False


def question_for(id: int, finding: Finding, sort: Sort, source: Source, names: Names) -> Question:
    """The question. Raises Refusal."""
    if sort is Sort.SYNTAX:
        raise Refusal("what the compiler says is not asked again")
    if not names.module:
        raise Refusal(names.why)
    way = source.way(finding)
    asked = {
        Sort.UNDEFINED: _name,
        Sort.EXPORT: _name,
        Sort.MODULE: _imported,
        Sort.MEMBER: _imported,
        Sort.ATTRIBUTE: _attribute,
        Sort.CALL: _call,
        Sort.ABSTRACT: _call,
    }[sort]
    fields = asked(finding, sort, way, names)
    common: _Fields = {
        "id": id,
        "sort": sort.value,
        "path": finding.path,
        "line": finding.line,
        "module": names.module,
    }
    return Question(**(common | fields))


_Fields = dict[str, Any]


def _name(finding: Finding, _sort: Sort, _way: Sequence[Step], _names: Names) -> _Fields:
    if not finding.symbol.isidentifier():
        raise Refusal("it is not told which name")
    return {"name": finding.symbol}


def _imported(finding: Finding, sort: Sort, way: Sequence[Step], names: Names) -> _Fields:
    statement = next((n for n, _ in reversed(way) if isinstance(n, ast.Import | ast.ImportFrom)), None)
    at_top = not any(isinstance(node, _Function | ast.ClassDef) for node, _ in way)
    if isinstance(statement, ast.ImportFrom):
        target = names.absolute(statement.level, statement.module)
    elif isinstance(statement, ast.Import) and sort is Sort.MODULE:
        target = finding.symbol
    else:
        raise Refusal("the import statement was not found")
    if not names.is_own(target):
        raise Refusal("it is not a module of the project")
    return {"target": target, "name": finding.symbol, "at_top": at_top}


def _attribute(finding: Finding, _sort: Sort, way: Sequence[Step], names: Names) -> _Fields:
    node = next((n for n, _ in reversed(way) if isinstance(n, ast.Attribute)), None)
    if node is None or node.attr != finding.symbol or not isinstance(node.ctx, ast.Load):
        raise Refusal("the attribute is not read here")
    if found := _MODULE_LACKS.match(finding.message):
        if not names.is_own(found[1]):
            raise Refusal("it is not a module of the project")
        return {"sort": "module_attribute", "target": found[1], "name": finding.symbol}
    found = _CLASS_LACKS.match(finding.message)
    if found is None:
        raise Refusal("its type is not a class that can be named")
    cls = _class_around(way) if found[2] else found[1]
    return {"sort": "class_attribute", "cls": cls, "name": finding.symbol}


def _class_around(way: Sequence[Step]) -> str:
    """The dotted name of the class whose method this is."""
    names = [node.name for node, _ in way if isinstance(node, ast.ClassDef)]
    functions = [number for number, (node, _) in enumerate(way) if isinstance(node, _Function)]
    if not names or not functions:
        raise Refusal("it is not in a method of a class")
    first = functions[0]
    if any(isinstance(node, ast.ClassDef) for node, _ in way[first:]):
        raise Refusal("its class is made in a function")
    return ".".join(names)


# ------------------------------------------------------------------ calls


def _call(finding: Finding, sort: Sort, way: Sequence[Step], names: Names) -> _Fields:
    node = _call_node(finding, way)
    if any(isinstance(arg, ast.Starred) for arg in node.args) or any(k.arg is None for k in node.keywords):
        raise Refusal("the call unpacks arguments")
    dotted = _dotted(node.func)
    shape: _Fields = {
        "callee": dotted,
        "positional": len(node.args),
        "keywords": tuple(k.arg for k in node.keywords if k.arg),
    }
    root = dotted.partition(".")[0]
    method = _METHOD.search(finding.message)
    if sort is Sort.CALL and method is not None and dotted.endswith(f".{method[2]}"):
        own = dotted.count(".") == 1 and root in _first_parameters(way)
        cls = _class_around(way) if own else method[1]
        return shape | {"cls": cls, "method": method[2]}
    bound = _bound_by(root, way)
    if not bound:
        return shape
    if len(bound) > 1 or not isinstance(bound[0], ast.Import | ast.ImportFrom):
        raise Refusal(f"{root} is a local name")
    return shape | {"via": _via(root, bound[0], names)}


def _call_node(finding: Finding, way: Sequence[Step]) -> ast.Call:
    """The call that the place is all of, or an argument of."""
    for node, field in reversed(way):
        if isinstance(node, ast.Call):
            whole = finding.rule in ("missing-argument", "abstract-class-instantiation")
            if whole or field in ("args", "keywords"):
                return node
    raise Refusal("the call was not found")


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise Refusal("what is called is no dotted name")
    return ".".join([node.id, *reversed(parts)])


def _first_parameters(way: Sequence[Step]) -> set[str]:
    """`self` or `cls` of the method around."""
    for (outer, _), (inner, _) in itertools.pairwise(way):
        if isinstance(outer, ast.ClassDef) and isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = [*inner.args.posonlyargs, *inner.args.args]
            return {arguments[0].arg} if arguments else set()
    return set()


def _bound_by(name: str, way: Sequence[Step]) -> list[ast.AST]:
    """What binds the name in the functions around, and in classes: then it is not the module's."""
    scopes = [node for node, _ in way if isinstance(node, _Function | ast.ClassDef)]
    comprehensions = [
        n for n, _ in way if isinstance(n, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp)
    ]
    return [node for scope in (*scopes, *comprehensions) for node in _binders(name, scope)]


def _binders(name: str, scope: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(scope):
        match node:
            case ast.Name(id=found, ctx=ast.Store() | ast.Del()) if found == name:
                yield node
            case ast.arg(arg=found) if found == name:
                yield node
            case ast.Import() | ast.ImportFrom():
                if any((a.asname or a.name).partition(".")[0] == name for a in node.names):
                    yield node
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                if node.name == name and node is not scope:
                    yield node
            case ast.ExceptHandler(name=found) | ast.MatchAs(name=found) | ast.MatchStar(name=found):
                if found == name:
                    yield node
            case ast.MatchMapping(rest=found) if found == name:
                yield node


def _via(root: str, statement: ast.Import | ast.ImportFrom, names: Names) -> Via:
    for alias in statement.names:
        if (alias.asname or alias.name).partition(".")[0] != root:
            continue
        if isinstance(statement, ast.ImportFrom):
            return Via(module=names.absolute(statement.level, statement.module), name=alias.name)
        return Via(module=alias.name if alias.asname else root, name="")
    raise Refusal("the import statement was not found")

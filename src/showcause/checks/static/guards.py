"""Why a finding may be meant so: guarded, never evaluated, silenced. Pure.

Each answer is a reason in words, or "". What is told here never rejects: it is better to miss a fault
than to reject a correct patch for one that the code takes care of.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from showcause.checks.static.nouns import Finding, Sort
from showcause.checks.static.source import Source, Step

__all__ = ["reason", "silenced"]

_CAUGHT = frozenset(
    {"ImportError", "ModuleNotFoundError", "NameError", "UnboundLocalError", "AttributeError", "TypeError"}
    | {"Exception", "BaseException"}
)
_FALLBACKS = frozenset({"ImportError", "ModuleNotFoundError", "NameError", "AttributeError"})
_GUARDS = frozenset(
    {"TYPE_CHECKING", "hasattr", "getattr", "callable", "find_spec", "platform", "version_info", "version"}
    | {"implementation", "python_implementation", "PYPY", "six", "hexversion", "__debug__"}
)
_GUARD_NAME = re.compile(r"_?(HAS|HAVE|USE|IS|WITH|PY|WIN|NO)_?[A-Z0-9_]*$")
_HESITATE = frozenset({"_", "N_", "ngettext", "reveal_type", "WindowsError", "get_ipython", "__IPYTHON__"})
_BUILT = re.compile(r"^_?_?(version|version_info|build|build_config|config)_?_?$|_pb2(_grpc)?$")

_LINE = re.compile(
    r"#\s*(?:noqa\b(?!\s*:)|noqa\s*:[^#]*\bF82\d|type:\s*ignore|ty:\s*ignore|pyright:\s*ignore|pylint:\s*disable)",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"^\s*#\s*(?:(?:ruff|flake8)\s*:\s*noqa\s*(?:$|:[^#]*\bF82)|mypy:\s*ignore-errors|pylint:\s*skip-file"
    r"|pyright:\s*basic|type:\s*ignore\s*$)",
    re.IGNORECASE | re.MULTILINE,
)


def reason(finding: Finding, source: Source, sort: Sort) -> str:
    """Why the finding may not reject, "" if nothing speaks against it."""
    if sort is Sort.SYNTAX:
        return ""
    if source.tree is None:
        return "the file cannot be parsed here"
    if silenced(finding, source):
        return "silenced by a comment"
    way = source.way(finding)
    for told in (_handled(way), _conditional(way), _annotation(way), _asked_for(finding, source)):
        if told:
            return told
    if sort is Sort.UNDEFINED:
        return _may_be_bound(finding.symbol, source)
    if sort is Sort.MODULE and _BUILT.search(finding.symbol.rpartition(".")[2]):
        return "such modules are often made by a build"
    return ""


def silenced(finding: Finding, source: Source) -> str:
    """The comment that silences the finding, "" if none does."""
    for number in range(finding.line, max(finding.line, finding.end_line) + 1):
        if found := _LINE.search(source.lines[number - 1] if number <= len(source.lines) else ""):
            return found[0]
    found = _FILE.search(source.text)
    return found[0].strip() if found else ""


def _handled(way: list[Step]) -> str:
    """Under a `try` that catches it, in a handler that is a fallback, or in `with suppress(...)`."""
    for node, field in way:
        if isinstance(node, ast.Try | ast.TryStar) and field == "body":
            caught = _CAUGHT.intersection(name for h in node.handlers for name in _caught(h))
            if caught:
                return f"under a try that catches {min(caught)}"
        if isinstance(node, ast.ExceptHandler) and field == "body" and _FALLBACKS & set(_caught(node)):
            return "in a handler of a failed import or lookup"
        if isinstance(node, ast.With | ast.AsyncWith) and field == "body":
            names = {_last(n) for item in node.items for n in ast.walk(item.context_expr)}
            if names & {"suppress", "raises", "assertRaises", "assertRaisesRegex"}:
                return "in a block that expects an exception"
    return ""


def _caught(handler: ast.ExceptHandler) -> Iterator[str]:
    if handler.type is None:
        yield "BaseException"
        return
    for node in handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]:
        yield _last(node)


def _last(node: ast.AST) -> str:
    """The last name of a dotted name, "" for anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _conditional(way: list[Step]) -> str:
    """Under a condition that asks for the type checker, the platform, a version, or an attribute."""
    for node, field in way:
        tests: list[ast.AST] = []
        if isinstance(node, ast.If | ast.IfExp | ast.While) and field in ("body", "orelse"):
            tests = [node.test]
        elif isinstance(node, ast.BoolOp):
            tests = list(node.values)
        elif isinstance(node, ast.comprehension):
            tests = list(node.ifs)
        for test in tests:
            for inner in ast.walk(test):
                name = _last(inner)
                if name in _GUARDS or _GUARD_NAME.fullmatch(name) or _is_os_name(inner):
                    return f"under a condition on {name}"
    return ""


def _is_os_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "name" and _last(node.value) == "os"


def _annotation(way: list[Step]) -> str:
    for node, field in way:
        if field in ("annotation", "returns", "type_params", "type_comment"):
            return "in an annotation"
        if isinstance(node, ast.Constant | ast.JoinedStr) and isinstance(getattr(node, "value", None), str):
            return "in a string"
    return ""


def _asked_for(finding: Finding, source: Source) -> str:
    """The file itself asks somewhere whether the name is there, or sets it by its name."""
    asking = ("hasattr", "getattr", "setattr", "delattr")
    for node in source.nodes:
        if isinstance(node, ast.Call) and _last(node.func) in asking:
            names = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
            if finding.symbol in names:
                return f"the file asks for it by {_last(node.func)}"
    return ""


def _may_be_bound(name: str, source: Source) -> str:
    """How a global name may come to be without the import showing it."""
    if name in _HESITATE:
        return "such names are often set from outside"
    for node in source.nodes:
        for told, test in _BINDERS.items():
            if test(node, name):
                return told
    return "the file sets globals by exec or globals()" if _sets_globals(source.nodes) else ""


_READING = frozenset({"get", "keys", "values", "items", "copy"})


def _sets_globals(nodes: Iterable[ast.AST]) -> bool:
    """Whether globals may be bound by a name that stands nowhere. Reading `globals()[x]` binds none."""
    asked = read = 0
    for node in nodes:
        match node:
            case ast.Name(id="exec"):
                return True
            case ast.Name(id="globals"):
                asked += 1
            case ast.Subscript(value=inner, ctx=ast.Load()) if _is_globals(inner):
                read += 1
            case ast.Attribute(value=inner, attr=name) if _is_globals(inner) and name in _READING:
                read += 1
            case ast.Compare(comparators=others):
                read += sum(map(_is_globals, others))
    return asked > read


def _is_globals(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "globals"


_BINDERS: dict[str, Callable[[ast.AST, str], bool]] = {
    "a function declares it global": lambda n, name: isinstance(n, ast.Global) and name in n.names,
    "the file deletes it": lambda n, name: (
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Del)
    ),
}

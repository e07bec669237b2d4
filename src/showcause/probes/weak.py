"""Probes that assert nothing about behaviour. They are kept and marked, and may not reject alone. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from showcause.records import Patch, Probe

__all__ = ["touched_names", "weakness"]

_FALSE_FRIENDS = ("assertIsNotNone", "assertTrue", "assertFalse")
_PATCHERS = ("patch", "object", "setattr")


def weakness(probe: Probe, touched: frozenset[str]) -> str:
    """Why a probe proves little about the patch, or "". `touched` are names that the patch changes.

    A test without any assertion is not weak by that alone: that a call raises nothing may be what the
    issue asks for. Only Python files are read; one that cannot be parsed fails elsewhere.
    """
    reasons = [why for tree in _parsed(probe) for why in _reasons(tree, touched)]
    found = [why for why in reasons if why is not None]
    mocked = next((why for why in found if why.startswith("it replaces")), "")
    if mocked or not reasons:
        return mocked
    return found[0] if len(found) == len(reasons) else ""


def touched_names(patch: Patch) -> frozenset[str]:
    """Functions and classes that stand on a changed line or at the head of a hunk."""
    text = patch.data.decode("utf-8", "replace")
    lines = re.findall(r"^(?:@@[^\n]*@@|[-+]).*$", text, re.MULTILINE)
    return frozenset(name for line in lines for name in re.findall(r"\b(?:def|class)\s+(\w+)", line))


def _parsed(probe: Probe) -> Iterator[ast.Module]:
    for path, text in probe.files.items():
        if path.endswith(".py"):
            try:
                yield ast.parse(text)
            except (SyntaxError, ValueError):
                continue


def _reasons(tree: ast.Module, touched: frozenset[str]) -> Iterator[str | None]:
    """For each assertion of the file: why it is weak, or None; and for each mock that spoils the test."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield _of_condition(node.test)
        elif isinstance(node, ast.Call):
            name = _name(node.func)
            if why := _mocks(node, name, touched):
                yield why
            elif is_assertion(name):
                yield _of_call(node, name)


def is_assertion(name: str) -> bool:
    """Whether a call of that name asserts something."""
    return bool(re.match(r"_?assert|raises$|warns$|fail$", name))


def _of_condition(test: ast.expr) -> str | None:
    if _is_constant(test):
        return "it asserts a constant"
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot) and _is_none(test.comparators[0]):
        return "it asserts only that something is not None"
    return None


def _of_call(call: ast.Call, name: str) -> str | None:
    if name == "assertIsNotNone":
        return "it asserts only that something is not None"
    if name in _FALSE_FRIENDS and call.args:
        return _of_condition(call.args[0])
    if call.args and all(map(_is_constant, call.args)) and not name.startswith(("raises", "warns", "fail")):
        return "it asserts a constant"
    return None


def _mocks(call: ast.Call, name: str, touched: frozenset[str]) -> str:
    """Replacing what the patch changes, and then testing the replacement."""
    if name not in _PATCHERS:
        return ""
    texts = [
        arg.value for arg in call.args[:2] if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
    ]
    replaced = {text.rsplit(".", 1)[-1] for text in texts} & touched
    return f"it replaces {min(replaced)}, which the patch changes" if replaced else ""


def _is_constant(node: ast.expr) -> bool:
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=operand):
            return _is_constant(operand)
        case ast.Compare(left=left, comparators=others):
            return all(map(_is_constant, (left, *others)))
        case ast.BoolOp(values=values):
            return all(map(_is_constant, values))
        case _:
            return False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _name(node: ast.expr) -> str:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""

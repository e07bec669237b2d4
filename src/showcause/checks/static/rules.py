"""The rules that are asked for, and which of them are sound enough to reject once confirmed.

Names of ty's rules are those of the pinned version; `tests/checks/static` asks the tool for each.
"""

from __future__ import annotations

import re

from showcause.checks.static.nouns import Finding, Kind, Sort

__all__ = ["COMPILE", "RUFF_RULES", "TY_RULES", "kind_of", "symbol_in"]

COMPILE = "compile"

_RUFF = {
    "F821": Kind(sort=Sort.UNDEFINED, words="undefined name"),
    "F822": Kind(sort=Sort.EXPORT, words="undefined name in __all__"),
    "F823": Kind(sort=None, words="local variable used before it is set"),
    "invalid-syntax": Kind(sort=None, words="syntax error by ruff's reading"),
}
_CALLS = (
    "missing-argument",
    "too-many-positional-arguments",
    "unknown-argument",
    "parameter-already-assigned",
    "positional-only-parameter-as-kwarg",
)
_TY = {
    "import-not-found": Kind(sort=Sort.MODULE, words="module that is not there"),
    "missing-module-member": Kind(sort=Sort.MEMBER, words="name that its module lacks"),
    "missing-attribute": Kind(sort=Sort.ATTRIBUTE, words="attribute that is not there"),
    "abstract-class-instantiation": Kind(sort=Sort.ABSTRACT, words="abstract class made"),
    **{rule: Kind(sort=Sort.CALL, words="call that does not fit") for rule in _CALLS},
}
_COMPILE = {"syntax": Kind(sort=Sort.SYNTAX, words="syntax error")}
_BY_TOOL = {"ruff": _RUFF, "ty": _TY, COMPILE: _COMPILE}

RUFF_RULES = ("F821", "F822", "F823")
TY_RULES = tuple(_TY)

_QUOTED = re.compile(r"[`'\"]([^`'\"]+)[`'\"]")
_LACKS = re.compile(r"has no (?:member|attribute) [`'\"]([^`'\"]+)[`'\"]")


def kind_of(finding: Finding) -> Kind:
    """What is known of the rule behind a finding. Foreign tools' rules have no sort."""
    return _BY_TOOL.get(finding.tool, {}).get(finding.rule, Kind(sort=None, words=""))


def symbol_in(message: str, rule: str = "") -> str:
    """The name that a message speaks of: what is said to be lacking, the callee of a call that does not
    fit (named last), else the first quoted text."""
    quoted = _QUOTED.findall(message)
    if rule in _CALLS and quoted:
        return str(quoted[-1])
    found = _LACKS.search(message)
    return found[1] if found else quoted[0] if quoted else ""

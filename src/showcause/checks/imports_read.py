"""What one Python file imports and defines, from its text alone: nothing is imported or run.

Import statements are found by regular expressions, not by `ast`: of a 20 kB test file this takes a
fiftieth of the time, works where the file does not parse, and only has to be good enough to put
test files in an order. `ast` reads the few modules whose names and lines are asked for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from showcause.records import Record

__all__ = ["Defined", "Imported", "has_word", "in_word", "read_names", "scan_imports"]

_FROM = re.compile(
    r"[ \t]*from[ \t]+(\.*)[ \t]*([\w.]*)[ \t]+import\b[ \t]*(\([^)]*\)|[^\n#;\\]*(?:\\\r?\n[^\n#;\\]*)*)"
)
_IMPORT = re.compile(r"[ \t]*import[ \t]+([^\n#;\\]*(?:\\\r?\n[^\n#;\\]*)*)")
_WORD = re.compile(r"\w+")
_COMMENT = re.compile(r"#[^\n]*")
_PLUGINS = re.compile(r"(?:^|\n)pytest_plugins\b[^\n=]*=\s*([(\[]?[^)\]\n]*(?:\n[ \t]+[^)\]\n]*)*)")
_QUOTED = re.compile(r"""["']([A-Za-z_][\w.]*)["']""")
_BINDING = re.compile(r"^(?:async[ \t]+def|def|class|cdef class|cpdef)[ \t]+(\w+)", re.MULTILINE)


class Imported(Record, frozen=True, kw_only=True):
    """One name bound by an import. `name` is empty for `import module`, "*" for a star import;
    `bound` is what the importing file calls it ("" where the whole dotted name is written out)."""

    level: int
    module: str
    name: str
    bound: str


class Defined(Record, frozen=True, kw_only=True):
    """What a module binds at its top level, what a star import of it gives, and the functions and
    classes (methods too) around the lines that were asked for."""

    names: frozenset[str]
    public: frozenset[str]
    changed_top: frozenset[str]
    changed_inner: frozenset[str]
    parsed: bool


def scan_imports(text: str, telling: Collection[str] | None = None) -> tuple[Imported, ...]:
    """The imports of a file wherever they stand, and its `pytest_plugins`, in no particular order.

    With `telling`, statements are left out in which none of these words names a module or an item:
    most statements of most files, which saves most of the time.
    """
    found: list[Imported] = []
    for match in _statements(text):
        if match.re is _IMPORT:
            if telling is None or not telling_words(match[1]).isdisjoint(telling):
                found += _import_items(match[1])
        elif _may_tell(match[2], match[3], telling):
            found += _from_items(match)
    if "pytest_plugins" in text:
        for match in _PLUGINS.finditer(text):
            found += [Imported(level=0, module=m, name="", bound="") for m in _QUOTED.findall(match[1])]
    return tuple(found)


def _statements(text: str) -> Iterator[re.Match[str]]:
    """Import statements at the start of a line. The plain search for the word is what makes it fast:
    a pattern tried at each line takes ten times as long."""
    at, done = text.find("import"), 0
    while at >= 0:
        start = text.rfind("\n", 0, at) + 1
        before = text[start:at].lstrip(" \t")
        match = None
        if start >= done:  # else in a comment behind a statement
            if not before:
                match = _IMPORT.match(text, start)
            elif before.startswith("from"):
                match = _FROM.match(text, start)
        if match:
            done = match.end()
            yield match
        at = text.find("import", max(done, at + 6))


def telling_words(text: str) -> frozenset[str]:
    """The words of a piece of text, each once."""
    return frozenset(_WORD.findall(text))


def _may_tell(module: str, names: str, telling: Collection[str] | None) -> bool:
    return (
        telling is None
        or not module
        or module[module.rfind(".") + 1 :] in telling
        or not telling_words(names).isdisjoint(telling)
    )


def _import_items(names: str) -> Iterator[Imported]:
    for part in _COMMENT.sub("", names).replace("\\", " ").split(","):
        words = part.split()
        if words and words[0].replace(".", "_").isidentifier():
            bound = words[2] if len(words) == 3 and words[1] == "as" else ""
            yield Imported(level=0, module=words[0], name="", bound=bound)


def _from_items(match: re.Match[str]) -> Iterator[Imported]:
    level, module = len(match[1]), match[2]
    if not (level or module):
        return
    for part in _COMMENT.sub("", match[3]).strip("()").replace("\\", " ").split(","):
        words = part.split()
        if words and (words[0] == "*" or words[0].isidentifier()):
            bound = words[2] if len(words) == 3 and words[1] == "as" else words[0]
            yield Imported(level=level, module=module, name=words[0], bound=bound)


def has_word(text: str, word: str) -> bool:
    """Whether `word` stands in `text` with no letter, digit or underscore at either side."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        before, after = text[at - 1 : at], text[end : end + 1]
        if not (in_word(before) or in_word(after)):
            return True
        at = text.find(word, end)
    return False


def in_word(character: str) -> bool:
    """Whether a character (or none) is part of a name."""
    return character == "_" or character.isalnum()


def read_names(source: bytes, lines: Collection[int] = ()) -> Defined:
    """The names of a module. Where it does not parse, `def` and `class` at the left edge stand for them."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found = frozenset(_BINDING.findall(source.decode("utf-8", "replace")))
        return Defined(
            names=found,
            public=_public(found),
            changed_top=frozenset(),
            changed_inner=frozenset(),
            parsed=False,
        )
    names = frozenset(_bound(tree.body))
    top, inner = _around(tree.body, lines)
    return Defined(
        names=names,
        public=_listed(tree.body) or _public(names),
        changed_top=top,
        changed_inner=inner,
        parsed=True,
    )


def _public(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name for name in names if not name.startswith("_"))


def _bound(body: Sequence[ast.stmt]) -> Iterator[str]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.Assign():
                for target in node.targets:
                    yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.If() | ast.With():
                yield from _bound(node.body)
                yield from _bound(getattr(node, "orelse", []))
            case ast.Try():
                yield from _bound(node.body + node.orelse + node.finalbody)
                for handler in node.handlers:
                    yield from _bound(handler.body)


def _listed(body: Sequence[ast.stmt]) -> frozenset[str]:
    """The literal text in assignments to `__all__`; computed parts are not followed."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if (
                any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)
                and node.value
            ):
                values = ast.walk(node.value)
                found |= {n.value for n in values if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return frozenset(found)


def _around(body: Sequence[ast.stmt], lines: Collection[int]) -> tuple[frozenset[str], frozenset[str]]:
    """Names of the top-level statements that hold one of the lines, and of what is nested in those."""
    top: set[str] = set()
    inner: set[str] = set()
    for node in body:
        if not _holds(node, lines):
            continue
        top |= set(_bound([node]))
        if isinstance(node, ast.ClassDef):
            for child in node.body:
                if _holds(child, lines):
                    inner |= {name for name in _bound([child]) if not name.startswith("__")}
    return frozenset(top), frozenset(inner)


def _holds(node: ast.stmt, lines: Collection[int]) -> bool:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(d.lineno for d in decorators)])
    return any(first <= line <= (node.end_lineno or node.lineno) for line in lines)

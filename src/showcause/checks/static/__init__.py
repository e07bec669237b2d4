"""Stage 1a: what compilers and checkers say of both trees, matched, and confirmed by running.

The interpreter of the project compiles, ruff looks for names, ty for modules, attributes and calls, on
the Python sources that the patch touches and on the files that import those. Only what is new on head,
of a sound rule, not guarded, and confirmed inside the sandbox is the patch's doing; all else is
evidence. A tool that fails on one side proves nothing there: its findings are then unattributed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

import msgspec

from showcause.checks.static.hunks import LineMap, line_maps
from showcause.checks.static.items import Judged, items_of, unattributed
from showcause.checks.static.judging import judge
from showcause.checks.static.matching import match
from showcause.checks.static.nouns import Fate, Finding, Said
from showcause.checks.static.running import foreign_side, own_side
from showcause.checks.static.scope import Contents, Scope, find_scope
from showcause.checks.static.suppressions import added_suppressions
from showcause.checks.static.tools import find_tool
from showcause.checks.workbench import Workbench
from showcause.gate import STATIC
from showcause.project import BaseTree
from showcause.records import (
    CheckResult,
    Item,
    NotChecked,
    Record,
    RunState,
    Side,
    Stage,
    StaticTool,
    Tampering,
)

__all__ = ["StaticFindings", "static_check"]

_Both = dict[Side, Said]


class StaticFindings(Record, frozen=True, kw_only=True):
    """What the stage told. `checks`: the tools that ran whole on both sides as `static`, one that did not
    as `static.TOOL`, one of the settings as `static.NAME`."""

    checks: tuple[CheckResult, ...]
    tampering: tuple[Tampering, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()


def static_check(bench: Workbench, reader: BaseTree) -> StaticFindings:
    """Run the stage. Raises Cancelled, EnvironmentFault if a tool is not installed, SandboxFault."""
    project, settings = bench.kit.project, bench.kit.settings
    scope, contents = find_scope(bench.trees, reader, bench.kit.surface, project.sources)
    maps = line_maps(bench.trees.patch)
    checks: list[CheckResult] = []
    notes: list[str] = []
    if scope.base or scope.head:
        versions = {
            "compile": f"compile {project.interpreter.version}".strip(),
            "ruff": f"ruff {find_tool('ruff').version}",
            "ty": f"ty {find_tool('ty').version}",
        }
        said = _own_tools(bench, scope)
        checks += _own_checks(bench, said, versions, contents, maps)
        notes = [note for both in said.values() for one in both.values() for note in one.notes]
    for tool in settings.static:
        checks.append(_foreign_check(bench, tool, reader, maps))
    return StaticFindings(
        checks=tuple(checks),
        tampering=tuple(added_suppressions(scope.head, contents, maps)),
        not_checked=(*_left_out(scope), *(NotChecked(what="static", why=n) for n in dict.fromkeys(notes))),
    )


def _left_out(scope: Scope) -> Iterable[NotChecked]:
    if scope.left_out:
        names = ", ".join(scope.left_out[:3])
        many = len(scope.left_out)
        why = f"of the importers of touched modules only the {len(scope.importers)} nearest were looked at"
        yield NotChecked(what=f"{many} files, statically: {names}{', ...' if many > 3 else ''}", why=why)


# ------------------------------------------------------------------ our own tools


def _own_tools(bench: Workbench, scope: Scope) -> dict[str, _Both]:
    """Every tool on both sides. What is compiled is what the patch touches; importers are unchanged."""
    asked = {Side.BASE: (scope.base, scope.on_base), Side.HEAD: (scope.head, scope.on_head)}
    with ThreadPoolExecutor(2) as pool:
        running = {
            side: pool.submit(own_side, bench, side, *paths) for side, paths in asked.items() if paths[1]
        }
        done = {side: future.result() for side, future in running.items()}
    empty = Said(state=RunState.COMPLETE, why="", findings=())
    return {
        name: {side: done[side][name] if side in done else empty for side in asked}
        for name in ("compile", "ruff", "ty")
    }


def _own_checks(
    bench: Workbench,
    said: Mapping[str, _Both],
    versions: Mapping[str, str],
    contents: Contents,
    maps: Mapping[str, LineMap],
) -> list[CheckResult]:
    """One result of the tools that ran whole on both sides, and one for each that did not."""
    whole = {name: both for name, both in said.items() if all(_is_whole(one) for one in both.values())}
    base = [f for both in whole.values() for f in _with_text(both[Side.BASE].findings, contents.base)]
    head = [f for both in whole.values() for f in _with_text(both[Side.HEAD].findings, contents.head)]
    judged = judge(bench, match(base, head, maps), contents, maps)
    items = [item for name in whole for item in items_of(_of_tool(judged, name), versions[name])]
    told = ", ".join(versions[name] for name in whole)
    checks = [_result(STATIC, told, RunState.COMPLETE, "", items)] if whole else []
    for name, both in said.items():
        if name not in whole:
            checks.append(_failed(f"{STATIC}.{name}", versions[name], both))
    return checks


def _of_tool(judged: Iterable[Judged], name: str) -> list[Judged]:
    return [one for one in judged if one.matched.finding.tool == name]


def _with_text(findings: Iterable[Finding], source: Callable[[str], object]) -> list[Finding]:
    return [msgspec.structs.replace(f, text=source(f.path).line(f.line)) for f in findings]  # type: ignore[attr-defined]


def _is_whole(said: Said) -> bool:
    return said.state is RunState.COMPLETE


def _failed(check: str, version: str, both: _Both) -> CheckResult:
    """A tool of which one side is not known: nothing is "new", and nothing is "gone"."""
    side = next(side for side in (Side.BASE, Side.HEAD) if not _is_whole(both[side]))
    why = f"{version} on {side.value}: {both[side].why}"
    items = unattributed(both[Side.HEAD].findings, version, why) if side is Side.BASE else ()
    return _result(check, version, both[side].state, why, items)


def _result(check: str, version: str, state: RunState, why: str, items: Iterable[Item]) -> CheckResult:
    return CheckResult(
        id=check, stage=Stage.STATIC, version=version, state=state, why=why, items=tuple(items)
    )


# ------------------------------------------------------------------ tools of the settings


def _foreign_check(
    bench: Workbench, tool: StaticTool, reader: BaseTree, maps: Mapping[str, LineMap]
) -> CheckResult:
    """What the tool found anew in files that the patch touches; only `rejects` lets it be a cause."""
    bench.kit.say(f"static tool {tool.title}, before and after")
    sides = (Side.BASE, Side.HEAD)
    with ThreadPoolExecutor(2) as pool:
        both = dict(zip(sides, pool.map(lambda side: foreign_side(bench, side, tool), sides), strict=True))
    check = f"{STATIC}.{tool.title}"
    if not all(_is_whole(one) for one in both.values()):
        return _failed(check, tool.title, both)
    contents = _contents_for(bench, reader, both)
    base = _with_text(both[Side.BASE].findings, contents.base)
    head = _with_text(both[Side.HEAD].findings, contents.head)
    judged = []
    for matched in match(base, head, maps):
        touched = matched.finding.path in maps
        new = matched.fate is Fate.NEW
        cause = f"new in the findings of {tool.title}" if tool.rejects and touched and new else ""
        note = "" if tool.rejects and touched else "the settings let it inform only"
        judged.append(Judged(matched=matched, cause=cause, note=note if new else "base has the same"))
    return _result(check, tool.title, RunState.COMPLETE, "", items_of(judged, tool.title))


def _contents_for(bench: Workbench, reader: BaseTree, both: _Both) -> Contents:
    """The files that findings stand in. Paths outside the tree have no text."""
    from showcause.trees import TreeReader

    base = {f.path for f in both[Side.BASE].findings}
    head = {f.path for f in both[Side.HEAD].findings}
    after = TreeReader(bench.trees.repo, bench.trees.patch.head_tree)
    return Contents(
        dict(reader.read(sorted(base))) if base else {}, dict(after.read(sorted(head))) if head else {}
    )

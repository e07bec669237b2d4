"""Each tool on each side: what it said, or why that cannot be known. Base's answers come from the store."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence

import msgspec

from showcause import process
from showcause.canon import digest_record
from showcause.checks.leftovers import read_regular
from showcause.checks.static.asking import Question
from showcause.checks.static.confirming import read_events, script_job
from showcause.checks.static.nouns import Finding, Said, Sort
from showcause.checks.static.rules import COMPILE
from showcause.checks.static.sarif import read_sarif
from showcause.checks.static.tools import (
    Unreadable,
    find_tool,
    ruff_argv,
    ruff_read,
    ty_argv,
    ty_config,
    ty_read,
)
from showcause.checks.workbench import Workbench
from showcause.records import Record, RunReport, RunState, Side, StaticTool
from showcause.store import BaseKey

__all__ = ["LIMIT_S", "compile_side", "foreign_side", "ruff_side", "ty_side"]

LIMIT_S = 60.0
_MOST_CACHED = 1 << 20
_CONFIG = ("ruff.toml", ".ruff.toml")

_Read = Callable[[bytes, str], tuple[Finding, ...]]


class _Output(Record, frozen=True, kw_only=True):
    """What a tool wrote, if it ended as it should."""

    state: RunState
    why: str
    data: bytes
    last: str = ""
    notes: tuple[str, ...] = ()


def ruff_side(bench: Workbench, side: Side, paths: Sequence[str]) -> Said:
    """With base's configuration, or without any where ruff refuses it or the patch edits it."""
    tool = find_tool("ruff")
    edited = sorted(p for p in bench.trees.patch.paths if p.rpartition("/")[2] in _CONFIG)

    def run() -> _Output:
        if edited:
            why = f"the patch edits {edited[0]}"
        else:
            argv = ruff_argv(tool, paths, isolated=False)
            first = _ended(bench.tool(side, argv, readable=tool.readable, limit_s=LIMIT_S))
            if first.state is not RunState.CRASHED:
                return first
            why = first.why
        argv = ruff_argv(tool, paths, isolated=True)
        output = _ended(bench.tool(side, argv, readable=tool.readable, limit_s=LIMIT_S))
        note = f"ruff ran without the project's configuration: {why}"
        return msgspec.structs.replace(output, notes=(note,))

    key = _key(bench, "ruff", tool.version, [paths, edited])
    return _said(bench, side, _cached(bench, side, key, run), ruff_read)


def ty_side(bench: Workbench, side: Side, paths: Sequence[str]) -> Said:
    """With a configuration of our own: neither side's can switch a rule off."""
    tool, project = find_tool("ty"), bench.kit.project
    config = ty_config(project.sources)

    def run() -> _Output:
        folder = bench.new_out_dir()
        file = os.path.join(folder, "ty.toml")
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(config)
        root = bench.places.of(side).root
        argv = ty_argv(
            tool, paths, python=project.python, version=project.interpreter.version, config=file, root=root
        )
        try:
            return _ended(bench.tool(side, argv, readable=(*tool.readable, folder), limit_s=LIMIT_S))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    key = _key(bench, "ty", tool.version, [paths, config])
    return _said(bench, side, _cached(bench, side, key, run), ty_read)


def compile_side(bench: Workbench, side: Side, paths: Sequence[str]) -> Said:
    """The project's own interpreter compiles every file."""
    questions = [Question(id=n, sort=Sort.SYNTAX.value, path=p, line=1) for n, p in enumerate(paths)]

    def run() -> _Output:
        asked = bench.script(
            side, "showcause_confirm.py", script_job(bench, side, questions), limit_s=LIMIT_S
        )
        output = _ended(asked.finished)
        return msgspec.structs.replace(output, data=asked.events)

    def read(data: bytes, _root: str) -> tuple[Finding, ...]:
        answers = {event["id"]: event for event in read_events(data) if event.get("ev") == "answer"}
        if unanswered := [q.path for q in questions if q.id not in answers]:
            raise Unreadable(f"{unanswered[0]} was not compiled")
        return tuple(_not_compiled(q.path, answers[q.id]["why"]) for q in questions if _holds(answers[q.id]))

    key = _key(bench, COMPILE, "1", [paths])
    return _said(bench, side, _cached(bench, side, key, run), read)


def _holds(answer: dict[str, str]) -> bool:
    if answer["answer"] == "unknown":
        raise Unreadable(answer["why"])
    return answer["answer"] == "holds"


def _not_compiled(path: str, why: str) -> Finding:
    line, _, message = why.partition("\n")
    number = int(line) if line.isdigit() else 1
    return Finding(
        tool=COMPILE,
        rule="syntax",
        path=path,
        line=number,
        end_line=number,
        message=f"SyntaxError: {message}",
    )


def foreign_side(bench: Workbench, side: Side, tool: StaticTool) -> Said:
    """A tool of the settings. It may end with 1, as most do that found something."""

    def run() -> _Output:
        folder = bench.new_out_dir()
        file = os.path.join(folder, "out.sarif")
        argv = tuple(part.replace("{out}", file) for part in tool.command)
        try:
            finished = bench.tool(side, argv, out_dir=folder, limit_s=tool.limit_s)
            output = _ended(finished, good=(0, 1))
            if argv == tool.command or output.state is not RunState.COMPLETE:
                return output
            return msgspec.structs.replace(output, data=read_regular(file))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def read(data: bytes, root: str) -> tuple[Finding, ...]:
        return read_sarif(data, root, tool=tool.title)

    key = _key(bench, tool.title, "1", [tool])
    return _said(bench, side, _cached(bench, side, key, run), read)


# ------------------------------------------------------------------ the ends


def _ended(finished: process.Finished, good: Sequence[int] = (0,)) -> _Output:
    """The output of a run that ended with a good status; else the reason, with the tool's last line."""
    data = finished.stdout.kept
    match finished.how:
        case process.How.SPAWN_FAILED:
            return _Output(state=RunState.ENVIRONMENT, why=f"could not be started: {finished.why}", data=b"")
        case process.How.TIMEOUT:
            return _Output(state=RunState.TIMEOUT, why=f"stopped after {finished.wall_s:.1f} s", data=b"")
        case process.How.EXITED if finished.exit_status in good:
            if not finished.stdout.is_whole:
                why = f"it wrote {finished.stdout.total_bytes} bytes, more than are read"
                return _Output(state=RunState.CRASHED, why=why, data=b"")
            return _Output(state=RunState.COMPLETE, why="", data=data, last=_last_line(finished))
        case _:
            ended = f"signal {finished.signal}" if finished.signal else f"status {finished.exit_status}"
            why = f"ended with {ended}: {_last_line(finished)}"
            return _Output(state=RunState.CRASHED, why=why, data=b"")


def _last_line(finished: process.Finished) -> str:
    for stream in (finished.stderr, finished.stdout):
        lines = stream.kept.decode("utf-8", "backslashreplace").strip().splitlines()
        if lines:
            return lines[-1].strip()[:300]
    return "it said nothing"


def _said(bench: Workbench, side: Side, output: _Output, read: _Read) -> Said:
    if output.state is not RunState.COMPLETE:
        return Said(state=output.state, why=output.why, findings=(), notes=output.notes)
    try:
        findings = read(output.data, bench.places.of(side).root)
    except (Unreadable, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        told = str(error) if isinstance(error, Unreadable) else f"its output has another shape: {error!r}"
        told += f"; its last line: {output.last}" if output.last else ""
        return Said(state=RunState.CRASHED, why=told, findings=(), notes=output.notes)
    return Said(state=RunState.COMPLETE, why="", findings=findings, notes=output.notes)


# ------------------------------------------------------------------ base's answers


def _key(bench: Workbench, name: str, version: str, told: Sequence[object]) -> BaseKey:
    what = [told, bench.places.is_copying, bench.trees.repo.top, sys.platform]
    return BaseKey(
        tree=bench.trees.composite_id(Side.BASE),
        check=f"static.{name}:{digest_record(what)[:32]}",
        version=version,
        environment=bench.kit.project.digest,
    )


def _cached(bench: Workbench, side: Side, key: BaseKey, run: Callable[[], _Output]) -> _Output:
    """The output on base as the store has it; what was whole on base is put there."""
    if side is not Side.BASE:
        return run()
    held = bench.kit.store.cache_get(key) if bench.kit.use_cache else None
    if held:
        return _Output(
            state=held[0].state, why="", data=held[0].output_tail.encode(), notes=tuple(held[0].argv)
        )
    output = run()
    text = output.data.decode("utf-8", "replace")
    if output.state is RunState.COMPLETE and len(text) <= _MOST_CACHED and text.encode() == output.data:
        bench.kit.store.cache_put(key, (_as_report(output, text),))
    return output


def _as_report(output: _Output, text: str) -> RunReport:
    """The store keeps runs; a tool's is one without items, its output whole, its notes for argv."""
    return RunReport(
        side=Side.BASE,
        state=output.state,
        why=output.why,
        results=(),
        loaded=(),
        argv=output.notes,
        exit_status=0,
        signal=None,
        wall_s=0.0,
        leaked=0,
        output_tail=text,
    )

"""Each tool on each side: what it said, or why that cannot be known. Base's answers come from the store."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from showcause import process
from showcause.canon import digest_record
from showcause.checks.leftovers import read_regular
from showcause.checks.static.confirming import read_events
from showcause.checks.static.nouns import Finding, Said
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
from showcause.checks.static.turns import Turn, in_turn
from showcause.checks.workbench import EVENTS, Workbench
from showcause.records import Record, RunReport, RunState, Side, StaticTool
from showcause.store import BaseKey

__all__ = ["LIMIT_S", "foreign_side", "own_side"]

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


class _Ask(Record, frozen=True, kw_only=True):
    """A tool of ours on one side: how it is run, what its end means, how its output is read.

    `turn` and `output` are given the folder that the run leaves its files in.
    """

    name: str
    key: BaseKey
    turn: Callable[[str], Turn]
    output: Callable[[process.Finished, str], _Output]
    read: _Read


def own_side(bench: Workbench, side: Side, touched: Sequence[str], whole: Sequence[str]) -> dict[str, Said]:
    """What our own tools say of a side, by name. Those that must run share one confined run.

    The interpreter of the project is the last: what else runs is out of its reach.
    """
    asks = [_ruff(bench, side, whole), _ty(bench, side, whole), _compile(bench, side, touched)]
    known = {ask.name: held for ask in asks if (held := _held(bench, side, ask.key))}
    if not touched:
        known[COMPILE] = _Output(state=RunState.COMPLETE, why="", data=b"")
    known |= _run(bench, side, [ask for ask in asks if ask.name not in known])
    return {ask.name: _said(bench, side, known[ask.name], ask.read) for ask in asks}


def _run(bench: Workbench, side: Side, asks: Sequence[_Ask]) -> dict[str, _Output]:
    if not asks:
        return {}
    folder = bench.new_out_dir()
    try:
        ends = in_turn(bench, side, [ask.turn(folder) for ask in asks], folder)
        outputs = {ask.name: ask.output(end, folder) for ask, end in zip(asks, ends, strict=True)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for ask in asks:
        _keep(bench, side, ask.key, outputs[ask.name])
    return outputs


def _ruff(bench: Workbench, side: Side, paths: Sequence[str]) -> _Ask:
    """With base's configuration, or without any where ruff refuses it or the patch edits it."""
    tool = find_tool("ruff")
    edited = sorted(p for p in bench.trees.patch.paths if p.rpartition("/")[2] in _CONFIG)

    def turn(_folder: str) -> Turn:
        argv = ruff_argv(tool, paths, isolated=bool(edited))
        return Turn(argv=argv, readable=tool.readable, limit_s=LIMIT_S)

    def output(finished: process.Finished, _folder: str) -> _Output:
        first = _ended(finished)
        if edited:
            return _without_configuration(first, f"the patch edits {edited[0]}")
        if first.state is not RunState.CRASHED:
            return first
        argv = ruff_argv(tool, paths, isolated=True)
        again = _ended(bench.tool(side, argv, readable=tool.readable, limit_s=LIMIT_S))
        return _without_configuration(again, first.why)

    key = _key(bench, "ruff", tool.version, [paths, edited])
    return _Ask(name="ruff", key=key, turn=turn, output=output, read=ruff_read)


def _without_configuration(output: _Output, why: str) -> _Output:
    note = f"ruff ran without the project's configuration: {why}"
    return msgspec.structs.replace(output, notes=(note,))


def _ty(bench: Workbench, side: Side, paths: Sequence[str]) -> _Ask:
    """With a configuration of our own: neither side's can switch a rule off."""
    tool, project = find_tool("ty"), bench.kit.project
    config = ty_config(project.sources)

    def turn(folder: str) -> Turn:
        file = os.path.join(folder, "ty.toml")
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(config)
        root, version = bench.places.of(side).root, project.interpreter.version
        argv = ty_argv(tool, paths, python=project.python, version=version, config=file, root=root)
        return Turn(argv=argv, readable=tool.readable, limit_s=LIMIT_S)

    key = _key(bench, "ty", tool.version, [paths, config])
    return _Ask(name="ty", key=key, turn=turn, output=lambda finished, _: _ended(finished), read=ty_read)


def _compile(bench: Workbench, side: Side, paths: Sequence[str]) -> _Ask:
    """The project's own interpreter compiles every file."""

    def turn(folder: str) -> Turn:
        job = {"root": bench.places.of(side).root, "paths": paths}
        return Turn(argv=bench.script_argv("showcause_compile.py", job, folder), limit_s=LIMIT_S)

    def output(finished: process.Finished, folder: str) -> _Output:
        return msgspec.structs.replace(_ended(finished), data=read_regular(os.path.join(folder, EVENTS)))

    def read(data: bytes, _root: str) -> tuple[Finding, ...]:
        told = {event["path"]: event for event in read_events(data) if event.get("ev") == "compiled"}
        if untold := [path for path in paths if path not in told]:
            raise Unreadable(f"{untold[0]} was not compiled")
        return tuple(_not_compiled(path, told[path]) for path in paths if told[path].get("line") != 0)

    key = _key(bench, COMPILE, "2", [paths])
    return _Ask(name=COMPILE, key=key, turn=turn, output=output, read=read)


def _not_compiled(path: str, told: dict[str, Any]) -> Finding:
    if "why" in told:
        raise Unreadable(f"{path}: {told['why']}")
    line = told["line"]
    return Finding(
        tool=COMPILE,
        rule="syntax",
        path=path,
        line=line,
        end_line=line,
        message=f"SyntaxError: {told['message']}",
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
    """The output on base as the store has it, else of a run."""
    if held := _held(bench, side, key):
        return held
    output = run()
    _keep(bench, side, key, output)
    return output


def _held(bench: Workbench, side: Side, key: BaseKey) -> _Output | None:
    """What the store has of base."""
    held = bench.kit.store.cache_get(key) if side is Side.BASE and bench.kit.use_cache else None
    if not held:
        return None
    data = held[0].output_tail.encode()
    return _Output(state=held[0].state, why="", data=data, notes=tuple(held[0].argv))


def _keep(bench: Workbench, side: Side, key: BaseKey, output: _Output) -> None:
    """What was whole on base is kept."""
    text = output.data.decode("utf-8", "replace")
    fits = len(text) <= _MOST_CACHED and text.encode() == output.data
    if side is Side.BASE and output.state is RunState.COMPLETE and fits:
        bench.kit.store.cache_put(key, (_as_report(output, text),))


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

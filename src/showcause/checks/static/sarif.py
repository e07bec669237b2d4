"""SARIF 2.1.0 -> findings: what any tool of `[[static]]` writes. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import msgspec

from showcause.checks.static.nouns import Finding
from showcause.checks.static.rules import symbol_in
from showcause.checks.static.tools import Unreadable, relative

__all__ = ["read_sarif"]


def read_sarif(output: bytes, root: str, *, tool: str) -> tuple[Finding, ...]:
    """The results of all runs that have a place; one without is at line 1 of "".

    Raises Unreadable for what is no SARIF log, and for a log whose tool says that it did not succeed.
    """
    try:
        log = msgspec.json.decode(output, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise Unreadable(f"its output is no SARIF: {error}") from error
    runs = log.get("runs")
    if not isinstance(runs, list):
        raise Unreadable("its output is no SARIF: there are no runs")
    for run in runs:
        for invocation in run.get("invocations") or ():
            if invocation.get("executionSuccessful") is False:
                raise Unreadable(f"it says that it did not succeed: {_why(invocation)}")
    return tuple(finding for run in runs for finding in _results(run, root, tool))


def _why(invocation: dict[str, Any]) -> str:
    notes = invocation.get("toolExecutionNotifications") or [{}]
    return str(
        notes[0].get("message", {}).get("text") or invocation.get("exitCodeDescription") or "no reason"
    )


def _results(run: dict[str, Any], root: str, tool: str) -> Iterator[Finding]:
    rules = run.get("tool", {}).get("driver", {}).get("rules") or []
    bases = run.get("originalUriBaseIds") or {}
    for result in run.get("results") or ():
        if result.get("kind", "fail") != "fail" or result.get("baselineState") == "absent":
            continue
        index = result.get("ruleIndex", -1)
        named = rules[index].get("id") if 0 <= index < len(rules) else ""
        message = str(
            result.get("message", {}).get("text") or result.get("message", {}).get("markdown") or ""
        )
        path, region = _place(result, bases, root)
        yield Finding(
            tool=tool,
            rule=str(result.get("ruleId") or result.get("rule", {}).get("id") or named or "?"),
            path=path,
            line=int(region.get("startLine") or 1),
            column=int(region.get("startColumn") or 1),
            end_line=int(region.get("endLine") or region.get("startLine") or 1),
            end_column=int(region.get("endColumn") or 1),
            message=message,
            symbol=symbol_in(message),
        )


def _place(result: dict[str, Any], bases: dict[str, Any], root: str) -> tuple[str, dict[str, Any]]:
    places = result.get("locations") or [{}]
    physical = places[0].get("physicalLocation") or {}
    artifact = physical.get("artifactLocation") or {}
    uri = unquote(str(artifact.get("uri") or ""))
    base = unquote(str((bases.get(str(artifact.get("uriBaseId"))) or {}).get("uri") or ""))
    if base and "://" not in uri and not uri.startswith("/"):
        uri = posixpath.join(base, uri)
    return relative(uri, root) if uri else "", physical.get("region") or {}

"""`showcause probe-reviewer NAME`: the boundary scan and the write probe, as tables. Offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from showcause.cli.common import tell
from showcause.cli.options import directory_option

if TYPE_CHECKING:
    from showcause.contract.boundary import BoundaryReport
    from showcause.contract.writeprobe import WriteReport

__all__ = ["probe_reviewer_command"]

_SCHEMA = "showcause/probe-reviewer/1"


@click.command("probe-reviewer")
@click.argument("name")
@click.option("--repositories", default=5, show_default=True, help="How many the write probe tries.")
@click.option("--no-writes", is_flag=True, help="The boundary scan only: the CLI itself is not started.")
@directory_option
@click.option("--allow-unsandboxed", is_flag=True, help="Run even where nothing confines.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
def probe_reviewer_command(name: str, repositories: int, no_writes: bool, **told: Any) -> int:
    """Look at what [reviewers.NAME] does before trusting it: exit 0 if all conditions held, else 1."""
    import tempfile

    from showcause.cli.contracting import repository, reviewer_named, settings_at
    from showcause.contract.adapters import ADAPTERS
    from showcause.contract.boundary import scan
    from showcause.contract.writeprobe import probe_writes
    from showcause.errors import UsageError
    from showcause.records.contract import ReviewerKind
    from showcause.sandbox import find_sandbox

    settings = settings_at(repository(told["directory"]))
    spec = reviewer_named(settings, name)
    if spec.kind not in ADAPTERS:
        raise UsageError(f"[reviewers.{name}] is no program: there is nothing to probe")
    sandbox = find_sandbox(allow_unsandboxed=told["allow_unsandboxed"])
    tell("the boundary scan takes about half a minute")
    with tempfile.TemporaryDirectory(prefix="showcause-scan-") as folder:
        boundary = scan(ADAPTERS[spec.kind], sandbox, Path(folder))
    writes = None
    if not no_writes and spec.kind not in (ReviewerKind.COMMAND, ReviewerKind.ACP):
        tell(f"the write probe starts the CLI {2 * repositories} times")
        writes = probe_writes(spec, ADAPTERS[spec.kind], sandbox, repositories=repositories)
    if told["format_"] == "json":
        _json(name, boundary, writes)
    else:
        _boundary(boundary)
        if writes is not None:
            _writes(writes)
    return 0 if boundary.holds and (writes is None or writes.holds) else 1


def _json(name: str, boundary: BoundaryReport, writes: WriteReport | None) -> None:
    from showcause.canon import canonical_json, plain

    rows = [{**plain(row), "holds": row.holds} for row in boundary.rows]
    broken = [{**plain(one), "caught": one.is_caught} for one in boundary.broken]
    told = {
        "schema": _SCHEMA,
        "reviewer": name,
        "boundary": {**plain(boundary), "rows": rows, "broken": broken, "holds": boundary.holds},
        "writes": {**plain(writes), "holds": writes.holds} if writes else None,
    }
    click.echo(canonical_json(told).decode())


def _boundary(report: BoundaryReport) -> None:
    from showcause.report.words import visible

    click.echo(f"boundary scan, {report.kind.value}")
    for row in report.rows:
        mark = "    " if row.expected is None else "ok  " if row.holds else "FAIL"
        wanted = ""
        if row.expected is not None and not row.holds:
            wanted = f" (expected {row.expected.value}; {visible(row.why, 80)})"
        click.echo(f"  {mark} {row.group:<16} {row.name:<34} {row.found.value}{wanted}")
    false = sum(row.is_false_completion for row in report.rows)
    click.echo(
        f"  {len(report.rows)} rows, {sum(row.holds for row in report.rows)} hold, {false} false completions"
    )
    for one in report.broken:
        caught = f"caught by {len(one.shown_by)} rows" if one.is_caught else "NOT CAUGHT"
        click.echo(f"  runtime broken on purpose, {one.name}: {caught}")
    for line in report.left_out:
        click.echo(f"  left out: {line}")


def _writes(report: WriteReport) -> None:
    from showcause.report.words import visible

    click.echo(f"write probe, {report.kind.value} {report.version}, {report.repositories} repositories each")
    for row in report.rows:
        words = ["offered" if row.offered else "absent", "attempted" if row.attempted else "not attempted"]
        words += ["refused"] if row.refused else []
        words += [f"CHANGED in {row.changed}"] if row.changed else []
        click.echo(f"  {row.setting:<10} {row.tool:<18} {', '.join(words):<32} {row.layer.value:<12} "
                   f"{visible(row.said, 70)}")  # fmt: skip
    for setting, count in report.changed:
        click.echo(f"  {setting}: {count} of {report.repositories} repositories changed")

"""`showcause doctor`: what was found, what is enforced, and the cure for what is not."""

from __future__ import annotations

from pathlib import Path

import click

from showcause.cli.options import directory_option

__all__ = ["doctor_command"]


@click.command("doctor")
@directory_option
def doctor_command(directory: str) -> int:
    """Show interpreter, runner and sandbox: what was found and why. Exit 4 if tests cannot be run."""
    troubles = [*_repository(directory), *_sandbox()]
    for trouble in troubles:
        click.echo(f"  ! {trouble}")
    return 4 if troubles else 0


def _repository(directory: str) -> list[str]:
    from showcause import git
    from showcause.errors import EnvironmentFault
    from showcause.pipeline.request import Request
    from showcause.pipeline.reviewing import settings_of
    from showcause.project import find_project
    from showcause.trees import TreeReader

    repo = git.open_repo(directory)
    reader = TreeReader(repo, repo.head_tree)
    settings = settings_of(reader, Request(directory=directory))
    _line("repository", repo.top, f"receipts and private objects in {repo.private}")
    for key, source in settings.sources.items():
        _line("setting", key, f"set in {source}")
    try:
        project = find_project(Path(repo.top), reader, settings)
    except EnvironmentFault as error:
        return [_with_cure(error)]
    for finding in project.findings:
        _line(finding.what, finding.value, finding.why)
    for warning in project.warnings:
        _line("warning", warning, "")
    return [_with_cure(fault.error()) for fault in project.faults]


def _sandbox() -> list[str]:
    from showcause.errors import SandboxFault
    from showcause.sandbox import find_sandbox

    try:
        report = find_sandbox(allow_unsandboxed=False).report
    except SandboxFault as error:
        return [_with_cure(error)]
    _line("sandbox", f"level {report.level} of 4", f"trees by {report.tree}")
    for name in ("fs", "net", "pid", "memory", "processes"):
        found = getattr(report, name)
        _line(f"  {name}", found.state.value, found.why)
    return []


def _line(what: str, value: str, why: str) -> None:
    from showcause.report.words import visible

    click.echo(f"{what:<14} {visible(value)}{f'  ({visible(why)})' if why else ''}")


def _with_cure(error: Exception) -> str:
    from showcause.report.words import visible

    cure = getattr(error, "cure", "")
    return visible(f"{error}; cure: {cure}" if cure else str(error), 600)

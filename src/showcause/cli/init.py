"""`showcause init`: a commented showcause.toml from what is found."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from showcause.cli.options import directory_option

if TYPE_CHECKING:
    from showcause.git import Repo

__all__ = ["init_command"]


@click.command("init")
@directory_option
@click.option("--stdout", "to_stdout", is_flag=True, help="Print it instead of writing the file.")
def init_command(directory: str, to_stdout: bool) -> int:
    """Write showcause.toml: every setting as a comment with its default, and what was found.

    Nothing changes until a line is uncommented and committed: settings are read from the base of a review.
    """
    from showcause import git
    from showcause.errors import UsageError
    from showcause.settings import FILE

    repo = git.open_repo(directory)
    text = _text(repo)
    if to_stdout:
        click.echo(text, nl=False)
        return 0
    place = os.path.join(repo.top, FILE)
    try:
        with open(place, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"{FILE} is there already; showcause init --stdout prints a new one") from error
    click.echo(f"wrote {FILE}; it counts once it is committed")
    return 0


def _text(repo: Repo) -> str:
    from showcause.errors import EnvironmentFault
    from showcause.project import find_project
    from showcause.report.words import visible
    from showcause.settings import load_settings
    from showcause.settings_template import settings_template
    from showcause.trees import TreeReader

    reader = TreeReader(repo, repo.head_tree)
    try:
        project = find_project(Path(repo.top), reader, load_settings(None, None))
    except EnvironmentFault as error:
        found = [f"# found: no interpreter ({visible(str(error))})"]
    else:
        found = [f"# found: {f.what} {_shared(f.value, repo.top)}" for f in project.findings]
        found += [f"# note: {visible(fault.message)}; {visible(fault.cure)}" for fault in project.faults]
    return "\n".join([visible(line) for line in found] + ["", settings_template()])


def _shared(value: str, top: str) -> str:
    """A value as it may stand in a file that others read: no path of this machine."""
    if not os.path.isabs(value):
        return value
    inside = os.path.relpath(value, top)
    return "outside the repository" if inside.startswith(os.pardir) else inside

"""All commands as click knows them: what the short way does not read."""

from __future__ import annotations

from collections.abc import Sequence

import click

from showcause import __version__
from showcause.cli.table import VERSION
from showcause.errors import Cancelled

__all__ = ["COMMANDS", "run"]

COMMANDS = {
    "review": "showcause.cli.review_command",
    "packet": "showcause.cli.packet",
    "reproduce": "showcause.cli.reproduce",
    "show": "showcause.cli.receipts",
    "list": "showcause.cli.receipts",
    "verify": "showcause.cli.receipts",
    "outcome": "showcause.cli.power",
    "precision": "showcause.cli.power",
    "calibrate": "showcause.cli.power",
    "doctor": "showcause.cli.doctor",
    "init": "showcause.cli.init",
    "demo": "showcause.cli.demo",
    "turn": "showcause.cli.turn",
    "probe-reviewer": "showcause.cli.probe_reviewer",
}


class _Lazy(click.Group):
    """Loads a command's module when it is asked for: `--version` and `--help` load none."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        import importlib

        command: click.Command = getattr(
            importlib.import_module(COMMANDS[name]), f"{name.replace('-', '_')}_command"
        )
        return command


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, VERSION, message="showcause %(version)s")
def _cli() -> None:
    """Reviews the patch that a coding agent hands in.

    Rejects only with a cause that anyone can re-run, never accepts because a check passed, and says
    uncertain when nothing was shown either way.
    """


def run(words: Sequence[str]) -> int:
    """Run `showcause WORDS`. Raises Cancelled, and whatever the command raises."""
    try:
        result = _cli.main(args=list(words), standalone_mode=False)
    except click.Abort as error:
        raise Cancelled("interrupted") from error
    except click.ClickException as error:
        error.show()
        return 2
    return result if isinstance(result, int) else 0

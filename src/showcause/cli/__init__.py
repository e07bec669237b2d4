"""The command line: words in, one exit status out.

0 accept or nothing to review, 1 reject, 2 wrong use, 3 uncertain or incomplete, 4 environment or our
own fault, 130 interrupted. A command returns its status; errors become one here, and only here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from showcause import __version__
from showcause.errors import Cancelled, EnvironmentFault, ShowcauseError, Unappliable, UsageError

__all__ = ["main"]

COMMANDS = {
    "review": "showcause.cli.review",
    "reproduce": "showcause.cli.reproduce",
    "show": "showcause.cli.receipts",
    "list": "showcause.cli.receipts",
    "verify": "showcause.cli.receipts",
    "doctor": "showcause.cli.doctor",
    "init": "showcause.cli.init",
    "demo": "showcause.cli.demo",
}


class _Lazy(click.Group):
    """Loads a command's module when it is asked for: `--version` and `--help` load none."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        import importlib

        command: click.Command = getattr(importlib.import_module(COMMANDS[name]), f"{name}_command")
        return command


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", message="showcause %(version)s")
def _cli() -> None:
    """Reviews the patch that a coding agent hands in.

    Rejects only with a cause that anyone can re-run, never accepts because a check passed, and says
    uncertain when nothing was shown either way.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    try:
        result = _cli.main(args=list(arguments) if arguments is not None else None, standalone_mode=False)
        sys.stdout.flush()
    except click.Abort:
        return _fail("interrupted", 130)
    except click.ClickException as error:
        error.show()
        return 2
    except (BrokenPipeError, SystemExit):
        # The reader of our output is gone (`| head`), for which click would end as 1: our word for reject.
        return _unheard()
    except ShowcauseError as error:
        return _told(error)
    except Exception as error:  # noqa: BLE001  the last line of defence: our bug is 4, never a verdict
        return _bug(error)
    return result if isinstance(result, int) else 0


def _unheard() -> int:
    """Nothing is left to say, and nothing was decided for anyone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # or the interpreter fails once more in writing what is left, at its end
    return 4


def _told(error: ShowcauseError) -> int:
    match error:
        case UsageError():
            return _fail(str(error), 2)
        case Unappliable():
            return _fail(f"the patch does not apply: {error}", 3)
        case Cancelled():
            return _fail("interrupted", 130)
        case EnvironmentFault(cure=cure) if cure:
            return _fail(f"{error}\n  cure: {cure}", 4)
        case _:
            return _fail(str(error), 4)


def _bug(error: Exception) -> int:
    import traceback

    traceback.print_exception(error)
    return _fail("this is a fault of showcause, not a finding about the patch", 4)


def _fail(message: str, status: int) -> int:
    from showcause.canon import printable

    click.echo(f"showcause: {printable(message)}", err=True)
    return status

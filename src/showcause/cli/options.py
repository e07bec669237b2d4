"""Options of the table as click knows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, assert_never

import click

from showcause.cli.table import DIRECTORY, FORMAT, VERBOSE, Kind, Option

__all__ = ["directory_option", "format_option", "verbose_option", "with_options"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def with_options(options: Sequence[Option]) -> Callable[[_Command], _Command]:
    """A decorator that gives a command these options, in this order."""

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = _decorator(option)(command)
        return command

    return decorate


def _decorator(option: Option) -> Callable[[_Command], _Command]:
    told: dict[str, Any] = {"help": option.help or None}
    match option.kind:
        case Kind.FLAG:
            told |= {"is_flag": True}
        case Kind.MANY:
            told |= {"multiple": True, "metavar": option.metavar}
        case Kind.TEXT if option.choices:
            told |= {"type": click.Choice(option.choices), "default": option.default, "show_default": True}
        case Kind.TEXT:
            told |= {"metavar": option.metavar, "default": option.default}
        case _:
            assert_never(option.kind)
    return click.option(*option.names, option.fills, **told)


directory_option = _decorator(DIRECTORY)
format_option = _decorator(FORMAT)
verbose_option = _decorator(VERBOSE)

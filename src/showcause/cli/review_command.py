"""`showcause review` as click knows it."""

from __future__ import annotations

import click

from showcause.cli.options import with_options
from showcause.cli.review import review
from showcause.cli.table import REVIEW

__all__ = ["review_command"]

review_command = click.command("review")(with_options(REVIEW)(review))

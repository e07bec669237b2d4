"""The noun of a foreign checker that the settings name."""

from __future__ import annotations

from typing import Annotated

import msgspec

from showcause.records.base import Record

__all__ = ["StaticTool"]


class StaticTool(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of `[[static]]`.

    command  what to run in each tree; it writes SARIF to its standard output, or to the path that stands
             for `{out}` in it
    name     how it is called in reports; unset: the name of the program
    rejects  whether what is new in the tool's findings may reject; else it informs
    limit_s  seconds it may take on one tree
    """

    command: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    name: Annotated[str, msgspec.Meta(pattern=r"^[\w.-]*$")] = ""
    rejects: bool = False
    limit_s: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 60.0

    @property
    def title(self) -> str:
        return self.name or self.command[0].rpartition("/")[2]

"""`showcause packet`: exactly what a reviewer would be given."""

from __future__ import annotations

from typing import Any

import click

from showcause.cli.common import cancellation, progress, tell
from showcause.cli.options import with_options
from showcause.cli.review import request_of
from showcause.cli.table import REVIEW

__all__ = ["packet_command"]

_NOT_HERE = ("allow_uncertain", "verbose", "format_", "fresh", "record", "replay")


@click.command("packet")
@with_options([option for option in REVIEW if option.fills not in _NOT_HERE])
def packet_command(**told: Any) -> int:
    """Run the checks as `review` does, and print the packet that a reviewer would be given. Asks nobody.

    Exit status 0 if there is one; else that of the review, since what the checks decide is never sent on.
    """
    import msgspec

    from showcause import pipeline

    request = request_of(**told, fresh=True, record="", replay="")
    request = msgspec.structs.replace(request, only_packet=True)
    with cancellation() as cancel:
        reviewed = pipeline.review(request, say=progress(), cancel=cancel)
    if reviewed.packet is None:
        body = reviewed.receipt.body
        tell(f"there is no packet: the review ended as {body.ended.value}, receipt {reviewed.receipt.id}")
        return body.exit_status
    click.echo(reviewed.packet.text, nl=False)
    missing = ", ".join(reviewed.packet.missing[:5]) or "nothing"
    tell(f"{reviewed.packet.tokens} of {reviewed.packet.budget} tokens; not whole: {missing}")
    return 0

"""`python -m showcause`."""

import gc
import os
import sys


def start() -> None:
    """Run the command line and leave at once, without taking the interpreter apart piece by piece.

    The cyclic collector runs seldom: all that is imported stays, and looking through it again and
    again is a tenth of the time of a short command.
    """
    gc.set_threshold(50_000, 50, 100)
    if not sys.flags.safe_path:  # `-m` put the current folder there: the patch's own modules, unconfined
        del sys.path[0]
    from showcause.cli import main

    status = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # nobody reads any more: as in `main`
        status = 4
    os._exit(status)


start()

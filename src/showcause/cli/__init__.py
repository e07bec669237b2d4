"""The command line: words in, one exit status out.

0 accept or nothing to review, 1 reject, 2 wrong use, 3 uncertain or incomplete, 4 environment or our
own fault, 130 interrupted. A command returns its status; errors become one here, and only here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from showcause import __version__
from showcause.errors import Cancelled, EnvironmentFault, ShowcauseError, Unappliable, UsageError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        status = _run(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except (BrokenPipeError, SystemExit):
        # The reader of our output is gone (`| head`), for which click would end as 1: our word for reject.
        return _unheard()
    except ShowcauseError as error:
        return _told(error)
    except Exception as error:  # noqa: BLE001  the last line of defence: our bug is 4, never a verdict
        return _bug(error)
    return status


def _run(words: Sequence[str]) -> int:
    """The short way for the words that every hook and every turn says; click for all else."""
    from showcause.cli.table import VERSION, read_review

    told = read_review(words)
    if told is not None:
        _import_msgspec()
        from showcause.cli.review import review

        return review(**told)
    if list(words) == [VERSION]:
        print(f"showcause {__version__}")
        return 0
    from showcause.cli import group

    return group.run(words)


def _import_msgspec() -> None:
    """With the names of `typing`, which are the same since 3.11: `typing_extensions`, which is taken where
    another package brought it, imports for 8 ms."""
    if "typing_extensions" not in sys.modules:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # an ImportError
        try:
            import msgspec  # noqa: F401
        finally:
            del sys.modules["typing_extensions"]


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

    print(f"showcause: {printable(message)}", file=sys.stderr, flush=True)
    return status

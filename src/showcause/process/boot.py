"""How our own small programs, which use the standard library only, are started fast and alone."""

from __future__ import annotations

__all__ = ["boot"]

# The packages above are put in place empty: importing showcause itself would cost more than the program.
_CODE = """\
import sys
for name, path in (("showcause", []), ("showcause.sandbox", sys.argv[1:2])):
    package = sys.modules[name] = type(sys)(name)
    package.__path__ = path
from showcause.sandbox.inside.{} import main
main(sys.argv[2:])
"""


def boot(python: str, program: str, folder: str) -> tuple[str, ...]:
    """The command line that runs `main` of a module of `sandbox/inside`; its arguments are to follow.

    `folder` is where `inside` lies, as that interpreter sees it. Isolated: neither the environment nor
    the user's site directories have a say. As an imported module its byte code is cached, as a script not.
    """
    return (python, "-I", "-S", "-c", _CODE.format(program), folder)

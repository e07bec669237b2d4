"""What init is told, and how it is written on a command line: `name=value ... -- command`.

A command line, since the environment belongs to the command; no JSON, since importing it costs more than
everything else that init does.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # not imported at run time: every import counts, in every run
    from collections.abc import Iterator

__all__ = ["PRIVATE", "Spec", "format", "parse"]

PRIVATE = "/run/showcause"  # where bwrap puts what init builds from; covered before the command starts


class Spec:
    """The whole of what init needs. All paths are those inside the sandbox."""

    def __init__(  # noqa: PLR0913 - a record without the library that makes records
        self,
        *,
        cwd: str,
        network: str,
        namespaces: bool = True,
        target: str = "",
        layers: int = 0,  # found at PRIVATE/layer0 ...; 0: the target is there already
        upper_bytes: int = 0,
        upper_on_disk: bool = False,  # then it is bound at PRIVATE/rw
        processes: int = 0,
        user_processes: int = 0,  # RLIMIT_NPROC, where no namespace counts
        memory_bytes: int = 0,
        limit_address_space: bool = False,
        placed: tuple[str, ...] = (),  # where PRIVATE/placed0 ... go once the tree is mounted
        writable: tuple[str, ...] = (),
        readable: tuple[str, ...] = (),  # with Landlock alone: all that may be read
        files: tuple[tuple[str, str], ...] = (),  # path and text of small files to write
    ) -> None:
        self.cwd, self.network, self.namespaces = cwd, network, namespaces
        self.target, self.layers = target, layers
        self.upper_bytes, self.upper_on_disk = upper_bytes, upper_on_disk
        self.processes, self.user_processes = processes, user_processes
        self.memory_bytes, self.limit_address_space = memory_bytes, limit_address_space
        self.placed, self.writable, self.readable, self.files = placed, writable, readable, files


_TEXTS = ("cwd", "network", "target")
_NUMBERS = (
    "namespaces", "layers", "upper_bytes", "upper_on_disk", "processes", "user_processes",
    "memory_bytes", "limit_address_space",
)  # fmt: skip
_LISTS = ("placed", "writable", "readable")


def format(spec: Spec, argv: tuple[str, ...]) -> list[str]:
    """The arguments that `parse` reads back."""
    return [f"{name}={value}" for name, value in _pairs(spec)] + ["--", *argv]


def _pairs(spec: Spec) -> Iterator[tuple[str, str]]:
    for name in _TEXTS:
        yield name, getattr(spec, name)
    for name in _NUMBERS:
        yield name, str(int(getattr(spec, name)))
    for name in _LISTS:
        for value in getattr(spec, name):
            yield name, value
    for path, text in spec.files:
        yield "files", f"{path}\n{text}"


def parse(args: list[str]) -> tuple[Spec, list[str]]:
    """The specification and the command behind it."""
    end = args.index("--")
    given: dict[str, object] = {}
    lists: dict[str, list[object]] = {name: [] for name in (*_LISTS, "files")}
    for arg in args[:end]:
        name, _, value = arg.partition("=")
        if name == "files":
            path, _, text = value.partition("\n")
            lists[name].append((path, text))
        elif name in _LISTS:
            lists[name].append(value)
        else:
            given[name] = int(value) if name in _NUMBERS else value
    given.update({name: tuple(values) for name, values in lists.items()})
    return Spec(**given), args[end + 1 :]  # type: ignore[arg-type]

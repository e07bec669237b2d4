"""The place in which a reviewer runs: an empty working folder, a home of its own, an allow list for the
environment, the repository read-only or not at all, everything else hidden by the sandbox."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from showcause.canon import digest
from showcause.contract.adapters.base import Composed, Job
from showcause.contract.program import Program
from showcause.errors import UsageError
from showcause.process import Command
from showcause.records import Record
from showcause.records.contract import ReviewerSpec
from showcause.sandbox import Confinement, Network, Sandbox

__all__ = ["Place", "argv_digest", "command_of", "environment", "masked", "network_of", "place"]

_MEMORY = 8 << 30
_PROCESSES = 1024
_SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
# Nothing may open a dialog, colour its output, call a pager or ask git for a password.
_QUIET = {
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "CI": "1",
    "PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "BROWSER": "/bin/false",
}


class Place(Record, frozen=True, kw_only=True):
    """Folders of one attempt: `folder` is empty and the working folder, `home` the CLI's own."""

    folder: str
    home: str


@contextmanager
def place(spec: ReviewerSpec) -> Iterator[Place]:
    """A new place, with the files of the login copied in; removed at the end with all in it.

    Raises UsageError for a login file that is not there or lies outside of the user's home.
    """
    root = tempfile.mkdtemp(prefix=f"showcause-{os.getpid()}-attempt_")
    try:
        found = Place(folder=os.path.join(root, "empty"), home=os.path.join(root, "home"))
        for path in (found.folder, found.home):
            os.mkdir(path, 0o700)
        _log_in(spec, found.home)
        yield found
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _log_in(spec: ReviewerSpec, home: str) -> None:
    own = os.path.realpath(os.path.expanduser("~"))
    for name in spec.login:
        source = os.path.realpath(os.path.join(own, name))
        if os.path.commonpath([own, source]) != own or not os.path.isfile(source):
            raise UsageError(f"[reviewers.{spec.name}] login: {name} is no file of your home")
        target = os.path.join(home, os.path.relpath(source, own))
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        shutil.copyfile(source, target)
        os.chmod(target, 0o600)


def environment(spec: ReviewerSpec, program: Program, composed: Composed, home: str) -> dict[str, str]:
    """All that the reviewer is told by variables: an allow list."""
    path = os.pathsep.join(dict.fromkeys((*program.path, *_SYSTEM_PATH)))
    passed = {name: os.environ[name] for name in spec.env if name in os.environ}
    own = {"HOME": home, "PATH": path, "TMPDIR": "/tmp"}  # the sandbox's own /tmp
    return {**_QUIET, **passed, **composed.env, **own}


def network_of(spec: ReviewerSpec) -> Network:
    """What network it has: the host's unless the settings say otherwise."""
    told = spec.extra.get("network", Network.HOST.value)
    try:
        return Network(told)
    except ValueError:
        known = ", ".join(one.value for one in Network)
        raise UsageError(f"[reviewers.{spec.name}] extra.network: {told!r} is none of {known}") from None


def command_of(
    job: Job, program: Program, composed: Composed, sandbox: Sandbox, *, keep_bytes: int
) -> Command:
    """The confined command. Writes the files of the CLI's home. Raises SandboxFault."""
    for name, content in composed.files.items():
        path = os.path.join(job.home, name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
    command = Command(
        argv=composed.argv,
        cwd=job.folder,
        env=environment(job.spec, program, composed, job.home),
        limit_s=job.spec.deadline_s,
        stdin=composed.stdin,
        keep_bytes=keep_bytes,
    )
    confinement = Confinement(
        target=job.folder,
        layers=(job.folder,),
        readable=(*program.readable, *((job.repository,) if job.repository else ())),
        writable=(job.home,),
        network=network_of(job.spec),
        memory_bytes=_MEMORY,
        processes=_PROCESSES,
    )
    return sandbox.confine(command, confinement)


def argv_digest(argv: tuple[str, ...]) -> str:
    """One digest for a command line: no two of them have the same."""
    return digest("\0".join(argv).encode("utf-8", "surrogateescape"))


def masked(argv: tuple[str, ...], secrets: Mapping[str, str]) -> tuple[str, ...]:
    """The command line for a record; words over a page are cut, their digest says what they were."""
    from showcause.models import mask

    return tuple(
        word if len(word) <= 400 else f"{word[:80]}... ({len(word)} characters, {digest(word.encode())[:16]})"
        for word in (mask(word, secrets)[0] for word in argv)
    )

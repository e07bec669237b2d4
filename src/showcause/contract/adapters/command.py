"""Any command line: the packet on standard input, the answer on standard output, exit status 0."""

from __future__ import annotations

from showcause.contract.adapters.base import Composed, Forbidden, Job, Limits, Misbehaving
from showcause.contract.reading import Fault, Reading
from showcause.errors import UsageError
from showcause.records.contract import ReviewerKind

__all__ = ["CommandAdapter"]


class CommandAdapter:
    """See `Adapter`. What such a program may do is what the sandbox lets it: no more is known of it."""

    kind = ReviewerKind.COMMAND
    program = ""
    forbidden: tuple[Forbidden, ...] = ()
    required: tuple[tuple[str, ...], ...] = ()
    misbehaving: tuple[Misbehaving, ...] = ()
    limits = Limits(characters=64_000_000, size=64_000_000)

    def compose(self, job: Job) -> Composed:
        if not job.spec.command:
            raise UsageError(f"[reviewers.{job.spec.name}] command: which program is to be run?")
        env = {job.spec.api_key_env: job.key} if job.key else {}
        return Composed(argv=job.program, stdin=job.parcel.data, env=env)

    def read(self, out: bytes, err: bytes, sent: str) -> Reading:
        """All of the output is the answer; its end is the end of the process."""
        return Reading(answer=out.decode("utf-8", "replace"), ended=True)

    def status(self, exit_status: int, err: bytes) -> Fault | None:
        return None

    def speak(self, answer: str, model: str) -> bytes:
        return answer.encode()

"""Nouns of probes: generated tests, and what came of each."""

from __future__ import annotations

from enum import StrEnum

from showcause.records.base import Record
from showcause.records.deciding import ItemRun
from showcause.records.running import Outcome

__all__ = ["HeadSays", "Probe", "ProbeResult", "ProbeRole", "ProbeState", "Sameness", "Written"]


class ProbeRole(StrEnum):
    """What a generated test is to show. Its role says how it must end on base to be kept."""

    PROBE = "probe"  # what the issue asks for: it fails on base
    GUARD = "guard"  # what the issue does not ask to change: it passes on base


class Probe(Record, frozen=True, kw_only=True):
    """One generated test.

    id         digest of what it is: role, files, tests
    generator  who wrote it: the name of a model, "reviewer NAME", or the file it was given in
    files      path in the repository -> text; none of them exists before
    tests      ids of its tests as the project's runner spells them
    quote      the words of the issue that it tests (a guard needs none)
    shows      what it shows, in the writer's words
    remarks    the writer's comments and stated limits; kept here, in no packet
    """

    id: str
    role: ProbeRole
    generator: str
    files: dict[str, str]
    tests: tuple[str, ...]
    quote: str
    shows: str
    remarks: str = ""


class ProbeState(StrEnum):
    """Whether a probe may speak about the patch. All but the first are dropped, for the reason named."""

    QUALIFIED = "qualified"
    UNUSABLE = "unusable"  # its files or ids cannot be used as they are
    NOT_RUN = "not_run"  # never collected, or never started
    SKIPPED = "skipped"
    PASSES_ON_BASE = "passes_on_base"  # it does not test what is missing
    FAILS_ON_BASE = "fails_on_base"  # a guard of what does not work anyway
    NOT_BEHAVIOURAL = "not_behavioural"  # set-up, import, name, network, time: a fault of the test
    UNSTABLE = "unstable"  # its runs on base disagree
    ENVIRONMENT = "environment"  # the run loaded other code, or could not start
    TAMPERED = "tampered"  # the report of the run is not to be believed


class HeadSays(StrEnum):
    """How a qualified probe ended with the patch."""

    FAILS = "fails"  # every time, by behaviour
    PASSES = "passes"
    NOTHING = "nothing"  # not run, flaky, or failed for another reason than behaviour


class Sameness(StrEnum):
    """A probe that fails on both sides: the same failure (kind, raising frame, text), or another."""

    SAME = "same"  # what was asked for is still missing
    DIFFERENT = "different"
    NONE = "none"  # it does not fail on both


class ProbeResult(Record, frozen=True, kw_only=True):
    """One probe and what came of it. `runs` holds every run on both sides.

    `is_quoted`: the quote stands in the issue. `weak` says why it asserts nothing about behaviour, or "".
    `earlier` are the versions before a repair, each with why it was sent back.
    """

    probe: Probe
    state: ProbeState
    why: str
    base: Outcome
    head: Outcome
    says: HeadSays
    sameness: Sameness
    is_quoted: bool
    weak: str
    runs: tuple[ItemRun, ...]
    earlier: tuple[ProbeResult, ...] = ()

    @property
    def is_qualified(self) -> bool:
        return self.state is ProbeState.QUALIFIED

    @property
    def counts(self) -> bool:
        """Whether the gate counts it among those that may reject: no quote, no rejection."""
        return self.is_qualified and self.probe.role is ProbeRole.PROBE and self.is_quoted and not self.weak

    @property
    def is_failing(self) -> bool:
        return self.is_qualified and self.says is HeadSays.FAILS

    @property
    def is_break(self) -> bool:
        """A guard of existing behaviour that holds on base and not on head."""
        return self.is_failing and self.probe.role is ProbeRole.GUARD


class Written(Record, frozen=True, kw_only=True):
    """One request for probes and what came back: how many, or why none. `request` is its digest."""

    generator: str
    request: str
    prompt: str
    probes: int
    why: str
    reported_model: str = ""
    latency_s: float = 0.0

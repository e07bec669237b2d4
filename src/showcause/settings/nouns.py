"""The settings as records."""

from __future__ import annotations

import msgspec

from showcause.canon import digest_record
from showcause.errors import UsageError
from showcause.records import ModelSpec, Policy, PolicyName, Record, RegressionRule, StaticTool, WitnessRule
from showcause.records.reviewer import ReviewerSpec

__all__ = [
    "GateSettings",
    "ProbeSettings",
    "ReviewSettings",
    "SandboxSettings",
    "Settings",
    "StoreSettings",
    "SuiteSettings",
]


class GateSettings(Record, frozen=True, kw_only=True):
    policy: PolicyName
    regression: RegressionRule
    witness: WitnessRule
    probe_share: float
    probe_min: int
    probe_generators: int
    min_precision: float | None


class SuiteSettings(Record, frozen=True, kw_only=True):
    command: tuple[str, ...]
    python: str
    build: tuple[str, ...]
    time_budget_s: float | None
    official: str
    runner: str
    test_paths: tuple[str, ...]
    env: dict[str, str]
    workdir: str


class SandboxSettings(Record, frozen=True, kw_only=True):
    network: str
    memory_mb: int
    processes: int
    upper_mb: int
    allow_unsandboxed: bool
    readable: tuple[str, ...]


class ReviewSettings(Record, frozen=True, kw_only=True):
    reviewer: str
    votes: int
    temperature: float
    at_once: int
    limit_s: float
    witnesses: int
    budget_tokens: int
    min_precision: float
    author_pool: str


class ProbeSettings(Record, frozen=True, kw_only=True):
    models: tuple[str, ...]
    per_model: int
    guards: int
    repairs: int
    time_budget_s: float
    limit_s: float


class StoreSettings(Record, frozen=True, kw_only=True):
    url: str


class Settings(Record, frozen=True, kw_only=True):
    """All settings. `sources`: key -> where it was set, for the keys that are not defaults.

    `trusted` are the names of models, and `reviewers.NAME`, that the user named, not the repository.
    """

    gate: GateSettings
    suite: SuiteSettings
    sandbox: SandboxSettings
    review: ReviewSettings
    probe: ProbeSettings
    store: StoreSettings
    static: tuple[StaticTool, ...] = ()
    models: tuple[ModelSpec, ...] = ()
    reviewers: tuple[ReviewerSpec, ...] = ()
    trusted: frozenset[str] = frozenset()
    sources: dict[str, str] = msgspec.field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def policy(self) -> Policy:
        return Policy(
            name=self.gate.policy,
            regression=self.gate.regression,
            probe_share=self.gate.probe_share,
            probe_min=self.gate.probe_min,
            probe_generators=self.gate.probe_generators,
            witness=self.gate.witness,
            min_precision=self.gate.min_precision,
        )

    def model(self, name: str) -> ModelSpec:
        """The model of that name. Raises UsageError naming those that there are."""
        found = next((spec for spec in self.models if spec.name == name), None)
        if found is None:
            known = ", ".join(spec.name for spec in self.models) or "none"
            raise UsageError(f"there is no [models.{name}] in the settings; there is: {known}")
        return found

    @property
    def digest(self) -> str:
        """SHA-256 of the values alone: where they were set does not change it."""
        asked = [self.review, self.probe, self.models, self.reviewers]
        return digest_record([self.gate, self.suite, self.sandbox, self.store, self.static, *asked])

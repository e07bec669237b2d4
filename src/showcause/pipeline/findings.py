"""What the checks of a review found, as one record."""

from __future__ import annotations

from showcause.records import CheckResult, Evidence, NotChecked, Record, Tampering

__all__ = ["Findings"]


class Findings(Record, frozen=True, kw_only=True):
    """What the checks told, and what they left out. `why_copying` is empty where overlays were used."""

    checks: tuple[CheckResult, ...]
    not_checked: tuple[NotChecked, ...]
    tampering: tuple[Tampering, ...]
    why_copying: str
    evidence: tuple[Evidence, ...] = ()

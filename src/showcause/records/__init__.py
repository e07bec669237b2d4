"""The nouns. Every noun is a frozen record; records alone cross module borders.

Outcomes are closed enums and absence has a name: nothing here has a default verdict.
Paths are repository-relative text as `os.fsdecode` gives it (undecodable bytes are surrogates);
`showcause.canon.printable` turns them into text for people. Times are seconds, sizes bytes.
"""

from showcause.records.base import Record
from showcause.records.deciding import (
    Attribution,
    BoundTo,
    Cause,
    CheckResult,
    Decision,
    Ended,
    Evidence,
    EvidenceKind,
    Item,
    ItemRun,
    NotChecked,
    Policy,
    RegressionRule,
    ReviewRecord,
    Rule,
    Stage,
    Tampering,
    Verdict,
)
from showcause.records.patch import ChangeKind, FileChange, Patch
from showcause.records.running import (
    Enforced,
    Enforcement,
    Failure,
    FailureKind,
    Loaded,
    LoadedState,
    Origin,
    Outcome,
    RunReport,
    RunState,
    SandboxReport,
    Side,
    TestResult,
)
from showcause.records.tool import StaticTool

__all__ = [
    "Attribution",
    "BoundTo",
    "Cause",
    "ChangeKind",
    "CheckResult",
    "Decision",
    "Ended",
    "Enforced",
    "Enforcement",
    "Evidence",
    "EvidenceKind",
    "Failure",
    "FailureKind",
    "FileChange",
    "Item",
    "ItemRun",
    "Loaded",
    "LoadedState",
    "NotChecked",
    "Origin",
    "Outcome",
    "Patch",
    "Policy",
    "Record",
    "RegressionRule",
    "ReviewRecord",
    "Rule",
    "RunReport",
    "RunState",
    "SandboxReport",
    "Side",
    "Stage",
    "StaticTool",
    "Tampering",
    "TestResult",
    "Verdict",
]

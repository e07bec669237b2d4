"""Patches, evidence and packets for tests, made by hand."""

from __future__ import annotations

from showcause.canon import digest
from showcause.packet import Material, build_packet
from showcause.records import (
    Attribution,
    ChangeKind,
    CheckResult,
    Evidence,
    EvidenceKind,
    FileChange,
    Item,
    ItemRun,
    Outcome,
    Packet,
    PacketForm,
    Patch,
    RunState,
    Side,
    Stage,
)

NONCE = "n0nce-of-this-packet-and-no-other"


def section(path: str, added: list[str], *, removed: list[str] | None = None, hunks: int = 1) -> bytes:
    """git's text for one edited file, each hunk with the same lines."""
    removed = removed or []
    lines = [f"diff --git a/{path} b/{path}", f"index {'1' * 40}..{'2' * 40} 100644", f"--- a/{path}"]
    lines.append(f"+++ b/{path}")
    for number in range(hunks):
        lines.append(
            f"@@ -{number * 100 + 20},{len(removed)} +{number * 100 + 20},{len(added)} @@ def f{number}():"
        )
        lines += [f"-{line}" for line in removed] + [f"+{line}" for line in added]
    return ("\n".join(lines) + "\n").encode()


def change(path: str, **fields: object) -> FileChange:
    standard = {
        "path": path,
        "old_path": "",
        "kind": ChangeKind.MODIFIED,
        "old_mode": "100644",
        "new_mode": "100644",
        "old_oid": "1" * 40,
        "new_oid": "2" * 40,
        "added_lines": 1,
        "deleted_lines": 0,
        "is_binary": False,
    }
    return FileChange(**(standard | fields))  # type: ignore[arg-type]


def patch(files: dict[str, bytes], changes: tuple[FileChange, ...] | None = None) -> Patch:
    data = b"".join(files.values())
    return Patch(
        data=data,
        digest=digest(data),
        base_tree="b" * 40,
        head_tree="c" * 40,
        changes=changes or tuple(change(path) for path in files),
    )


SMALL = patch(
    {"last.py": section("last.py", ["    return list(range(n + 1))"], removed=["    return list(range(n))"])}
)


def evidence(
    text: str,
    state: str = "patch_caused",
    *,
    id: str = "f-1",
    stage: Stage = Stage.EXECUTION,
    kind: EvidenceKind = EvidenceKind.GROUNDED,
    items: tuple[str, ...] = (),
) -> Evidence:
    return Evidence(id=id, kind=kind, state=state, text=text, stage=stage, items=items)


def item(id: str, base: Outcome, head: Outcome, attribution: Attribution) -> Item:
    runs = (
        ItemRun(side=Side.BASE, outcome=base, told_by="call"),
        ItemRun(side=Side.HEAD, outcome=head, told_by="call"),
    )
    return Item(id=id, base=base, head=head, attribution=attribution, runs=runs)


def check(
    id: str, *items: Item, stage: Stage = Stage.EXECUTION, state: RunState = RunState.COMPLETE
) -> CheckResult:
    return CheckResult(id=id, stage=stage, version="1", state=state, why="", items=items)


def packet(
    material: Material | None = None, form: PacketForm = PacketForm.CASCADE, **options: object
) -> Packet:
    standard: dict[str, object] = {"budget": 20_000, "nonce": NONCE}
    return build_packet(material or Material(patch=SMALL), form, **(standard | options))  # type: ignore[arg-type]


# One packet with each kind of evidence: what hand-labelled votes are about.
FULL = Material(
    patch=SMALL,
    issue="last(n) must include n itself.\nWith n = 0 it must give an empty list.",
    evidence=(
        evidence(
            "tests/test_last.py::test_zero: passed on base, failed on head (AssertionError: [0] != [])",
            id="f-zero",
            items=("tests/test_last.py::test_zero",),
        ),
        evidence(
            "of the author's own tests these pass only with the patch: tests/test_new.py::test_n",
            "said",
            id="f-own",
            kind=EvidenceKind.TESTIMONY,
        ),
        evidence(
            "tests/test_net.py::test_fetch: failed on base, passed on head: flaky", "flaky", id="f-flaky"
        ),
    ),
    checks=(
        check(
            "probes",
            item("probe_1::test_includes_n", Outcome.FAILED, Outcome.PASSED, Attribution.PATCH_CAUSED),
            stage=Stage.PROBES,
        ),
        check(
            "suite",
            item("tests/test_last.py::test_zero", Outcome.PASSED, Outcome.FAILED, Attribution.PATCH_CAUSED),
            item("tests/test_old.py::test_old", Outcome.FAILED, Outcome.FAILED, Attribution.PRE_EXISTING),
            item("tests/test_db.py::test_db", Outcome.ERROR, Outcome.ERROR, Attribution.ENVIRONMENT),
        ),
    ),
)
# The same patch with nothing that fails.
GREEN = Material(
    patch=SMALL,
    issue=FULL.issue,
    checks=(
        FULL.checks[0],
        check(
            "suite", item("tests/test_a.py::test_a", Outcome.PASSED, Outcome.PASSED, Attribution.UNCHANGED)
        ),
    ),
)

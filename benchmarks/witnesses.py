"""A reviewer's claims, some true and some false, each with the test it gives for it: which of them hold.

    SHOWCAUSE_CASES=FOLDER python -m benchmarks witnesses --told FILE [--work DIR] [--most N]

`--told` are results of `benchmarks probes`: of a patch on which a recorded probe fails that very probe is
the witness of a true claim; of one on which it passes, of a false one. The reviewer is scripted, its
answers are written beforehand. True claims must become causes that `reproduce` shows again; false ones
must end `uncertain`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

if not __package__:  # started as a file: our own folder is on the path, its parent is not
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.cases import ENVIRON
from benchmarks.casework import prepare, read_cases
from benchmarks.probes import Told, overrides_for, read_recorded
from showcause import Request, reproduce, review
from showcause.records import ModelSpec, Probe, Verdict

__all__ = ["main"]

_PACKET = {"packet": r"PACKET (p-\w+)", "nonce": r"END OF PACKET p-\w+ nonce (\w+)"}


@dataclass(frozen=True, kw_only=True)
class _Claim:
    """What is claimed of one patch, and the recorded probe that is to show it."""

    case: str
    patch: str
    label: str
    probe: str
    is_true: bool


def _claims(told: Sequence[Told], most: int) -> Iterator[_Claim]:
    """At most one true and one false claim a case, `most` of each, in the order of the results."""
    for is_true, says in ((True, "fails"), (False, "passes")):
        seen: set[str] = set()
        for row in told:
            wanted = row.counts and row.says == says and row.label in ("accept", "reject_omission")
            if wanted and row.case not in seen and len(seen) < most:
                seen.add(row.case)
                yield _Claim(
                    case=row.case, patch=row.patch, label=row.label, probe=row.probe, is_true=is_true
                )


def _script(probe: Probe) -> dict[str, object]:
    finding = {"place": "the patch", "trigger": probe.shows, "wrong": "not as asked", "cites": []}
    cite = {"id": "patch", "state": "shown", "quote": ""}
    vote = {
        "packet": "{{packet}}",
        "nonce": "{{nonce}}",
        "decision": "reject",
        "reasons": [{"text": "A requirement is not met.", "cites": [cite]}],
        "findings": [finding],
    }
    draft = {
        "role": probe.role.value,
        "files": [{"path": path, "text": text} for path, text in probe.files.items()],
        "tests": list(probe.tests),
        "quote": probe.quote,
        "shows": probe.shows,
        "remarks": "",
    }
    steps = [
        {"when": "You reviewed a patch", "text": json.dumps({"probes": [draft]})},
        {"when": "You review one patch", "text": json.dumps(vote), "echo": _PACKET},
    ]
    return {"schema": "showcause/script/1", "steps": steps}


def _look(claim: _Claim, folder: Path, work: Path, scratch: Path) -> bool:
    (case,) = read_cases(folder, wanted=claim.case)
    ready = prepare(case, work)
    patch = next(patch for patch in case.patches if patch.name == claim.patch)
    probe = next(probe for probe in read_recorded(folder, case.id) if probe.id == claim.probe)
    script = scratch / "script.json"
    script.write_text(json.dumps(_script(probe)), "utf-8")
    chosen = overrides_for(ready, "")  # the store of the repository, where `reproduce` looks
    request = Request(
        directory=str(ready.tree),
        diff=patch.text.encode("utf-8", "surrogateescape"),
        issue=case.issue.encode("utf-8", "surrogateescape"),
        overrides=chosen | {"review.reviewer": "scripted", "review.votes": 3},
        models=(ModelSpec(name="scripted", kind="scripted", path=str(script)),),
        fresh=True,
    )
    receipt = review(request).receipt
    body = receipt.body
    rejected = body.verdict is Verdict.REJECT
    witness = body.review.witnesses[0] if body.review and body.review.witnesses else None
    why = witness.why if witness else body.why or body.ended.value
    again = ""
    if rejected:
        _, shown = reproduce(str(ready.tree), receipt.id)
        again = "shown again" if all(one.now for one in shown) else "NOT shown again"
    good = rejected is claim.is_true and again != "NOT shown again"
    mark = " " if good else "!"
    kind = "true " if claim.is_true else "false"
    said = body.verdict.value if body.verdict else "uncertain"
    print(f"{mark} {kind} {claim.case} {claim.patch} {claim.label}: {said}; {why}; {again}", flush=True)
    return good


def main(argv: list[str]) -> int:
    """0: every claim ended as it should; 1: some did not; 2: there is nothing to do."""
    parser = argparse.ArgumentParser(prog="benchmarks witnesses", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--told", type=Path, required=True, metavar="FILE", help="results of `probes`")
    parser.add_argument("--work", type=Path, metavar="DIR", help="where environments and trees are kept")
    parser.add_argument("--most", type=int, default=8, metavar="N", help="claims of each kind (8)")
    wanted = parser.parse_args(argv)
    folder = os.environ.get(ENVIRON, "")
    told = [Told(**row) for row in map(json.loads, wanted.told.read_text("utf-8").splitlines())]
    claims = list(_claims(told, wanted.most))
    if not folder or not claims:
        print(f"set {ENVIRON}, and give results that hold claims", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="witnesses-") as scratch:
        good = [_look(one, Path(folder), wanted.work or Path(scratch), Path(scratch)) for one in claims]
    print(f"{sum(good)} of {len(good)} claims ended as they should")
    return int(not all(good))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

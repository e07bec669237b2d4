"""Recorded probes, run by the product on every patch of their case, against labels found by execution.

    SHOWCAUSE_CASES=FOLDER python -m benchmarks probes [--case TEXT] [--work DIR] [--out FILE] [--from FILE]

The folder holds `cases.jsonl` and `probes.jsonl`. The project's own tests are left out of these reviews:
what they tell is measured apart (`cases`). `--from` prints the tables of results that were kept.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

if not __package__:  # started as a file: our own folder is on the path, its parent is not
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.cases import ENVIRON
from benchmarks.casework import REFERENCE, HandedIn, Prepared, Unprepared, prepare, read_cases
from showcause import Request, review
from showcause.errors import ShowcauseError
from showcause.intervals import rate
from showcause.probes.given import Draft, probe_of
from showcause.records import Probe, ProbeResult

__all__ = ["Told", "main", "overrides_for", "read_recorded"]

_NO_TESTS = "no-such-folder"  # a setting that leaves the project's own tests out
_DRAWS = 200  # choices of k probes out of more, per patch
_SHARES = (("any", 0.0), ("a half", 0.5), ("two thirds", 2 / 3), ("three quarters", 0.75), ("all", 1.0))


@dataclass(frozen=True, kw_only=True)
class Told:
    """What one probe said of one patch."""

    case: str
    patch: str
    label: str
    probe: str
    state: str
    why: str
    says: str
    sameness: str
    counts: bool
    weak: str
    head: str
    seconds: float
    verdict: str


def read_recorded(folder: Path, case_id: str) -> list[Probe]:
    """The recorded probes of a case."""
    lines = (folder / "probes.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["case_id"] == case_id]
    return [
        probe_of(
            Draft(
                files=row["files"],
                tests=tuple(row["test_ids"]),
                quote=row["quote"],
                shows=row["requirement"],
            ),
            generator=f"recorded {row['patch_sha'][:8]}",
        )
        for row in rows
    ]


# ------------------------------------------------------------------ reviews


def overrides_for(ready: Prepared, store: str) -> dict[str, object]:
    """Settings for a case without its project's own tests."""
    runner = {"suite.runner": "django"} if ready.case.runner == "django" else {}
    return {
        "suite.python": str(ready.python),
        "suite.env": ready.env,
        "suite.test_paths": [_NO_TESTS],
        "store.url": store,
        **runner,
    }


def _review(ready: Prepared, patch: HandedIn, probes: Sequence[Probe], store: str) -> Iterator[Told]:
    request = Request(
        directory=str(ready.tree),
        diff=patch.text.encode("utf-8", "surrogateescape"),
        issue=ready.case.issue.encode("utf-8", "surrogateescape"),
        overrides=overrides_for(ready, store),
        probes=tuple(probes),
        fresh=True,
    )
    began = time.monotonic()
    try:
        record = review(request).receipt.body
    except ShowcauseError as error:
        print(f"! {ready.case.id} {patch.name}: {error}", flush=True)
        return
    seconds = round(time.monotonic() - began, 2)
    verdict = record.verdict.value if record.verdict else ""
    if not record.probes:
        print(f"  {patch.name}: {record.ended.value} {verdict} before any probe: {record.why}", flush=True)
    for result in record.probes:
        yield _told(ready.case.id, patch, result, seconds, verdict)


def _told(case: str, patch: HandedIn, result: ProbeResult, seconds: float, verdict: str) -> Told:
    failure = next((run.failure for run in reversed(result.runs) if run.failure), None)
    said = f"{failure.exception}: {failure.message.partition(chr(10))[0]}" if failure else ""
    return Told(
        case=case,
        patch=patch.name,
        label=patch.label,
        probe=result.probe.id,
        state=result.state.value,
        why=result.why,
        says=result.says.value,
        sameness=result.sameness.value,
        counts=result.counts,
        weak=result.weak,
        head=said[:200],
        seconds=seconds,
        verdict=verdict,
    )


# ------------------------------------------------------------------ tables


@dataclass(frozen=True, kw_only=True)
class _Patch:
    """The answers that count about one patch."""

    case: str
    name: str
    label: str
    fails: tuple[bool, ...]

    @property
    def is_defective(self) -> bool:
        return self.label.startswith("reject")


def _patches(told: Iterable[Told]) -> list[_Patch]:
    found: dict[tuple[str, str], list[Told]] = {}
    for one in told:
        found.setdefault((one.case, one.patch), []).append(one)
    return [
        _Patch(
            case=case,
            name=name,
            label=rows[0].label,
            fails=tuple(row.says == "fails" for row in rows if row.counts),
        )
        for (case, name), rows in found.items()
        if rows[0].label in ("accept", "reject_omission", "reject_regression")
    ]


def _tables(told: Sequence[Told]) -> str:
    patches = _patches(told)
    lines = [_qualified(told), ""]
    bad = sum(patch.is_defective for patch in patches)
    lines.append(f"{len(patches)} patches, {bad} defective; all probes of the case, by the share that fails")
    lines += [_line(words, patches, share) for words, share in _SHARES]
    for many in (1, 2, 4, 6):
        able = [patch for patch in patches if len(patch.fails) >= many]
        lines.append(
            f"\n{many} probes drawn from those of the case ({len(able)} patches have so many), mean of draws"
        )
        lines += [_drawn(words, able, share, many) for words, share in _SHARES]
    lines.append(f"\n{_passes(patches)}")
    return "\n".join(lines)


def _qualified(told: Sequence[Told]) -> str:
    """Share dropped and why, by probe; and how many fail on the reference."""
    by_probe = {row.probe: row for row in told}
    dropped = Counter(f"{row.state}: {row.why[:70]}" for row in by_probe.values() if row.state != "qualified")
    weak = sum(bool(row.weak) for row in by_probe.values())
    unquoted = sum(row.state == "qualified" and not row.counts and not row.weak for row in by_probe.values())
    over = [row for row in told if row.label == REFERENCE and row.state == "qualified"]
    failing = [row for row in over if row.says == "fails"]
    lines = [
        f"{len(by_probe)} probes; dropped {dropped.total()}; weak {weak}; quote not in the issue {unquoted}"
    ]
    lines += [f"  {count} {why}" for why, count in dropped.most_common()]
    lines.append(f"over-specified (fail on the reference): {len(failing)} of {len(over)}")
    lines += [f"  {row.case} {row.probe}: {row.head}" for row in failing]
    return "\n".join(lines)


def _line(words: str, patches: Sequence[_Patch], share: float) -> str:
    rejected = [patch for patch in patches if _rejects(patch.fails, share)]
    return _measures(words, len(rejected), sum(patch.is_defective for patch in rejected), patches)


def _measures(words: str, rejected: int, right: int, patches: Sequence[_Patch]) -> str:
    bad = sum(patch.is_defective for patch in patches)
    omissions = sum(patch.label == "reject_omission" for patch in patches)
    found = rate(right, rejected)
    value = f"{found.value:.2f}" if found.value is not None else "-"
    wrong = rejected - right
    return (
        f"  {words:15} precision {right}/{rejected} = {value} [{found.low:.2f}, {found.high:.2f}]"
        f"  catch {right}/{bad} ({omissions} omissions)  over-rejection {wrong}/{len(patches) - bad}"
    )


def _rejects(fails: Sequence[bool], share: float, least: int = 2) -> bool:
    return len(fails) >= least and any(fails) and sum(fails) >= share * len(fails)


def _drawn(words: str, patches: Sequence[_Patch], share: float, many: int) -> str:
    """Means over random choices of `many` probes of each patch; the seed is fixed."""
    draw = random.Random(1)
    rejected = right = 0
    for patch in patches:
        for _ in range(_DRAWS):
            fails = draw.sample(patch.fails, many)
            if _rejects(fails, share, least=min(2, many)):
                rejected += 1
                right += patch.is_defective
    bad = sum(patch.is_defective for patch in patches)
    precision = f"{right / rejected:.2f}" if rejected else "-"
    caught = right / _DRAWS / bad if bad else 0.0
    wrong = (rejected - right) / _DRAWS / (len(patches) - bad) if len(patches) > bad else 0.0
    return f"  {words:15} precision {precision}  catch {caught:.2f}  over-rejection {wrong:.2f}"


def _passes(patches: Sequence[_Patch]) -> str:
    """How often a patch is right on which every probe passes: why a pass decides nothing."""
    clean = [patch for patch in patches if patch.fails and not any(patch.fails)]
    found = rate(sum(not patch.is_defective for patch in clean), len(clean))
    value = f"{found.value:.2f}" if found.value is not None else "-"
    lines = [
        f"every probe passes: {found.right}/{found.n} acceptable = {value}"
        f" [{found.low:.2f}, {found.high:.2f}]"
    ]
    lines.append("acceptable patches on which a probe fails:")
    lines += [
        f"  {patch.case} {patch.name}: {sum(patch.fails)} of {len(patch.fails)}"
        for patch in patches
        if not patch.is_defective and any(patch.fails)
    ]
    return "\n".join(lines)


# ------------------------------------------------------------------ command line


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks probes", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--case", default="", metavar="TEXT", help="only cases whose id contains TEXT")
    parser.add_argument("--work", type=Path, metavar="DIR", help="where environments and trees are kept")
    parser.add_argument("--out", type=Path, metavar="FILE", help="results as JSON lines, added at the end")
    parser.add_argument("--from", dest="kept", type=Path, metavar="FILE", help="print the tables of these")
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    """0: the tables are printed; 2: there is nothing to do; 4: some case cannot be made."""
    wanted = _arguments(argv)
    if wanted.kept:
        told = [Told(**row) for row in map(json.loads, wanted.kept.read_text("utf-8").splitlines())]
        print(_tables(told))
        return 0
    folder = os.environ.get(ENVIRON, "")
    if not folder:
        print(f"set {ENVIRON} to a folder with cases.jsonl and probes.jsonl", file=sys.stderr)
        return 2
    told, unprepared = [], False
    with tempfile.TemporaryDirectory(prefix="probes-") as scratch:
        for case in read_cases(Path(folder), wanted=wanted.case, reference=True):
            probes = read_recorded(Path(folder), case.id)
            if not probes:
                continue
            try:
                ready = prepare(case, wanted.work or Path(scratch))
            except Unprepared as error:
                print(f"! {case.id} cannot be made: {error}", flush=True)
                unprepared = True
                continue
            told += _reviewed(ready, probes, os.path.join(scratch, f"{case.id}.sqlite3"), wanted.out)
    if told:
        print(_tables(told))
    return 4 if unprepared else 0 if told else 2


def _reviewed(ready: Prepared, probes: Sequence[Probe], store: str, out: Path | None) -> list[Told]:
    told: list[Told] = []
    for patch in ready.case.patches:
        found = list(_review(ready, patch, probes, store))
        told += found
        fails = sum(row.says == "fails" for row in found)
        seconds = found[0].seconds if found else 0.0
        print(
            f"  {ready.case.id} {patch.name:10} {patch.label:17} {fails} of {len(found)} fail  {seconds} s",
            flush=True,
        )
        with open(out, "a", encoding="utf-8") if out else nullcontext() as file:
            if file is not None:
                file.writelines(json.dumps(asdict(row)) + "\n" for row in found)
    return told


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""Reviews of real patches against labels that were found by execution.

    SHOWCAUSE_CASES=FOLDER python -m benchmarks cases [--case TEXT] [--reference] [--work DIR] [--out FILE]

Each patch is reviewed twice, in this process: with the official suite of its case, whose verdict must
equal the label, and without it, as a user would, to see what the project's own tests tell.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

if not __package__:  # started as a file: our own folder is on the path, its parent is not
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.casework import REFERENCE, HandedIn, Prepared, Unprepared, prepare, read_cases
from showcause import Request, review
from showcause.attribution import BAD
from showcause.errors import ShowcauseError
from showcause.gate import SUITE
from showcause.records import Attribution, Item, Outcome, ReviewRecord

__all__ = ["ENVIRON", "Result", "Seen", "agrees", "look", "main", "review_patch"]

ENVIRON = "SHOWCAUSE_CASES"
SUITE_BUDGET_S = 300.0
"""An official suite decides only if it ran whole, and the largest takes twenty seconds on an idle machine."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What one review said, in words. `verdict` is "" where nothing was shown either way."""

    verdict: str
    ended: str
    rules: tuple[str, ...]
    regressions: tuple[str, ...]
    contested: tuple[str, ...]
    why: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Result:
    """One patch, reviewed with the official suite and without it."""

    case: str
    patch: str
    label: str
    official: Seen
    without: Seen | None

    @property
    def agrees(self) -> bool:
        return agrees(self.label, self.official)


def agrees(label: str, seen: Seen) -> bool:
    """Whether a review with the official suite says what executing that suite by hand said."""
    if label == "unappliable":
        return seen.ended == "unappliable"
    return seen.verdict == ("accept" if label in ("accept", REFERENCE) else "reject")


# ------------------------------------------------------------------ reviews


def review_patch(ready: Prepared, patch: HandedIn, *, store: str, budget_s: float, with_suite: bool) -> Seen:
    """One review, made anew whatever the store remembers."""
    overrides: dict[str, object] = {
        "suite.python": str(ready.python),
        "suite.env": ready.env,
        "store.url": store,
    }
    if ready.case.runner == "django":
        overrides["suite.runner"] = "django"
    request = Request(
        directory=str(ready.tree),
        diff=patch.text.encode("utf-8", "surrogateescape"),
        issue=ready.case.issue.encode("utf-8", "surrogateescape"),
        official=str(ready.official) if with_suite else "",
        overrides=overrides,
        budget_s=budget_s,
        fresh=True,
    )
    began = time.monotonic()
    try:
        record = review(request).receipt.body
    except ShowcauseError as error:
        return _fault(error, time.monotonic() - began)
    return look(record, time.monotonic() - began)


def _fault(error: ShowcauseError, seconds: float) -> Seen:
    return Seen(
        verdict="",
        ended=type(error).__name__,
        rules=(),
        regressions=(),
        contested=(),
        why=str(error),
        seconds=round(seconds, 2),
    )


def look(record: ReviewRecord, seconds: float) -> Seen:
    """A record as `Seen`. Contested and self-hosted regressions are kept apart: they decide nothing."""
    found = [item for check in record.checks if check.id == SUITE for item in check.items]
    worse = [
        item
        for item in found
        if item.attribution is Attribution.PATCH_CAUSED and item.base is Outcome.PASSED and item.head in BAD
    ]
    return Seen(
        verdict=record.verdict.value if record.verdict else "",
        ended=record.ended.value,
        rules=tuple(dict.fromkeys(cause.rule.value for cause in record.causes)),
        regressions=tuple(item.id for item in worse if not (item.contested or item.self_hosted)),
        contested=tuple(item.id for item in worse if item.contested or item.self_hosted),
        why=_why(record),
        seconds=round(seconds, 2),
    )


def _why(record: ReviewRecord) -> str:
    """What explains the end: its own words, checks that did not run whole, causes, what did not pass."""
    told = [record.why] if record.why else []
    told += [f"{check.id} {check.state.value}: {check.why}" for check in record.checks if check.why]
    told += [cause.message for cause in record.causes[:3]]
    if not record.causes:
        items = [i for check in record.checks if check.stage.value == "official" for i in check.items]
        told += [_words(item) for item in items if item.head is not Outcome.PASSED][:3]
    return "; ".join(told)


def _words(item: Item) -> str:
    note = f" ({item.note})" if item.note else ""
    runs = {run.told_by for run in item.runs if run.outcome not in (Outcome.PASSED,)}
    return (
        f"{item.id}: {item.base.value} on base, {item.head.value} on head{note} [{', '.join(sorted(runs))}]"
    )


# ------------------------------------------------------------------ tables


def _row(result: Result) -> str:
    seen, without = result.official, result.without
    mark = " " if result.agrees else "!"
    cells = f"{mark} {result.patch:10} {result.label:17} {seen.verdict or '-':7} {seen.ended:11}"
    cells += f" {','.join(seen.rules) or '-':15} {seen.seconds:6.1f}"
    if without is None:
        return cells
    found = f"{len(without.regressions)}+{len(without.contested)}c"
    return f"{cells}   {without.verdict or '-':7} {without.ended:11} {found:>7} {without.seconds:6.1f}"


_HEAD = (
    f"  {'patch':10} {'label':17} {'verdict':7} {'ended':11} {'causes':15} {'s':>6}"
    f"   {'without':7} {'ended':11} {'regr.':>7} {'s':>6}"
)


def _totals(results: Sequence[Result]) -> str:
    lines = ["", "with the official suite", f"  {'label':17} {'agree':>5} {'of':>5}   differing verdicts"]
    for label in sorted({result.label for result in results}):
        of_label = [result for result in results if result.label == label]
        said = Counter(r.official.verdict or r.official.ended for r in of_label if not r.agrees)
        words = ", ".join(f"{count} {what}" for what, count in said.items())
        lines.append(f"  {label:17} {len(of_label) - said.total():5} {len(of_label):5}   {words}")
    good = sum(result.agrees for result in results)
    lines.append(f"  {'all':17} {good:5} {len(results):5}")
    lines += [
        f"! {r.case} {r.patch}: {r.label}, but {r.official.verdict or r.official.ended}: {r.official.why}"
        for r in results
        if not r.agrees
    ]
    return "\n".join(lines)


def _by_label(results: Iterable[Result]) -> str:
    """Patches whose reviews without the suite found base tests that fail since the patch."""
    seen = [(result.label, result.without) for result in results if result.without is not None]
    lines = ["", "without it: patches with regressions of base tests (contested apart)"]
    lines.append(
        f"  {'label':17} {'patches':>7} {'regress':>7} {'contested only':>14} {'reject':>6} {'accept':>6}"
    )
    for label in sorted({label for label, _ in seen}):
        mine = [without for other, without in seen if other == label]
        found = sum(bool(w.regressions) for w in mine)
        apart = sum(bool(w.contested and not w.regressions) for w in mine)
        verdicts = Counter(w.verdict for w in mine)
        lines.append(
            f"  {label:17} {len(mine):7} {found:7} {apart:14} {verdicts['reject']:6} {verdicts['accept']:6}"
        )
    return "\n".join(lines)


def _times(results: Sequence[Result]) -> str:
    with_suite = statistics.median(r.official.seconds for r in results)
    without = [r.without.seconds for r in results if r.without is not None]
    words = f", without {statistics.median(without):.1f} (n = {len(without)})" if without else ""
    return f"\nmedian seconds of a review: with the suite {with_suite:.1f} (n = {len(results)}){words}"


# ------------------------------------------------------------------ command line


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks cases", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--case", default="", metavar="TEXT", help="only cases whose id contains TEXT")
    parser.add_argument("--max-patches", type=int, default=None, metavar="N", help="at most N of each case")
    parser.add_argument("--reference", action="store_true", help="review the reference patches too")
    parser.add_argument(
        "--official-only", action="store_true", help="leave out the reviews without the suite"
    )
    parser.add_argument("--work", type=Path, metavar="DIR", help="where environments and trees are kept")
    parser.add_argument("--out", type=Path, metavar="FILE", help="results as JSON lines, added at the end")
    parser.add_argument(
        "--budget",
        type=float,
        default=60.0,
        metavar="S",
        help="seconds for the project's tests without the suite (60)",
    )
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    """0: all verdicts agree; 1: some do not; 2: there is nothing to do; 4: some case cannot be made."""
    wanted = _arguments(argv)
    folder = os.environ.get(ENVIRON, "")
    if not folder:
        print(f"set {ENVIRON} to a folder with cases.jsonl", file=sys.stderr)
        return 2
    cases = read_cases(Path(folder), wanted=wanted.case, reference=wanted.reference)
    results: list[Result] = []
    unprepared = False
    with tempfile.TemporaryDirectory(prefix="cases-") as scratch:
        for case in cases:
            print(f"\n{case.id}\n{_HEAD}", flush=True)
            try:
                ready = prepare(case, wanted.work or Path(scratch))
            except Unprepared as error:
                print(f"! cannot be made: {error}", flush=True)
                unprepared = True
                continue
            store = os.path.join(scratch, f"{case.id}.sqlite3")
            results += _review_case(ready, wanted, store)
    if not results:
        print("no patch was reviewed", file=sys.stderr)
        return 4 if unprepared else 2
    print(_totals(results), _by_label(results), _times(results), sep="\n")
    return 4 if unprepared else int(not all(result.agrees for result in results))


def _review_case(ready: Prepared, wanted: argparse.Namespace, store: str) -> list[Result]:
    results = []
    for patch in _limited(ready.case.patches, wanted.max_patches):
        seen = review_patch(ready, patch, store=store, budget_s=SUITE_BUDGET_S, with_suite=True)
        without = None
        if not wanted.official_only:
            without = review_patch(ready, patch, store=store, budget_s=wanted.budget, with_suite=False)
        result = Result(
            case=ready.case.id, patch=patch.name, label=patch.label, official=seen, without=without
        )
        print(_row(result), flush=True)
        with open(wanted.out, "a", encoding="utf-8") if wanted.out else nullcontext() as file:
            if file is not None:
                file.write(json.dumps(asdict(result) | {"agrees": result.agrees}) + "\n")
        results.append(result)
    return results


def _limited(patches: tuple[HandedIn, ...], limit: int | None) -> tuple[HandedIn, ...]:
    """The first `limit` patches; the reference, where asked for, is there besides."""
    own = [patch for patch in patches if patch.label != REFERENCE]
    return (*own[:limit], *(patch for patch in patches if patch.label == REFERENCE))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

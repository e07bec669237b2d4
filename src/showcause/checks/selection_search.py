"""The search behind a selection: which tests a patch leads to, and by what (see `selection`).

Work is bounded by counts, not by the clock, so that the same tree and patch give the same list.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from showcause.checks.imports_graph import Exports, Modules, Use, dotted_name
from showcause.checks.imports_read import Defined, has_word, read_names, scan_imports
from showcause.checks.selection_names import Layout, name_match, nearness, test_files
from showcause.project import BaseTree
from showcause.records import Record

__all__ = ["ORDER", "Found", "Limits", "Search", "Tier", "Touched"]

_MODULE_ENDS = (".py", ".pyx")


class Tier(StrEnum):
    """Why a test file may tell something about the patch; the order is the order of running."""

    EDITED = "edited"  # the patch edits it
    DIRECT = "direct"  # it uses a touched module, or its conftest.py is touched
    NAMED = "named"  # it bears the name of a touched module
    MENTIONS = "mentions"  # its text holds the name of a touched module, or of what changed in it
    REACHES = "reaches"  # it imports a touched module through others
    DATA = "data"  # it mentions a touched file that is no Python module


class Touched(Record, frozen=True, kw_only=True):
    """One path that the patch touches. `lines`: line numbers in base's file, none if not known."""

    path: str
    lines: tuple[int, ...] = ()


class Limits(Record, frozen=True, kw_only=True):
    """Bounds of the search: files read per step, steps through the import graph, words asked for."""

    tests: int = 400
    modules: int = 200
    packages: int = 60
    distance: int = 3
    words: int = 400
    unseen_s: float = 1.0  # what a test file is taken to last that was never timed


class Found(Record, frozen=True, kw_only=True):
    tier: Tier
    distance: int | None
    why: str
    rank: tuple[float, ...] = ()


ORDER = {tier: number for number, tier in enumerate(Tier)}


class Search:
    """The state of one selection: what was read so far, and the best reason found for each test."""

    def __init__(
        self,
        base: BaseTree,
        touched: Sequence[Touched],
        layout: Layout,
        durations: Mapping[str, float],
        limits: Limits,
    ) -> None:
        self.base, self.layout, self.durations, self.limits = base, layout, durations, limits
        self.paths = frozenset(base.paths())
        self.tests = test_files(sorted(self.paths), layout)
        self.is_test = frozenset(self.tests)
        self.modules = Modules(self.paths, layout.sources)
        self.found: dict[str, Found] = {}
        self.notes: list[str] = []
        self.complete = True
        self.texts: dict[str, str] = {}
        self.learnt: list[str] = []
        self.touched_tests = [t.path for t in touched if t.path in self.is_test]
        sources = [t for t in touched if t.path not in self.is_test]
        self.touched_modules = [t for t in sources if t.path.endswith(_MODULE_ENDS)]
        self.touched_data = [t.path for t in sources if not t.path.endswith(_MODULE_ENDS)]

    # -------------------------------------------------------------- reading

    def read(self, paths: Iterable[str]) -> None:
        """Read what was not read yet, in one batch."""
        missing = [path for path in paths if path not in self.texts]
        for path, data in self.base.read(missing).items() if missing else ():
            self.texts[path] = data.decode("utf-8", "replace")

    def nearest(self, paths: Iterable[str], most: int, what: str) -> list[str]:
        """At most `most` of the paths, those nearest to the patch by name; the cut is noted."""
        ordered = sorted(paths, key=lambda path: (*_negative(self.by_name(path)), path))
        if len(ordered) > most:
            self.cut_short(f"{len(ordered) - most} of {len(ordered)} {what} were not examined")
        return ordered[:most]

    def cut_short(self, note: str) -> None:
        self.complete = False
        self.notes.append(note)

    # -------------------------------------------------------------- ranking

    def by_name(self, path: str) -> tuple[float, float]:
        """How well the name of a test fits a touched module, and how near their folders are."""
        best = (0.0, 0.0)
        for item in self.touched_modules:
            best = max(best, (name_match(path, item.path), nearness(path, item.path)))
        return best

    def note(self, path: str, found: Found) -> None:
        known = self.found.get(path)
        if known is None or (ORDER[found.tier], found.rank) < (ORDER[known.tier], known.rank):
            self.found[path] = found

    def estimate(self, path: str) -> float:
        return self.durations.get(path, self.limits.unseen_s)

    def slowness(self, path: str) -> int:
        """0 for a file that takes no longer than one never timed is taken to, one more for each doubling.

        So coarse because no two runs take the same time: outcomes of base are remembered for one order.
        """
        times = self.estimate(path) / self.limits.unseen_s
        return math.ceil(math.log2(times)) if times > 1 else 0

    @property
    def estimate_s(self) -> float:
        return sum(self.estimate(path) for path in self.found)

    # -------------------------------------------------------------- the tiers

    def edited(self) -> None:
        for path in self.touched_tests:
            self.note(path, Found(tier=Tier.EDITED, distance=0, why="the patch edits it"))

    def direct(self) -> None:
        """Everything that one search of the tree for the names of the touched modules brings."""
        self.own = self.read_touched()
        self.changed_inner = frozenset().union(*(d.changed_inner for d in self.own.values()))
        self.changed = self.changed_inner.union(*(d.changed_top for d in self.own.values()))
        self.exports = Exports(self.modules, self.own, self.layout.sources)
        self.learn(self.package_files(self.own))
        self.last_names = {last for path in self.own if (last := _last_name(path, self.layout.sources))}
        self.hits = frozenset(self.base.grep(self.words())) if self.own else frozenset()
        # packages beside that pass names on: `attrs` does for `attr`
        others = [path for path in self.hits if path.endswith("/__init__.py") and path not in self.texts]
        if others and len(others) <= self.limits.packages:
            self.learn(sorted(others))
        self.candidates = self.nearest(
            self.hits & self.is_test, self.limits.tests, "test files with its names"
        )
        self.read(self.candidates)
        self.uses: dict[str, Use] = {}
        telling = self.exports.telling
        for path in self.candidates:
            text = self.texts.get(path, "")
            if use := self.exports.use(path, text, scan_imports(text, telling)):
                self.uses[path] = use
        self.count_words()
        for path, use in self.uses.items():
            self.note(path, Found(tier=Tier.DIRECT, distance=1, why=use.by, rank=self.rank(path)))

    def learn(self, packages: list[str]) -> None:
        self.read(packages)
        self.learnt += packages
        self.exports.learn({path: self.texts[path] for path in self.learnt if path in self.texts})

    def read_touched(self) -> dict[str, Defined]:
        modules = [t.path for t in self.touched_modules if t.path in self.paths]
        self.read([*modules, *self.package_files(modules)])
        own = {}
        for item in self.touched_modules:
            if item.path in self.texts:
                own[item.path] = read_names(self.texts[item.path].encode("utf-8", "replace"), item.lines)
                if not own[item.path].parsed and item.path.endswith(".py"):
                    self.notes.append(f"{item.path} of base does not parse: its names are guessed")
        return own

    def package_files(self, modules: Iterable[str]) -> list[str]:
        """The `__init__.py` of every package around a touched module, which may pass its names on."""
        found = set()
        for path in modules:
            folder = path
            while folder := folder.rpartition("/")[0]:
                found.add(folder + "/__init__.py")
        return sorted(found & self.paths)

    def words(self) -> list[str]:
        """What to search the tree for, the telling words first."""
        ordered = [*sorted(self.last_names), *sorted(self.changed), *sorted(self.exports.names)]
        return list(dict.fromkeys(ordered))[: self.limits.words]

    def count_words(self) -> None:
        """In how many of the candidates each telling word stands: rare words tell more."""
        telling = self.last_names | self.changed
        self.words_of = {
            path: {word for word in telling if has_word(self.texts.get(path, ""), word)}
            for path in self.candidates
        }
        self.frequency = {word: sum(word in words for words in self.words_of.values()) for word in telling}

    def rank(self, path: str) -> tuple[float, ...]:
        """Smaller is more telling: fit of the name, rarity of the words it shares, nearness."""
        name, near = self.by_name(path)
        shared = sum(1 / self.frequency[word] for word in self.words_of.get(path, ()))
        return (-name, -shared, -near)

    def named_and_mentioned(self) -> None:
        rare = max(5, len(self.tests) // 10)
        for path in self.tests:
            if path in self.found:
                continue
            words = {w for w in self.words_of.get(path, ()) if self.frequency[w] <= rare}
            if self.by_name(path)[0] > 0:
                self.note(
                    path, Found(tier=Tier.NAMED, distance=None, why="bears its name", rank=self.rank(path))
                )
            elif words:
                why = f"mentions {', '.join(sorted(words))}"
                self.note(path, Found(tier=Tier.MENTIONS, distance=None, why=why, rank=self.rank(path)))

    def conftests_touched(self) -> None:
        for path in self.own:
            if path.rpartition("/")[2] == "conftest.py":
                self.below(path, Tier.DIRECT, 1, f"{path} is touched")

    def below(self, conftest: str, tier: Tier, distance: int, why: str) -> None:
        """A conftest.py is loaded by every test of its folder and of those below."""
        folder = conftest.removesuffix("conftest.py")
        for path in self.tests:
            if path.startswith(folder) and path not in self.found:
                self.note(
                    path, Found(tier=tier, distance=distance, why=why, rank=(distance, *self.rank(path)))
                )

    def reaching(self, budget_s: float) -> None:
        """Outwards through the import graph, one step a search, until the budget is full."""
        reached: dict[str, int] = dict.fromkeys(self.own, 0)
        frontier, hits = set(self.own), self.hits
        for distance in range(1, self.limits.distance + 1):
            if not frontier:
                return
            importers = self.importers(frontier, hits - reached.keys(), distance)
            for path in sorted(importers):
                if path in self.is_test:
                    why = f"reaches it through {importers[path]}"
                    rank = (distance, *self.rank(path))
                    if path not in self.found:
                        self.note(path, Found(tier=Tier.REACHES, distance=distance, why=why, rank=rank))
                elif path.rpartition("/")[2] == "conftest.py":
                    self.below(path, Tier.REACHES, distance + 1, f"{path} imports {importers[path]}")
            frontier = {path for path in importers if path not in self.is_test}
            reached.update(dict.fromkeys(frontier, distance))
            if self.estimate_s >= budget_s:
                self.cut_short(f"imports were followed for {distance} steps: the time budget is full")
                return
            words = sorted({_last_name(path, self.layout.sources) for path in frontier} - {""})
            hits = frozenset(self.base.grep(words[: self.limits.words])) if words else frozenset()

    def importers(self, frontier: set[str], hits: frozenset[str], distance: int) -> dict[str, str]:
        """Which of the hits import a module of the frontier, and which one."""
        if distance > 1 and len(hits) > 5 * (self.limits.modules + self.limits.tests):
            # names such as "utils": of all that bear them, those beside the patch are likeliest
            folders = tuple({path[: path.rfind("/") + 1] for path in self.own})
            self.cut_short(f"{len(hits)} files hold the names at distance {distance}: few were examined")
            hits = frozenset(path for path in hits if path.startswith(folders))
        chosen = self.nearest(hits - self.is_test, self.limits.modules, "modules")
        if distance > 1:
            tests = hits & self.is_test - self.found.keys()
            chosen += self.nearest(tests, self.limits.tests, "test files")
        self.read(chosen)
        telling = frozenset(_last_name(path, self.layout.sources) for path in frontier)
        found = {}
        for path in chosen:
            for item in scan_imports(self.texts.get(path, ""), telling):
                target = next((t for t in self.modules.targets(path, item, telling) if t in frontier), None)
                if target is not None and target != path:
                    found[path] = target
                    break
        return found

    def data(self) -> None:
        """Tests that mention a touched file which is no module; last, those that name its package."""
        wanted: dict[str, tuple[float, str]] = {}
        for path in self.touched_data:
            wanted.setdefault(path.rpartition("/")[2], (0.0, path))
            if package := self.package_around(path):
                wanted.setdefault(package, (1.0, path))
        if not wanted:
            return
        hits = frozenset(self.base.grep(sorted(wanted))) & self.is_test - self.found.keys()
        self.read(chosen := self.nearest(hits, self.limits.tests, "test files"))
        for path in chosen:
            for word, (order, data) in wanted.items():
                if has_word(self.texts.get(path, ""), word):
                    rank = (order, -nearness(path, data))
                    self.note(path, Found(tier=Tier.DATA, distance=None, why=f"mentions {word}", rank=rank))

    def package_around(self, path: str) -> str:
        """The last name of the nearest package that holds a path, "" where none does."""
        folder = path.rpartition("/")[0]
        while folder and folder + "/__init__.py" not in self.paths:
            folder = folder.rpartition("/")[0]
        return folder.rpartition("/")[2]


def _negative(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(-value for value in values)


def _last_name(path: str, sources: Sequence[str]) -> str:
    """The last part of a module's import name; "" for a package file at the root of the sources."""
    name = dotted_name(path, sources).rpartition(".")[2]
    return "" if name == "__init__" else name

"""Which of head's findings may reject: new, of a sound rule, not guarded, and confirmed by running."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from showcause import git
from showcause.checks.static.asking import Names, Question, Refusal, question_for
from showcause.checks.static.confirming import Answer, Answered, ask
from showcause.checks.static.elsewhere import attributes_defined
from showcause.checks.static.guards import reason
from showcause.checks.static.hunks import LineMap, untouched
from showcause.checks.static.items import Judged
from showcause.checks.static.nouns import Fate, Finding, Matched, Sort
from showcause.checks.static.rules import kind_of
from showcause.checks.static.scope import Contents
from showcause.checks.workbench import Workbench
from showcause.records import Side
from showcause.runners.imports import module_name

__all__ = ["judge"]

_WHY_NOT = {
    Fate.CARRIED: "base has it at the same place",
    Fate.MOVED: "base has it on the same line of code",
    Fate.SAME_SYMBOL: "base has the same rule for the same name in this file",
}


def judge(
    bench: Workbench, matched: Sequence[Matched], contents: Contents, maps: Mapping[str, LineMap]
) -> tuple[Judged, ...]:
    """One for each, in their order. Raises Cancelled."""
    court = _Court(bench, contents, maps)
    broken = {m.finding.path for m in matched if kind_of(m.finding).sort is Sort.SYNTAX}
    notes = [court.refuse(m, broken) for m in matched]
    asked = [n for n, note in enumerate(notes) if not note]
    confirmed = court.confirm([(n, matched[n]) for n in asked])
    return tuple(
        Judged(
            matched=m,
            cause=confirmed[n].why if n in confirmed and confirmed[n].answer is Answer.HOLDS else "",
            note=notes[n] or _note(confirmed[n]),
        )
        for n, m in enumerate(matched)
    )


def _note(answered: Answered) -> str:
    match answered.answer:
        case Answer.HOLDS:
            return "confirmed by running it"
        case Answer.ABSENT:
            return f"not so when run: {answered.why}"
        case Answer.UNKNOWN:
            return f"not confirmed: {answered.why}"


class _Court:
    """What the judgement of all findings shares."""

    def __init__(self, bench: Workbench, contents: Contents, maps: Mapping[str, LineMap]) -> None:
        self.bench, self.contents, self.maps = bench, contents, maps
        project = bench.kit.project
        self.own = frozenset(project.layout.names) | {
            names.module.partition(".")[0] for path in maps if (names := self._names(path)).module
        }
        self.questions: dict[int, tuple[Question, Question | None]] = {}

    def refuse(self, matched: Matched, broken: set[str]) -> str:
        """Why the finding may not reject without a question being asked, or ""."""
        finding, sort = matched.finding, kind_of(matched.finding).sort
        if matched.fate is not Fate.NEW:
            return _WHY_NOT[matched.fate]
        if sort is None:
            return "findings of this rule are never confirmed"
        if sort is not Sort.SYNTAX and finding.path in broken:
            return "the file does not compile"
        if sort is Sort.SYNTAX:
            return self._refuse_syntax(finding)
        return reason(finding, self.contents.head(finding.path), sort)

    def _refuse_syntax(self, finding: Finding) -> str:
        if self._map(finding.path).old_path:
            return ""
        why = self._names(finding.path).why
        return f"a new file that is no module: {why}" if why else ""

    # -------------------------------------------------------------- confirming

    def confirm(self, wanted: Sequence[tuple[int, Matched]]) -> dict[int, Answered]:
        """Answers on head, taken back where base gives the same for the same line."""
        answers: dict[int, Answered] = {}
        on_head: dict[int, Question] = {}
        on_base: dict[int, Question] = {}
        for number, matched in wanted:
            finding, sort = matched.finding, kind_of(matched.finding).sort
            if sort is None or sort is Sort.SYNTAX:
                answers[number] = _compiled(finding)
                continue
            try:
                source = self.contents.head(finding.path)
                on_head[number] = question_for(number, finding, sort, source, self._names(finding.path))
                if matched.base_line is not None:
                    on_base[number] = self._same_on_base(number, matched, sort)
            except Refusal as refusal:
                answers[number] = Answered(answer=Answer.UNKNOWN, why=str(refusal))
                on_head.pop(number, None)
        answers |= ask(self.bench, Side.HEAD, list(on_head.values()))
        held = [q for n, q in on_base.items() if n in on_head and answers[n].answer is Answer.HOLDS]
        for number, told in ask(self.bench, Side.BASE, held).items():
            answers[number] = _against_base(answers[number], told)
        return self._not_elsewhere(answers, on_head)

    def _same_on_base(self, number: int, matched: Matched, sort: Sort) -> Question:
        """The question about the same line of base."""
        finding = matched.finding
        old = self._map(finding.path).old_path
        moved = (matched.base_line or finding.line) - finding.line
        there = msgspec.structs.replace(
            finding, path=old, line=finding.line + moved, end_line=finding.end_line + moved
        )
        return question_for(number, there, sort, self.contents.base(old), self._names(old))

    def _not_elsewhere(
        self, answers: dict[int, Answered], questions: Mapping[int, Question]
    ) -> dict[int, Answered]:
        """Attributes that any code of the tree defines are not shown to be absent."""
        sorts = ("class_attribute", "module_attribute")
        held = {
            n: q.name for n, q in questions.items() if q.sort in sorts and answers[n].answer is Answer.HOLDS
        }
        defined = attributes_defined(self.bench.trees, frozenset(held.values()))
        for number, name in held.items():
            if name in defined:
                why = f"{defined[name]} defines an attribute of that name"
                answers[number] = Answered(answer=Answer.UNKNOWN, why=why)
        return answers

    # -------------------------------------------------------------- names

    def _map(self, path: str) -> LineMap:
        return self.maps.get(path) or untouched(path)

    def _names(self, path: str) -> Names:
        module, why = module_name(path, self.bench.kit.project.sources, self.bench.kit.surface)
        if module and path in self.maps and not self.maps[path].old_path and not self._is_in_package(path):
            module, why = "", "a new file outside all packages"
        return Names(
            module=module,
            why=why,
            is_package=path.endswith("/__init__.py"),
            own=getattr(self, "own", frozenset()),
        )

    def _is_in_package(self, path: str) -> bool:
        """Whether head has a package there, or a folder of sources. A new file in the root is as often a
        script left behind as a module."""
        folder = path.rpartition("/")[0]
        if not folder or folder in self.bench.kit.project.sources:
            return bool(folder)
        trees = self.bench.trees
        return bool(git.files(trees.repo, trees.patch.head_tree, [f"{folder}/__init__.py"]))


def _compiled(finding: Finding) -> Answered:
    return Answered(
        answer=Answer.HOLDS, why=f"the project's interpreter does not compile it: {finding.message}"
    )


def _against_base(head: Answered, base: Answered) -> Answered:
    match base.answer:
        case Answer.ABSENT:
            return Answered(answer=Answer.HOLDS, why=f"{head.why}; on base: {base.why}")
        case Answer.HOLDS:
            return Answered(answer=Answer.UNKNOWN, why=f"base has it on this line as well: {base.why}")
        case Answer.UNKNOWN:
            return Answered(answer=Answer.UNKNOWN, why=f"on base it cannot be told: {base.why}")

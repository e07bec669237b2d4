"""What the words of a vote claim about evidence. Pure; by patterns, so it can miss and it can be wrong:
tests/reviewer/votes.jsonl says how often.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

__all__ = [
    "Claim",
    "asks_for_a_person",
    "claims_about",
    "general_claims",
    "is_environmental",
    "is_on_pass",
    "is_vacuous",
    "of_state",
]


class Claim(StrEnum):
    PASSED = "passed"
    FAILED = "failed"


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


_ID = re.compile(r"\b(?:ev|nc)-\d+\b", re.IGNORECASE)
# "but" and its like start another clause; a colon or dash before a list does not.
_CLAUSE = _any(
    r"(?<=[.;!?])\s+",
    r"\n+",
    r",?\s+\b(?:but|while|whereas|although|though|however)\b\s*,?",
)
_FAILS = r"fail(?:s|ed|ing|ures?)?|broken?|breaks|regress(?:es|ed)|errors?|errored|crash(?:es|ed)"
_PASSES = r"pass(?:es|ed|ing)?|succeed(?:s|ed)?|green|successful(?:ly)?"
_NOT = r"(?:not|n't|never|nothing|no longer|without|none of [\w\s]{0,20}|no)"
_NEGATED_FAIL = _any(rf"\b\w*{_NOT}\s+(?:[\w]+\s+){{0,2}}?(?:{_FAILS})\b")
_NEGATED_PASS = _any(rf"\b\w*{_NOT}\s+(?:[\w]+\s+){{0,2}}?(?:{_PASSES})\b")
_FAIL, _PASS = _any(rf"\b(?:{_FAILS})\b"), _any(rf"\b(?:{_PASSES})\b")
# What speaks of another tree, of what may be, or of what others say is no claim about head.
_ELSEWHERE = _any(
    r"\b(?:on|in|against) (?:the )?base\b",
    r"\bbefore (?:the|this) (?:patch|change)",
    r"\bwithout (?:the|this|it)\b",
    r"\b(?:would|could|might|may|should|if|expected to|supposed to|used to|unless)\b",
    r"\b(?:look|search)(?:ed|ing)? for\b",
    r"\bthe issue\b|\bno (?:test|probe)s?\b|\bdecides? nothing\b",
    r"\bcan(?:not)? (?:pass|fail)|\b(?:author|agent|trace|comment|docstring)\b",
)
_CHECKS = _any(r"\b(?:probes?|tests?|checks?|suite|regressions?|test runs?|executions?)\b")
_WHOLE = _any(r"\b(?:all|every|each|both|everything)\b")
_LOOKS = r"review\w*|check\w*|verif\w+|confirm\w*|test\w*|inspect\w*"
_PERSON = _any(
    rf"\b(?:manual(?:ly)?|human)\b[\w\s]{{0,20}}\b(?:{_LOOKS}|look)",
    rf"\b(?:{_LOOKS}|decide[ds]?)\b[\w\s]{{0,12}}\b(?:manually|by hand|by a (?:human|person|maintainer))",
    r"\bplease (?:confirm|verify|check|run|provide|share|clarify)\b|\blet me know\b",
    r"\bask(?:ing)? (?:the |a |for )?(?:author|user|maintainer|team|someone|human)",
    r"\bask(?:ing)? for (?:a )?(?:confirmation|clarification)",
    r"\b(?:someone|a (?:person|maintainer|human)) (?:should|must|needs? to|has to)\b",
    r"\bbefore (?:I|we) (?:can )?(?:continue|proceed|decide)",
)
_REPORTED = _any(
    r"\b(?:docstring|comment|injection|instruct(?:s|ion|ions|ed)|tells? (?:the )?reviewers?)\b",
    r"\b(?:text (?:says|asks)|says to)\b",
)
_DONE = r"run|executed|validated|verified|tested"
_ENVIRONMENT = _any(
    rf"\b(?:could|can)(?: ?not|n't) (?:\w+ )?(?:verify|validate|execute|test|(?:be (?:\w+ )?)?(?:{_DONE}))\b",
    rf"\b(?:was|were|is|are|been) (?:not|never) (?:{_DONE})\b|\bun(?:verified|validated|tested)\b",
    r"\benvironment\b|\bmissing (?:dependenc\w+|module|package|librar\w+|validation)|\bnot installed\b",
    r"\bno (?:tests?|validation|checks?|verification) (?:was|were|is|are|has|have|could)\b",
    r"\black(?:s|ing)? (?:of )?validation|\bnetwork (?:is|was|access)\b",
    r"\bpre-?existing\b|\bunrelated\b|\bflaky\b",
)
_GOOD = r"good|fine|ok|okay|correct|right|reasonable|sound|solid|clean"
_VACUOUS = re.compile(
    r"^\W*(?:(?:the |this )?(?:patch|change|code|fix)?\s*(?:looks?|seems?|is|appears?)\s*(?:to be )?"
    rf"(?:all )?(?:{_GOOD})(?: to me)?|lgtm|all good|approved?|good work"
    r"|no (?:issues?|problems?|faults?|concerns?)(?: (?:were |was )?found)?)\W*$",
    re.IGNORECASE,
)


def of_state(state: str) -> Claim | None:
    """What the state that a cite names claims; None for words that claim neither."""
    word = state.strip().casefold().replace("_", " ")
    if re.fullmatch(_PASSES, word, re.IGNORECASE):
        return Claim.PASSED
    return Claim.FAILED if re.fullmatch(rf"{_FAILS}|patch caused", word, re.IGNORECASE) else None


def claims_about(text: str) -> Iterator[tuple[str, Claim]]:
    """(evidence id, what is said of it) for each clause that says one plain thing of the ids in it."""
    for clause in _CLAUSE.split(text):
        ids = {found.casefold() for found in _ID.findall(clause)}
        claim = _claim(clause)
        if claim is not None:
            yield from ((id, claim) for id in sorted(ids))


def general_claims(text: str) -> Iterator[Claim]:
    """What clauses without an id say of the checks: that they fail, or that all of them pass."""
    for clause in _CLAUSE.split(text):
        if _ID.search(clause) or not _CHECKS.search(clause):
            continue
        claim = _claim(clause)
        if claim is Claim.FAILED or (claim is Claim.PASSED and _WHOLE.search(clause)):
            yield claim


def _claim(clause: str) -> Claim | None:
    if _ELSEWHERE.search(clause):
        return None
    says_pass = bool(_NEGATED_FAIL.search(clause))
    says_fail = bool(_NEGATED_PASS.search(clause))
    rest = _NEGATED_PASS.sub(" ", _NEGATED_FAIL.sub(" ", clause))
    says_pass |= bool(_PASS.search(rest))
    says_fail |= bool(_FAIL.search(rest))
    if says_pass == says_fail:
        return None
    return Claim.PASSED if says_pass else Claim.FAILED


def asks_for_a_person(text: str) -> bool:
    """Whether it asks somebody to act or to look; reporting such words in the patch is not asking."""
    return any(_PERSON.search(clause) and not _REPORTED.search(clause) for clause in _CLAUSE.split(text))


def is_environmental(text: str) -> bool:
    """Whether it speaks of what could not run or was there before."""
    return bool(_ENVIRONMENT.search(text))


def is_on_pass(text: str) -> bool:
    """Whether it says that checks pass."""
    said = [c for c in _CLAUSE.split(text) if _CHECKS.search(c) or _ID.search(c)]
    return any(_PASS.search(clause) and _claim(clause) is Claim.PASSED for clause in said)


def is_vacuous(text: str) -> bool:
    """Whether it says nothing that could be looked up."""
    return not text.strip() or bool(_VACUOUS.match(text))

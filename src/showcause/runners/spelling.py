"""Ids of unittest and Django tests in the spellings that lists of tests use. Pure.

A result is reported under the spelling in which it was asked for. Known spellings: `module.Class.method`;
`method (module.Class)` and, since Python 3.11, `method (module.Class.method)`, as runners print them; the
first line of the test's docstring, which lists made from printed output contain.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from showcause.records import TestResult
from showcause.runners.base import Job
from showcause.runners.events import Collected, Log, Selected
from showcause.runners.failures import Places
from showcause.runners.results import Asked, collect_results

__all__ = ["dotted", "read_respelled", "with_dotted"]

_PRINTED = re.compile(r"^(\w+) \(([\w.]+)\)$")


def dotted(spelled: str) -> str:
    """`module.Class.method` for the printed spellings; anything else as it is."""
    found = _PRINTED.match(spelled.strip())
    if found is None:
        return spelled
    method, place = found.groups()
    return place if place.endswith(f".{method}") else f"{place}.{method}"


def with_dotted(job: Job) -> Job:
    """The job with dotted ids, for the process that runs it."""
    return msgspec.structs.replace(
        job, select=tuple(map(dotted, job.select)), skip=tuple(map(dotted, job.skip))
    )


def read_respelled(log: Log, asked: Asked, places: Places) -> tuple[TestResult, ...]:
    """Results as `collect_results` gives them, under the asked spelling. A docstring that several tests
    share stands for all of them: each of their results is kept."""
    known = {
        test_id: text for event in log.events if isinstance(event, Collected) for test_id, text in event.ids
    }
    targets = {spelled: _targets(spelled, known) for spelled in asked.expect}
    meant = tuple(dict.fromkeys(target for found in targets.values() for target in found))
    select = _selected(log, asked.select, known)
    results = collect_results(log, msgspec.structs.replace(asked, select=select, expect=meant), places)
    by_id: dict[str, list[TestResult]] = {}
    for result in results:
        by_id.setdefault(result.id, []).append(result)
    answers = [
        msgspec.structs.replace(result, id=spelled)
        for spelled, found in targets.items()
        for target in found
        for result in by_id[target]
    ]
    return (*answers, *(result for result in results if result.id not in meant))


def _targets(spelled: str, known: Mapping[str, str]) -> Sequence[str]:
    test_id = dotted(spelled)
    if test_id in known or " " not in test_id:
        return (test_id,)
    return tuple(each for each, text in known.items() if text and text == spelled.strip()) or (spelled,)


def _selected(log: Log, select: Sequence[str], known: Mapping[str, str]) -> tuple[str, ...]:
    """Selected entries as dotted names, without those that are descriptions of known tests."""
    names = {
        entry: name for event in log.events if isinstance(event, Selected) for entry, name in event.names
    }
    found = (names.get(dotted(entry)) or dotted(entry) for entry in select)
    return tuple(name for name in found if " " not in name or _targets(name, known) == (name,))

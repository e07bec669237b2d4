"""Runs unittest and tells its events. Started as `PYTHON showcause_unittest.py JOBFILE`; see
showcause.runners.unittest."""

import os
import sys
import unittest

from showcause_describe import Describer
from showcause_events import ENVIRONMENT_STATUS, Budget, Events, leave_no_trace, load_job, start
from showcause_loaded import loaded
from showcause_overtime import Alarm
from showcause_suite import flatten, is_failed_import, names_test, prepare, result_class, try_import


def top_folder(path, top):
    """The folder from which a test file is imported: the given one, or the first that is no package."""
    if top:
        return os.path.abspath(top)
    folder = os.path.dirname(os.path.abspath(path))
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder = os.path.dirname(folder)
    return folder


def module_of(entry, top, surface=()):
    """(module name, dotted name of what is wanted of it) for a file, or a dotted id.

    A dotted id does not say in which folder its module lies: the known test files are asked first.
    """
    if entry.endswith(".py") or "/" in entry:
        folder = top_folder(entry, top)
        if folder not in sys.path:
            sys.path.insert(0, folder)
        name = os.path.relpath(os.path.abspath(entry), folder)[: -len(".py")].replace(os.sep, ".")
        name = name[: -len(".__init__")] if name.endswith(".__init__") else name
        return name, name
    for path in surface:
        folder = top_folder(path, top)
        name = os.path.relpath(os.path.abspath(path), folder)[: -len(".py")].replace(os.sep, ".")
        if os.path.isfile(path) and (entry + ".").startswith(name + "."):
            if folder not in sys.path:
                sys.path.insert(0, folder)
            return name, entry
    return _existing_module(entry), entry


def _existing_module(dotted):
    """The longest front part of a dotted id that is a file below sys.path."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        base = os.path.join(*parts[:count])
        for folder in sys.path:
            path = os.path.join(folder or os.getcwd(), base)
            if os.path.isfile(path + ".py") or os.path.isfile(os.path.join(path, "__init__.py")):
                return ".".join(parts[:count])
    return parts[0]


def load(job, settings, events, describer):
    """(tests, selected dotted names); modules in the order in which they are selected."""
    loader = unittest.TestLoader()
    if not job["select"]:
        suite = loader.discover(settings["start"], settings["pattern"], settings["top"] or None)
        return _without_failures(flatten(suite), events, describer), []
    tests, seen = [], set()
    known = [os.path.relpath(os.path.join(job["root"], path)) for path in job["options"][3:]]
    modules = [module_of(entry, settings["top"], known) for entry in job["select"]]
    names = [wanted for _, wanted in modules]
    events.tell("selected", names=list(zip(job["select"], names)))
    for module, _ in modules:
        if module not in seen:
            seen.add(module)
            if try_import(module, events, describer):
                tests += flatten(loader.loadTestsFromModule(sys.modules[module]))
    return _without_failures(tests, events, describer), names


def _without_failures(tests, events, describer):
    kept = []
    for test in tests:
        if not is_failed_import(test):
            kept.append(test)
        elif try_import(test._testMethodName, events, describer):  # it can be imported now: keep what it said
            exc = describer.describe(test._exception)
            events.tell("collect_error", id=test._testMethodName, exc=exc)
    return kept


def run(job, settings, events, describer):
    """Load, choose, run; the exit status."""
    budget = Budget(job["budget_s"], job["skip"])
    tests, names = load(job, settings, events, describer)
    names = frozenset(names)

    def wanted(test):
        return not names or names_test(names, test.id())

    alarm = Alarm()
    suite = prepare(tests, job, events, budget, alarm, wanted)
    runner = unittest.TextTestRunner(resultclass=result_class(events, describer, alarm))
    return 0 if runner.run(suite).wasSuccessful() else 1


def main():
    job = load_job()
    events = Events(job["events"])
    leave_no_trace(os.getcwd())
    describer = Describer(job)
    start(events, "unittest", "%d.%d" % sys.version_info[:2])
    settings = dict(zip(("start", "pattern", "top"), job["options"]))
    sys.argv[:] = ["python -m unittest"]
    if settings["start"] != ".":
        sys.path.insert(
            0, os.path.abspath(settings["top"] or top_folder(os.path.join(settings["start"], "x"), ""))
        )
    try:
        status = run(job, settings, events, describer)
    except Exception as error:
        events.tell("fault", kind="runner", exc=describer.describe(error), text="unittest could not be run")
        status = ENVIRONMENT_STATUS
    events.tell("loaded", items=loaded(job, describer))
    events.tell("end", exit=status)
    return status


if __name__ == "__main__":
    sys.exit(main())

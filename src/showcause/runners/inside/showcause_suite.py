"""unittest pieces shared by the unittest and the Django runner: the result that tells events, the suite
that stops starting tests, the controls."""

import importlib
import importlib.util
import os
import re
import sys
import unittest

from showcause_events import clean

_HOLDER = re.compile(r"^(setUpClass|setUpModule|tearDownClass|tearDownModule) \((.*)\)$")


class Result(unittest.TextTestResult):
    """Tells what happens, with the exception objects. `result_class` sets what it needs."""

    _events = _describer = _alarm = None

    def startTest(self, test):
        self._told = False
        self._events.tell("begin", id=test.id())
        super().startTest(test)
        self._alarm.hear(True)

    def stopTest(self, test):
        self._alarm.hear(False)
        super().stopTest(test)
        if not self._told:  # a pass with failed or expected parts is told by those
            self._phase(test, "passed")
        self._events.tell("finish", id=test.id())

    def addSuccess(self, test):
        super().addSuccess(test)
        self._phase(test, "passed")

    def addError(self, test, err):
        super().addError(test, err)
        self._bad(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._bad(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._bad(test, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        holder = _HOLDER.match(test.id())
        if holder:
            exc = {"type": "SkipTest", "mro": [], "message": clean(str(reason))}
            self._events.tell("collect_skip", id=holder.group(2), exc=exc)
        elif not hasattr(test, "test_case"):  # a skipped subtest does not skip its test
            self._phase(test, "skipped", text=clean(str(reason)))

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self._phase(test, "skipped", exc=self._describer.describe(err[1]), xfail=True)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._phase(test, "failed", text="unexpected success")

    def addDuration(self, test, elapsed):
        pass

    def _bad(self, test, err):
        holder = _HOLDER.match(test.id())
        exc = self._describer.describe(err[1])
        if holder is None:
            self._phase(test, "failed", exc=exc)
        elif holder.group(1).startswith("setUp"):
            self._events.tell("collect_error", id=holder.group(2), when="setup", exc=exc)
        else:
            self._events.tell("begin", id=test.id())
            self._events.tell("phase", id=test.id(), when="teardown", outcome="failed", exc=exc)
            self._events.tell("finish", id=test.id())

    def _phase(self, test, outcome, **told):
        self._events.tell("phase", id=test.id(), when="call", outcome=outcome, **told)
        self._told = True


def result_class(events, describer, alarm):
    """The class of results for one run."""
    return type("Result", (Result,), {"_events": events, "_describer": describer, "_alarm": alarm})


class Budgeted(unittest.TestSuite):
    """A flat suite that asks, right before each test (and so before its class is set up), whether it may."""

    _cleanup = False  # tests are looked up by index there, and refused ones have none

    def __init__(self, tests, controls, budget, alarm, events):
        super().__init__([*tests, *controls])
        self._controls = list(controls)
        self._budget, self._alarm, self._events = budget, alarm, events

    def __iter__(self):
        for test in super().__iter__():
            if any(test is control for control in self._controls):
                self._alarm.stop()  # the controls are the last, and not to be disturbed
                yield test
                continue
            why = self._budget.refuses(test.id())
            if why:
                self._events.tell("not_run", id=test.id(), why=why)
            else:
                yield test


def flatten(suite):
    """All test cases below a suite, in order."""
    if not isinstance(suite, unittest.BaseTestSuite) and not hasattr(suite, "subsuites"):
        return [suite]
    return [test for part in suite for test in flatten(part)]


def load_controls(path, names):
    """The two control tests: a real TestCase of a real file."""
    name = os.path.basename(path)[:-3]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # unittest looks for setUpModule there
    spec.loader.exec_module(module)
    return [module.Controls(each) for each in names]


def prepare(tests, job, events, budget, alarm, wanted):
    """The suite to run: wanted tests, the controls last; what is to run is told first, and the alarm set."""
    kept = [test for test in tests if wanted(test)]
    events.tell("collected", ids=[[test.id(), _description(test)] for test in kept])
    controls = load_controls(job["control_file"], job["controls"])
    events.tell("controls", ids=[test.id() for test in controls])
    alarm.start(budget.overtime_s)
    return Budgeted(kept, controls, budget, alarm, events)


def _description(test):
    try:
        return clean(test.shortDescription() or "", 300)
    except Exception:
        return ""


def is_failed_import(test):
    """unittest's stand-in for a module or name that could not be loaded."""
    return type(test).__name__ == "_FailedTest" and type(test).__module__ == "unittest.loader"


def try_import(name, events, describer):
    """Import a test module; tell why it cannot be, or that it skips itself. Whether it is there."""
    events.tell("importing", id=name)
    try:
        importlib.import_module(name)
    except unittest.SkipTest as skip:
        events.tell("collect_skip", id=name, exc={"type": "SkipTest", "mro": [], "message": clean(str(skip))})
    except Exception as error:
        events.tell("collect_error", id=name, exc=describer.describe(error))
    else:
        return True
    return False


def names_test(names, test_id):
    """Whether one of a set of dotted names is this test, its class, its module or a package above."""
    parts = test_id.split(".")
    return any(".".join(parts[:count]) in names for count in range(len(parts), 0, -1))

"""Runs pytest and tells its events. Started as `PYTHON showcause_pytest.py JOBFILE`; see
showcause.runners.pytest.

The outcome of a phase is taken twice: what was raised (from the exception object) and what the report
says once the hooks of the repository have seen it. A difference is told, not settled, here.
"""

import importlib.util
import os
import sys

from showcause_describe import Describer
from showcause_events import ENVIRONMENT_STATUS, Budget, Events, clean, leave_no_trace, load_job, start
from showcause_loaded import loaded
from showcause_overtime import Alarm

BUDGET = "showcause: not started"
NOT_COLLECTED = "not collected: the time budget for collection was used up"


def hook(**options):
    """Mark a method as a hook of pytest with these options; pytest itself is imported later."""

    def mark(function):
        function.showcause_hook = options
        return function

    return mark


FIRST = hook(tryfirst=True)
AROUND = hook(hookwrapper=True, tryfirst=True)


def marked(pytest, plugin):
    """The plugin, with what `hook` marked made known to pytest."""
    for member in vars(type(plugin)).values():
        options = getattr(member, "showcause_hook", None)
        if options is not None:
            pytest.hookimpl(**options)(member)
    return plugin


class Run:
    """What the plugins of one run share."""

    def __init__(self, pytest, job, events, describer):
        self.pytest, self.job, self.events, self.describer = pytest, job, events, describer
        self.budget = Budget(job["budget_s"], job["skip"])
        self.alarm = Alarm()
        self.controls = set()
        self.refused = set()

    def plugins(self):
        return [marked(self.pytest, kind(self)) for kind in KINDS]


class Order:
    """The order is ours (most relevant first), and a seed by the clock would make every run another."""

    def __init__(self, run):
        pass

    @FIRST
    def pytest_configure(self, config):
        option = config.option
        if getattr(option, "randomly_reorganize", None):
            option.randomly_reorganize = False
        if getattr(option, "randomly_seed", None) in ("default", "last"):
            option.randomly_seed = 1


class Collection:
    """Tells what is collected and what cannot be; puts the controls behind what was asked for."""

    def __init__(self, run):
        self._run, self._events = run, run.events
        self._files, self._late = 0, False

    @FIRST
    def pytest_collectstart(self, collector):
        if not isinstance(collector, self._run.pytest.Module):
            return
        # The nearest file comes first, and is collected whatever it takes.
        self._late = self._files > 0 and self._run.budget.refuses_to_collect()
        self._files += 1
        if not self._late:
            self._events.tell("importing", id=collector.nodeid)

    @AROUND
    def pytest_make_collect_report(self, collector):
        if isinstance(collector, self._run.pytest.Module) and self._late:
            collector.collect = list
            self._events.tell("not_run", id=collector.nodeid, why=NOT_COLLECTED)
        outcome = yield
        raised = getattr(outcome, "excinfo", None)
        if raised is None:
            self._tell(collector, outcome.get_result())
        elif isinstance(raised[1], SystemExit):  # as before pytest 8: the file is lost, not the run
            report = self._run.pytest.CollectReport(collector.nodeid, "failed", "SystemExit", [])
            outcome.force_result(report)
            self._tell_raised("collect_error", collector, raised[1])

    def _tell(self, collector, report):
        """What came of collecting a file, class or folder, unless all is well."""
        if report.outcome == "passed":
            return
        call = getattr(report, "call", None)
        error = call.excinfo.value if call is not None and call.excinfo is not None else None
        event = "collect_" + ("skip" if report.outcome == "skipped" else "error")
        self._tell_raised(event, collector, error if error is None else cause(error))

    def _tell_raised(self, event, collector, error):
        exc = None if error is None else self._run.describer.describe(error)
        self._events.tell(event, id=collector.nodeid, exc=exc)

    @AROUND
    def pytest_collection(self, session):
        outcome = yield
        if getattr(outcome, "excinfo", None) is not None:
            return
        job = self._run.job
        wanted = {os.path.normpath(entry) if "::" not in entry else entry for entry in job["select"]}
        kept = [item for item in session.items if not wanted or chosen(item.nodeid, wanted)]
        self._events.tell("collected", ids=[[item.nodeid, ""] for item in kept])
        controls = make_controls(self._run.pytest, session, job["control_file"], job["controls"])
        self._run.controls.update(item.nodeid for item in controls)
        self._events.tell("controls", ids=[item.nodeid for item in controls])
        session.items = kept + controls
        session.testscollected = len(session.items)


class Budgeted:
    """Starts no test that must not start."""

    def __init__(self, run):
        self._run = run

    @FIRST
    def pytest_runtest_setup(self, item):
        if item.nodeid in self._run.controls:
            return
        why = self._run.budget.refuses(item.nodeid)
        if why:
            self._run.refused.add(item.nodeid)
            self._run.events.tell("not_run", id=item.nodeid, why=why)
            self._run.pytest.skip(BUDGET)


class Interrupted:
    """Ends a test that goes on for too long: the alarm is heard while code of a test runs."""

    def __init__(self, run):
        self._run = run

    @FIRST
    def pytest_runtestloop(self, session):
        self._run.alarm.start(self._run.budget.overtime_s)

    @AROUND
    def pytest_runtest_setup(self, item):
        yield from self._heard(item)

    @AROUND
    def pytest_runtest_call(self, item):
        yield from self._heard(item)

    @AROUND
    def pytest_runtest_teardown(self, item):
        yield from self._heard(item)

    def _heard(self, item):
        self._run.alarm.hear(item.nodeid not in self._run.controls)
        try:
            yield
        finally:
            self._run.alarm.hear(False)


class Reports:
    """Tells each phase of each test twice: what was raised, and what the hooks made of it."""

    def __init__(self, run):
        self._run, self._events = run, run.events
        self._made = {}

    @FIRST
    def pytest_runtest_logstart(self, nodeid, location):
        self._run.refused.discard(nodeid)
        self._events.tell("begin", id=nodeid)

    @AROUND
    def pytest_runtest_makereport(self, item, call):
        error = None if call.excinfo is None else call.excinfo.value
        outcome = yield
        if getattr(outcome, "excinfo", None) is not None or item.nodeid in self._run.refused:
            return
        report = outcome.get_result()
        # unittest's plugin puts the real exception into `call` while the hooks run
        error = error if call.excinfo is None else call.excinfo.value
        self._made[(report.nodeid, report.when)] = report.outcome
        self._phase(item.nodeid, report, error)

    def _phase(self, nodeid, report, error):
        told = {"exc": None, "xfail": hasattr(report, "wasxfail"), "text": ""}
        if error is not None and not self._is_skip(error):
            told["exc"] = self._run.describer.describe(error)
        elif report.outcome != "passed":
            told["text"] = reason(report, error)
        duration = getattr(report, "duration", 0.0)
        self._events.tell("phase", id=nodeid, when=report.when, outcome=report.outcome, dur=duration, **told)
        if report.when == "teardown":
            self._events.tell("finish", id=nodeid)

    def _is_skip(self, error):
        return isinstance(error, self._run.pytest.skip.Exception) or type(error).__name__ == "SkipTest"

    @FIRST
    def pytest_runtest_logreport(self, report):
        made = self._made.pop((report.nodeid, report.when), None)
        if made is not None and report.outcome not in (made, "rerun"):
            self._events.tell("changed", id=report.nodeid, when=report.when, outcome=report.outcome)

    @FIRST
    def pytest_internalerror(self, excrepr, excinfo):
        error = getattr(excinfo, "value", None)
        if error is not None:
            exc = self._run.describer.describe(cause(error))
            self._events.tell("fault", kind="internal", exc=exc, text="")


KINDS = (Order, Collection, Budgeted, Interrupted, Reports)


def reason(report, error):
    """Why a phase without an exception to show did not pass."""
    text = getattr(report, "wasxfail", "") or (str(error) if error is not None else "")
    if not text:
        longrepr = report.longrepr
        text = longrepr[-1] if isinstance(longrepr, tuple) else longrepr if isinstance(longrepr, str) else ""
    return clean(str(text))


def cause(error):
    """What stands behind an error of pytest's own."""
    while type(error).__name__ in ("ConftestImportFailure", "CollectError") and error.__cause__ is not None:
        error = error.__cause__
    return error


def chosen(nodeid, wanted):
    """Whether the set `wanted` names this test, its class, its file or a folder above it."""
    if nodeid in wanted or "." in wanted:
        return True
    return any(mark in "/:[" and nodeid[:index] in wanted for index, mark in enumerate(nodeid))


def control_kinds(pytest, module):
    """Classes for the controls' file and items."""

    class Everywhere:
        # A node outside of the tree would be hidden from the conftest files below it.
        @property
        def ihook(self):
            return self.config.hook

        @ihook.setter
        def ihook(self, value):
            pass

    class ControlModule(Everywhere, pytest.Module):
        def _getobj(self):
            return module

    class Control(Everywhere, pytest.Function):
        def repr_failure(self, excinfo, style=None):
            return "the control that must fail has failed"  # a full report of it costs more than the test

    return ControlModule, Control


def make_controls(pytest, session, path, names):
    """Two items of a real file, without the fixtures of the repository, seen by all of its hooks."""
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module_kind, item_kind = control_kinds(pytest, module)
    parent = module_node(module_kind, session, path)
    parent._nodeid = os.path.basename(path)  # looks like any file of the tree to hooks that go by names
    items = []
    for name in names:
        function = getattr(module, name)
        found = session._fixturemanager.getfixtureinfo(parent, function, None)
        bare = type(found)(argnames=(), initialnames=(), names_closure=[], name2fixturedefs={})
        items.append(item_kind.from_parent(parent, name=name, callobj=function, fixtureinfo=bare))
    return items


def module_node(kind, session, path):
    """A Module below the session: by `path` since pytest 7, by `fspath` before."""
    try:
        import pathlib

        return kind.from_parent(session, path=pathlib.Path(path))
    except TypeError:
        import py

        return kind.from_parent(session, fspath=py.path.local(path))


def watch_conftests(events, describer):
    """Tell why a conftest could not be imported: pytest only prints it."""
    from _pytest.config import PytestPluginManager

    original = getattr(PytestPluginManager, "_importconftest", None)
    if original is None:
        return

    def importconftest(*args, **kwargs):
        try:
            return original(*args, **kwargs)
        except Exception as error:
            events.tell("fault", kind="conftest", exc=describer.describe(cause(error)), text="")
            raise

    PytestPluginManager._importconftest = importconftest


def arguments(job):
    """The command line. Ids are asked for by file and chosen after collection: pytest gives up the whole
    run over one id that it does not find."""
    files = []
    for entry in job["select"]:
        path = entry.split("::")[0]
        if path not in files and os.path.exists(path):
            files.append(path)
    if job["select"] and not files:
        files = [job["control_file"]]
    return [*job["options"], "--rootdir", os.getcwd(), *files]


def main():
    job = load_job()
    events = Events(job["events"])
    leave_no_trace(os.getcwd())
    describer = Describer(job)
    try:
        import pytest
    except BaseException as error:
        start(events, "pytest", "")
        events.tell("fault", kind="runner", exc=describer.describe(error), text="pytest cannot be imported")
        return ENVIRONMENT_STATUS
    start(events, "pytest", pytest.__version__)
    args = arguments(job)
    sys.argv[:] = [os.path.join(os.path.dirname(pytest.__file__), "__main__.py"), *args]
    try:
        watch_conftests(events, describer)
        run = Run(pytest, job, events, describer)
        status = int(pytest.main(args, plugins=run.plugins()))
        run.alarm.stop()
    except SystemExit as leaving:  # raised while collecting: pytest reports it, and lets it pass
        status = leaving.code if isinstance(leaving.code, int) else 3
    except Exception as error:
        events.tell("fault", kind="runner", exc=describer.describe(error), text="pytest could not be started")
        status = ENVIRONMENT_STATUS
    events.tell("loaded", items=loaded(job, describer))
    events.tell("end", exit=status)
    return status


if __name__ == "__main__":
    sys.exit(main())

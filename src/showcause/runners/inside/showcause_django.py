"""Runs a Django project's tests (`manage.py test`) or Django's own (`tests/runtests.py`) and tells events.
Started as `PYTHON showcause_django.py JOBFILE`; see showcause.runners.django.

The project's script runs as it is; only DiscoverRunner.run_suite, through which every test of it passes,
is replaced, when `django.test.runner` is imported and not before.
"""

import importlib.abc
import importlib.util
import os
import runpy
import sys

from showcause_describe import Describer
from showcause_events import ENVIRONMENT_STATUS, Budget, Events, leave_no_trace, load_job, start
from showcause_loaded import loaded
from showcause_overtime import Alarm
from showcause_suite import flatten, is_failed_import, names_test, prepare, result_class, try_import

TARGET = "django.test.runner"


class PatchOnImport(importlib.abc.MetaPathFinder):
    """Calls `patch(module)` once the module has been executed by its own loader."""

    def __init__(self, name, patch):
        self._name, self._patch = name, patch

    def find_spec(self, name, path=None, target=None):
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            original = spec.loader.exec_module

            def exec_module(module):
                original(module)
                self._patch(module)

            spec.loader.exec_module = exec_module
        return spec


def label_of(entry):
    """The longest front part of a dotted id, or the dotted form of a file, that is a module below cwd."""
    if entry.endswith(".py"):
        if not os.path.isfile(entry):
            return ""
        name = entry[: -len(".py")].strip("/").replace("/", ".")
        return name[: -len(".__init__")] if name.endswith(".__init__") else name
    parts = entry.split(".")
    for count in range(len(parts), 0, -1):
        base = os.path.join(*parts[:count])
        if os.path.isfile(base + ".py") or os.path.isdir(base):
            return ".".join(parts[:count])
    return ""


def refused_whole(script, arguments):
    """Label of a folder for which the script gives up the whole run, tests of others included."""
    without_gis = not any("gis" in word for word in arguments)
    return "gis_tests" if os.path.basename(script) == "runtests.py" and without_gis else ""


class Hook:
    """What the run needs once Django has built its suite."""

    def __init__(self, job, events, describer):
        self._job, self._events, self._describer = job, events, describer
        self._budget = Budget(job["budget_s"], job["skip"])
        self.labels, self._names = [], []
        refused = refused_whole(job["options"][0], job["options"][1:])
        for entry in job["select"]:
            label = label_of(entry)
            if refused and label.split(".")[0] == refused:
                label = ""
            self._names.append(label if entry.endswith(".py") else entry)
            if label and label not in self.labels:
                self.labels.append(label)
        self._order = {label: place for place, label in enumerate(self.labels)}
        self._wanted_names = frozenset(self._names) - {""}
        self._has_descriptions = any(" " in name for name in self._names)
        events.tell("selected", names=list(zip(job["select"], self._names)))

    def patch(self, module):
        """Replace DiscoverRunner.run_suite in `django.test.runner`."""
        hook = self

        def run_suite(runner, suite, **kwargs):
            return hook.run(module, runner, suite)

        module.DiscoverRunner.run_suite = run_suite

    def run(self, module, runner, suite):
        kwargs = getattr(runner, "get_test_runner_kwargs", dict)()
        kwargs.setdefault("verbosity", runner.verbosity)
        alarm = Alarm()
        kwargs.update(failfast=False, resultclass=result_class(self._events, self._describer, alarm))
        self._tell_broken()
        tests = [test for test in flatten(suite) if not is_failed_import(test)]
        tests.sort(key=self._place)
        prepared = prepare(tests, self._job, self._events, self._budget, alarm, self._wanted)
        return runner.test_runner(**kwargs).run(prepared)

    def _tell_broken(self):
        for label in self.labels:
            try_import(label, self._events, self._describer)

    def _place(self, test):
        """The order of the selection, as far as Django's own allows: what empties the database comes last."""
        from django.test import SimpleTestCase, TestCase, TransactionTestCase

        empties = isinstance(test, TransactionTestCase) and not isinstance(test, TestCase)
        group = 1 if empties else 0 if isinstance(test, SimpleTestCase) else 2
        parts = test.id().split(".")
        names = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
        return group, next((self._order[name] for name in names if name in self._order), len(self._order))

    def _wanted(self, test):
        if not self._names:
            return True
        test_id = test.id()
        if names_test(self._wanted_names, test_id):
            return True
        described = test.shortDescription() if self._has_descriptions else None
        return bool(described) and described in self._wanted_names


def execute(script, arguments):
    """Run a script as `python script arguments` would; its exit status."""
    sys.argv[:] = [script, *arguments]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as leaving:
        code = leaving.code
        return int(code) if isinstance(code, int) else 0 if code is None else 1
    return 0


def main():
    job = load_job()
    events = Events(job["events"])
    script, *arguments = job["options"]
    leave_no_trace(os.path.dirname(os.path.abspath(script)))
    describer = Describer(job)
    start(events, "django", "")
    hook = Hook(job, events, describer)
    sys.meta_path.insert(0, PatchOnImport(TARGET, hook.patch))
    try:
        status = execute(script, [*arguments, *hook.labels])
    except BaseException as error:
        exc = describer.describe(error)
        events.tell("fault", kind="runner", exc=exc, text="%s could not be run" % os.path.basename(script))
        status = ENVIRONMENT_STATUS
    events.tell("loaded", items=loaded(job, describer))
    events.tell("end", exit=status)
    return status


if __name__ == "__main__":
    sys.exit(main())

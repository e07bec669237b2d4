"""Writes the events of a run; runs in the project's interpreter (3.7 to 3.13, standard library only).

One `os.write` an event, to a file opened for appending before any code of the project is loaded: what
was told stays told, whatever kills the interpreter afterwards. Children that the tests fork share the
descriptor and are not heard.
"""

import json
import os
import sys
import time

sys.dont_write_bytecode = True

ENVIRONMENT_STATUS = 70  # "the runner itself could not be started": see showcause.runners.state


class Events:
    """The event file of this run."""

    def __init__(self, path):
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o644)
        self._pid = os.getpid()
        # The project's tests may patch these: what was there at the start is kept.
        self._write, self._dumps, self._getpid = os.write, json.dumps, os.getpid

    def tell(self, event, **fields):
        """Write one event. Text may hold anything: it is escaped to ASCII."""
        if self._getpid() != self._pid:
            return
        fields["ev"] = event
        line = (self._dumps(fields) + "\n").encode("ascii")
        while line:
            line = line[self._write(self._fd, line) :]


COLLECTION_SHARE = 0.5  # of the budget; a large suite may take longer to import than to run


class Budget:
    """Says when, and why, a test must not be started."""

    def __init__(self, seconds, skip):
        self._now = time.monotonic
        self._seconds, self._skip = seconds, frozenset(skip)
        self._end = self._now() + seconds
        self._end_of_collection = self._now() + seconds * COLLECTION_SHARE

    @property
    def overtime_s(self):
        """Seconds from now until a test that is still under way is ended: more than the budget, so that
        what began in time may end."""
        return self._end - self._now() + max(2.0, min(10.0, self._seconds / 5))

    def refuses(self, test_id):
        """Why `test_id` is not to be started, or ""."""
        if test_id in self._skip:
            return "skipped on request: it hung or crashed an earlier run"
        if self._now() >= self._end:
            return "the time budget of %g s was used up" % self._seconds
        return ""

    def refuses_to_collect(self):
        """Whether no further file is to be imported: what was collected needs the rest of the time."""
        return self._now() >= self._end_of_collection


def load_job():
    """The job file named on the command line."""
    with open(sys.argv[1], encoding="utf-8") as file:
        return json.load(file)


def leave_no_trace(first):
    """Make `sys.path` what it would be without us: our folder goes, `first` takes its place."""
    here = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == here:
        sys.path[0] = first
    else:  # -P or PYTHONSAFEPATH: nothing was put in front
        sys.path[:] = [entry for entry in sys.path if not entry or os.path.abspath(entry) != here]


def clean(text, limit=2000):
    """`text` cut to `limit` characters, without lone surrogates."""
    if len(text) > limit:
        text = text[:limit] + "..."
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def start(events, runner, runner_version):
    """The first event: what runs where."""
    events.tell(
        "start",
        runner=runner,
        runner_version=str(runner_version),
        python="%d.%d.%d" % sys.version_info[:3],
        prefix=os.path.realpath(sys.prefix),
        pid=os.getpid(),
    )

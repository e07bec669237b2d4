"""Ends a test that goes on after the time budget, so that it does not take the whole run with it.

A process of its own sends a signal that nobody else uses, when the time has come: timers, SIGALRM and
threads would be seen by the tests, or used by them. The handler raises where the test stands. What
does not come back to the interpreter, or catches everything, is left to the limit of the whole run.
"""

import os
import signal
import time
import warnings

SIGNAL = getattr(signal, "SIGRTMAX", None)  # Linux
RINGS, APART_S = 3, 3.0  # a teardown may hang as well, and an except clause swallow one
POLL_S = 0.2


class Overtime(BaseException):
    """The test under way was not over when the time was. No `except Exception` stops it."""


class Alarm:
    """Rings once the time is over. It is heard inside `during` only."""

    def __init__(self):
        self._heard = False
        self._watcher = 0

    def start(self, after_s):
        """Ring that many seconds from now; call it in the main thread."""
        if SIGNAL is not None and signal.getsignal(SIGNAL) is signal.SIG_DFL:
            signal.signal(SIGNAL, self._ring)
            try:
                self._watcher = start_watcher(os.getpid(), after_s)
            except OSError:
                pass  # no process to be had: the limit of the whole run is left

    def stop(self):
        """No ring from here on, and no watcher."""
        if self._watcher:
            signal.signal(SIGNAL, signal.SIG_IGN)
            try:
                os.kill(self._watcher, signal.SIGKILL)
            except OSError:
                pass  # it has rung, and gone
            self._watcher = 0

    def hear(self, is_on):
        """Whether code of a test runs: elsewhere an exception would break the runner."""
        self._heard = is_on

    def _ring(self, number, frame):
        if self._heard:
            raise Overtime("still running when the time budget was used up")


def start_watcher(pid, after_s):
    """The id of a process that sends the signal to `pid`. It is nobody's child that a test could wait for."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads: all that the child calls is safe beside them
        between = os.fork()
    if between == 0:
        watcher = os.fork()
        if watcher == 0:
            os._exit(watch(pid, time.monotonic() + after_s))
        os.write(write, b"%d" % watcher)
        os._exit(0)
    os.waitpid(between, 0)
    os.close(write)
    told = os.read(read, 20)
    os.close(read)
    return int(told or 0)


def watch(pid, at):
    """The watcher: it holds no output of the run open, and ends with the run."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    try:
        for ring in range(RINGS):
            while time.monotonic() < at + ring * APART_S:
                time.sleep(POLL_S)
                os.kill(pid, 0)
            os.kill(pid, SIGNAL)
    except OSError:
        pass  # the run is over
    return 0

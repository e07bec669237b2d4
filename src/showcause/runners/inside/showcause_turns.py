"""Runs programs one after the other and tells how each ended, so that they share one sandbox. Started as
`PYTHON -I -S showcause_turns.py JOBFILE` by an interpreter of ours; see showcause.checks.static.turns.

The job: `most bytes of a file`, then for each program `limit in seconds`, `number of words` and its words,
all apart by NUL. Each gets a line `HOW NUMBER SECONDS BYTES BYTES` on standard output, and what it wrote
to standard output and error, as long as was told. What one writes is out of reach of the next. Only what
the interpreter has loaded anyway is imported: this is to cost less than another sandbox.
"""

import os
import resource
import sys
import time

POLL_S = 0.002
KILL, PIPE, FILE_SIZE = 9, 13, 25  # signals


def main(path):
    with open(path, "rb") as file:
        most, *words = file.read().split(b"\0")
    limit_files(int(most))
    while words:
        limit_s, count = float(words[0]), int(words[1])
        run_one(words[2 : 2 + count], limit_s, path)
        words = words[2 + count :]


def limit_files(most):
    """No file that is written may grow beyond that: a program that floods its output gets a signal."""
    _, allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
    most = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def run_one(argv, limit_s, path):
    """Run a program, and tell."""
    began = time.monotonic()
    stdout, stderr = unreachable(path + ".out"), unreachable(path + ".err")
    how, number = ending(argv, limit_s, stdout, stderr)
    outputs = [content(stdout), content(stderr)]
    sizes = "%d %d" % tuple(map(len, outputs))
    line = "%s %d %f %s\n" % (how, number, time.monotonic() - began, sizes)
    sys.stdout.buffer.write(b"".join([line.encode(), *outputs]))
    sys.stdout.buffer.flush()


def ending(argv, limit_s, stdout, stderr):
    """Start it, and wait until it ends or its time is over; what it started ends with it."""
    nothing = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    actions = [nothing, (os.POSIX_SPAWN_DUP2, stdout, 1), (os.POSIX_SPAWN_DUP2, stderr, 2)]
    try:
        pid = os.posix_spawn(
            argv[0], argv, os.environ, file_actions=actions, setpgroup=0, setsigdef=(PIPE, FILE_SIZE)
        )
    except OSError as error:
        os.write(stderr, os.fsencode("%s: %s" % (os.fsdecode(argv[0]), error.strerror)))
        return "unstarted", error.errno
    status = waited(pid, limit_s)
    try:
        os.killpg(pid, KILL)
    except OSError:
        pass  # all of it had ended
    if status is None:
        os.waitpid(pid, 0)
        return "timeout", 0
    return ("signalled", os.WTERMSIG(status)) if os.WIFSIGNALED(status) else ("exited", os.WEXITSTATUS(status))


def waited(pid, limit_s):
    """The status of the process, or None if it runs on."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return status
        time.sleep(POLL_S)
    return None


def unreachable(path):
    """A file without a name."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(path)
    return descriptor


def content(descriptor):
    with open(descriptor, "rb") as file:
        file.seek(0)
        return file.read()


if __name__ == "__main__":
    main(sys.argv[1])

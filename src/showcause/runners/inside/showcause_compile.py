"""Compiles files with the running interpreter, and runs none of them. Started as `PYTHON
showcause_compile.py JOBFILE`, with the project's interpreter (3.7 to 3.14, standard library only); see
showcause.checks.static.running.

The job holds `root` and `paths`. Each path gets one event `compiled`: `line` and `message` of the syntax
error, both empty if there is none, or `why` it cannot be told.
"""

import os
import sys
import warnings

from showcause_events import Events, clean, leave_no_trace, load_job, start


def compiled(path, name):
    """What is told of one file."""
    try:
        with open(path, "rb") as stream:
            compile(stream.read(), name, "exec", dont_inherit=True)
    except SyntaxError as error:
        return {"line": error.lineno or 1, "message": clean(str(error.msg))}
    except ValueError as error:  # a NUL, before 3.12
        return {"line": 1, "message": clean(str(error))}
    except Exception as error:
        return {"why": clean("%s: %s" % (type(error).__name__, error))}
    return {"line": 0, "message": ""}


def main():
    job = load_job()
    events = Events(job["events"])
    leave_no_trace(os.getcwd())
    warnings.simplefilter("ignore")
    start(events, "compile", "")
    for path in job["paths"]:
        events.tell("compiled", path=path, **compiled(os.path.join(job["root"], path), path))
    events.tell("end", exit=0)
    return 0


if __name__ == "__main__":
    sys.exit(main())

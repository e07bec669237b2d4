"""Imports modules one after another and tells how each ended. Started as `PYTHON showcause_imports.py
JOBFILE`; see showcause.runners.imports."""

import importlib
import os
import sys

from showcause_describe import Describer
from showcause_events import Budget, Events, leave_no_trace, load_job, start
from showcause_loaded import loaded


def is_package_member(root, path, name):
    """Whether the file is there, and its own folder is a package or a source folder itself."""
    full = os.path.join(root, path)
    if not os.path.isfile(full):
        return False
    nested = "." in name or path.endswith("/__init__.py")
    return not nested or os.path.isfile(os.path.join(os.path.dirname(full), "__init__.py"))


def attempt(events, describer, item_id, name):
    """Import one module and tell."""
    events.tell("begin", id=item_id)
    told = {"outcome": "passed"}
    try:
        importlib.import_module(name)
    except BaseException as error:
        told = {"outcome": "failed", "exc": describer.describe(error)}
    events.tell("phase", id=item_id, when="import", **told)
    events.tell("finish", id=item_id)
    return not told.get("exc")


def controls(job, events, describer):
    """A module that raises and one that does not, by the same door."""
    fails, passes = job["controls"]
    folder = os.path.join(job["out_dir"], "controls-" + job["nonce"])
    os.makedirs(folder, exist_ok=True)
    for name, text in ((fails, "raise AssertionError('control')\n"), (passes, "value = 1\n")):
        with open(os.path.join(folder, name + ".py"), "w", encoding="utf-8") as file:
            file.write(text)
    events.tell("controls", ids=["import " + fails, "import " + passes])
    sys.path.append(folder)
    importlib.invalidate_caches()
    ended = [attempt(events, describer, "import " + name, name) for name in (fails, passes)]
    sys.path.remove(folder)
    return all(ended)


def main():
    job = load_job()
    events = Events(job["events"])
    leave_no_trace(os.getcwd())
    describer = Describer(job)
    start(events, "imports", "")
    for source in reversed(job["sources"]):
        folder = os.path.join(job["root"], source).rstrip("/")
        if folder not in sys.path:
            sys.path.insert(0, folder)
    sys.argv[:] = [""]
    named = [entry.split("\n") for entry in job["options"]]
    there = [(path, name if is_package_member(job["root"], path, name) else "") for path, name in named]
    events.tell("selected", names=there)
    ids = [("import " + name, name) for _, name in there if name]
    events.tell("collected", ids=[[item_id, ""] for item_id, _ in ids])
    budget, good = Budget(job["budget_s"], job["skip"]), True
    for item_id, name in ids:
        why = budget.refuses(item_id)
        if why:
            events.tell("not_run", id=item_id, why=why)
        else:
            good = attempt(events, describer, item_id, name) and good
    status = 0 if controls(job, events, describer) and good else 1
    events.tell("loaded", items=loaded(job, describer))
    events.tell("end", exit=status)
    return status


if __name__ == "__main__":
    sys.exit(main())

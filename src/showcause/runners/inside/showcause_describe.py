"""Describes an exception from the object itself, never from printed text.

What is reported: the type and its bases, the message, the frames, and *who lacks the name* where a name,
attribute, module or parameter is missing (`owner`: the file that defines the module, class or function).
Judging is the host's: see showcause.runners.failures.
"""

import builtins
import inspect
import os
import re
import sys
import types

from showcause_events import clean

_KEEP_LAST, _KEEP_FIRST = 40, 4
_SIGNATURE = re.compile(
    r"^([\w.<>]+)\(\) (?:got an unexpected keyword|got some positional-only|got multiple values"
    r"|missing \d+ required|takes )"
)
_MODULE_LACKS = re.compile(r"<?module '([\w.]+)'.*(?:has no attribute|does not have the attribute)", re.S)
_CLASS_LACKS = re.compile(r"<class '([\w.]+)\.\w+'>.*(?:has no attribute|does not have the attribute)", re.S)
_OBJECT_LACKS = re.compile(r"^(?:type object )?'([\w.]+)'(?: object)? has no attribute")


class Describer:
    """Knows the tree, and so how to name files of it."""

    def __init__(self, job):
        self._root = os.path.realpath(job["root"])
        self._cwd = os.getcwd()
        self._sources = job["sources"]
        self._touched = job["touched"]
        self._names = {}

    def place(self, file):
        """A file's path relative to the root if it is inside, else its real path; <names> as they are."""
        if not file or file.startswith("<"):
            return file or ""
        if file not in self._names:
            real = os.path.realpath(os.path.join(self._cwd, file))
            inside = real == self._root or real.startswith(self._root.rstrip(os.sep) + os.sep)
            self._names[file] = os.path.relpath(real, self._root) if inside else real
        return self._names[file]

    def describe(self, error, depth=0):
        """A JSON-able description of `error`; never raises."""
        try:
            return self._describe(error, depth)
        except Exception as trouble:  # an exception object can lie about anything
            kind = type(error).__name__
            return {
                "type": kind,
                "mro": [kind],
                "message": "not describable: %s" % type(trouble).__name__,
                "frames": [],
            }

    def _describe(self, error, depth):
        trail = _trail(error)
        told = {
            "type": type(error).__name__,
            "mro": ["%s.%s" % (kind.__module__, kind.__qualname__) for kind in type(error).__mro__[:-1]],
            "message": clean(_text(error)),
            "frames": self._frames(trail),
            "defined": self._module_file(type(error).__module__),
            "chain": self._chain(error),
        }
        name = getattr(error, "name", None)
        if isinstance(name, str):
            told["name"] = clean(name, 200)
        if isinstance(error, SyntaxError) and error.filename:
            told["syntax"] = [self.place(str(error.filename)), error.lineno or 0]
        if isinstance(error, OSError):
            told["errno"] = error.errno
            if isinstance(error.filename, (str, bytes)):
                told["filename"] = clean(self.place(os.fsdecode(error.filename)))
                told["bare"] = os.sep not in os.fsdecode(error.filename)
        owner = self._owner(error, trail[-1] if trail else None)
        if owner:
            told["owner"] = owner
        members = getattr(error, "exceptions", None)
        if isinstance(members, (tuple, list)) and depth < 3:
            told["group"] = [
                self.describe(each, depth + 1) for each in members[:20] if isinstance(each, BaseException)
            ]
        return told

    def _frames(self, trail):
        frames = [[self.place(frame.f_code.co_filename), line, frame.f_code.co_name] for frame, line in trail]
        frames = [each for each in frames[:-1] if not _is_machinery(each[0])] + frames[-1:]
        if len(frames) <= _KEEP_LAST + _KEEP_FIRST:
            return frames
        early = [each for each in frames[:-_KEEP_LAST] if not os.path.isabs(each[0])]
        return early[:_KEEP_FIRST] + frames[-_KEEP_LAST:]

    def _chain(self, error):
        """The types that stand behind it, nearest first."""
        seen, told = {id(error)}, []
        while len(told) < 10:
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
            if error is None or id(error) in seen:
                break
            seen.add(id(error))
            told.append(["%s.%s" % (kind.__module__, kind.__qualname__) for kind in type(error).__mro__[:-1]])
        return told

    # ---- who lacks the name

    def _owner(self, error, last):
        if isinstance(error, ModuleNotFoundError):
            return self._package(error.name or "")
        if isinstance(error, ImportError):
            return self.place(error.path) if error.path else self._module_file(error.name or "")
        if isinstance(error, AttributeError):
            return self._lacks_attribute(error, last)
        if isinstance(error, TypeError) and last is not None:
            return self._lacks_parameter(str(error), last[0])
        return ""

    def _package(self, name):
        """Where the tree has (or the patch adds or removes) the top package of a missing module."""
        top = name.split(".")[0]
        if not top:
            return ""
        for source in self._sources:
            base = os.path.join(source, top) if source else top
            for path in (base, base + ".py"):
                if os.path.exists(os.path.join(self._root, path)):
                    return path
            if any(path == base + ".py" or path.startswith(base + "/") for path in self._touched):
                return base
        return ""

    def _module_file(self, name):
        module = sys.modules.get(name)
        file = getattr(module, "__file__", None) if isinstance(module, types.ModuleType) else None
        if isinstance(file, str):
            return self.place(file)
        path = list(getattr(module, "__path__", [])) if isinstance(module, types.ModuleType) else []
        return self.place(path[0]) if path and isinstance(path[0], str) else ""

    def _lacks_attribute(self, error, last):
        if getattr(error, "name", None) is not None and hasattr(error, "obj"):
            return self._defines(error.obj)
        text = str(error)
        for pattern in (_MODULE_LACKS, _CLASS_LACKS):
            found = pattern.search(text)
            if found:
                return self._module_file(found.group(1))
        found = _OBJECT_LACKS.match(text)
        if found is None or last is None:
            return ""
        kinds = (each if isinstance(each, type) else type(each) for each in _values(last[0]))
        return self._one(
            self._module_file(kind.__module__) for kind in kinds if kind.__name__ == found.group(1)
        )

    def _defines(self, thing):
        if isinstance(thing, types.ModuleType):
            return self._module_file(thing.__name__)
        code = getattr(thing, "__code__", None)
        if isinstance(code, types.CodeType):
            return self.place(code.co_filename)
        kind = thing if isinstance(thing, type) else type(thing)
        return self._module_file(kind.__module__)

    def _lacks_parameter(self, text, frame):
        found = _SIGNATURE.match(text)
        if found is None:
            return ""
        name = found.group(1)
        homes = []
        for value in _values(frame):
            for function in _functions(value):
                if name in (function.__qualname__, function.__name__):
                    homes.append(self._function_home(function))
        return self._one(homes or self._in_tree(name))

    def _in_tree(self, qualified):
        """Files of the tree whose class has the method `Class.method`, where no name leads to it."""
        first, dot, rest = qualified.partition(".")
        for name, module in list(sys.modules.items()) if dot else ():
            if not isinstance(module, types.ModuleType):
                continue
            kind = vars(module).get(first)
            file = vars(module).get("__file__")
            if not isinstance(kind, type) or kind.__module__ != name or not isinstance(file, str):
                continue
            if inspect.getattr_static(kind, rest, None) is not None:
                yield self.place(file)

    def _function_home(self, function):
        file = function.__code__.co_filename
        return self._module_file(function.__module__) if file.startswith("<") else self.place(file)

    @staticmethod
    def _one(homes):
        """The one place named; "" where there is none, or where there are several."""
        homes = set(homes)
        return homes.pop() if len(homes) == 1 else ""


def _is_machinery(path):
    """Frames of an installed pytest, which stand above all others."""
    return os.path.isabs(path) and ("/_pytest/" in path or "/pluggy/" in path)


def _text(error):
    try:
        return str(error)
    except Exception:
        return "(its text could not be made)"


def _trail(error):
    """The frames of the traceback, outermost first, without those of the import system."""
    trail, step = [], error.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if not file.startswith("<frozen importlib") and not file.endswith("importlib/__init__.py"):
            trail.append((step.tb_frame, step.tb_lineno or 0))
        step = step.tb_next
    return trail


def _values(frame):
    """What the names in a frame's code stand for, and their attributes of such names (nothing is called)."""
    code, found = frame.f_code, []
    for name in (*code.co_varnames, *code.co_names, *code.co_cellvars, *code.co_freevars):
        for space in (frame.f_locals, frame.f_globals, vars(builtins)):
            if name in space:
                found.append(space[name])
                break
    level = list(found)
    for _ in range(3):  # client.config.from_file is three deep
        level = [each for value in level for each in _attributes(value, code.co_names)][:500]
        found += level
    return found


def _attributes(value, names):
    for name in names:
        try:
            yield inspect.getattr_static(value, name)
        except Exception:
            continue


def _functions(value):
    """The Python functions that calling `value` may enter."""
    if isinstance(value, type):
        candidates = [
            inspect.getattr_static(value, name, None) for name in ("__init__", "__new__", "__call__")
        ]
    else:
        candidates = [value, inspect.getattr_static(type(value), "__call__", None)]
    for each in [getattr(candidate, "__func__", candidate) for candidate in candidates]:
        if isinstance(each, types.FunctionType):
            yield each
            inner = getattr(each, "__wrapped__", None)
            if isinstance(inner, types.FunctionType):
                yield inner

"""Asks the running interpreter whether what a static checker says is so. Started as `PYTHON
showcause_confirm.py JOBFILE`, with the project's interpreter (3.7 to 3.14, standard library only); see
showcause.checks.static.confirming.

The job holds `questions`, each with an `id` and a `sort`. Each gets one event `answer`: `holds` (the fault
is there), `absent` (it is not), or `unknown` (it cannot be told from here), and why. At the end stands
what was loaded for the files that the questions are about.
"""

import ast
import builtins
import dis
import importlib
import inspect
import os
import sys
import traceback
import types
import warnings
from abc import ABCMeta

from showcause_describe import Describer
from showcause_events import Events, clean, leave_no_trace, load_job, start
from showcause_loaded import loaded, module_file

_LOOKUPS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_ORDINARY = (object, dict, list, tuple, set, frozenset, str, bytes, int, float, BaseException, Exception)
_RESTORING = ("__setstate__", "__getstate__", "__copy__", "__deepcopy__", "__reduce__", "__repr__", "__eq__")
_WRITERS = ("setattr", "vars", "__dict__")


class Unknown(Exception):
    """The question cannot be answered; the message says why."""


class Interpreter:
    """Answers questions; modules are imported once, and what their import did is kept."""

    def __init__(self, job):
        self._root = os.path.realpath(job["root"])
        self._failed = {}

    def answer(self, question):
        """("holds" | "absent" | "unknown", why)."""
        try:
            holds, why = getattr(self, "_" + question["sort"])(question)
        except Unknown as unknown:
            return "unknown", str(unknown)
        except BaseException as error:
            return "unknown", "%s: %s" % (type(error).__name__, error)
        return ("holds" if holds else "absent"), why

    # ------------------------------------------------------------ modules

    def _load(self, name):
        """The module, or Unknown. An import is tried once."""
        if name not in self._failed:
            try:
                importlib.import_module(name)
                self._failed[name] = None
            except BaseException as error:
                self._failed[name] = error
        error = self._failed[name]
        if error is not None:
            raise Unknown("importing %s fails: %s: %s" % (name, type(error).__name__, error))
        return sys.modules[name]

    def _own(self, name):
        module = self._load(name)
        if not self._is_inside(module):
            raise Unknown("%s was loaded from outside the tree" % name)
        return module

    def _is_inside(self, module):
        file = module_file(module)
        places = [file] if file else [str(path) for path in getattr(module, "__path__", [])]
        inside = [os.path.realpath(p).startswith(self._root + os.sep) for p in places]
        return bool(inside) and all(inside)

    # ------------------------------------------------------------ the questions

    def _undefined(self, question):
        name, file = question["name"], os.path.join(self._root, question["path"])
        try:
            module = self._own(question["module"])
        except Unknown:
            error = self._failed.get(question["module"])
            if self._is_that_name_error(error, name, file, question["line"]):
                return True, "importing %s raises NameError: %s" % (question["module"], error)
            raise
        if name in vars(module) or hasattr(builtins, name):
            return False, "%s has it once it is imported" % question["module"]
        if not _looks_up(file, name, question["line"]):
            raise Unknown("the compiled line does not look %s up as a global name" % name)
        return True, "%s can be imported, and %s is neither in it nor a builtin" % (question["module"], name)

    def _is_that_name_error(self, error, name, file, line):
        if not isinstance(error, NameError) or isinstance(error, UnboundLocalError):
            return False
        frames = traceback.extract_tb(error.__traceback__)
        last = frames[-1] if frames else None
        there = last is not None and os.path.realpath(last.filename) == os.path.realpath(file)
        return there and last.lineno == line and ("'%s'" % name) in str(error)

    def _export(self, question):
        module, name = self._own(question["module"]), question["name"]
        if name not in list(getattr(module, "__all__", ())):
            return False, "its __all__ does not hold it"
        try:
            exec("from %s import *" % question["module"], {})
        except AttributeError as error:
            return ("'%s'" % name) in str(error), str(error)
        return False, "the star import works"

    def _module(self, question):
        target = question["target"]
        if self._imports(question):
            return False, "%s, which imports it at its top, can be imported" % question["module"]
        parent = target.rpartition(".")[0]
        if parent:
            self._own(parent)
        try:
            importlib.import_module(target)
        except ModuleNotFoundError as error:
            return error.name == target, "%s" % error
        except BaseException as error:
            raise Unknown("importing %s fails: %s: %s" % (target, type(error).__name__, error))
        return False, "%s can be imported" % target

    def _member(self, question):
        target, name = question["target"], question["name"]
        if self._imports(question):
            return False, "%s, which imports it at its top, can be imported" % question["module"]
        try:
            module = self._own(target)
        except Unknown:
            error = self._failed.get(target)
            if _is_that_import_error(error, target, name):
                return True, "importing %s fails: %s" % (target, error)
            raise
        return self._lacks(module, target, name)

    def _imports(self, question):
        """Whether the importing module, whose top holds the import, can be imported: then it is no fault."""
        try:
            self._load(question["module"])
        except Unknown:
            return False
        return question["at_top"]

    def _lacks(self, module, target, name):
        if hasattr(module, name):
            return False, "%s has %s" % (target, name)
        if hasattr(module, "__path__"):
            try:
                importlib.import_module(target + "." + name)
            except ModuleNotFoundError as error:
                if error.name != target + "." + name:
                    raise Unknown("importing %s.%s fails: %s" % (target, name, error))
            else:
                return False, "%s.%s is a module" % (target, name)
        return True, "%s can be imported, and has no %s" % (target, name)

    def _module_attribute(self, question):
        self._own(question["module"])
        return self._lacks(self._own(question["target"]), question["target"], question["name"])

    def _class_attribute(self, question):
        cls, name = self._class(question), question["name"]
        _plain(cls)
        if _has(cls, name):
            return False, "%s has %s" % (cls.__qualname__, name)
        if "Mixin" in cls.__name__:
            raise Unknown("%s is meant to be mixed with other classes" % cls.__qualname__)
        for part in cls.__mro__[:-1]:
            self._sets_nothing(part, name)
        for below in _subclasses(cls):
            if _has(below, name):
                raise Unknown("its subclass %s has it" % below.__qualname__)
        return True, "no class of %s has %s, and none sets it" % (cls.__qualname__, name)

    def _sets_nothing(self, cls, name):
        """Unknown if instances may get the attribute in another way than by the class."""
        if cls in _ORDINARY:
            return
        for hook in ("__getattr__", "__getattribute__"):
            if hook in vars(cls):
                raise Unknown("%s has %s" % (cls.__qualname__, hook))
        for node in _walk(_class_source(cls)):
            if isinstance(node, ast.Attribute) and node.attr == name and not isinstance(node.ctx, ast.Load):
                raise Unknown("%s sets it" % cls.__qualname__)
            used = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
            if used in _WRITERS:
                raise Unknown("%s sets attributes by %s" % (cls.__qualname__, used))

    def _call(self, question):
        if question.get("method"):
            return self._method_call(question)
        callee = self._evaluate(question)
        if isinstance(callee, type):
            _plain(callee)
        return _refused(callee, question, 0)

    def _method_call(self, question):
        cls = self._class(question)
        _plain(cls)
        classes = [cls] + [below for below in _subclasses(cls) if question["method"] in vars(below)]
        whys = []
        for one in classes:
            found = inspect.getattr_static(one, question["method"])
            extra = 0 if isinstance(found, staticmethod) else 1
            function = getattr(found, "__func__", found)
            if not isinstance(function, types.FunctionType):
                raise Unknown("%s.%s is no plain method" % (one.__qualname__, question["method"]))
            refused, why = _refused(function, question, extra)
            if not refused:
                return False, "%s.%s takes it" % (one.__qualname__, question["method"])
            whys.append(why)
        return True, whys[0]

    def _abstract(self, question):
        cls = self._evaluate(question)
        if not isinstance(cls, type) or not self._is_inside(sys.modules.get(cls.__module__)):
            raise Unknown("%s is no class of the tree" % question["callee"])
        if any("__new__" in vars(part) for part in cls.__mro__[:-1] if part.__module__ != "typing"):
            raise Unknown("%s makes its instances itself" % cls.__qualname__)
        names = ", ".join(sorted(getattr(cls, "__abstractmethods__", ())))
        return inspect.isabstract(cls), "%s is abstract: %s" % (cls.__qualname__, names)

    # ------------------------------------------------------------ finding things

    def _evaluate(self, question):
        """The callee: a dotted name in the globals of its module, or of what a local import gives."""
        space = vars(self._own(question["module"]))
        parts = question["callee"].split(".")
        via = question.get("via")
        if via:
            module = self._own(via["module"])
            value = module if not via["name"] else getattr(module, via["name"], None)
            if value is None:
                value = self._own(via["module"] + "." + via["name"])
        elif parts[0] in space:
            value = space[parts[0]]
        else:
            raise Unknown("%s is not in the globals of its module" % parts[0])
        for part in parts[1:]:
            value = getattr(value, part)
        home = sys.modules.get(getattr(value, "__module__", None) or "")
        if home is None or not self._is_inside(home):
            raise Unknown("%s is not defined in the tree" % question["callee"])
        return value

    def _class(self, question):
        """The class of that name: in the module, or the only one of the tree that is called so."""
        module, name = self._own(question["module"]), question["class"]
        value = module
        for part in name.split("."):
            value = getattr(value, part, None)
        found = [value] if isinstance(value, type) else self._named(name)
        if len(found) != 1:
            raise Unknown("%d classes are called %s" % (len(found), name))
        if not self._is_inside(sys.modules.get(found[0].__module__)):
            raise Unknown("%s is not a class of the tree" % name)
        return found[0]

    def _named(self, name):
        found = []
        for label, module in list(sys.modules.items()):
            if isinstance(module, types.ModuleType) and self._is_inside(module):
                value = vars(module).get(name)
                if isinstance(value, type) and value.__module__ == label and value not in found:
                    found.append(value)
        return found


def _is_that_import_error(error, module, name):
    """Whether an import fails for the very name; a module that is half loaded may get it later."""
    if not isinstance(error, ImportError) or isinstance(error, ModuleNotFoundError) or error.name != module:
        return False
    told = str(error)
    return told.startswith("cannot import name '%s' from" % name) and "partially initialized" not in told


def _looks_up(file, name, line):
    """Whether the code of that line asks for a global name: not a local, not one that is never evaluated."""
    with open(file, "rb") as stream:
        todo = [compile(stream.read(), file, "exec", dont_inherit=True)]
    while todo:
        code = todo.pop()
        todo += [const for const in code.co_consts if isinstance(const, types.CodeType)]
        now = code.co_firstlineno
        for step in dis.get_instructions(code):
            told = getattr(step, "line_number", None) if hasattr(step, "line_number") else step.starts_line
            now = told or now
            if now == line and step.opname in _LOOKUPS and step.argval == name:
                return True
    return False


def _walk(node):
    """All nodes but those of methods that restore or show what instances have anyway."""
    yield node
    for child in ast.iter_child_nodes(node):
        if getattr(child, "name", "") not in _RESTORING:
            yield from _walk(child)


def _plain(cls):
    if type(cls) not in (type, ABCMeta):
        raise Unknown("%s has a metaclass of its own" % cls.__qualname__)


def _has(cls, name):
    for part in cls.__mro__:
        if name in vars(part) or name in (getattr(part, "__annotations__", None) or {}):
            return True
    return False


def _subclasses(cls):
    found, todo = [], [cls]
    while todo:
        for below in type.__subclasses__(todo.pop()):
            if below not in found:
                found.append(below)
                todo.append(below)
    return found


def _class_source(cls):
    """The statement that defines the class, or Unknown. By name: line numbers of classes are not kept."""
    module = sys.modules.get(cls.__module__)
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):
        raise Unknown("there is no source of %s" % cls.__qualname__)
    found = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == cls.__name__]
    if not found:
        raise Unknown("the source of %s was not found" % cls.__qualname__)
    return ast.Module(body=found, type_ignores=[])


def _refused(callee, question, extra):
    """Whether the callee cannot be called so. Wrappers count as what they are, not as what they wrap."""
    if hasattr(callee, "__signature__"):
        raise Unknown("%s states a signature of its own" % question["callee"])
    try:
        signature = inspect.signature(callee, follow_wrapped=False)
    except ValueError:
        raise Unknown("%s has no signature that can be read" % question["callee"])
    try:
        signature.bind(*[None] * (question["positional"] + extra), **dict.fromkeys(question["keywords"]))
    except TypeError as error:
        return True, "%s%s cannot be called so: %s" % (question["callee"], signature, error)
    return False, "%s%s takes it" % (question["callee"], signature)


def main():
    job = load_job()
    events = Events(job["events"])
    leave_no_trace(os.getcwd())
    warnings.simplefilter("ignore")
    describer = Describer(job)
    start(events, "confirm", "")
    for source in reversed(job["sources"]):
        folder = os.path.join(job["root"], source).rstrip("/")
        if folder not in sys.path:
            sys.path.insert(0, folder)
    sys.argv[:] = [""]
    interpreter = Interpreter(job)
    for question in job["questions"]:
        answer, why = interpreter.answer(question)
        events.tell("answer", id=question["id"], answer=answer, why=clean(str(why)))
    events.tell("loaded", items=loaded(job, describer))
    events.tell("end", exit=0)


if __name__ == "__main__":
    main()

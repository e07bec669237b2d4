"""Proof of what a run loaded: for every path that the patch touches, the modules that came from it, or
that came from elsewhere under its name. Only facts are told; showcause.runners.loaded judges them.

Byte code: a cache entry that the import system would accept is taken to have been used, and its code is
compared with that of the source compiled now. Equality of code objects covers names, constants,
instructions and line tables of all nested functions, so stale byte code of the same size and the same
second shows.
"""

import hashlib
import importlib.util
import marshal
import os
import sys


def loaded(job, describer):
    """One entry for each (touched Python path, module)."""
    finder = _Finder(job, describer)
    return [
        entry for path in sorted(job["touched"]) if path.endswith(".py") for entry in finder.entries(path)
    ]


def module_names(path, sources):
    """Dotted names under which `path` is importable, one for each source folder above it."""
    names = []
    for source in sources:
        prefix = source.rstrip("/") + "/" if source else ""
        if not path.startswith(prefix):
            continue
        parts = path[len(prefix) : -len(".py")].split("/")
        if parts[-1] == "__init__":
            parts.pop()
        name = ".".join(parts)
        if parts and all(part.isidentifier() for part in parts) and name not in names:
            names.append(name)
    return names


def module_file(module):
    """`__file__` as the module itself says, with no attribute hook of it run."""
    try:
        space = object.__getattribute__(module, "__dict__")
    except Exception:
        return None
    file = space.get("__file__") if isinstance(space, dict) else None
    return file if isinstance(file, str) else None


class _Finder:
    def __init__(self, job, describer):
        self._place = describer.place
        self._root = os.path.realpath(job["root"])
        self._sources, self._touched = job["sources"], job["touched"]
        self._stdlib = None
        self._modules = {name: module for name, module in list(sys.modules.items()) if module is not None}
        self._by_base = {}
        for name, module in self._modules.items():
            file = module_file(module)
            if file:
                self._by_base.setdefault(os.path.basename(file), []).append((name, file))

    def entries(self, path):
        real = os.path.realpath(os.path.join(self._root, path))
        told, seen = [], set()
        for name in module_names(path, self._sources):
            file = module_file(self._modules[name]) if name in self._modules else None
            if file and not self._is_stdlib(file):
                told.append(self._entry(path, name, file, real))
                seen.add(name)
        for name, file in self._by_base.get(os.path.basename(path), ()):
            if name not in seen and os.path.realpath(file) == real:
                told.append(self._entry(path, name, file, real))
        return told or self._parents(path)

    def _parents(self, path):
        """The package that a module would be looked for in, if that one is from elsewhere."""
        for source in self._sources:
            names = module_names(path, [source])
            while names and "." in names[0]:
                names = [names[0].rpartition(".")[0]]
                own = os.path.realpath(os.path.join(self._root, source, *names[0].split("."), "__init__.py"))
                file = module_file(self._modules.get(names[0]))
                if (
                    file
                    and os.path.isfile(own)
                    and os.path.realpath(file) != own
                    and not self._is_stdlib(file)
                ):
                    return [dict(self._entry(path, names[0], file, own), parent=True)]
        return []

    def _entry(self, path, name, file, expected):
        real = os.path.realpath(file)
        module = self._modules[name]
        told = {
            "path": path,
            "module": name,
            "file": real,
            "place": self._place(file),
            "sha256": "",
            "code": "unread",
        }
        told["same"] = real == expected
        loader = getattr(getattr(module, "__spec__", None), "loader", None) or getattr(
            module, "__loader__", None
        )
        told["loader"] = type(loader).__name__
        try:
            with open(real, "rb") as stream:
                content = stream.read()
        except OSError:
            return told
        told["sha256"] = hashlib.sha256(content).hexdigest()
        told["code"] = _code_state(real, content, loader)
        return told

    def _is_stdlib(self, file):
        real = os.path.realpath(file)
        if "site-packages" in real or "dist-packages" in real:
            return False
        if real.startswith(self._root.rstrip(os.sep) + os.sep):
            return False
        if self._stdlib is None:
            self._stdlib = _stdlib_folders()
        return any(real.startswith(folder) for folder in self._stdlib)


def _stdlib_folders():
    import sysconfig  # not needed where all that was loaded is the tree's

    paths = sysconfig.get_paths()
    found = {os.path.realpath(paths[key]) + os.sep for key in ("stdlib", "platstdlib") if paths.get(key)}
    found.add(os.path.realpath(os.path.dirname(os.__file__)) + os.sep)
    return found


def _code_state(file, content, loader):
    """ "none": no byte code that would be used; "same", "other"; "sourceless"; "unknown": not comparable."""
    if not file.endswith(".py"):
        return "sourceless"
    rewritten = type(loader).__name__ == "AssertionRewritingHook"
    try:
        cached = importlib.util.cache_from_source(file)
        if rewritten:
            cached = _rewritten_cache(file)
        with open(cached, "rb") as stream:
            data = stream.read()
    except (OSError, NotImplementedError, ImportError, AttributeError):
        return "none"
    if not _would_be_used(data, file, content, rewritten):
        return "none"
    try:
        code = marshal.loads(data[16:])
        fresh = _rewrite(file, loader) if rewritten else compile(content, file, "exec", dont_inherit=True)
    except Exception:
        return "unknown"
    return "same" if code == fresh else "other"


def _would_be_used(data, file, content, rewritten):
    """Whether the import system (or pytest's rewriter) accepts this cache entry for the file as it is."""
    if len(data) < 16 or data[:4] != importlib.util.MAGIC_NUMBER:
        return False
    flags = int.from_bytes(data[4:8], "little")
    if flags & 1:
        checked = flags & 2
        return not checked or data[8:16] == importlib.util.source_hash(content)
    stat = os.stat(file)
    when, size = int.from_bytes(data[8:12], "little"), int.from_bytes(data[12:16], "little")
    return when == int(stat.st_mtime) & 0xFFFFFFFF and size == stat.st_size & 0xFFFFFFFF


def _rewritten_cache(file):
    import pathlib

    from _pytest.assertion import rewrite

    return str(rewrite.get_cache_dir(pathlib.Path(file)) / (os.path.basename(file)[:-3] + rewrite.PYC_TAIL))


def _rewrite(file, loader):
    import pathlib

    from _pytest.assertion import rewrite

    return rewrite._rewrite_test(pathlib.Path(file), loader.config)[1]

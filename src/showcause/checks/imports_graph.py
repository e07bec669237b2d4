"""Which file an import means, and which packages pass on a module's names (from paths and text alone).

An import counts for the module it names, not for the parent packages that Python also runs:
counting those makes every test reach every module.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from showcause.checks.imports_read import Defined, Imported, has_word, in_word, scan_imports
from showcause.records import Record

__all__ = ["Exports", "Modules", "Use", "dotted_name"]

_MODULE_ENDS = (".pyx", "/__init__.py", ".py")  # a package wins over a module of the same name


class Use(Record, frozen=True, kw_only=True):
    """What a file uses of the exported modules: paths, and the names it takes from them."""

    targets: frozenset[str]
    names: frozenset[str]
    by: str


def dotted_name(path: str, sources: Sequence[str]) -> str:
    """The import name of a module's path below the longest matching source folder."""
    for root in sorted(sources, key=len, reverse=True):
        if not root or path.startswith(root + "/"):
            path = path[len(root) + 1 if root else 0 :]
            break
    stem = path.rsplit(".", 1)[0]
    return stem.removesuffix("/__init__").replace("/", ".")


class Modules:
    """Finds the file that an import means, by the tree's paths alone."""

    def __init__(self, paths: frozenset[str], sources: Sequence[str]) -> None:
        self._paths = paths
        self._roots = tuple(root + "/" if root else "" for root in sources)
        self._known: dict[tuple[str, str], str | None] = {}

    def locate(self, importer: str, level: int, module: str) -> str | None:
        """The path of `module` as `importer` names it, or None: not in this tree."""
        folder = importer.rpartition("/")[0]
        for _ in range(level - 1):
            folder = folder.rpartition("/")[0]
        if level:
            return self._below(folder + "/" if folder else "", module)
        for root in self._roots:
            if found := self._below(root, module):
                return found
        # pytest and scripts put the first folder that is no package on the path
        while folder and folder + "/__init__.py" in self._paths:
            folder = folder.rpartition("/")[0]
        return self._below(folder + "/" if folder else "", module)

    def _below(self, folder: str, module: str) -> str | None:
        key = (folder, module)
        if key not in self._known:
            self._known[key] = self._look(folder + module.replace(".", "/"))
        return self._known[key]

    def _look(self, stem: str) -> str | None:
        if not stem or stem.endswith("/"):
            init = stem + "__init__.py"
            return init if init in self._paths else None
        return next((stem + end for end in _MODULE_ENDS if stem + end in self._paths), None)

    def targets(self, importer: str, item: Imported, telling: Collection[str]) -> Iterator[str]:
        """The modules that one import names: the submodule where `name` is one, else the module itself.
        Modules whose last name is not among `telling` may be left out."""
        if item.name in telling:
            full = f"{item.module}.{item.name}" if item.module else item.name
            if found := self.locate(importer, item.level, full):
                yield found
                return
        if (not item.module or item.module[item.module.rfind(".") + 1 :] in telling) and (
            found := self.locate(importer, item.level, item.module)
        ):
            yield found


class Exports:
    """Under which names, and through which packages, some modules can be had.

    `own` maps a module's path to its names. `learn` follows the imports of package files, so that
    `click.command` is known to be `command` of click/decorators.py.
    """

    def __init__(self, modules: Modules, own: Mapping[str, Defined], sources: Sequence[str]) -> None:
        self._modules = modules
        self._own = own
        self._dotted = {dotted_name(path, sources): path for path in own}
        # path of module or package -> name -> path of the module that defines it
        self._by_path = {path: dict.fromkeys(sorted(defined.names), path) for path, defined in own.items()}
        self._folders: set[str] = set()
        self._note_folders()

    @property
    def names(self) -> frozenset[str]:
        """Every name under which something is passed on by a package."""
        return frozenset(
            name for path, names in self._by_path.items() if path not in self._own for name in names
        )

    @property
    def telling(self) -> frozenset[str]:
        """The words one of which stands in every import that can lead to the modules."""
        parts = {part for folder in self._folders for part in folder.split("/")}
        lasts = {dotted.rpartition(".")[2] for dotted in self._dotted}
        return self.names | parts | lasts

    def learn(self, packages: Mapping[str, str]) -> None:
        """Follow the imports of package files (path -> text), inner packages first, until nothing is new."""
        scanned = [(path, scan_imports(text)) for path, text in packages.items()]
        scanned.sort(key=lambda pair: -pair[0].count("/"))
        for _ in range(4):
            news = [self._learn_one(path, imports) for path, imports in scanned]
            if not any(news):
                break
        self._note_folders()

    def _learn_one(self, path: str, imports: Iterable[Imported]) -> bool:
        mine = self._by_path.get(path, {})
        before = len(mine)
        for item in imports:
            source = self._modules.locate(path, item.level, item.module)
            if source is None or source == path or not (names := self._by_path.get(source)):
                continue
            if item.name == "*":
                mine.update({n: p for n, p in names.items() if n not in mine and self._is_public(source, n)})
            elif item.name in names:
                mine.setdefault(item.bound, names[item.name])
        if mine:
            self._by_path[path] = mine
        return len(mine) > before

    def _is_public(self, path: str, name: str) -> bool:
        own = self._own.get(path)
        return name in own.public if own else not name.startswith("_")

    def _note_folders(self) -> None:
        for path in self._by_path:
            folder = path.rpartition("/")[0]
            while folder and folder not in self._folders:
                self._folders.add(folder)
                folder = folder.rpartition("/")[0]

    def use(self, path: str, text: str, imports: Iterable[Imported]) -> Use | None:
        """What the file uses of the modules, or None. An import of a package counts only by the names
        used of it: not every file that says `import click` uses click/decorators.py."""
        targets: set[str] = set()
        names: set[str] = set()
        by = ""
        for item in imports:
            for target, name, through in self._hits(path, text, item):
                targets.add(target)
                names.add(name)
                by = by or through
        for dotted, target in self._dotted.items():
            # mock.patch("requests.sessions.Session"), importlib.import_module, entry points
            if target not in targets and "." in dotted and has_word(text, dotted):
                targets.add(target)
                by = by or "names it in its text"
        if not targets:
            return None
        return Use(targets=frozenset(targets), names=frozenset(names - {""}), by=by)

    def _hits(self, path: str, text: str, item: Imported) -> Iterator[tuple[str, str, str]]:
        module = self._modules.locate(path, item.level, item.module)
        if not item.name:
            if module is not None and module in self._own:
                yield module, "", f"imports {item.module}"
            top = item.bound or item.module.split(".")[0]
            package = module if item.bound else self._modules.locate(path, 0, top)
            yield from self._through(package, top, text)
            return
        if module is not None:
            names = self._by_path.get(module, {})
            if module in self._own:
                yield module, item.name, f"imports from {item.module or '.'}"
            if item.name == "*":
                yield from (
                    (p, n, f"uses {n} of {item.module}") for n, p in names.items() if has_word(text, n)
                )
            elif item.name in names:
                yield names[item.name], item.name, f"imports {item.name} of {item.module or '.'}"
        full = f"{item.module}.{item.name}" if item.module else item.name
        sub = self._modules.locate(path, item.level, full) if item.name != "*" else None
        if sub is not None:
            if sub in self._own:
                yield sub, "", f"imports {full}"
            yield from self._through(sub, item.bound, text)

    def _through(self, package: str | None, alias: str, text: str) -> Iterator[tuple[str, str, str]]:
        """Uses like `alias.name` or `alias.module.name` of what the module or package passes on."""
        if package is None or not (package in self._by_path or package.rpartition("/")[0] in self._folders):
            return
        for chain in _chains(text, alias):
            found = self._walk(package, chain)
            if found:
                target, name, length = found
                yield target, name, f"uses {alias}.{'.'.join(chain[:length])}"

    def _walk(self, module: str, chain: Sequence[str]) -> tuple[str, str, int] | None:
        """The module that a chain leads to, the name used of it, and how much of the chain that took."""
        for length, part in enumerate(chain, 1):
            if owner := self._by_path.get(module, {}).get(part):
                return owner, part, length
            if not module.endswith("/__init__.py"):
                return (module, part, length) if module in self._own else None
            inner = self._modules.locate(module, 1, part)
            if inner is None:
                return None
            module = inner
        return (module, "", len(chain)) if module in self._own else None


def _chains(text: str, alias: str) -> list[tuple[str, ...]]:
    """The distinct attribute chains (at most four parts) that start at the name `alias`."""
    found: set[tuple[str, ...]] = set()
    start = alias + "."
    # a literal start is what makes the search fast; the character before is looked at by hand
    for match in re.finditer(re.escape(start) + r"(\w+(?:\.\w+){0,3})", text):
        before = text[match.start() - 1 : match.start()]
        if before != "." and not in_word(before):
            found.add(tuple(match[1].split(".")))
    return sorted(found)

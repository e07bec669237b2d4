"""git.py against real repositories, the awkward ones first. Law 13 is checked in every test."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from git_helpers import Link, Run, commit, fingerprint, git, make, tree_content, write

from showcause import git as sut
from showcause.errors import Cancelled, GitFault, Unappliable, UsageError
from showcause.git.call import git_program

FILES = {"a.py": b"x = 1\n", "pkg/b.py": b"y = 1\n", ".gitignore": b"*.log\nbuild/\n"}


@pytest.fixture(autouse=True)
def _no_user_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make(tmp_path / "repo", FILES)


@pytest.fixture
def untouched(tmp_path: Path) -> Iterator[list[Path]]:
    """Call `.append(repository)` once it is set up; all of it must be the same afterwards."""

    class Watched(list[Path]):
        def append(self, path: Path) -> None:
            super().append(path)
            before.append(fingerprint(path))

    before: list[dict[str, str]] = []
    watched = Watched()
    yield watched
    for path, was in zip(watched, before, strict=True):
        assert fingerprint(path) == was


def content(repo: sut.Repo, tree: str) -> dict[str, tuple[str, bytes]]:
    return tree_content(repo.top, repo.private_objects, tree)


def paths_at(repo: sut.Repo, tree: str) -> set[str]:
    return {file.path for file in sut.files(repo, tree)}


# ------------------------------------------------------------------ opening


def test_open_tells_where_everything_is(top: Path) -> None:
    repo = sut.open_repo(top / "pkg")
    assert (repo.top, repo.git_dir, repo.common_dir) == (str(top), f"{top}/.git", f"{top}/.git")
    assert (repo.branch, repo.object_format) == ("refs/heads/main", "sha1")
    assert repo.head_commit == git(top, "rev-parse", "HEAD")
    assert repo.head_tree == git(top, "rev-parse", "HEAD^{tree}")
    assert repo.private == f"{top}/.git/showcause"


def test_open_refuses_in_one_line(tmp_path: Path, top: Path) -> None:
    (tmp_path / "plain").mkdir()
    git(tmp_path, "init", "-q", "--bare", "bare")
    git(tmp_path, "init", "-q", "empty")
    for place, words in {
        "plain": "not in a git repository",
        "bare": "bare repository",
        "empty": "no commits yet",
        "repo/.git": "inside a git directory",
        "absent": "not a folder",
    }.items():
        with pytest.raises(UsageError, match=words) as caught:
            sut.open_repo(tmp_path / place)
        assert "\n" not in str(caught.value)


def test_open_without_git(top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    git_program.cache_clear()
    with pytest.raises(GitFault, match="not installed"):
        sut.open_repo(top)
    git_program.cache_clear()


def test_a_git_in_the_repository_is_not_run(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(top, {"git": Run(b"#!/bin/sh\ntouch ran\n")})
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    monkeypatch.chdir(top)
    git_program.cache_clear()
    sut.open_repo(top)
    assert not (top / "ran").exists()
    git_program.cache_clear()


def test_open_names_a_broken_configuration(top: Path) -> None:
    (top / ".git/config").write_text("[broken\n")
    with pytest.raises(GitFault, match="bad config"):
        sut.open_repo(top)


def test_path_with_line_break_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GitFault, match="line break"):
        sut.open_repo(make(tmp_path / "a\nb", FILES))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_a_repository_of_another_user_needs_safe_directory(top: Path, tmp_path: Path) -> None:
    for place, folders, names in os.walk(top):
        for name in (place, *folders, *names):
            os.chown(os.path.join(place, name), 12345, 12345)
    with pytest.raises(GitFault, match="belongs to another user") as caught:
        sut.open_repo(top)
    assert "safe.directory" in caught.value.cure
    git(top, "-c", f"safe.directory={top}", "config", "safe.directory", str(top))  # its own word is nothing
    with pytest.raises(GitFault, match="another user"):
        sut.open_repo(top)
    (tmp_path / "gitconfig").write_text(f"[safe]\n\tdirectory = {top}\n")
    repo = sut.open_repo(top)
    assert sut.snapshot(repo).tree == repo.head_tree


def test_a_partial_clone_fetches_nothing(top: Path, tmp_path: Path) -> None:
    git(top, "config", "uploadpack.allowFilter", "true")
    commit(top, {"a.py": b"x = 2\n"})
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{top}", "partial")
    repo = sut.open_repo(tmp_path / "partial")
    before, after = sut.commit_and_parent(repo, "HEAD")
    was = fingerprint(tmp_path / "partial")
    with pytest.raises(GitFault):
        sut.diff(repo, before.tree, after.tree)
    assert fingerprint(tmp_path / "partial") == was


def test_private_folder_elsewhere(tmp_path: Path, untouched: list[Path]) -> None:
    top = make(tmp_path / 'odd:"name', FILES)  # both are special in a list of object directories
    write(top, {"new.py": b"n\n"})
    untouched.append(top)
    repo = sut.open_repo(top, private=str(tmp_path / "private"))
    tree = sut.snapshot(repo).tree
    assert not (top / ".git/showcause").exists()
    assert sut.blobs(repo, [file.oid for file in sut.files(repo, tree)]).keys()
    assert b"+n" in sut.diff(repo, repo.head_tree, tree)


def test_unwritable_git_directory_uses_the_cache(
    top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (top / ".git/showcause").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert sut.open_repo(top).private.startswith(str(tmp_path / "cache/showcause"))


def test_sha256_repository(tmp_path: Path) -> None:
    top = make(tmp_path / "r", FILES, "--object-format=sha256")
    repo = sut.open_repo(top)
    write(top, {"a.py": b"x = 2\n"})
    assert len(sut.snapshot(repo).tree) == 64
    before, after = sut.commit_and_parent(repo, "HEAD")
    assert before.tree == sut.empty_tree(repo)
    assert b"new file" in sut.diff(repo, before.tree, after.tree)


# ------------------------------------------------------------------ nothing of the repository runs


def _arm(top: Path, marks: Path, name: str) -> str:
    script = marks.parent / f"{name}.sh"
    write(marks.parent, {script.name: Run(f"#!/bin/sh\ntouch '{marks}/{name}'\ncat\n".encode())})
    return str(script)


def test_nothing_that_the_repository_configures_runs(top: Path, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    write(top, {".gitattributes": b"*.py filter=evil diff=evil\n*.txt filter=lfs2\n", "t.txt": b"t\n"})
    commit(top)
    commit(top, {"a.py": b"x = 3\n"})
    keys = ["core.fsmonitor", "core.pager", "core.editor", "core.askPass", "core.sshCommand", "diff.external"]
    keys += [f"filter.{name}.{part}" for name in ("evil", "lfs2") for part in ("clean", "smudge", "process")]
    keys += ["diff.evil.textconv", "diff.evil.command", "credential.helper", "gpg.program", "alias.add"]
    for key in keys:
        git(top, "config", key, ("!" if key.startswith("alias") else "") + _arm(top, marks, key))
    git(top, "config", "filter.evil.required", "true")
    for hook in ("post-index-change", "pre-commit", "post-checkout", "reference-transaction"):
        shutil.copy(_arm(top, marks, hook), top / ".git/hooks" / hook)
    for path in marks.iterdir():
        path.unlink()  # git itself may have run some while they were set up

    write(top, {"a.py": b"x = 4\n", "new.py": b"n\n", "t.txt": b"tt\n"})
    before = fingerprint(top)
    repo = sut.open_repo(top)
    parent, head = sut.commit_and_parent(repo, "HEAD")
    tree = sut.snapshot(repo).tree
    sut.snapshot(repo)
    sut.staged(repo)
    sut.default_base(repo)
    patch = sut.diff(repo, parent.tree, tree)
    sut.diff_raw(repo, parent.tree, tree)
    sut.tree_of_diff(repo, head.tree, b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 3\n+x = 5\n")
    sut.grep(repo, tree, ["x"])
    sut.ignored(repo, repo.index)
    sut.write_tree_files(repo, str(_new(tmp_path / "whole")), tree, {})
    held = {file.path: sut.Entry(mode=file.mode, oid=file.oid) for file in sut.files(repo, tree)}
    sut.write_files(repo, str(_new(tmp_path / "some")), held, ["a.py"])
    assert list(marks.iterdir()) == []
    assert b"+x = 4" in patch
    assert (tmp_path / "some/a.py").read_bytes() == b"x = 4\n"
    assert fingerprint(top) == before


def _new(path: Path) -> Path:
    path.mkdir()
    return path


def test_nothing_that_a_submodule_configures_runs(top: Path, tmp_path: Path) -> None:
    inner = make(tmp_path / "inner", {"f.txt": b"1\n", ".gitattributes": b"* filter=evil\n"})
    git(top, "submodule", "add", "-q", str(inner), "sub")
    commit(top)
    marks = _new(tmp_path / "marks")
    for key in ("core.fsmonitor", "filter.evil.clean", "filter.evil.process"):
        git(top / "sub", "config", key, _arm(top, marks, key))
    write(top, {"sub/f.txt": b"2\n"})
    shutil.rmtree(marks)
    marks.mkdir()
    noted = sut.snapshot(sut.open_repo(top)).not_checked
    assert list(marks.iterdir()) == []
    assert [note.what for note in noted] == ["sub"]


def test_lfs_runs_its_own_command_and_no_configured_one(
    top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    write(tmp_path / "bin", {"git-lfs": Run(f'#!/bin/sh\necho "$*" >>{log}\nexit 1\n'.encode())})
    git(top, "config", "filter.lfs.clean", f"git-lfs clean -- %f; touch {tmp_path}/evil")
    git(top, "config", "filter.lfs.process", f"touch {tmp_path}/evil")
    write(top, {".gitattributes": b"*.bin filter=lfs\n", "a.bin": b"big\n"})
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    with pytest.raises(GitFault):  # the stand-in fails, and LFS is required
        sut.snapshot(sut.open_repo(top))
    assert "filter-process" in log.read_text()
    assert not (tmp_path / "evil").exists()

    log.unlink()
    git(top, "config", "lfs.extension.x.clean", f"touch {tmp_path}/evil")
    assert sut.snapshot(sut.open_repo(top)).tree  # LFS itself would run configured programs: off
    assert not log.exists()


def test_settings_that_decide_content_are_passed_on(top: Path, tmp_path: Path) -> None:
    (tmp_path / "gitconfig").write_text("[core]\n\tautocrlf = input\n[diff]\n\tnoprefix = true\n")
    write(tmp_path / "xdg/git", {"ignore": b"*.mine\n"})
    write(top, {"a.py": b"x = 1\r\n", "z.mine": b"1", "z.other": b"1"})
    repo = sut.open_repo(top)
    tree = sut.snapshot(repo).tree
    assert paths_at(repo, tree) == {*FILES, "z.other"}
    assert content(repo, tree)["a.py"] == ("100644", b"x = 1\n")
    (tmp_path / "gitconfig").write_text(f"[core]\n\texcludesFile = {tmp_path}/own\n")
    (tmp_path / "own").write_text("*.other\n")
    repo = sut.open_repo(top)
    assert paths_at(repo, sut.snapshot(repo, "second").tree) == {*FILES, "z.mine"}


def test_settings_of_the_repository_do_not_change_the_patch(top: Path) -> None:
    write(top, {"a.py": b"x = 2 \n"})
    repo = sut.open_repo(top)
    plain = sut.diff(repo, repo.head_tree, sut.snapshot(repo).tree)
    for key, value in {
        "diff.noprefix": "true",
        "color.ui": "always",
        "diff.algorithm": "patience",
        "diff.context": "9",
        "core.quotePath": "false",
        "diff.renames": "false",
        "apply.whitespace": "fix",
        "diff.orderFile": "x",
        "core.splitIndex": "true",
        "diff.mnemonicPrefix": "true",
        "grep.lineNumber": "true",
    }.items():
        git(top, "config", key, value)
    before = fingerprint(top)
    repo = sut.open_repo(top)
    assert sut.diff(repo, repo.head_tree, sut.snapshot(repo, "other").tree) == plain
    data = plain[plain.index(b"diff --git") :]
    assert content(repo, sut.tree_of_diff(repo, repo.head_tree, data))["a.py"][1] == b"x = 2 \n"
    assert sut.grep(repo, repo.head_tree, ["x ="]) == ("a.py",)
    assert fingerprint(top) == before


# ------------------------------------------------------------------ snapshots


def test_snapshot_is_what_lies_on_disk(top: Path, untouched: list[Path]) -> None:
    write(top, {"kept.log": b"tracked although ignored\n"})
    git(top, "add", "-f", "kept.log")
    git(top, "commit", "-qm", "log")
    odd = b'caf\xe9 "q"\n\t.py'
    write(
        top,
        {
            "a.py": b"x = 2\r\n",
            "new.py": b"no last newline",
            "run.sh": Run(b"#!/bin/sh\n"),
            "link": Link("/etc/passwd"),
            "loose.log": b"ignored",
            "build/x": b"ignored",
            os.fsdecode(odd): b"odd\n",
            "\u00fc \u65e5.py": b"u\n",
            "kept.log": b"changed\n",
        },
    )
    (top / "pkg/b.py").unlink()
    git(top, "rm", "-q", "--cached", "a.py")
    untouched.append(top)
    repo = sut.open_repo(top)
    for _ in range(2):
        found = content(repo, sut.snapshot(repo).tree)
        assert found == {
            ".gitignore": ("100644", FILES[".gitignore"]),
            "a.py": ("100644", b"x = 2\r\n"),
            "new.py": ("100644", b"no last newline"),
            "run.sh": ("100755", b"#!/bin/sh\n"),
            "link": ("120000", b"/etc/passwd"),
            os.fsdecode(odd): ("100644", b"odd\n"),
            "\u00fc \u65e5.py": ("100644", b"u\n"),
            "kept.log": ("100644", b"changed\n"),
        }


def test_snapshot_sees_a_change_of_the_same_size_in_the_same_second(top: Path, untouched: list[Path]) -> None:
    """git finds such changes by the index's own time, so a copy must keep it."""
    moment = time.time_ns() // 10**9 * 10**9
    os.utime(top / "a.py", ns=(moment, moment))
    git(top, "add", "a.py")
    git(top, "update-index", "--refresh")
    os.utime(top / ".git/index", ns=(moment, moment))
    (top / "a.py").write_bytes(b"x = 9\n")
    os.utime(top / "a.py", ns=(moment, moment))
    untouched.append(top)
    repo = sut.open_repo(top)
    assert content(repo, sut.snapshot(repo).tree)["a.py"][1] == b"x = 9\n"


def test_snapshot_notices_changes_after_the_first(top: Path) -> None:
    repo = sut.open_repo(top)
    for number in range(3):
        write(top, {"a.py": b"x = %d\n" % number, f"n{number}.py": b"n\n"})
        assert content(repo, sut.snapshot(repo).tree)["a.py"][1] == b"x = %d\n" % number
    assert len([name for name in os.listdir(repo.private) if name.startswith("index-")]) == 2
    assert not [name for name in os.listdir(repo.private) if name.startswith("work-")]


def test_what_a_killed_snapshot_left_is_swept(top: Path) -> None:
    repo = sut.open_repo(top)
    for name in ("work-old", "work-new"):
        write(Path(repo.private), {f"{name}/index": b""})
    os.utime(Path(repo.private) / "work-old", (1, 1))
    write(top, {"a.py": b"x = 2\n"})
    sut.snapshot(repo)
    assert [name for name in os.listdir(repo.private) if name.startswith("work-")] == ["work-new"]


def test_what_a_stopped_git_was_writing_is_swept(top: Path) -> None:
    repo = sut.open_repo(top)
    sut.snapshot(repo)
    parts = [f"objects/{folder}/tmp_{age}" for folder in ("5e", "pack") for age in ("old", "new")]
    write(Path(repo.private), dict.fromkeys(parts, b"half"))
    for part in parts[::2]:
        os.utime(Path(repo.private) / part, (1, 1))
    write(top, {"a.py": b"x = 2\n"})
    git(top, "add", "-A")
    sut.snapshot(repo)
    assert [part for part in parts if (Path(repo.private) / part).exists()] == parts[1::2]


def test_files_that_git_cannot_hold(top: Path) -> None:
    os.mkfifo(top / "pipe")
    (top / "empty/folder").mkdir(parents=True)
    repo = sut.open_repo(top)
    assert sut.snapshot(repo).tree == repo.head_tree


def test_what_is_tracked_follows_the_users_index(top: Path) -> None:
    write(top, {"was.log": b"1\n"})
    git(top, "add", "-f", "was.log")
    repo = sut.open_repo(top)
    assert "was.log" in paths_at(repo, sut.snapshot(repo).tree)
    git(top, "rm", "-q", "--cached", "was.log")
    assert "was.log" not in paths_at(repo, sut.snapshot(repo).tree)


def test_staged_is_the_index(top: Path, untouched: list[Path]) -> None:
    write(top, {"a.py": b"staged\n", "later.py": b"\n"})
    git(top, "add", "a.py")
    git(top, "add", "-N", "later.py")  # intent to add: nothing is staged
    write(top, {"a.py": b"worktree\n"})
    untouched.append(top)
    repo = sut.open_repo(top)
    assert content(repo, sut.staged(repo))["a.py"][1] == b"staged\n"
    assert "later.py" not in paths_at(repo, sut.staged(repo))
    assert content(repo, sut.snapshot(repo).tree)["a.py"][1] == b"worktree\n"
    assert "later.py" in paths_at(repo, sut.snapshot(repo).tree)


@pytest.mark.parametrize("state", ["locked", "absent", "split", "version 4", "untracked cache"])
def test_states_of_the_index(top: Path, untouched: list[Path], state: str) -> None:
    match state:
        case "locked":
            (top / ".git/index.lock").touch()
        case "absent":
            (top / ".git/index").unlink()
        case "split":
            git(top, "update-index", "--split-index")
            git(top, "config", "core.splitIndex", "true")
        case "version 4":
            git(top, "update-index", "--index-version", "4")
        case "untracked cache":
            git(top, "update-index", "--force-untracked-cache")
    write(top, {"a.py": b"x = 2\n", "new.py": b""})
    untouched.append(top)
    repo = sut.open_repo(top)
    for _ in range(2):
        tree = sut.snapshot(repo).tree
        assert paths_at(repo, tree) == {*FILES, "new.py"}
        assert content(repo, tree)["a.py"][1] == b"x = 2\n"
    assert paths_at(repo, sut.staged(repo)) == set(FILES)


def test_broken_index_is_named(top: Path) -> None:
    (top / ".git/index").write_bytes(b"DIRCxxxx")
    with pytest.raises(GitFault, match="index"):
        sut.snapshot(sut.open_repo(top))


def test_unmerged_index_is_refused(top: Path, untouched: list[Path]) -> None:
    git(top, "checkout", "-qb", "side")
    commit(top, {"a.py": b"x = 2\n"})
    git(top, "checkout", "-q", "main")
    commit(top, {"a.py": b"x = 3\n"})
    with pytest.raises(AssertionError):
        git(top, "merge", "side")
    untouched.append(top)
    repo = sut.open_repo(top)
    with pytest.raises(UsageError, match=r"unmerged path 'a\.py'"):
        sut.snapshot(repo)
    with pytest.raises(UsageError, match=r"unmerged path 'a\.py'"):
        sut.staged(repo)


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_hidden_changes_are_seen(top: Path, untouched: list[Path], flag: str) -> None:
    git(top, "update-index", flag, "a.py", "pkg/b.py")
    write(top, {"a.py": b"hidden\n"})
    untouched.append(top)
    repo = sut.open_repo(top)
    for _ in range(2):
        seen = sut.snapshot(repo)
        assert content(repo, seen.tree)["a.py"][1] == b"hidden\n"
        assert seen.unhidden == ("a.py", "pkg/b.py")


@pytest.mark.parametrize("options", [["--cone"], ["--no-cone"], ["--cone", "--sparse-index"]])
def test_sparse_checkout_lacks_no_file(top: Path, untouched: list[Path], options: list[str]) -> None:
    commit(top, {"far/c.py": b"c\n", "far/away/d.py": b"d\n"})
    git(top, "sparse-checkout", "set", *options, "pkg")
    assert not (top / "far").exists()
    write(top, {"pkg/b.py": b"y = 2\n", "far/new.py": b"outside the cone\n"})
    untouched.append(top)
    repo = sut.open_repo(top)
    seen = sut.snapshot(repo)
    assert {"far/c.py", "far/away/d.py", "far/new.py"} <= paths_at(repo, seen.tree)
    assert content(repo, seen.tree)["pkg/b.py"][1] == b"y = 2\n"
    assert seen.absent >= 2
    assert sut.snapshot(repo).tree == seen.tree


def test_linked_worktree(top: Path, tmp_path: Path, untouched: list[Path]) -> None:
    git(top, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    (tmp_path / "way").symlink_to(tmp_path / "linked")
    write(tmp_path / "linked", {"a.py": b"x = 7\n"})
    untouched.append(top)
    untouched.append(tmp_path / "linked")
    repo = sut.open_repo(tmp_path / "way/pkg")
    assert repo.top == str(tmp_path / "linked")
    assert repo.private == f"{top}/.git/showcause"
    assert content(repo, sut.snapshot(repo).tree)["a.py"][1] == b"x = 7\n"
    main = sut.open_repo(top)
    assert sut.snapshot(main).tree == main.head_tree


def test_submodules(top: Path, tmp_path: Path, untouched: list[Path]) -> None:
    inner = make(tmp_path / "inner", {"f.txt": b"1\n"})
    first = git(inner, "rev-parse", "HEAD")
    git(top, "submodule", "add", "-q", str(inner), "sub")
    commit(top)
    repo = sut.open_repo(top)
    assert sut.snapshot(repo) == sut.Snapshot(tree=repo.head_tree, not_checked=(), unhidden=(), absent=0)

    write(top, {"sub/f.txt": b"2\n"})
    (note,) = sut.snapshot(repo).not_checked
    assert (note.what, note.caps) == ("sub", True)
    second = commit(top / "sub")
    untouched.append(top)
    seen = sut.snapshot(repo)
    assert seen.not_checked == ()
    gitlinks = [sut.files(repo, tree, ["sub"])[0].oid for tree in (repo.head_tree, seen.tree)]
    assert gitlinks == [first, second]


def test_submodule_that_is_not_checked_out_is_unchanged(top: Path, tmp_path: Path) -> None:
    inner = make(tmp_path / "inner", {"f.txt": b"1\n"})
    git(top, "submodule", "add", "-q", str(inner), "sub")
    commit(top)
    git(top, "submodule", "deinit", "-f", "sub")
    repo = sut.open_repo(top)
    assert sut.snapshot(repo) == sut.Snapshot(tree=repo.head_tree, not_checked=(), unhidden=(), absent=0)


def test_nested_repositories_are_named_and_left_out(top: Path, untouched: list[Path]) -> None:
    make(top / "with commit", {"f": b"1\n"})
    (top / "deep/none").mkdir(parents=True)
    git(top / "deep/none", "init", "-q")
    write(top, {"deep/none/f": b"1\n", "deep/ours": b"1\n", "a.py": b"x = 2\n"})
    untouched.append(top)
    repo = sut.open_repo(top)
    for _ in range(3):
        seen = sut.snapshot(repo)
        assert [note.what for note in seen.not_checked] == ["deep/none", "with commit"]
        assert all(note.caps for note in seen.not_checked)
        assert paths_at(repo, seen.tree) == {*FILES, "deep/ours"}


def test_two_snapshots_at_once(top: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    write(top, {"a.py": b"x = 2\n"})
    repo = sut.open_repo(top)
    with ThreadPoolExecutor(4) as pool:
        trees = list(pool.map(lambda _: sut.snapshot(repo).tree, range(8)))
    assert len(set(trees)) == 1


def test_snapshot_ignores_the_callers_git_variables(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nonexistent")
    repo = sut.open_repo(top)
    assert sut.snapshot(repo).tree == repo.head_tree


# ------------------------------------------------------------------ revisions


def test_resolve(top: Path) -> None:
    repo = sut.open_repo(top)
    git(top, "tag", "-a", "v1", "-m", "tag")
    named = sut.resolve(repo, "HEAD", "main", "v1", repo.head_commit[:8], repo.head_tree)
    assert {revision.tree for revision in named} == {repo.head_tree}
    assert [bool(revision.commit) for revision in named] == [True, True, True, True, False]
    for unknown in ("nope", "-x", "HEAD:a.py", "a b", "", "HEAD\nHEAD"):
        with pytest.raises(UsageError, match="unknown revision"):
            sut.resolve(repo, "HEAD", unknown)


def test_commit_and_parent(top: Path, tmp_path: Path) -> None:
    repo = sut.open_repo(top)
    root, first = sut.commit_and_parent(repo, "HEAD")
    assert (root.tree, first.tree) == (sut.empty_tree(repo), repo.head_tree)
    commit(top, {"a.py": b"x = 2\n"})
    before, after = sut.commit_and_parent(sut.open_repo(top), "HEAD")
    assert before.tree == repo.head_tree != after.tree
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{top}", "shallow")
    with pytest.raises(GitFault, match="not in this clone"):
        sut.commit_and_parent(sut.open_repo(tmp_path / "shallow"), "HEAD")
    with pytest.raises(UsageError, match="unknown commit 'nope'"):
        sut.commit_and_parent(repo, "nope")


def test_c2_default_base_is_the_merge_base(top: Path) -> None:
    """Commits that main got meanwhile are not part of the patch."""
    fork = sut.open_repo(top)
    assert sut.default_base(fork).name == "HEAD"
    git(top, "checkout", "-qb", "pr")
    commit(top, {"p.py": b"p\n"})
    git(top, "checkout", "-q", "main")
    commit(top, {"m.py": b"m\n"})
    git(top, "checkout", "-q", "pr")
    repo = sut.open_repo(top)
    base = sut.default_base(repo)
    assert (base.commit, base.tree, base.name) == (fork.head_commit, fork.head_tree, "merge base with main")
    git(top, "checkout", "-q", "--detach")
    assert sut.default_base(sut.open_repo(top)).commit == fork.head_commit


def test_default_base_prefers_the_remotes_head(top: Path, tmp_path: Path) -> None:
    git(top, "checkout", "-qb", "trunk")
    git(tmp_path, "clone", "-q", str(top), "clone")  # origin/HEAD -> origin/trunk; no local main
    clone = tmp_path / "clone"
    commit(clone, {"ahead.py": b"1\n"})
    assert sut.default_base(sut.open_repo(clone)).name == "HEAD"  # on the default branch itself
    git(clone, "checkout", "-qb", "feature")
    assert sut.default_base(sut.open_repo(clone)).name == "merge base with origin/trunk"


def test_default_base_without_default_branch_or_shared_history(top: Path) -> None:
    git(top, "checkout", "-q", "--orphan", "other")
    commit(top, message="another root")
    with pytest.raises(UsageError, match="share no history"):
        sut.default_base(sut.open_repo(top))
    git(top, "branch", "-qD", "main")
    assert sut.default_base(sut.open_repo(top)).name == "HEAD"


# ------------------------------------------------------------------ handed-in diffs

GOOD = b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"


def test_tree_of_diff(top: Path, untouched: list[Path]) -> None:
    untouched.append(top)
    repo = sut.open_repo(top)
    tree = sut.tree_of_diff(repo, repo.head_tree, GOOD)
    assert content(repo, tree)["a.py"][1] == b"x = 2\n"
    without_header = GOOD.partition(b"\n")[2]
    assert sut.tree_of_diff(repo, repo.head_tree, without_header) == tree
    for nothing in (b"", b" \n\n"):
        assert sut.tree_of_diff(repo, repo.head_tree, nothing) == repo.head_tree
    with pytest.raises(Unappliable, match=r"a\.py: patch does not apply"):
        sut.tree_of_diff(repo, tree, GOOD)
    wrong_count = GOOD.replace(b"@@ -1 +1 @@", b"@@ -1,4 +1,4 @@")
    with pytest.raises(Unappliable, match="corrupt patch"):
        sut.tree_of_diff(repo, repo.head_tree, wrong_count)
    assert sut.tree_of_diff(repo, repo.head_tree, wrong_count, recount=True) == tree


@pytest.mark.parametrize("path", ["../out", ".git/config", "/etc/out"])
def test_a_diff_cannot_leave_the_tree(top: Path, untouched: list[Path], path: str) -> None:
    untouched.append(top)
    repo = sut.open_repo(top)
    with pytest.raises(Unappliable):
        sut.tree_of_diff(repo, repo.head_tree, f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n".encode())


# ------------------------------------------------------------------ reading trees


def test_files_blobs_grep(top: Path) -> None:
    odd = os.fsdecode(b'q"\n\xe9.py')
    commit(top, {odd: b"needle one\n", "bin": b"\0needle two\0", "x/y/z.py": b"nothing", "l": Link("a.py")})
    repo = sut.open_repo(top)
    found = {file.path: file for file in sut.files(repo, repo.head_tree, sizes=True)}
    assert (found[odd].mode, found[odd].size, found["l"].mode) == ("100644", 11, "120000")
    assert [file.path for file in sut.files(repo, repo.head_tree, ["x/"], recursive=False)] == ["x/y"]
    oids = [found[odd].oid, found["bin"].oid, found[odd].oid]
    assert sut.blobs(repo, oids) == {oids[0]: b"needle one\n", oids[1]: b"\0needle two\0"}
    assert sut.blobs(repo, []) == {}
    with pytest.raises(GitFault, match="missing"):
        sut.blobs(repo, ["1" * 40])
    assert set(sut.grep(repo, repo.head_tree, ["needle", "-x.*"])) == {odd, "bin"}
    assert sut.grep(repo, repo.head_tree, ["n.edle"]) == ()
    assert sut.grep(repo, repo.head_tree, []) == ()
    with pytest.raises(GitFault, match="grep"):
        sut.grep(repo, "1" * 40, ["x"])


def test_c8_attributes_of_the_checkout_do_not_hide_a_diff(top: Path) -> None:
    """Also by the file that no commit shows."""
    write(
        top, {".gitattributes": b"a.py -diff\n", "a.py": b"x = 2\n", ".git/info/attributes": b"*.py binary\n"}
    )
    repo = sut.open_repo(top)
    assert b"\n-x = 1\n+x = 2\n" in sut.diff(repo, repo.head_tree, sut.snapshot(repo).tree)


def test_d2_an_interrupt_stops_git_wherever_it_is(top: Path) -> None:
    cancel = threading.Event()
    repo = sut.open_repo(top, cancel=cancel)
    write(top, {"a.py": b"x = 2\n"})
    head = sut.snapshot(repo).tree
    cancel.set()
    asked: list[Callable[[], object]] = [
        lambda: sut.open_repo(top, cancel=cancel),
        lambda: sut.snapshot(repo, "other"),
        lambda: sut.staged(repo),
        lambda: sut.resolve(repo, "HEAD"),
        lambda: sut.diff(repo, repo.head_tree, head),
        lambda: sut.files(repo, head),
        lambda: sut.grep(repo, head, ["x"]),
    ]
    for ask in asked:
        with pytest.raises(Cancelled):
            ask()
    assert not list(Path(repo.private).glob("work-*"))
    assert sut.snapshot(sut.open_repo(top)).tree == head


def test_an_expired_deadline_stops_git(top: Path) -> None:
    from showcause.clock import Deadline

    repo = msgspec.structs.replace(sut.open_repo(top), deadline=Deadline(at_s=time.monotonic() - 1))
    with pytest.raises(GitFault, match="timeout"):
        sut.snapshot(repo)

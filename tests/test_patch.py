"""Patches as git tells them (golden pairs in golden/patch) and as people hand them in."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec
import pytest
from git_helpers import commit, fingerprint, git, make, write
from hypothesis import given
from hypothesis import strategies as st

from showcause import git as door
from showcause.canon import digest
from showcause.errors import Unappliable
from showcause.patch import normalise, parse
from showcause.records import ChangeKind, FileChange
from showcause.trees import apply_diff

GOLDEN = Path(__file__).parent / "golden/patch"
sys.path.insert(0, str(GOLDEN))

from rebuild import CASES, as_json, build  # noqa: E402


def _by_path(changes: tuple[FileChange, ...]) -> dict[str, FileChange]:
    return {change.path: change for change in changes}


@pytest.mark.parametrize("name", CASES)
def test_golden(tmp_path: Path, name: str) -> None:
    """Real git still says what is on disk, and applying it to base gives head again."""
    before, after = CASES[name]
    repo, data, patch = build(tmp_path / "r", before, after)
    assert data == (GOLDEN / f"{name}.diff").read_bytes()
    assert as_json(patch) == (GOLDEN / f"{name}.json").read_bytes()
    assert patch.digest == digest(patch.data)
    was = fingerprint(tmp_path / "r")
    assert door.tree_of_diff(repo, patch.base_tree, patch.data) == patch.head_tree
    assert fingerprint(tmp_path / "r") == was


def test_golden_files_belong_to_cases() -> None:
    assert {path.stem for path in GOLDEN.glob("*.diff")} == set(CASES)


def test_what_the_golden_cases_are_about() -> None:
    def kinds(name: str) -> dict[str, str]:
        changes = msgspec.json.decode((GOLDEN / f"{name}.json").read_bytes(), type=list[FileChange])
        return {change.path: change.kind.value for change in changes}

    assert kinds("empty") == {}
    assert kinds("rename_without_change") == {"b.py": "renamed"}
    assert kinds("copy") == {"a.py": "modified", "b.py": "copied"}
    assert kinds("mode") == {"a.sh": "mode"}
    assert kinds("hidden_by_attributes") == {".gitattributes": "added", "a.py": "modified"}
    assert kinds("binary") == {"a.bin": "binary", "t.py": "modified", "n.bin": "added"}
    assert set(kinds("symlink").values()) == {"symlink"}


def test_a_file_that_info_attributes_hides_is_counted_from_the_text(tmp_path: Path) -> None:
    top = make(tmp_path / "r", {"a.py": b"x = 1\ny = 1\n"})
    write(top, {"a.py": b"x = 2\n++y\n-- z\n", ".git/info/attributes": b"* -diff\n"})
    repo = door.open_repo(top)
    head = door.snapshot(repo).tree
    patch = parse(door.diff(repo, repo.head_tree, head), base_tree=repo.head_tree, head_tree=head)
    (change,) = patch.changes
    assert (change.kind, change.is_binary) == (ChangeKind.MODIFIED, False)
    assert (change.added_lines, change.deleted_lines) == (3, 2)


def test_301_files_and_one_of_3_mb(tmp_path: Path) -> None:
    top = make(tmp_path / "r", {"a.py": b"x\n"})
    write(top, {f"many/f{number}.py": b"%d\n" % number for number in range(300)})
    write(top, {"generated.py": b"x = 1  # generated\n" * 160_000})
    repo = door.open_repo(top)
    head = door.snapshot(repo).tree
    patch = parse(door.diff(repo, repo.head_tree, head), base_tree=repo.head_tree, head_tree=head)
    assert len(patch.changes) == 301
    assert _by_path(patch.changes)["generated.py"].added_lines == 160_000
    assert len(patch.data) > 3_000_000


def test_gitlinks(tmp_path: Path) -> None:
    inner = make(tmp_path / "inner", {"f": b"1\n"})
    top = make(tmp_path / "r", {"a.py": b"x\n"})
    git(top, "submodule", "add", "-q", str(inner), "sub")
    repo = door.open_repo(top)
    head = door.snapshot(repo).tree
    patch = parse(door.diff(repo, repo.head_tree, head), base_tree=repo.head_tree, head_tree=head)
    assert _by_path(patch.changes)["sub"].kind is ChangeKind.GITLINK


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_parse_counts_in_counts_out(old: bytes, new: bytes) -> None:
    """Whatever a patch text holds, there is one change per raw record."""
    raw = b"".join(
        b":100644 100644 " + b"1" * 40 + b" " + b"2" * 40 + b" M\0" + n + b"\0" for n in (b"a", b"b")
    )
    body = b"".join(
        b"diff --git a/%s b/%s\n@@ -1 +1 @@\n" % (name, name)
        + b"".join(b"+" + line + b"\n" for line in text.split(b"\n"))
        for name, text in ((b"a", old), (b"b", new))
    )
    patch = parse(raw + b"1\t0\ta\0-\t-\tb\0\0" + body, base_tree="1", head_tree="2")
    assert [change.path for change in patch.changes] == ["a", "b"]
    assert patch.data == body


# ------------------------------------------------------------------ handed in

GOOD = b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-x = 1\n+x = 2\n y = 1\n"
STUB = b"diff --git a/i.png b/i.png\nindex 1..2 100644\nBinary files a/i.png and b/i.png differ\n"
BARE_STUB = b"Binary files a/i.png and b/i.png differ\n"
ADDED_STUB = STUB.replace(b"index 1..2 100644", b"new file mode 100644\nindex 0..2").replace(
    b"files a/i.png", b"files /dev/null"
)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> door.Repo:
    return door.open_repo(make(tmp_path_factory.mktemp("handed") / "r", {"a.py": b"x = 1\ny = 1\n"}))


@pytest.mark.parametrize(
    ("data", "repairs"),
    [
        (GOOD, 0),
        (b"\n" + GOOD, 1),
        (b"\r\n\n" + GOOD, 1),
        (GOOD.rstrip(b"\n"), 1),
        (GOOD.partition(b"\n")[2], 0),
        (STUB + GOOD, 1),
        (GOOD + ADDED_STUB, 1),
        (GOOD + BARE_STUB, 1),
        (GOOD.replace(b"-1,2 +1,2", b"-1,7 +1,9"), 1),
        (b"\n" + STUB + GOOD.replace(b"-1,2 +1,2", b"-1,7 +1,9"), 3),
    ],
)
def test_repairs(repo: door.Repo, data: bytes, repairs: int) -> None:
    applied = apply_diff(repo, repo.head_tree, data)
    (file,) = door.files(repo, applied.tree)
    assert door.blobs(repo, [file.oid])[file.oid] == b"x = 2\ny = 1\n"
    assert len(applied.repairs) == repairs, applied.repairs
    assert [note.what for note in applied.not_checked] == ["i.png"] * data.count(b"Binary files")
    assert all(note.caps for note in applied.not_checked)


def test_h1_crlf_is_kept(tmp_path: Path) -> None:
    top = make(tmp_path / "r", {"a.py": b"x=1\r\ny=1\r\n"})
    repo = door.open_repo(top)
    data = b"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n x=1\r\n-y=1\r\n+y=2\r\n"
    (file,) = door.files(repo, apply_diff(repo, repo.head_tree, data).tree)
    assert door.blobs(repo, [file.oid])[file.oid] == b"x=1\r\ny=2\r\n"
    with pytest.raises(Unappliable):
        apply_diff(repo, repo.head_tree, data.replace(b"\r", b""))


@pytest.mark.parametrize("data", [b"", b"\n", b" \n\t\n"])
def test_nothing_is_no_change(repo: door.Repo, data: bytes) -> None:
    assert apply_diff(repo, repo.head_tree, data).tree == repo.head_tree
    assert normalise(data).repairs == ()


@pytest.mark.parametrize("data", [b"no diff at all\n", GOOD.replace(b"x = 1", b"x = 7"), GOOD[:60]])
def test_what_does_not_apply_says_why_in_one_line(repo: door.Repo, data: bytes) -> None:
    with pytest.raises(Unappliable) as caught:
        apply_diff(repo, repo.head_tree, data)
    assert str(caught.value).strip()
    assert "\n" not in str(caught.value)


def test_content_that_looks_like_a_stub_stays() -> None:
    data = GOOD.replace(b" y = 1\n", b" Binary files a/y and b/y differ\n")
    assert normalise(data).data == data


@given(st.binary(max_size=200))
def test_h6_normalise_never_strips_the_end(data: bytes) -> None:
    if b"Binary files" in data or not data.strip():
        return
    assert normalise(data).data.removesuffix(b"\n") == data.lstrip(b"\r\n").removesuffix(b"\n")


def test_h6_names_outside_utf8_survive(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.py")
    top = make(tmp_path / "r", {name: b"1\n"})
    first = door.open_repo(top)
    commit(top, {name: b"2\n"})
    second = door.open_repo(top)
    data = door.diff(second, first.head_tree, second.head_tree)
    assert parse(data, base_tree="", head_tree="").paths == {name}

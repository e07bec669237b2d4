"""The golden patches: real git's output beside the records that it must become.

`python tests/golden/patch/rebuild.py` writes NAME.diff and NAME.json for every case below.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import msgspec

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from git_helpers import Files, Link, Run, clear, make, write  # noqa: E402

from showcause import git  # noqa: E402
from showcause.canon import plain  # noqa: E402
from showcause.patch import parse  # noqa: E402
from showcause.records import Patch  # noqa: E402

TEXT = b"".join(b"line %d\n" % number for number in range(1, 9))
LATIN = os.fsdecode(b"latin-\xe9.py")

# name: (all files before, all files after)
CASES: dict[str, tuple[Files, Files]] = {
    "empty": ({"a.py": b"x = 1\n"}, {"a.py": b"x = 1\n"}),
    "added_and_deleted": ({"a.py": b"x = 1\n", "old.py": TEXT}, {"a.py": b"x = 2\n", "new.py": b"n\n"}),
    "crlf": ({"a.py": b"x=1\r\ny=1\r\n"}, {"a.py": b"x=1\r\ny=2\r\n"}),
    "no_last_newline": ({"a.py": b"x", "b.py": b"y\n"}, {"a.py": b"x2", "b.py": b"y"}),
    "not_utf8": ({"latin.py": b"# caf\xe9\n"}, {"latin.py": b"# caf\xe9 \xff\n"}),
    "names": (
        {'q"uote.py': b"1\n", "new\nline.py": b"1\n", "sp ace.py": b"1\n", LATIN: b"1\n"},
        {'q"uote.py': b"2\n", "new\nline.py": b"2\n", "sp ace.py": b"2\n", LATIN: b"2\n", "日本.py": b"1\n"},
    ),
    "rename_without_change": ({"a.py": TEXT}, {"b.py": TEXT}),
    "rename_with_change": ({"a.py": TEXT}, {"deep/b.py": TEXT + b"more\n"}),
    "copy": ({"a.py": TEXT}, {"a.py": TEXT + b"more\n", "b.py": TEXT + b"other\n"}),
    "mode": ({"a.sh": b"#!/bin/sh\n"}, {"a.sh": Run(b"#!/bin/sh\n")}),
    "symlink": (
        {"a": Link("b"), "gone": Link("b"), "file": b"text\n"},
        {"a": Link("c"), "file": Link("/etc/passwd"), "came": Link("../..")},
    ),
    "binary": (
        {"a.bin": b"\0\1\2\n", "t.py": b"1\n"},
        {"a.bin": b"\0\1\3\n", "t.py": b"2\n", "n.bin": b"\0"},
    ),
    "hidden_by_attributes": ({"a.py": b"x = 1\n"}, {".gitattributes": b"a.py -diff\n", "a.py": b"x = 2\n"}),
    "looks_like_a_diff": (
        {"a.diff": b"diff --git a/x b/x\n"},
        {"a.diff": b"diff --git a/x b/x\n\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n", "z.py": b"z\n"},
    ),
    "file_becomes_directory": ({"a": b"1\n", "d/f": b"2\n"}, {"a/b": b"3\n", "d": b"4\n"}),
    "only_white_space": ({"a.py": b"if x:\n    y\n"}, {"a.py": b"if x:\n\ty\n"}),
}


def build(folder: Path, before: Files, after: Files) -> tuple[git.Repo, bytes, Patch]:
    """What git says of a case, and the patch made of it."""
    top = make(folder, before)
    clear(top)
    write(top, after)
    repo = git.open_repo(top)
    head = git.snapshot(repo).tree
    data = git.diff(repo, repo.head_tree, head)
    return repo, data, parse(data, base_tree=repo.head_tree, head_tree=head)


def as_json(patch: Patch) -> bytes:
    """The inventory as readable JSON."""
    return msgspec.json.format(msgspec.json.encode(plain(patch.changes)), indent=1) + b"\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, (before, after) in CASES.items():
            _, data, patch = build(Path(folder) / name, before, after)
            (HERE / f"{name}.diff").write_bytes(data)
            (HERE / f"{name}.json").write_bytes(as_json(patch))


if __name__ == "__main__":
    main()

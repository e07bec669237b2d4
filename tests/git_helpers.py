"""Small real repositories for the tests of git, patches and trees."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

GIT_ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z",
}


class Link(str):
    """A symbolic link to this target."""


class Run(bytes):
    """The content of an executable file."""


Files = dict[str, bytes]


def git(top: Path | str, *arguments: str, stdin: bytes = b"") -> str:
    """Run git as a user would; its standard output without the last line break."""
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments],
        cwd=top,
        env=GIT_ENV,
        input=stdin,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
    return os.fsdecode(done.stdout).rstrip("\n")


def write(top: Path | str, files: Files) -> None:
    for name, content in files.items():
        place = os.path.join(top, name)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if os.path.lexists(place):
            os.unlink(place)
        if isinstance(content, Link):
            os.symlink(content, place)
            continue
        with open(place, "wb") as file:
            file.write(content)
        os.chmod(place, 0o755 if isinstance(content, Run) else 0o644)


def clear(top: Path) -> None:
    """Remove all of the work tree."""
    for path in top.iterdir():
        if path.name != ".git":
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def commit(top: Path, files: Files | None = None, *, message: str = "c") -> str:
    """Commit the work tree after writing `files`; the commit id."""
    write(top, files or {})
    git(top, "add", "-A")
    git(top, "commit", "-q", "--allow-empty", "-m", message)
    return git(top, "rev-parse", "HEAD")


def make(top: Path, files: Files, *options: str) -> Path:
    """A new repository whose branch `main` has one commit."""
    top.mkdir(parents=True)
    git(top, "init", "-q", "-b", "main", *options)
    commit(top, files)
    return top


def fingerprint(*roots: Path) -> dict[str, str]:
    """Everything below `roots` by content, less what belongs to showcause: what law 13 protects."""
    found = {}
    for root in roots:
        for place, folders, names in os.walk(root):
            if "showcause" in folders and os.path.lexists(os.path.join(place, "HEAD")):
                folders.remove("showcause")
            for name in [*names, *folders]:
                path = os.path.join(place, name)
                found[path] = _print(path)
    return found


def _print(path: str) -> str:
    mode = oct(os.lstat(path).st_mode)
    if os.path.islink(path):
        return f"{mode} {os.readlink(path)}"
    if os.path.isdir(path):
        return mode
    return f"{mode} {hashlib.sha256(Path(path).read_bytes()).hexdigest()}"


def tree_content(top: Path | str, objects: str, tree: str) -> dict[str, tuple[str, bytes]]:
    """path -> (mode, content) of a tree that may live in a private object directory."""
    env = GIT_ENV | {"GIT_ALTERNATE_OBJECT_DIRECTORIES": objects}

    def run(*arguments: str) -> bytes:
        return subprocess.run(["git", *arguments], cwd=top, env=env, capture_output=True, check=True).stdout

    found = {}
    for line in run("ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0")[:-1]:
        meta, _, path = line.partition(b"\t")
        mode, kind, oid = meta.decode().split()
        found[os.fsdecode(path)] = (mode, run("cat-file", "blob", oid) if kind == "blob" else b"")
    return found

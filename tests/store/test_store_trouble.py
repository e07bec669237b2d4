"""Many processes at once, kill -9, and everything that can be wrong with a file."""

from __future__ import annotations

import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from store_made import child, record

from showcause.errors import StoreFault
from showcause.records import Ended
from showcause.store import About, open_store
from showcause.store.chain import verify

ROOT = os.geteuid() == 0


def fault(path: Path, match: str, busy_s: float = 5.0) -> StoreFault:
    with pytest.raises(StoreFault, match=match) as caught:
        open_store(path, busy_s=busy_s)
    cure = caught.value.cure
    assert cure
    assert "\n" not in cure + str(caught.value)
    return caught.value


def ids_of(output: bytes) -> list[str]:
    return [line for line in output.decode().splitlines() if len(line) == 12]


def assert_whole(path: Path, ids: list[str]) -> None:
    """Every receipt that was reported kept is there, in one valid chain."""
    store = open_store(path)
    assert verify(store.entries()).problems == ()
    kept = {entry.id for entry in store.entries()}
    assert set(ids) <= kept
    store.close()
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


# ------------------------------------------------------------------ many at once


def test_m3_eight_processes_append_a_hundred_each(tmp_path: Path) -> None:
    path = tmp_path / "s" / "store.sqlite3"
    children = [child("append", path, 100) for _ in range(8)]
    outputs = [process.communicate(timeout=300)[0] for process in children]
    assert [process.returncode for process in children] == [0] * 8, outputs
    ids = [id for output in outputs for id in ids_of(output)]
    assert len(set(ids)) == 800
    assert_whole(path, ids)
    store = open_store(path)
    assert store.count() == 800
    store.close()


def test_many_processes_make_the_schema_once(tmp_path: Path) -> None:
    for attempt in range(3):
        path = tmp_path / str(attempt) / "store.sqlite3"
        children = [child("append", path, 1) for _ in range(8)]
        outputs = [process.communicate(timeout=120)[0] for process in children]
        assert [process.returncode for process in children] == [0] * 8, outputs
        assert_whole(path, [id for output in outputs for id in ids_of(output)])


def test_kill_in_the_middle_of_appends(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    chance = random.Random(7)
    ids: list[str] = []
    for _ in range(5):
        children = [child("append", path, 100000) for _ in range(3)]
        time.sleep(0.6 + chance.random() * 0.5)
        for process in children:
            process.send_signal(signal.SIGKILL)
        for process in children:
            ids += ids_of(process.communicate(timeout=60)[0])
    assert ids
    assert_whole(path, ids)
    store = open_store(path)
    interrupted = [row for row in store.page(limit=100000) if row.ended is Ended.INTERRUPTED]
    assert len(interrupted) <= 15
    assert store.interrupt_dead() == ()
    store.close()


# ------------------------------------------------------------------ no space


def test_no_room_to_write(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    limit = 600_000

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    process = child("fill", path, preexec_fn=limited)
    output = process.communicate(timeout=120)[0]
    assert process.returncode == 4, output
    assert b"StoreFault|" in output
    assert_whole(path, ids_of(output))


@pytest.mark.skipif(not ROOT, reason="mounting needs root")
def test_a_full_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", disk], check=False).returncode:
        pytest.skip("no mounts here")
    try:
        process = child("fill", disk / "store.sqlite3")
        output = process.communicate(timeout=120)[0]
        assert process.returncode == 4, output
        assert b"has no space left" in output
        assert b"free some space" in output
        (disk / "filler").unlink(missing_ok=True)
        subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
        assert_whole(disk / "store.sqlite3", ids_of(output))
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


@pytest.mark.skipif(not ROOT, reason="mounting needs root")
def test_a_disk_that_is_full_from_the_start(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk], check=False).returncode:
        pytest.skip("no mounts here")
    try:
        fault(disk / "store.sqlite3", "no space left|cannot be")
        subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
        open_store(disk / "store.sqlite3").close()  # nothing half made stayed behind
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


# ------------------------------------------------------------------ refused, broken, foreign


@pytest.mark.skipif(not ROOT, reason="mounting needs root")
def test_a_read_only_folder(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "none", disk], check=False).returncode:
        pytest.skip("no mounts here")
    try:
        open_store(disk / "there.sqlite3").close()
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        for name in ("there.sqlite3", "new.sqlite3"):
            assert "writable" in fault(disk / name, "Read-only file system").cure
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


@pytest.mark.skipif(ROOT, reason="root may write anywhere")
def test_a_folder_of_somebody_else(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o500)
    assert "writable" in fault(folder / "store.sqlite3", "Permission denied").cure


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    fault(tmp_path / "file" / "store.sqlite3", "cannot be made")
    fault(tmp_path, "cannot be made")


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    path.write_bytes(b"no database, but long enough to have a header" * 100)
    before = path.read_bytes()
    assert "away" in fault(path, "is not a store").cure
    assert path.read_bytes() == before


def test_a_damaged_database(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    store = open_store(path)
    for _ in range(50):
        store.finish_review(store.start_review(About()), record(50))
    store.close()
    data = bytearray(path.read_bytes())
    data[4096 * 2 :] = b"\xa5" * (len(data) - 4096 * 2)
    path.write_bytes(data)
    with pytest.raises(StoreFault, match="damaged") as caught:
        _use(path)
    assert "recover" in caught.value.cure


def _use(path: Path) -> None:
    store = open_store(path)
    try:
        list(store.entries())
        store.finish_review(store.start_review(About()), record())
    finally:
        store.close()


def test_a_database_of_a_newer_version(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    open_store(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    assert "upgrade" in fault(path, "made by a newer showcause").cure


def test_a_database_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite3"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE theirs (x)")
    db.close()
    before = path.read_bytes()
    fault(path, "something else")
    assert path.read_bytes() == before


def test_a_store_that_somebody_holds(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    open_store(path).close()
    holder = child("hold", path, stdin=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    store = open_store(path, busy_s=0.3)
    with pytest.raises(StoreFault, match="locked by another process") as caught:
        store.start_review(About())
    assert "fuser" in caught.value.cure
    assert store.page() == ()  # reading goes on
    holder.communicate(timeout=60)
    store.finish_review(store.start_review(About()), record())
    store.close()


def test_the_review_path_loads_no_sqlite_before_it_opens() -> None:
    code = "import sys, showcause.store, showcause.report; print({'sqlite3', 'rich'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout == b"set()\n"

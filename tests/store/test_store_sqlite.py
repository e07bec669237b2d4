"""The store in one process: what goes in comes out."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from store_made import child, record, rejection, report

from showcause.errors import StoreFault, UsageError
from showcause.receipt import GENESIS
from showcause.records import BoundTo, Ended, Verdict
from showcause.store import About, BaseKey, Judged, Store, choose_folder, open_store
from showcause.store.chain import verify
from showcause.store.connection import SCHEMA_VERSION, _journal
from showcause.store.liveness import is_dead, this_process


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "git dir é" / "showcause" / "store.sqlite3"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    opened = open_store(path)
    yield opened
    opened.close()


def review(store: Store, **changes: object) -> str:
    return store.finish_review(store.start_review(About()), record(**changes)).id


def column(path: Path, sql: str) -> list[object]:
    db = sqlite3.connect(path)
    try:
        return [row[0] for row in db.execute(sql)]
    finally:
        db.close()


def tamper(path: Path, sql: str) -> None:
    db = sqlite3.connect(path)
    with db:
        db.execute(sql)
    db.close()


# ------------------------------------------------------------------ receipts


def test_a_review_goes_in_and_comes_out(store: Store) -> None:
    started = store.start_review(About())
    made = store.finish_review(started, record(why="\udcff\u202e\x00"), "key")
    assert made.id == started.id
    assert made.previous == GENESIS
    assert made.body.why == "\\xff\u202e\x00"
    assert store.get(made.id) == store.get(made.id[:3]) == store.latest() == store.find_settled("key") == made
    assert store.find_settled("other") is None
    assert store.find_settled("") is None


def test_the_last_settled_receipt_answers(store: Store) -> None:
    for verdict in (record(), rejection()):
        last = store.finish_review(store.start_review(About()), verdict, "key")
    assert store.find_settled("key") == last


def test_receipts_are_chained(store: Store) -> None:
    ids = [review(store) for _ in range(250)]
    assert [entry.id for entry in store.entries()] == ids
    found = verify(store.entries())
    assert (found.count, found.problems) == (250, ())


def test_a_signed_store(path: Path) -> None:
    store = open_store(path, key=b"k" * 16)
    review(store)
    assert verify(store.entries(), key=b"k" * 16).is_valid
    store.close()


def test_a_listing_is_light_and_newest_first(store: Store) -> None:
    ids = [review(store, why="w" * 1000) for _ in range(7)]
    rows = store.page(limit=3, offset=2)
    assert [row.id for row in rows] == ids[::-1][2:5]
    assert rows[0].why == "w" * 300
    assert (rows[0].ended, rows[0].verdict, rows[0].exit_status) == (Ended.UNDECIDED, None, 3)
    assert rows[0].head_tree == "2b" * 20
    assert store.count() == 7
    assert store.page(5, 100) == ()
    with pytest.raises(UsageError):
        store.page(-1)


@pytest.mark.parametrize("prefix", ["", "xyz", "0" * 13, "ABC", "%", "1' OR 1"])
def test_an_id_that_is_none(store: Store, prefix: str) -> None:
    with pytest.raises(UsageError, match="hexadecimal"):
        store.get(prefix)


def test_an_id_that_is_unknown_or_ambiguous(store: Store) -> None:
    ids = [review(store) for _ in range(40)]
    firsts = [id[0] for id in ids]
    twice = next(first for first in firsts if firsts.count(first) > 1)
    with pytest.raises(UsageError, match=f"more than one receipt starts with {twice}: "):
        store.get(twice)
    with pytest.raises(UsageError, match="no receipt starts with"):
        store.get(next(f"{n:012x}" for n in range(100) if f"{n:012x}" not in ids))


def test_a_tampered_receipt_does_not_answer(store: Store, path: Path) -> None:
    made = store.finish_review(store.start_review(About()), rejection(), "key")
    tamper(path, "UPDATE receipts SET body = replace(body, '\"reject\"', '\"accept\"')")
    assert store.find_settled("key") is None
    with pytest.raises(StoreFault, match="does not hold") as caught:
        store.get(made.id)
    assert "verify" in caught.value.cure
    assert [problem.kind.value for problem in verify(store.entries()).problems] == ["changed"]
    assert store.page()[0].verdict is Verdict.ACCEPT  # a listing can never differ from its receipt


def test_a_listing_of_nonsense_is_a_fault(store: Store, path: Path) -> None:
    review(store)
    tamper(path, "UPDATE receipts SET body = replace(body, '\"undecided\"', '\"maybe\"')")
    with pytest.raises(StoreFault, match="cannot be listed"):
        store.page()


def test_bytes_that_are_no_text_are_a_problem_not_a_crash(store: Store, path: Path) -> None:
    review(store)
    tamper(path, "UPDATE receipts SET created = CAST(x'ff' AS TEXT)")
    assert [problem.kind.value for problem in verify(store.entries()).problems] == ["changed"]


def test_nan_leaves_nothing_behind(store: Store) -> None:
    started = store.start_review(About())
    with pytest.raises(ValueError, match="no place"):
        store.finish_review(started, record(wall_s=float("nan")))
    assert store.count() == 0
    store.finish_review(started, record())  # the transaction is over, the announcement still stands


def test_a_review_ends_once(store: Store) -> None:
    started = store.start_review(About())
    store.finish_review(started, record())
    with pytest.raises(ValueError, match="finished before"):
        store.finish_review(started, record())


def test_threads_share_a_store(store: Store) -> None:
    threads = [threading.Thread(target=lambda: [review(store) for _ in range(20)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verify(store.entries()).count == 80
    assert verify(store.entries()).is_valid


# ------------------------------------------------------------------ interrupted reviews


def test_a_review_whose_process_died_becomes_interrupted(store: Store, path: Path) -> None:
    process = child("announce", path)
    id = process.communicate(timeout=60)[0].decode().strip()
    assert process.returncode == 9
    alive = store.start_review(About(bound_to=BoundTo(base_tree="b", head_tree="h", patch="p", policy="q")))
    made = store.get(id)
    assert (made.body.ended, made.body.verdict, made.body.exit_status) == (Ended.INTERRUPTED, None, 130)
    assert made.body.issue == "i"
    assert store.interrupt_dead() == ()
    assert store.finish_review(alive, record()).id == alive.id
    assert verify(store.entries()).is_valid
    assert store.find_settled("") is None


def test_opening_is_enough_to_find_the_dead(store: Store, path: Path) -> None:
    process = child("announce", path)
    id = process.communicate(timeout=60)[0].decode().strip()
    assert store.count() == 0
    other = open_store(path)
    assert other.get(id).body.ended is Ended.INTERRUPTED
    other.close()


def test_a_review_wrongly_taken_for_dead_loses_nothing(store: Store, path: Path) -> None:
    started = store.start_review(About())
    tamper(path, "UPDATE reviews_started SET process_start = 'another'")
    assert [receipt.id for receipt in store.interrupt_dead()] == [started.id]
    made = store.finish_review(started, record())
    assert made.id != started.id
    assert store.get(started.id).body.ended is Ended.INTERRUPTED
    assert store.get(made.id).body.ended is Ended.UNDECIDED


def test_who_is_dead() -> None:
    here, then = this_process(), "2026-01-02T03:04:05.000000+00:00"
    now = "9999-01-01T00:00:00.000000+00:00"  # never old

    def other(**changes: object) -> bool:
        return is_dead(msgspec.structs.replace(here, **changes), now)

    assert not is_dead(here, then)
    assert other(start="1")  # the pid is used again
    assert other(boot="another")  # the machine was booted since
    assert not other(boot="another", host="another")  # another machine: not known
    assert not other(pid_namespace="pid:[1]", pid=1)  # another container: not known
    assert is_dead(msgspec.structs.replace(here, boot="x", host="y"), then)  # silent for a day
    assert is_dead(msgspec.structs.replace(here, boot="x", host="y"), "no time")


def test_a_zombie_is_dead() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    here = this_process()
    start = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    assert is_dead(msgspec.structs.replace(here, pid=pid, start=start), "9999-01-01T00:00:00+00:00")
    os.waitpid(pid, 0)


# ------------------------------------------------------------------ cache, durations, judgements

KEY = BaseKey(tree="t", check="suite", version="1", environment="e")


def test_outcomes_of_base_come_back_exactly(store: Store) -> None:
    assert store.cache_get(KEY) is None
    reports = (report(), report("plain"))
    store.cache_put(KEY, reports)
    assert store.cache_get(KEY) == reports
    assert store.cache_get(msgspec.structs.replace(KEY, version="2")) is None
    store.cache_put(KEY, ())
    assert store.cache_get(KEY) == ()


def test_a_cache_of_another_shape_is_a_miss(store: Store, path: Path) -> None:
    store.cache_put(KEY, (report(),))
    for text in ("{", '[{"side": "base"}]', "null"):
        tamper(path, f"UPDATE base_outcomes SET reports = '{text}'")
        assert store.cache_get(KEY) is None


def test_the_cache_has_an_end(store: Store, path: Path) -> None:
    for number in range(210):
        store.cache_put(msgspec.structs.replace(KEY, tree=str(number)), ())
    assert column(path, "SELECT count(*) FROM base_outcomes") == [200]
    assert store.cache_get(msgspec.structs.replace(KEY, tree="209")) == ()


def test_durations_are_updated(store: Store) -> None:
    store.durations_put({"a.py": 1.0, "b\udcff.py": 2.0})
    store.durations_put({"a.py": 3.0})
    assert store.durations_get() == {"a.py": 3.0, "b\udcff.py": 2.0}


def test_what_turned_out_is_noted(store: Store) -> None:
    id = review(store)
    store.judge(id[:6], Judged.WRONG)
    store.judge(id, Judged.RIGHT, "on a second look \udcff")
    assert [(one.receipt, one.judged) for one in store.judgements()] == [
        (id, Judged.WRONG),
        (id, Judged.RIGHT),
    ]
    with pytest.raises(UsageError):
        store.judge("zz", Judged.RIGHT)


# ------------------------------------------------------------------ the file


def test_only_the_owner_may_look(store: Store, path: Path) -> None:
    review(store)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == dict.fromkeys(["store.sqlite3", "store.sqlite3-wal", "store.sqlite3-shm"], 0o600)


def test_wal_and_full(store: Store, path: Path) -> None:
    assert store.note == ""
    assert column(path, "PRAGMA journal_mode") == ["wal"]
    assert store._db.execute("PRAGMA synchronous").fetchone() == (2,)  # type: ignore[attr-defined]


def test_where_wal_is_refused_there_is_a_note(tmp_path: Path) -> None:
    class Refusing(sqlite3.Connection):
        def execute(self, sql: str, *values: object) -> sqlite3.Cursor:  # type: ignore[override]
            return super().execute(sql.replace("= WAL", "= MEMORY"), *values)  # as if it had answered so

    db = sqlite3.connect(tmp_path / "x", factory=Refusing)
    from showcause.clock import Deadline

    assert "refuses WAL" in _journal(db, Deadline.after(1))
    assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    db.close()


def test_a_url_names_an_absolute_path(path: Path) -> None:
    open_store(f"sqlite:///{str(path).replace('é', '%C3%A9').replace(' ', '%20')}").close()
    assert path.exists()
    for url in ("sqlite:///relative.sqlite3", "sqlite://host/x", "mysql://x/y"):
        with pytest.raises(UsageError):
            open_store(url)


def test_the_schema_is_whole_and_numbered() -> None:
    from showcause.store import connection

    files = sorted(file.name for file in connection._SCHEMA.iterdir())
    assert files == [f"{number:04}.sql" for number in range(1, SCHEMA_VERSION + 1)]


# ------------------------------------------------------------------ which folder


def test_the_preferred_folder(tmp_path: Path) -> None:
    chosen = choose_folder(tmp_path / "a" / "b", tmp_path / "c")
    assert (chosen.path, chosen.note) == (tmp_path / "a" / "b", "")
    assert chosen.store == tmp_path / "a" / "b" / "store.sqlite3"
    assert not list(chosen.path.iterdir())
    assert not (tmp_path / "c").exists()


def test_the_fallback_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    chosen = choose_folder(tmp_path / "file" / "b", tmp_path / "c")
    assert chosen.path == tmp_path / "c"
    assert "cannot be written (File exists)" in chosen.note
    with pytest.raises(StoreFault) as caught:
        choose_folder(tmp_path / "file" / "b", tmp_path / "file" / "c")
    assert caught.value.cure

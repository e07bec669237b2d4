"""Real processes, real signals: what `run` promises, for each way of ending a tree."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import pytest

from showcause.clock import Deadline
from showcause.process import MARKER, Command, Finished, How, Reap, kill_naming, run
from showcause.sandbox.bwrap import find_bwrap

PATH = "/usr/local/bin:/usr/bin:/bin"
NAMESPACE = (
    "--unshare-user", "--unshare-pid", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc",
    "--dev", "/dev",
)  # fmt: skip


def _bwrap() -> str | None:
    for program in find_bwrap():
        if subprocess.run([program, *NAMESPACE, "true"], capture_output=True, check=False).returncode == 0:
            return program
    return None


BWRAP = _bwrap()
needs_namespaces = pytest.mark.skipif(BWRAP is None, reason="user namespaces are refused here")
WAYS = [Reap.GROUP, Reap.SUBREAPER, pytest.param(Reap.NAMESPACE, marks=needs_namespaces)]
CLOSED_WAYS = WAYS[1:]  # those that no daemon leaves

# Each generation leaves its session, starts the next, and is gone after 2 ms.
FORK_CHAIN = """
import os, time
if os.fork():
    time.sleep(600)
while True:
    if os.fork():
        time.sleep(0.002)
        os._exit(0)
    os.setsid()
"""


def command(*argv: str, reap: Reap = Reap.GROUP, limit_s: float = 10.0, **more: object) -> Command:
    if reap is Reap.NAMESPACE:
        assert BWRAP
        argv = (BWRAP, *NAMESPACE, "--", *argv)
    return Command(argv=argv, cwd="/", env={"PATH": PATH}, limit_s=limit_s, reap=reap, **more)  # type: ignore[arg-type]


def sh(script: str, reap: Reap = Reap.GROUP, **more: object) -> Command:
    return command("sh", "-c", script, reap=reap, **more)  # type: ignore[arg-type]


def python(code: str, *args: str, reap: Reap = Reap.GROUP, **more: object) -> Command:
    return command(sys.executable, "-I", "-S", "-c", code, *args, reap=reap, **more)  # type: ignore[arg-type]


@pytest.fixture
def tag() -> str:
    """A duration for `sleep` that nobody else uses: tells our processes from all others."""
    return f"600.{secrets.randbelow(10**9):09}"


def alive(tag: str) -> int:
    count = 0
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        count += tag.encode() in words
    return count


def settled(tag: str, want: int, within_s: float = 3.0) -> bool:
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        if alive(tag) == want:
            return True
        time.sleep(0.01)
    return False


def check_dead(finished: Finished, tag: str) -> None:
    assert finished.leaked == 0
    assert alive(tag) == 0


@pytest.mark.parametrize("reap", WAYS)
class TestEnds:
    def test_exit_status_and_streams(self, reap: Reap) -> None:
        finished = run(sh("echo out; echo err >&2; exit 3", reap))
        assert (finished.how, finished.exit_status, finished.signal) == (How.EXITED, 3, None)
        assert (finished.stdout.kept, finished.stderr.kept) == (b"out\n", b"err\n")
        assert finished.stdout.is_whole

    @pytest.mark.parametrize("number", [6, 9, 11])
    def test_signal(self, reap: Reap, number: int) -> None:
        finished = run(sh(f"kill -{number} $$", reap))
        assert (finished.how, finished.exit_status, finished.signal) == (How.SIGNALLED, None, number)

    def test_sigterm_ignored(self, reap: Reap, tag: str) -> None:
        finished = run(sh(f"trap '' TERM INT HUP; sleep {tag}; sleep {tag}", reap, limit_s=0.3))
        assert (finished.how, finished.exit_status) == (How.TIMEOUT, None)
        assert finished.wall_s < 3
        check_dead(finished, tag)

    def test_cancel(self, reap: Reap, tag: str) -> None:
        cancel = threading.Event()
        threading.Timer(0.2, cancel.set).start()
        finished = run(sh(f"sleep {tag}", reap), cancel=cancel)
        assert finished.how is How.CANCELLED
        assert 0.15 < finished.wall_s < 3
        check_dead(finished, tag)

    def test_the_earlier_limit_counts(self, reap: Reap) -> None:
        finished = run(sh("sleep 5", reap), deadline=Deadline.after(0.2))
        assert finished.how is How.TIMEOUT
        assert finished.wall_s < 3

    def test_late_success_is_none(self, reap: Reap) -> None:
        assert run(sh("sleep 0.2", reap, limit_s=0.2)).how is How.TIMEOUT

    def test_end_at_the_moment_of_cancelling(self, reap: Reap, tmp_path: Path) -> None:
        class SetByTheCommand(threading.Event):
            def is_set(self) -> bool:
                return (tmp_path / "over").exists()

        assert run(sh("exit 0", reap), cancel=SetByTheCommand()).how is How.EXITED
        where = tmp_path / "over"
        if reap is Reap.NAMESPACE:
            pytest.skip("its root is read-only")
        assert run(sh(f"echo > {where}", reap), cancel=SetByTheCommand()).how is How.CANCELLED

    def test_pipes_signals_are_not_ignored(self, reap: Reap) -> None:
        finished = run(sh("(yes; echo $? >&2) | head -n 1", reap))
        assert finished.stderr.kept == b"141\n"

    def test_environment_is_what_was_named(self, reap: Reap) -> None:
        finished = run(command("env", reap=reap))
        names = {line.partition(b"=")[0].decode() for line in finished.stdout.kept.splitlines()}
        assert names - {"PWD", MARKER} == {"PATH"}
        assert (MARKER in names) == (reap is not Reap.NAMESPACE)


@pytest.mark.parametrize("reap", WAYS)
class TestInput:
    def test_e1_none_is_the_default(self, reap: Reap) -> None:
        finished = run(python("import sys; sys.stdin.read(); print('ok')", reap=reap))
        assert (finished.stdout.kept, finished.stdin_accepted) == (b"ok\n", 0)

    def test_all_is_read(self, reap: Reap) -> None:
        data = os.urandom(300_000)
        finished = run(command("cat", reap=reap, stdin=data, keep_bytes=None))
        assert finished.stdout.kept == data
        assert finished.stdin_accepted == len(data)

    def test_not_read_to_the_end(self, reap: Reap) -> None:
        finished = run(command("head", "-c", "10", reap=reap, stdin=b"x" * 3_000_000))
        assert (finished.how, finished.stdout.kept) == (How.EXITED, b"x" * 10)
        assert 10 <= finished.stdin_accepted < 3_000_000

    def test_never_read(self, reap: Reap) -> None:
        finished = run(sh("sleep 5", reap, stdin=b"x" * 3_000_000, limit_s=0.3))
        assert finished.how is How.TIMEOUT
        assert 0 < finished.stdin_accepted < 3_000_000


@pytest.mark.parametrize("reap", WAYS)
class TestTrees:
    def test_e3_background_child_holds_the_pipe(self, reap: Reap, tag: str) -> None:
        finished = run(sh(f"sleep {tag} & echo done", reap))
        assert (finished.how, finished.stdout.kept) == (How.EXITED, b"done\n")
        assert finished.wall_s < 2
        check_dead(finished, tag)

    def test_e2_child_in_its_own_session(self, reap: Reap, tag: str) -> None:
        finished = run(sh(f"setsid sleep {tag} & sleep {tag}", reap, limit_s=0.5))
        assert finished.how is How.TIMEOUT
        assert finished.wall_s < 2
        check_dead(finished, tag)

    def test_e5_busy_loop(self, reap: Reap, tag: str) -> None:
        finished = run(python("while True: pass", tag, reap=reap, limit_s=0.3))
        assert finished.how is How.TIMEOUT
        check_dead(finished, tag)

    def test_double_fork(self, reap: Reap, tag: str) -> None:
        inner = f"setsid sleep {tag} & setsid sleep {tag} &"
        finished = run(sh(f"(setsid sh -c '{inner}' &) ; sleep 0.1; echo done", reap))
        assert (finished.how, finished.stdout.kept) == (How.EXITED, b"done\n")
        check_dead(finished, tag)

    def test_fifty_daemons_hold_the_output(self, reap: Reap, tag: str) -> None:
        script = f"for i in $(seq 50); do setsid sleep {tag} & done; sleep 0.1; echo done"
        finished = run(sh(script, reap))
        assert (finished.how, finished.stdout.kept) == (How.EXITED, b"done\n")
        check_dead(finished, tag)


@pytest.mark.parametrize("reap", CLOSED_WAYS)
class TestClosedTrees:
    def test_fork_chain(self, reap: Reap, tag: str) -> None:
        finished = run(python(FORK_CHAIN, tag, reap=reap, limit_s=0.4))
        assert finished.how is How.TIMEOUT
        assert finished.wall_s < 3
        check_dead(finished, tag)

    def test_we_are_killed(self, reap: Reap, tag: str) -> None:
        what = sh(f"setsid sleep {tag} & sleep {tag}", reap)
        given = f"argv={what.argv!r}, cwd='/', env={what.env!r}, limit_s=60, reap=Reap({reap.value!r})"
        code = f"from showcause.process import *; run(Command({given}))"
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with subprocess.Popen([sys.executable, "-c", code], env=env) as ours:
            assert settled(tag, 2), alive(tag)  # in the shell's own command it is part of a longer word
            ours.kill()
        assert settled(tag, 0)


def test_reaper_killed_by_its_own_tree(tag: str) -> None:
    finished = run(sh(f"setsid sleep {tag} & sleep 0.1; kill -9 $PPID; sleep {tag}", Reap.SUBREAPER))
    assert finished.how is How.SIGNALLED
    check_dead(finished, tag)


@pytest.mark.parametrize("reap", [Reap.GROUP, Reap.SUBREAPER])
@pytest.mark.parametrize(("program", "reason"), [("no-such-program", "No such file"), ("/etc", "ermission")])
def test_spawn_failure_is_a_value(reap: Reap, program: str, reason: str) -> None:
    finished = run(command(program, reap=reap))
    assert (finished.how, finished.exit_status, finished.leaked) == (How.SPAWN_FAILED, None, 0)
    assert reason in finished.why


def test_h8_too_long_an_argument_is_told_and_the_same_on_standard_input_is_read() -> None:
    """Linux takes 131,071 bytes of one argument; what is larger never goes there."""
    data = b"x" * 131_072
    told = run(command("true", data.decode()))
    assert (told.how, told.exit_status) == (How.SPAWN_FAILED, None)
    assert "Argument list too long" in told.why
    read = run(command("cat", stdin=data, keep_bytes=None))
    assert (read.how, read.stdout.kept, read.stdin_accepted) == (How.EXITED, data, len(data))


def test_other_spawn_failures() -> None:
    assert run(Command(argv=("true",), cwd="/no/such", env={}, limit_s=1)).how is How.SPAWN_FAILED
    assert run(command("true\0")).how is How.SPAWN_FAILED


@needs_namespaces
def test_bwrap_that_fails_is_an_exit() -> None:
    assert BWRAP
    finished = run(Command(argv=(BWRAP, "--bogus"), cwd="/", env={}, limit_s=5, reap=Reap.NAMESPACE))
    assert (finished.how, finished.exit_status) == (How.EXITED, 1)
    assert b"bogus" in finished.stderr.kept


@needs_namespaces
def test_namespace_stopped_at_its_birth(tag: str) -> None:
    for limit_s in (0.0005, 0.001, 0.002, 0.004):
        finished = run(sh(f"setsid sleep {tag} & sleep {tag}", Reap.NAMESPACE, limit_s=limit_s))
        assert finished.how is How.TIMEOUT
        check_dead(finished, tag)


def test_nothing_is_started_after_the_end(tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    where = tmp_path / "started"
    assert run(sh(f"echo > {where}"), cancel=cancel).how is How.CANCELLED
    assert run(sh(f"echo > {where}"), deadline=Deadline(at_s=time.monotonic())).how is How.TIMEOUT
    assert not where.exists()
    with pytest.raises(ValueError, match="limit"):
        run(sh("true", limit_s=0))


def test_a_flood_is_drained_and_not_kept() -> None:
    tracemalloc.start()
    finished = run(sh("printf begin; head -c 200000000 /dev/zero; printf end", keep_bytes=1000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert finished.stdout.total_bytes == 200_000_008
    assert (len(finished.stdout.head), len(finished.stdout.tail)) == (1000, 1000)
    assert finished.stdout.head.startswith(b"begin\0")
    assert finished.stdout.tail.endswith(b"\0end")
    assert not finished.stdout.is_whole
    assert peak < 4 << 20


@pytest.mark.parametrize("size", [0, 9, 10, 11, 20, 21, 1000])
def test_head_and_tail(size: int) -> None:
    data = bytes(i % 251 for i in range(size))
    stream = run(command("cat", stdin=data, keep_bytes=10)).stdout
    assert stream.total_bytes == size
    assert stream.head == data[:10]
    assert stream.tail == data[10:][-10:]
    assert stream.is_whole == (size <= 20)


def test_no_descriptor_is_left_or_shared() -> None:
    ways = [Reap.GROUP, Reap.SUBREAPER, *([Reap.NAMESPACE] if BWRAP else [])]
    seen: list[bytes] = []

    def work() -> None:
        for reap in ways * 3:
            seen.append(run(sh("ls /proc/self/fd", reap, stdin=b"x")).stdout.kept)

    work()
    before = os.listdir("/proc/self/fd")
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert os.listdir("/proc/self/fd") == before
    assert set(seen) == {b"0\n1\n2\n3\n"}


def test_pass_fds(tmp_path: Path) -> None:
    path = tmp_path / "events"
    for reap in (Reap.GROUP, Reap.SUBREAPER, *([Reap.NAMESPACE] if BWRAP else [])):
        fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        try:
            code = "import os, sys; os.write(int(sys.argv[1]), b'event')"
            run(python(code, str(fd), reap=reap, pass_fds=(fd,)))
        finally:
            os.close(fd)
        assert path.read_text() == "event"


def test_interrupt_kills_the_tree(tag: str) -> None:
    class Interrupting(threading.Event):
        def is_set(self) -> bool:
            if alive(tag):
                raise KeyboardInterrupt
            return False

    for reap in (Reap.GROUP, Reap.SUBREAPER):
        with pytest.raises(KeyboardInterrupt):
            run(sh(f"sleep {tag} & sleep {tag}", reap), cancel=Interrupting())
        assert settled(tag, 0)


def test_what_names_the_folder_of_a_review_that_is_gone_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "showcause-1-gone"
    folder.mkdir()
    stray = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", f"--out={folder}/out-1"])
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", f"{tmp_path}/else"])
    try:
        assert kill_naming(str(folder)) == 0
        assert stray.wait(10) == -signal.SIGKILL
        assert other.poll() is None
    finally:
        other.kill()
        other.wait(10)

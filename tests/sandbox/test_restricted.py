"""Level 3 works without any namespace and says `partial`; level 4 refuses."""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path

import pytest

from showcause.errors import SandboxFault, UsageError
from showcause.process import Command, How, run
from showcause.records import Enforcement
from showcause.sandbox import (
    LEVEL_VARIABLE,
    Confinement,
    Network,
    Sandbox,
    find_sandbox,
    mounts,
    setup_failure,
)

from .conftest import Confined, Tree, at_level

PYTHON = mounts.interpreter()[0]


class TestLevel3:
    def test_it_says_partial(self, restricted: Sandbox) -> None:
        report = restricted.report
        assert (report.level, report.tree) == (3, "copy")
        assert report.fs.state is Enforcement.PARTIAL
        assert report.pid.state is Enforcement.PARTIAL
        assert LEVEL_VARIABLE in report.fs.why

    def test_the_tree_is_written_in_place(self, in_place: Confined, tree: Tree) -> None:
        finished = in_place("cat file; echo y > new; mv new package/moved; pwd")
        assert finished.stdout.kept.decode() == f"base{tree.checkout}\n"
        assert (tree.checkout / "package" / "moved").read_text() == "y\n"

    def test_writing_outside(self, in_place: Confined, tmp_path: Path) -> None:
        for place in (str(tmp_path), "/tmp", "/var/tmp", "/usr", "/etc"):
            name = Path(place, f"showcause-{secrets.token_hex(8)}")
            finished = in_place(f"echo x > '{name}'")
            assert finished.exit_status != 0
            assert not name.exists()
        assert in_place("echo x > ~/x && echo y > $TMPDIR/y && echo z > /dev/null").exit_status == 0

    def test_switches_and_disks(self, in_place: Confined) -> None:
        disks = [str(path) for path in Path("/dev").iterdir() if path.is_block_device()]
        for path in ("/proc/sys/kernel/core_pattern", *disks[:2]):
            code = f"import os; os.open({path!r}, os.O_WRONLY)"
            assert in_place(PYTHON, "-c", code).exit_status == 1
            assert path not in disks or in_place("head", "-c", "1", path).exit_status == 1

    def test_reading_outside(self, in_place: Confined, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_text("secret")
        for path in (str(secret), "/etc/shadow", f"/proc/{os.getpid()}/environ"):
            finished = in_place(f"cat '{path}'")
            assert (finished.exit_status, finished.stdout.kept) == (1, b""), path
        assert in_place("cat", str(secret), readable=(str(tmp_path),)).stdout.kept == b"secret"

    @pytest.mark.parametrize("network", [Network.NONE, Network.LOOPBACK])
    def test_sockets_are_denied(self, in_place: Confined, network: Network) -> None:
        code = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 2)"
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = str(server.getsockname()[1])
            finished = in_place(PYTHON, "-c", code, port, network=network)
            assert b"Permission denied" in finished.stderr.kept
            assert in_place(PYTHON, "-c", code, port, network=Network.HOST).exit_status == 0

    def test_its_reaper_is_out_of_reach(self, in_place: Confined) -> None:
        finished = in_place("kill -9 $PPID; echo $?")
        assert finished.how is How.EXITED
        assert finished.stdout.kept == b"1\n"

    def test_nothing_is_left(self, in_place: Confined) -> None:
        finished = in_place("setsid sleep 60 & sleep 60", limit_s=0.4)
        assert (finished.how, finished.leaked) == (How.TIMEOUT, 0)

    def test_no_power_is_left(self, in_place: Confined) -> None:
        status = in_place("grep -E 'Cap|NoNewPrivs|Seccomp:' /proc/self/status").stdout.kept.decode()
        values = dict(line.split(":\t") for line in status.splitlines())
        # Only root has a bounding set that it may empty, and needs to.
        sets = ("CapInh", "CapPrm", "CapEff", "CapAmb", *(["CapBnd"] if os.getuid() == 0 else []))
        assert {values[name] for name in sets} == {"0" * 16}
        assert (values["NoNewPrivs"], values["Seccomp"]) == ("1", "2")
        assert in_place("unshare", "-U", "true").exit_status == 1

    def test_memory_is_capped_for_each_process(self, in_place: Confined) -> None:
        code = "bytearray(600 << 20)"
        assert b"MemoryError" in in_place(PYTHON, "-c", code, memory_bytes=400 << 20).stderr.kept

    def test_layers_are_refused(self, restricted: Sandbox, tree: Tree) -> None:
        command = Command(argv=("true",), cwd="/", env={}, limit_s=1)
        with pytest.raises(SandboxFault, match="copy"):
            restricted.confine(command, Confinement(target="/x", layers=("/y", "/x")))

    def test_command_that_is_not_there(self, in_place: Confined) -> None:
        assert "no-such-program" in setup_failure(in_place("no-such-program", "argument"))

    def test_environment_is_what_was_named(self, in_place: Confined) -> None:
        lines = in_place("env").stdout.kept.decode().splitlines()
        names = {line.split("=")[0] for line in lines}
        assert names == {"PATH", "HOME", "TMPDIR", "PWD", "SHOWCAUSE_RUN"}


class TestLevel4:
    COMMAND = Command(argv=("cat", "file"), cwd="/", env={"PATH": "/usr/bin:/bin"}, limit_s=5)

    def test_it_refuses(self, tree: Tree) -> None:
        bare = at_level(4)
        assert bare.report.fs.state is bare.report.net.state is bare.report.pid.state is Enforcement.NONE
        with pytest.raises(SandboxFault, match="unconfined") as caught:
            bare.confine(self.COMMAND, Confinement(target="/", layers=("/",)))
        assert "--allow-unsandboxed" in caught.value.cure

    def test_it_runs_where_allowed(self, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
        import msgspec

        monkeypatch.setenv(LEVEL_VARIABLE, "4")
        bare = find_sandbox(allow_unsandboxed=True)
        where = str(tree.checkout)
        command = msgspec.structs.replace(self.COMMAND, cwd=where)
        finished = run(bare.confine(command, Confinement(target=where, layers=(where,))))
        assert finished.stdout.kept == b"base"


def test_unknown_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LEVEL_VARIABLE, "best")
    with pytest.raises(UsageError, match="best"):
        find_sandbox(allow_unsandboxed=False)

"""Levels 1 and 2: what a confined command sees, may write, and may not do."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from showcause.errors import SandboxFault
from showcause.process import Command, How
from showcause.records import Enforcement
from showcause.sandbox import Confinement, Network, Sandbox, mounts, setup_failure

from .conftest import Confined, Tree, whiteout

PYTHON = mounts.interpreter()[0]
MOUNT_BELOW = """
import os, subprocess, sys
from pathlib import Path
from showcause.errors import SandboxFault
from showcause.process import Command, run
from showcause.sandbox import Confinement, find_sandbox

checkout, middle, copy = sys.argv[1:]
below = checkout + "/package/sub"
if subprocess.run(["mount", "-t", "tmpfs", "none", below]).returncode:
    sys.exit(print("cannot mount"))
Path(below, "inner").write_text("mounted")
sandbox = find_sandbox(allow_unsandboxed=False)
script = "cat package/sub/inner; echo x > package/sub/new || echo ' read-only'"
command = Command(argv=("sh", "-c", script), cwd=checkout, env={"PATH": os.environ["PATH"]}, limit_s=9)
try:
    sandbox.confine(command, Confinement(target=checkout, layers=(middle, checkout)))
except SandboxFault as fault:
    print("refused", below in str(fault), flush=True)
finished = run(sandbox.confine(command, Confinement(target=checkout, layers=(copy,), readable=(below,))))
print(finished.stdout.kept.decode(), end="")
"""


def out(finished: object) -> str:
    return finished.stdout.kept.decode().strip()  # type: ignore[attr-defined]


class TestTree:
    def test_middle_layer_is_shown(self, confined: Confined, tree: Tree) -> None:
        (tree.middle / "file").write_text("patched")
        (tree.middle / "package").mkdir()
        (tree.middle / "package" / "new.py").write_text("new")
        finished = confined("cat file same package/new.py package/module.py; pwd")
        assert out(finished) == f"patchedsamenewx = 1\n{tree.checkout}"

    def test_whiteouts_hide(self, confined: Confined, tree: Tree) -> None:
        whiteout(tree.middle / "file")
        whiteout(tree.middle / "package" / "module.py")
        assert out(confined("ls; ls package; cat file || echo gone")) == "package\nsame\nsub\ngone"

    def test_directory_becomes_file_and_file_directory(self, confined: Confined, tree: Tree) -> None:
        (tree.middle / "package").write_text("a file now")
        (tree.middle / "file").mkdir()
        (tree.middle / "file" / "inner").write_text("within")
        assert out(confined("cat package file/inner")) == "a file nowwithin"

    def test_three_layers(self, sandbox: Sandbox, tree: Tree, tmp_path: Path) -> None:
        from .conftest import confined_by

        top = tmp_path / "top"
        top.mkdir()
        (top / "file").write_text("top")
        (tree.middle / "same").write_text("middle")
        go = confined_by(sandbox, tree, (str(top), str(tree.middle), str(tree.checkout)))
        assert out(go("cat file same package/module.py")) == "topmiddlex = 1"

    def test_writes_are_thrown_away(self, confined: Confined, tree: Tree) -> None:
        before = tree.digest()
        script = "echo x > file; echo y > new; rm -r package; mkdir package; mv same moved; ls; cat file"
        finished = confined(script)
        assert (finished.exit_status, out(finished)) == (0, "file\nmoved\nnew\npackage\nx")
        assert tree.digest() == before
        assert os.listdir(tree.middle) == []

    def test_upper_layer_is_limited(self, confined: Confined) -> None:
        finished = confined("head -c 4000000 /dev/zero > big", upper_bytes=1 << 20)
        assert finished.exit_status != 0
        assert b"No space left" in finished.stderr.kept

    def test_upper_layer_on_disk(self, confined: Confined, tree: Tree, tmp_path: Path) -> None:
        upper = tmp_path / "upper"
        upper.mkdir()
        finished = confined("head -c 4000000 /dev/zero > big", upper_bytes=1 << 20, upper_dir=str(upper))
        assert finished.exit_status == 0
        assert (upper / "up" / "big").stat().st_size == 4_000_000
        assert not (tree.checkout / "big").exists()

    def test_folders_below_the_tree_are_mounted_back(self, confined: Confined, tree: Tree) -> None:
        events = tree.checkout / "events"
        events.mkdir()
        script = "echo e > events/log; echo x > package/sub/file"
        finished = confined(script, writable=(str(events),), readable=(str(tree.checkout / "package"),))
        assert (events / "log").read_text() == "e\n"
        assert b"Read-only file system" in finished.stderr.kept

    def test_mount_below_the_checkout(self, tree: Tree, tmp_path: Path) -> None:
        enter = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-rm"]
        (tmp_path / "copy").mkdir()
        finished = subprocess.run(
            [*enter, sys.executable, "-c", MOUNT_BELOW, *map(str, (*tree, tmp_path / "copy"))],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=False,
        )
        if "cannot mount" in finished.stdout or "unshare failed" in finished.stderr:
            pytest.skip("nothing can be mounted here")
        assert finished.stdout == "refused True\nmounted read-only\n", finished.stderr


class TestFiles:
    def test_writing_outside(self, confined: Confined, tmp_path: Path) -> None:
        places = ["/usr", "/etc", "/", "/dev", "/run", "/proc/sys/kernel", mounts.interpreter()[1]]
        for place in places:
            assert confined(f"echo x > {place}/showcause-test").exit_status != 0, place
        confined(f"echo x > {tmp_path}/showcause-test")  # into a private /tmp, if at all
        assert "showcause-test" not in os.listdir(tmp_path)

    @pytest.mark.parametrize("name", ["kernel/core_pattern", "kernel/pid_max", "fs/binfmt_misc/register"])
    def test_settings_of_the_kernel(self, confined: Confined, name: str) -> None:
        """Root that is mapped to a user still is root to /proc/sys: without care this is the way out."""
        code = "import os, sys; os.open('/proc/sys/' + sys.argv[1], os.O_WRONLY)"
        assert confined(PYTHON, "-c", code, name).exit_status == 1

    def test_private_folders_are_writable_and_empty(self, confined: Confined) -> None:
        name = f"showcause-{secrets.token_hex(8)}"
        for place in ("/tmp", "/var/tmp", "/dev/shm", "~", "$TMPDIR"):
            assert out(confined(f"echo x > {place}/{name} && cat {place}/{name}")) == "x"
            assert not Path(place, name).expanduser().exists()
        assert out(confined("ls -A /dev/shm")) == ""

    def test_the_real_home_is_hidden(self, confined: Confined) -> None:
        prefix = Path(mounts.interpreter()[1])
        for home in mounts.homes():
            above = prefix.relative_to(home).parts[0] if prefix.is_relative_to(home) else ""
            assert out(confined(f"ls -A {home}")) == above

    def test_shadow_is_not_readable(self, confined: Confined) -> None:
        finished = confined("cat /etc/shadow")
        assert finished.exit_status != 0
        assert finished.stdout.kept == b""

    def test_layers_are_out_of_sight(self, confined: Confined) -> None:
        assert out(confined("ls -A /run/showcause")) == ""

    def test_users_are_made_up(self, confined: Confined) -> None:
        assert out(confined("id -un; id -u; hostname")) == "user\n1000\nshowcause"


class TestNetwork:
    CONNECT = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 2); print('yes')"
    OWN = """if True:
        import socket
        server = socket.create_server(("127.0.0.1", 0))
        socket.create_connection(server.getsockname()); print("own loopback")"""

    def test_ours_is_reached_from_the_host_network_only(self, confined: Confined) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = str(server.getsockname()[1])
            for network in (Network.NONE, Network.LOOPBACK):
                assert confined(PYTHON, "-c", self.CONNECT, port, network=network).exit_status == 1
            assert out(confined(PYTHON, "-c", self.CONNECT, port, network=Network.HOST)) == "yes"

    def test_loopback_of_its_own(self, confined: Confined) -> None:
        assert out(confined(PYTHON, "-c", self.OWN, network=Network.LOOPBACK)) == "own loopback"

    def test_none_denies_sockets(self, confined: Confined) -> None:
        code = """if True:
            import socket
            for family in (2, 10, 17, 40):
                try: socket.socket(family, socket.SOCK_DGRAM)
                except PermissionError: print(family)"""
        assert out(confined(PYTHON, "-c", code, network=Network.NONE)).split() == ["2", "10", "17", "40"]
        local = "import socket; socket.socket(socket.AF_UNIX); print(len(socket.socketpair()))"
        assert out(confined(PYTHON, "-c", local, network=Network.NONE)) == "2"


class TestPowers:
    def test_only_own_processes_are_seen(self, confined: Confined, sandbox: Sandbox) -> None:
        script = f"cat /proc/{os.getppid()}/environ /proc/{os.getppid()}/cmdline | tr '\\0' '\\n' | wc -c"
        environ = out(confined(f"cat /proc/{os.getpid()}/environ 2>&1 >/dev/null | grep -c ."))
        assert environ == "1"  # an error: absent, or denied
        if sandbox.report.level == 1:
            assert out(confined(script)) == "0"
            assert int(out(confined("ls -d /proc/[0-9]* | wc -l"))) < 8

    def test_no_signal_gets_out(self, confined: Confined) -> None:
        assert confined(f"kill -0 {os.getpid()} && test -d /proc/{os.getpid()}").exit_status != 0

    def test_no_capability_is_left(self, confined: Confined) -> None:
        lines = out(confined("grep -E 'Cap|NoNewPrivs|Seccomp:' /proc/self/status")).splitlines()
        values = dict(line.split(":\t") for line in lines)
        assert {values[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
        assert (values["NoNewPrivs"], values["Seccomp"]) == ("1", "2")

    @pytest.mark.parametrize("what", ["-U", "-r", "-n", "-m", "-p"])
    def test_no_new_namespace(self, confined: Confined, what: str) -> None:
        finished = confined("unshare", what, "true")
        assert finished.exit_status not in (0, 127)
        assert b"not permitted" in finished.stderr.kept

    def test_denied_calls(self, confined: Confined) -> None:
        code = """if True:
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            calls = {"x86_64": (101, 165, 250, 321, 425, 435), "aarch64": (117, 40, 219, 280, 425, 435)}
            calls = calls[os.uname().machine]
            for number in calls:  # ptrace, mount, keyctl, bpf, io_uring_setup, clone3
                print(libc.syscall(number, 0, 0, 0, 0, 0), os.strerror(ctypes.get_errno()))"""
        denied, missing = "-1 Operation not permitted", "-1 Function not implemented"
        assert out(confined(PYTHON, "-c", code)).splitlines() == [denied] * 4 + [missing] * 2

    def test_processes_are_capped(self, confined: Confined, sandbox: Sandbox) -> None:
        code = """if True:
            import os, signal
            count = 0
            try:
                while count < 600:
                    if os.fork() == 0:
                        signal.pause()
                    count += 1
            except OSError:
                pass
            print(count, flush=True)"""
        finished = confined(PYTHON, "-I", "-S", "-c", code, processes=20)
        assert finished.leaked == 0
        if sandbox.report.processes.state is Enforcement.ENFORCED:
            assert 20 <= int(out(finished)) <= 320

    @pytest.mark.parametrize("space", [False, True])
    def test_memory_is_capped(self, confined: Confined, space: bool) -> None:
        code = "bytearray(100 << 20); print('small'); bytearray(600 << 20)"
        more = {"memory_bytes": 400 << 20, "limit_address_space": space}
        finished = confined(PYTHON, "-I", "-S", "-c", code, **more)
        assert out(finished) == "small"
        assert b"MemoryError" in finished.stderr.kept


class TestEnds:
    def test_environment_is_what_was_named(self, confined: Confined) -> None:
        lines = out(confined("env", env={"ONLY": "this"})).splitlines()
        assert {line.split("=")[0] for line in lines} == {"PATH", "ONLY", "HOME", "TMPDIR", "PWD"}
        assert "HOME=/elsewhere" in out(confined("env", env={"HOME": "/elsewhere"}))

    def test_status_signal_and_limit(self, confined: Confined) -> None:
        assert confined("exit 7").exit_status == 7
        assert confined("kill -SEGV $$").signal == 11
        finished = confined("setsid sleep 60 & sleep 60", limit_s=0.4)
        assert (finished.how, finished.leaked) == (How.TIMEOUT, 0)

    def test_command_that_is_not_there(self, confined: Confined) -> None:
        finished = confined("no-such-program", "argument")
        assert finished.exit_status == 127
        assert "no-such-program" in setup_failure(finished)

    def test_failing_command_is_no_failure_of_the_sandbox(self, confined: Confined) -> None:
        for script in ("exit 1", "exit 125", "echo bwrap >&2; exit 1", "no-such-program"):
            assert setup_failure(confined(script)) == ""

    def test_sandbox_that_cannot_be_built(self, confined: Confined) -> None:
        assert "No such file" in setup_failure(confined("true", layers=("/no/such", "/tmp")))

    def test_no_descriptor_gets_in(self, confined: Confined) -> None:
        assert out(confined("ls /proc/self/fd")).split() == ["0", "1", "2", "3"]

    def test_the_prefix_of_our_interpreter_is_there(self, confined: Confined) -> None:
        assert confined(PYTHON, "-c", "import json, ssl").exit_status == 0


def test_copy_is_bound_where_no_overlay_is(sandbox: Sandbox, tree: Tree) -> None:
    import msgspec

    from showcause.process import run
    from showcause.sandbox.bwrap import BwrapSandbox, find_bwrap

    report = msgspec.structs.replace(sandbox.report, tree="copy")
    copying = BwrapSandbox(find_bwrap()[0], report, new_proc=True)
    argv = ("sh", "-c", "echo x > new; cat file")
    command = Command(argv=argv, cwd="/target", env={"PATH": "/usr/bin"}, limit_s=5)
    finished = run(copying.confine(command, Confinement(target="/target", layers=(str(tree.checkout),))))
    assert finished.stdout.kept == b"base"
    assert (tree.checkout / "new").exists()
    with pytest.raises(SandboxFault, match="copy"):
        copying.confine(command, Confinement(target="/target", layers=(str(tree.middle), str(tree.checkout))))

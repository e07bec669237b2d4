"""Which configuration pytest would use, and what is left of addopts."""

from __future__ import annotations

import pytest

from showcause.project.pytest_config import PytestConfig, filter_addopts, needs_cache, pytest_config

FILTER = {
    "-x -q": "-q",
    "--exitfirst --maxfail=2 --maxfail 3 -v": "-v",
    "--lf --last-failed --ff --failed-first --nf --sw --stepwise-skip -ra": "-ra",
    "-n auto -nauto -n4 --numprocesses=2 --dist loadscope --dist=no -k name": "-k name",
    "--cov --cov=src --cov src --cov-report term --cov-report=xml --no-cov --cov-fail-under=90 -s": "-s",
    "--cov -q": "-q",
    "-p xdist -p no:warnings -pxdist --junitxml=a.xml --junitxml a.xml": "-p no:warnings",
    "--strict-markers --durations=10 --doctest-modules -W error": (
        "--strict-markers --durations=10 --doctest-modules -W error"
    ),
    "--randomly-seed=1 --reruns 2 --no-header": "--reruns 2 --no-header",
    "-m 'not slow'": "-m 'not slow'",
    "--maxfail": "",
    "-rx -k x": "-rx -k x",
}


@pytest.mark.parametrize("addopts", FILTER)
def test_filter(addopts: str) -> None:
    import shlex

    kept, dropped = filter_addopts(shlex.split(addopts))
    assert shlex.join(kept) == FILTER[addopts]
    assert sorted((*kept, *dropped)) == sorted(shlex.split(addopts))


def test_flags_written_as_one_word() -> None:
    assert filter_addopts(["-xvs", "-qx", "-vv"]) == (("-vs", "-q", "-vv"), ("-x", "-x"))


INI = b"[pytest]\naddopts = -x\n    -q\ntestpaths = a b\npython_files = check_*.py\n"
ORDER = [
    ({"pytest.ini": INI, "pyproject.toml": b"[tool.pytest.ini_options]\naddopts = '-v'\n"}, "pytest.ini"),
    ({".pytest.ini": INI, "tox.ini": INI}, ".pytest.ini"),
    ({"pytest.ini": b"", "setup.cfg": b"[tool:pytest]\naddopts = -v\n"}, "pytest.ini"),
    ({"pyproject.toml": b"[tool.pytest.ini_options]\n", "tox.ini": INI}, "pyproject.toml"),
    ({"pyproject.toml": b"[tool.other]\n", "tox.ini": INI}, "tox.ini"),
    ({"tox.ini": b"[tox]\n", "setup.cfg": b"[tool:pytest]\n"}, "setup.cfg"),
    ({"setup.cfg": b"[pytest]\n"}, ""),
    ({"pytest.toml": b"[pytest]\n", "pytest.ini": INI}, "pytest.toml"),
    ({"pyproject.toml": b"[tool.pytest]\naddopts = ['-v']\n"}, "pyproject.toml"),
    ({"pyproject.toml": b"not [ toml", "tox.ini": INI}, "tox.ini"),
    ({}, ""),
]


@pytest.mark.parametrize(("files", "ini"), ORDER)
def test_order(files: dict[str, bytes], ini: str) -> None:
    assert pytest_config(files).ini == ini


def test_values() -> None:
    assert pytest_config({"pytest.ini": INI}) == PytestConfig(
        ini="pytest.ini",
        addopts=("-q",),
        dropped=("-x",),
        testpaths=("a", "b"),
        python_files=("check_*.py",),
    )
    toml = b"[tool.pytest]\naddopts = ['-v', '-n', 'auto']\ntestpaths = ['t']\n"
    found = pytest_config({"pyproject.toml": toml})
    assert (found.addopts, found.testpaths) == (("-v",), ("t",))


def test_the_cache_stays_where_it_is_configured() -> None:
    found = pytest_config({"pytest.ini": b"[pytest]\ncache_dir = .c\naddopts = -q\n"})
    assert needs_cache(found.addopts)
    assert not needs_cache(pytest_config({"pytest.ini": INI}).addopts)


@pytest.mark.parametrize("text", [b"tool = 3\n", b"[tool]\npytest = 'x'\n", b"a = " + b"[" * 5000, b"\xff"])
def test_a_table_that_is_none_is_no_configuration(text: bytes) -> None:
    assert pytest_config({"pyproject.toml": text}) == PytestConfig()

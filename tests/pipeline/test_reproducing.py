"""`reproduce`: each kind of cause shows again, on the trees of the receipt."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_helpers import commit, fingerprint, git, write
from reviews import ISSUE, PRICE, cli, look, receipts, reviewed, shop

import showcause
from showcause.errors import EnvironmentFault, UsageError
from showcause.records import Rule

OFFICIAL = b"import unittest\n\n\nclass OfficialTest(unittest.TestCase):\n    def test_a(self):\n"
OFFICIAL += b"        from shop import price\n        self.assertEqual(price.vat(100), 21)\n"
SUITE = b'{"tests": "files", "fail_to_pass": ["tests.test_official.OfficialTest.test_a"], "pass_to_pass": []}'

KINDS = {
    Rule.NO_CHANGE: PRICE,
    Rule.IMPORT_ERROR: PRICE + b"\nRATES = [vat_of_germany]\n",
    Rule.REGRESSION: PRICE.replace(b"19 / 100", b"20 / 100"),
    Rule.OFFICIAL_SUITE: PRICE + b"\n# nothing\n",
}


@pytest.mark.parametrize(
    "rule",
    [
        Rule.NO_CHANGE,
        Rule.IMPORT_ERROR,
        pytest.param(Rule.REGRESSION, marks=pytest.mark.slow),
        pytest.param(Rule.OFFICIAL_SUITE, marks=pytest.mark.slow),
    ],
)
def test_a_cause_shows_again_also_after_the_patch_was_mended(tmp_path: Path, rule: Rule) -> None:
    top = shop(tmp_path / "r")
    write(tmp_path, {"suite.json": SUITE, "files/tests/test_official.py": OFFICIAL})
    write(top, {"shop/price.py": KINDS[rule]})
    record = look(
        top,
        issue=ISSUE if rule is Rule.NO_CHANGE else None,
        official=str(tmp_path / "suite.json") if rule is Rule.OFFICIAL_SUITE else "",
        settings={"gate.regression": "reject"},
    )
    numbers = [number for number, cause in enumerate(record.causes, 1) if cause.rule is rule]
    assert numbers
    identity = receipts(top)[0].id
    assert record.causes[numbers[0] - 1].reproduce == ("showcause", "reproduce", f"{identity}#{numbers[0]}")
    (tmp_path / "suite.json").unlink()
    for content in (None, PRICE.replace(b"19 /", b"21 /")):
        if content is not None:
            write(top, {"shop/price.py": content})
        before = fingerprint(top)
        told = cli(top, "reproduce", f"{identity}#{numbers[0]}")
        assert (told.status, "it shows again" in told.out) == (1, True), told
        assert fingerprint(top) == before
    commit(top)
    git(top, "commit", "-q", "--allow-empty", "-m", "more")
    whole = cli(top, "reproduce", identity[:8])
    assert (whole.status, whole.out.count("it shows again")) == (1, len(record.causes))
    assert len(receipts(top)) == 1, "it makes no receipts"


def test_what_cannot_be_reproduced(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    assert cli(top, "reproduce", "abc").status == 2, "nothing was reviewed"
    look(top, issue=ISSUE)
    identity = receipts(top)[0].id
    for reference in (f"{identity}#9", f"{identity}#0", f"{identity}#x", "0000000", "not-an-id", "", "#1"):
        told = cli(top, "reproduce", reference)
        assert told.status == 2, (reference, told)
        assert "Traceback" not in told.err
    write(top, {"shop/price.py": PRICE + b"\n# fine\n"})
    look(top)
    undecided = cli(top, "reproduce", receipts(top)[0].id)
    assert (undecided.status, "rejected nothing" in undecided.err) == (2, True)


def test_an_ambiguous_id(tmp_path: Path) -> None:
    top = shop(tmp_path / "r")
    for number in range(17):  # more than there are hexadecimal digits
        look(top, issue=b"task %d" % number)
    first = [receipt.id[0] for receipt in receipts(top)]
    twice = next(digit for digit in first if first.count(digit) > 1)
    told = cli(top, "reproduce", twice)
    assert (told.status, "more than one" in told.err) == (2, True)


def test_objects_that_are_gone(tmp_path: Path) -> None:
    """Said as what it is: the trees are not there any more."""
    top = shop(tmp_path / "r")
    write(top, {"shop/price.py": KINDS[Rule.IMPORT_ERROR]})
    receipt = reviewed(top).receipt
    write(top, {"shop/price.py": PRICE})
    for path in (top / ".git" / "showcause" / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.unlink()
    with pytest.raises(EnvironmentFault):
        showcause.reproduce(str(top), receipt.id)
    assert cli(top, "reproduce", receipt.id).status == 4


def test_a_cause_that_does_not_show_again_is_said(tmp_path: Path) -> None:
    """The environment lacks since what the failure needed: exit 3, never 0 and never 1."""
    top = shop(tmp_path / "r", {"shop/price.py": b"import os\n" + PRICE})
    failing = b"import os\n\nif os.environ['SWITCH'] == 'on':\n    raise ValueError('on')\n" + PRICE
    write(top, {"shop/price.py": failing})
    record = look(top, settings={"suite.env": {"SWITCH": "on"}})
    assert [cause.rule for cause in record.causes] == [Rule.IMPORT_ERROR]
    with pytest.raises(UsageError):
        showcause.reproduce(str(top), "f" * 12)
    (again,) = showcause.reproduce(str(top), receipts(top)[0].id)[1]
    assert again.now is not None, "settings of the command line are kept in the receipt"

"""Cutting: what goes first, what is listed, and that every byte is accounted for (PAINS B)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from packets_made import FULL, evidence, packet, patch, section

from showcause.errors import UsageError
from showcause.packet import Material, estimate_tokens
from showcause.packet.diff import Importance, importance, sections
from showcause.packet.shares import shares
from showcause.patch import parse
from showcause.records import Packet, PacketForm, Sent


def _files(made: Packet, sent: Sent) -> list[str]:
    return [one.path for one in made.manifest if one.sent is sent]


def _accounted(made: Packet, material: Material) -> bool:
    told = sum(one.sent_bytes + one.unsent_bytes for one in made.manifest)
    return told == len(material.patch.data) and made.tokens <= made.budget


def test_b1_twelve_files_and_room_for_four() -> None:
    files = {f"m{i}.py": section(f"m{i}.py", [f"x{n} = {i}" for n in range(100)]) for i in range(12)}
    material = Material(patch=patch(files))
    made = packet(material, budget=4 * 360 + 500)
    assert len(_files(made, Sent.WHOLE)) == 4
    assert len(_files(made, Sent.NOT_SENT)) + len(_files(made, Sent.PARTIAL)) == 8
    assert len(made.missing) == 8
    assert not made.is_complete
    assert "12 changed paths, 8 of them not whole" in made.text
    assert _accounted(made, material)
    assert _files(made, Sent.WHOLE) != sorted(files)[:4]  # never by name


def test_b2_the_file_that_did_not_fit_is_named() -> None:
    files = {f"f{i}.py": section(f"f{i}.py", ["y = 1"] * 800) for i in range(4)}
    files["last.py"] = section("last.py", ["defect = 1"] * 1200)
    material = Material(patch=patch(files))
    assert len(material.patch.data) > 32_000
    made = packet(material, budget=8_000)
    assert _files(made, Sent.NOT_SENT) == ["last.py"]
    assert made.missing == ("last.py (not sent)",)
    assert '"last.py" modified: not sent, ' in made.text
    assert _accounted(made, material)


def test_b3_a_hundred_and_twenty_files_are_all_accounted_for() -> None:
    files = {f"f{i}.py": section(f"f{i}.py", [f"v{n} = {n}" for n in range(200)]) for i in range(120)}
    material = Material(patch=patch(files))
    made = packet(material, budget=20_000)
    assert len(made.manifest) == 120
    assert 0 < len(_files(made, Sent.WHOLE)) < 120
    assert all(f'"f{i}.py"' in made.text for i in range(120))
    assert _accounted(made, material)


def test_one_huge_file_never_silences_the_rest() -> None:
    files = {
        "a_generated_pb2.py": section("a_generated_pb2.py", ["x"] * 400_000),
        "core.py": section("core.py", ["y"] * 200_000, hunks=2),
        "uv.lock": section("uv.lock", ["z"] * 50_000),
        "small.py": section("small.py", ["fix = 1"]),
        "tests/test_small.py": section("tests/test_small.py", ["assert fix"]),
    }
    material = Material(patch=patch(files))
    made = packet(material, budget=4000)
    assert _files(made, Sent.WHOLE) == ["small.py", "tests/test_small.py"]
    assert _accounted(made, material)


def test_whole_hunks_only_and_their_header_with_them() -> None:
    material = Material(patch=patch({"a.py": section("a.py", ["value = 1"] * 40, hunks=8)}))
    made = packet(material, budget=900)
    (one,) = made.manifest
    assert one.sent is Sent.PARTIAL
    assert one.why.startswith("hunks ")
    assert "of 8 not sent" in one.why
    kept = made.text.count("\n@@ -")
    assert 0 < kept < 8
    assert made.text.count("+value = 1\n") == 40 * kept
    assert "--- a/a.py\n" in made.text
    assert _accounted(made, material)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/app.py", Importance.SOURCE),
        ("lib/x.rs", Importance.SOURCE),
        ("tests/test_x.py", Importance.TEST),
        ("pkg/x_test.go", Importance.TEST),
        ("web/__tests__/a.js", Importance.TEST),
        ("web/a.spec.ts", Importance.TEST),
        ("README.md", Importance.OTHER),
        ("docs/conf.py", Importance.OTHER),
        ("package-lock.json", Importance.MADE),
        ("vendor/x/y.go", Importance.MADE),
        ("static/a.min.js", Importance.MADE),
        ("api/v1_pb2.py", Importance.MADE),
    ],
)
def test_importance_by_path(path: str, kind: Importance) -> None:
    (one,) = sections(patch({path: section(path, ["x"])}))
    assert importance(one) is kind


def test_a_long_issue_is_cut_in_its_middle_and_makes_the_packet_incomplete() -> None:
    material = Material(patch=FULL.patch, issue="first line\n" + "文字化け\n" * 90_000 + "last line\n")
    made = packet(material, budget=2000)
    assert "first line" in made.text
    assert "last line" in made.text
    assert "bytes not sent ...]" in made.text
    assert made.missing == ("issue (in part)",)
    assert _files(made, Sent.WHOLE) == ["last.py"]
    assert made.tokens <= 2000


def test_evidence_goes_whole_or_not_at_all_and_failures_first() -> None:
    told = tuple(
        evidence(f"t{i}: failed\n" + "output\n" * (3000 if i == 0 else 3), id=f"f-{i}") for i in range(4)
    )
    made = packet(Material(patch=FULL.patch, evidence=told), budget=2000)
    assert [(one.id, one.sent) for one in made.exhibits] == [
        ("ev-1", False),
        ("ev-2", True),
        ("ev-3", True),
        ("ev-4", True),
    ]
    assert made.missing == ("evidence ev-1 (not sent)",)


def test_a_budget_that_the_frame_exceeds_is_the_users_mistake() -> None:
    with pytest.raises(UsageError, match="too small"):
        packet(FULL, budget=100)


def test_ten_thousand_paths_are_all_in_the_record() -> None:
    files = {f"d/{i}.py": section(f"d/{i}.py", ["x"]) for i in range(10_000)}
    material = Material(patch=patch(files))
    made = packet(material, budget=3000)
    assert len(made.manifest) == 10_000
    assert "more paths that are not named here" in made.text
    assert _accounted(made, material)


def test_a_counter_of_ones_own_is_kept_to() -> None:
    files = {f"m{i}.py": section(f"m{i}.py", ["x = 1"] * 100) for i in range(5)}
    material = Material(patch=patch(files))
    made = packet(material, budget=1500, count=lambda text: len(text.split()))
    assert len(made.text.split()) == made.tokens <= 1500


def test_any_budget_keeps_its_promise() -> None:
    chance = random.Random(7)
    for _ in range(40):
        files = {
            f"{chance.choice(['src', 'tests', 'vendor', 'docs'])}/f{i}.py": section(
                f"f{i}.py", ["v" * chance.randint(0, 60)] * chance.randint(0, 60), hunks=chance.randint(0, 4)
            )
            for i in range(chance.randint(0, 12))
        }
        material = Material(
            patch=patch(files),
            issue="word " * chance.randint(0, 800),
            trace="step\n" * chance.randint(0, 800),
            evidence=FULL.evidence,
            checks=FULL.checks,
        )
        form = chance.choice([PacketForm.PATCH, PacketForm.TRACE, PacketForm.CASCADE])
        made = packet(material, form, budget=chance.randint(700, 5000))
        assert _accounted(made, material)
        assert len(made.manifest) == len(material.patch.changes)
        parts = sum(one.sent_bytes + one.unsent_bytes for one in made.parts if one.what == "issue")
        assert parts == len(material.issue.encode())


def test_shares_give_the_modest_all_and_waste_nothing() -> None:
    assert shares({"a": 10, "b": 20}, 100) == {"a": 10, "b": 20}
    assert shares({"a": 10, "b": 200, "c": 300}, 110) == {"a": 10, "b": 50, "c": 50}
    assert sum(shares({"a": 100, "b": 100, "c": 100}, 100).values()) == 100
    assert shares({"a": 5}, -3) == {"a": 0}


def test_four_bytes_are_a_token() -> None:
    assert [estimate_tokens(text) for text in ("", "a", "abcd", "abcde", "文")] == [0, 1, 1, 2, 1]


GOLDEN = sorted((Path(__file__).parents[1] / "golden/patch").glob("*.diff"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_what_git_says_is_split_by_path_and_accounted_for(path: Path) -> None:
    given = parse(path.read_bytes(), base_tree="b" * 40, head_tree="c" * 40)
    for one in sections(given):
        assert one.pieces[0].startswith(b"diff --git ")
        assert sum(piece.count(b"\ndiff --git a/") for piece in one.pieces) <= 1  # a change of type has two
    made = packet(Material(patch=given))
    assert _accounted(made, Material(patch=given))
    assert [one.path for one in made.manifest] == [change.path for change in given.changes]
    not_whole = [one.path for one in made.manifest if one.sent is not Sent.WHOLE]
    assert not_whole == [change.path for change in given.changes if change.is_binary]

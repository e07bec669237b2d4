"""What stands in a packet: forms, evidence, withheld things, masks. Named cases are those of PAINS."""

from __future__ import annotations

import re

import pytest
from packets_made import FULL, GREEN, NONCE, SMALL, change, check, evidence, item, packet, patch, section

from showcause.errors import UsageError
from showcause.packet import Material
from showcause.records import (
    Attribution,
    ChangeKind,
    CodeExcerpt,
    EvidenceKind,
    ExhibitState,
    NotChecked,
    Outcome,
    PacketForm,
    RunState,
    Sent,
    Stage,
    Tampering,
)


def test_c5_header_and_end_name_packet_trees_and_paths() -> None:
    made = packet(FULL)
    first, last = made.text.split("\n")[0], made.text.rstrip().rsplit("\n", 1)[-1]
    assert first == f"PACKET {made.id}"
    assert last == f"END OF PACKET {made.id} nonce {made.nonce}"
    assert f"base tree: {SMALL.base_tree}" in made.text
    assert f"head tree: {SMALL.head_tree}" in made.text
    assert '1 "last.py" modified: whole' in made.text
    assert made.text.count(made.nonce) == 1


def test_the_id_is_of_the_text_and_the_nonce_is_of_the_packet() -> None:
    assert packet(FULL) == packet(FULL)
    other = packet(FULL, nonce=NONCE[::-1])
    assert other.id != packet(FULL).id
    assert other.nonce != packet(FULL).nonce
    with pytest.raises(ValueError, match="nonce"):
        packet(FULL, nonce="short")


def test_c7_what_the_author_says_changes_no_byte_unless_asked_for() -> None:
    said = Material(patch=SMALL, issue="n too", testimony="line 3 is wrong")
    assert packet(said).text == packet(Material(patch=SMALL, issue="n too")).text
    assert [one.what for one in packet(said).withheld] == ["testimony"]
    shown = packet(Material(patch=SMALL, issue="n too", testimony="line 3 is wrong", show_testimony=True))
    assert "testimony: what the author says\nline 3 is wrong\n" in shown.text


def test_evidence_has_ids_kinds_and_states() -> None:
    told = [(one.id, one.kind.value, one.state.value) for one in packet(FULL).exhibits]
    assert told == [
        ("ev-1", "grounded", "failed"),
        ("ev-2", "grounded", "passed"),
        ("ev-3", "testimony", "said"),
        ("nc-1", "grounded", "flaky"),
        ("nc-2", "grounded", "pre_existing"),
        ("nc-3", "grounded", "environment"),
    ]


@pytest.mark.parametrize(
    "state", ["pre_existing", "environment", "unattributed", "flaky", "error", "crashed"]
)
def test_what_the_patch_did_not_cause_is_no_failing_evidence(state: str) -> None:
    told = evidence("tests/t.py::t: error on head\nTraceback: libfoo is missing", state)
    made = packet(Material(patch=SMALL, evidence=(told,)))
    (one,) = made.exhibits
    assert one.id == "nc-1"
    assert one.state.is_not_caused
    assert "libfoo" not in made.text  # what it printed would be read as the patch's doing
    before, _, after = made.text.partition("NOT CAUSED BY THIS PATCH")
    assert "tests/t.py::t" in after
    assert "tests/t.py::t" not in before


def test_states_of_what_the_patch_did() -> None:
    skipped = evidence("t: newly skipped", items=("t",))
    made = packet(
        Material(
            patch=SMALL,
            evidence=(
                skipped,
                evidence("suite: tampered", "tampered"),
                evidence("comments", "no_code_change"),
            ),
            checks=(check("suite", item("t", Outcome.PASSED, Outcome.SKIPPED, Attribution.PATCH_CAUSED)),),
            tampering=(Tampering(path="conftest.py", what="edited"),),
        )
    )
    states = [one.state for one in made.exhibits]
    assert states == [
        ExhibitState.TAMPERED,
        ExhibitState.TAMPERED,
        ExhibitState.SKIPPED,
        ExhibitState.NOTED,
    ]


def test_a_run_that_is_not_to_be_believed_shows_no_passes() -> None:
    wrong = check(
        "suite",
        item("t", Outcome.PASSED, Outcome.PASSED, Attribution.UNCHANGED),
        state=RunState.TAMPERED,
    )
    assert packet(Material(patch=SMALL, checks=(wrong,))).exhibits == ()


# ------------------------------------------------------------------ law 15


OFFICIAL = Material(
    patch=SMALL,
    evidence=(
        evidence("tests/test_secret.py::test_hidden: failed", stage=Stage.OFFICIAL, id="f-off"),
        evidence("see also tests/test_secret.py::test_hidden", id="f-names-it"),
    ),
    checks=(
        check(
            "official.fail_to_pass",
            item(
                "tests/test_secret.py::test_hidden", Outcome.FAILED, Outcome.FAILED, Attribution.PRE_EXISTING
            ),
            stage=Stage.OFFICIAL,
        ),
    ),
    not_checked=(
        NotChecked(what="tests/test_secret.py::test_hidden", why="slow"),
        NotChecked(what="docs", why="no check for them"),
    ),
    tampering=(Tampering(path="tests/test_secret.py::test_hidden", what="edited"),),
)


@pytest.mark.parametrize("form", [form for form in PacketForm if not form.is_upper_bound])
def test_the_official_suite_is_never_shown(form: PacketForm) -> None:
    made = packet(OFFICIAL, form, bench=True)
    assert "test_hidden" not in made.text
    assert "official" not in made.text
    assert {one.what for one in made.withheld} >= {"evidence f-off", "evidence f-names-it"}


def test_the_upper_bounds_exist_in_the_bench_only() -> None:
    for form in (PacketForm.GROUNDED_CLEAN, PacketForm.GROUNDED_ORACLE):
        with pytest.raises(UsageError, match="bench"):
            packet(OFFICIAL, form)
    clean = packet(OFFICIAL, PacketForm.GROUNDED_CLEAN, bench=True)
    assert "upper_bound: yes" in clean.text
    assert "1 fail, 0 pass of 1 on head" in clean.text
    assert "test_hidden" not in clean.text
    oracle = packet(OFFICIAL, PacketForm.GROUNDED_ORACLE, bench=True)
    assert "tests/test_secret.py::test_hidden: failed on base, failed on head" in oracle.text


# ------------------------------------------------------------------ forms


def test_forms_show_what_they_are_for() -> None:
    whole = Material(
        patch=SMALL,
        issue="n too",
        evidence=FULL.evidence,
        trace="I ran the tests",
        answer="Done.",
        checks=FULL.checks,
    )
    texts = {form: packet(whole, form, bench=True).text for form in PacketForm}
    assert {form for form, text in texts.items() if "I ran the tests" in text} == {PacketForm.TRACE}
    assert {form for form, text in texts.items() if "Done." in text} == {PacketForm.TURN}
    shows = {form for form, text in texts.items() if "test_zero" in text}
    assert shows == {PacketForm.CASCADE, PacketForm.GROUNDED_CLEAN, PacketForm.GROUNDED_ORACLE}
    assert all("range(n + 1)" in text and "n too" in text for text in texts.values())


def test_a_turn_goes_whole_or_not_at_all() -> None:
    turn = Material(patch=patch({}), issue="do it", answer="x" * 8000)
    made = packet(turn, PacketForm.TURN, budget=4000)
    assert made.is_complete
    assert "x" * 8000 in made.text
    with pytest.raises(UsageError, match="go whole"):
        packet(turn, PacketForm.TURN, budget=1000)


def test_code_is_context_and_its_loss_is_none() -> None:
    code = (
        CodeExcerpt(path="a.py", text="def a(): ...\n"),
        CodeExcerpt(path="big.py", text="x = 1\n" * 9000),
    )
    made = packet(Material(patch=SMALL, code=code), budget=1000)
    assert "def a(): ..." in made.text
    assert [one.what for one in made.withheld] == ["code 2 big.py"]
    assert made.is_complete


# ------------------------------------------------------------------ bytes, names, secrets


def test_secrets_are_masked_by_value_everywhere_and_counted() -> None:
    key = "-----BEGIN KEY-----\nMIIEabcdefghijkl\nzyxwvutsrqponm01\n-----END KEY-----"
    files = {"a.py": section("a.py", ["token = 'hunter2-hunter2'", *key.split("\n")])}
    made = packet(
        Material(
            patch=patch(files),
            issue="the token hunter2-hunter2 leaks; password is a word",
            evidence=(evidence("t: got hunter2-hunter2"),),
        ),
        secrets={"API_KEY": "hunter2-hunter2", "PEM": key, "SHORT": "is"},
    )
    assert "hunter2" not in made.text
    assert "MIIEabcdefghijkl" not in made.text
    assert "zyxwvutsrqponm01" not in made.text
    assert "password is a word" in made.text
    assert made.text.count("[masked:API_KEY]") == 3
    assert made.masked == made.text.count("[masked:")
    assert sum(one.sent_bytes for one in made.manifest) == len(files["a.py"])


def test_hidden_characters_and_bytes_that_are_not_utf8_are_shown() -> None:
    data = section("latin.py", ["x = 1"]) + b"+# caf\xe9 \xe2\x80\xae\r\n"
    made = packet(Material(patch=patch({"latin.py": data}), issue="zero\u200bwidth\U000e0041\r\nnext"))
    assert "+# caf\\xe9 \\u202e\\x0d\n" in made.text
    assert "zero\\u200bwidth\\U000e0041\nnext" in made.text
    (one,) = made.manifest
    assert one.lossy == 1
    assert one.sent_bytes == len(data)
    assert made.is_complete


def test_renames_type_changes_and_binaries_have_their_place() -> None:
    rename = b"diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\nrename to new.py\n"
    typed = section("link", ["target"]).replace(b"index", b"deleted file mode 100644\nindex", 1) * 2
    picture = b"diff --git a/p.png b/p.png\nindex 1..2\nGIT binary patch\nliteral 9\nQcmZ\n\n"
    files = {"new.py": rename, "link": typed, "p.png": picture, "z.py": section("z.py", ["z = 1"])}
    changes = (
        change("new.py", kind=ChangeKind.RENAMED, old_path="old.py"),
        change("link", kind=ChangeKind.SYMLINK, new_mode="120000"),
        change("p.png", kind=ChangeKind.BINARY, is_binary=True),
        change("z.py"),
    )
    made = packet(Material(patch=patch(files, changes)))
    assert [(one.path, one.sent) for one in made.manifest] == [
        ("new.py", Sent.WHOLE),
        ("link", Sent.WHOLE),
        ("p.png", Sent.NOT_SENT),
        ("z.py", Sent.WHOLE),
    ]
    assert [one.sent_bytes + one.unsent_bytes for one in made.manifest] == [
        len(data) for data in files.values()
    ]
    assert made.missing == ("p.png (not sent)",)


def test_m4_an_empty_patch_makes_a_packet_and_nothing_is_counted_for_it() -> None:
    made = packet(Material(patch=patch({}), issue="do it"), PacketForm.PATCH)
    assert made.manifest == ()
    assert "0 changed paths" in made.text
    assert made.is_complete


def test_passing_probes_travel_as_passed_evidence() -> None:
    (one, two) = packet(GREEN).exhibits
    assert (one.stage, one.state, one.kind) == (Stage.PROBES, ExhibitState.PASSED, EvidenceKind.GROUNDED)
    assert two.state is ExhibitState.PASSED
    assert re.search(r"A pass decides nothing", packet(GREEN).text)

"""docs/settings.md is what the table of settings gives. SHOWCAUSE_REBUILD=1 writes it anew."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec

from showcause.models import MODELS
from showcause.records import ModelSpec, StaticTool
from showcause.settings import TABLE
from showcause.settings_page import settings_page

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"


def test_the_page_is_current() -> None:
    if os.environ.get("SHOWCAUSE_REBUILD"):
        PAGE.write_text(settings_page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == settings_page(), (
        "run the tests with SHOWCAUSE_REBUILD=1 and look at the difference"
    )


def rows() -> dict[str, dict[str, list[str]]]:
    """section -> setting -> the other cells of its row."""
    found: dict[str, dict[str, list[str]]] = {}
    section = ""
    for line in settings_page().splitlines():
        if heading := re.match(r"## \[+([\w.]+)\]+$", line):
            section = heading[1]
        elif line.startswith("| `"):
            name, *cells = (cell.strip() for cell in line.strip("|").split(" | "))
            assert name not in found.setdefault(section, {})
            found[section][name.strip("`")] = cells
    return found


def test_every_setting_has_a_row_with_all_that_is_known_of_it() -> None:
    found = rows()
    told = {f"{section}.{name}" for section, names in found.items() for name in names}
    named = {f"static.{field}" for field in StaticTool.__struct_fields__}
    named |= {f"models.NAME.{field}" for field in ModelSpec.__struct_fields__ if field != "name"}
    assert told == {setting.key for setting in TABLE} | named
    for setting in TABLE:
        section, _, name = setting.key.partition(".")
        kind, default, what = found[section][name]
        assert kind.startswith(setting.kind.value)
        assert all(f"`{choice}`" in kind for choice in setting.choices)
        assert (default == "unset") == (setting.default in (None, "", (), {}))
        assert what == setting.what


def test_defaults_and_kinds_of_the_named_tables() -> None:
    found = rows()
    for noun, section in ((StaticTool, "static"), (ModelSpec, "models.NAME")):
        for field in msgspec.structs.fields(noun):
            if field.name in found[section]:
                assert (found[section][field.name][1] == "required") == field.required
    assert all(f"`{kind}`" in found["models.NAME"]["kind"][2] for kind in MODELS)

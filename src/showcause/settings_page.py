"""The page of all settings, from the one table and from the records of the named tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import msgspec
from msgspec import inspect

from showcause.records import ModelSpec, Record, StaticTool
from showcause.settings import FILE, PYPROJECT, TABLE, Setting

__all__ = ["settings_page"]

_HEAD = f"""\
# Settings

Read from `{FILE}`, or from `[tool.showcause]` of `{PYPROJECT}` where there is no
`{FILE}`: always as the *base* of a review has them, never as the patch does. `--set KEY=VALUE` on the
command line comes before both.
`showcause init` writes a `{FILE}` in which each setting stands as a comment with its default.

This page is made from the program (`src/showcause/settings_page.py`): do not edit it by hand.
"""
_ROWS = ("| setting | type | default | what it does |", "| --- | --- | --- | --- |")

_STATIC_HEAD = """\
## [[static]]

Any checker that writes SARIF, run on both trees; one such table each.
"""
_STATIC = {
    "command": "what to run in each tree; it writes SARIF to its standard output, or to the path that stands "
    "for `{out}` in it",
    "name": "how it is called in reports; unset: the name of the program",
    "rejects": "what is new in its findings, in the files of the patch, may reject; else it informs",
    "limit_s": "seconds it may take on one tree",
}
_MODEL_HEAD = """\
## [models.NAME]

A language model, by the name that `[probe]` and `[review]` use.
"""
_MODEL = {
    "kind": "`openai` (any compatible endpoint), `anthropic`, `local`, `mailbox` or `scripted`",
    "base_url": "address of the endpoint; unset: the provider's own",
    "model": "id of the model that is asked for",
    "api_key_env": "the environment variable that holds the key; the key itself stands nowhere",
    "context_tokens": "how much the model can read; unset: what is known of its kind",
    "path": "the model's file (local), the folder (mailbox) or the script (scripted)",
    "sha256": "digest of the model's file (local)",
    "extra": "options that only one kind has: `stream`, `strict` (openai), `json` (anthropic), "
    "`threads` (local), `settle_s` (mailbox)",
}


def settings_page() -> str:
    """`docs/settings.md`: every setting with type, default, choices and meaning."""
    lines = [_HEAD]
    for section in dict.fromkeys(setting.key.partition(".")[0] for setting in TABLE):
        lines += [f"## [{section}]", "", *_ROWS]
        lines += [_row(one) for one in TABLE if one.key.startswith(f"{section}.")]
        lines.append("")
    lines += [_STATIC_HEAD, *_ROWS, *_fields(StaticTool, _STATIC), ""]
    lines += [_MODEL_HEAD, *_ROWS, *_fields(ModelSpec, _MODEL, named_by="name")]
    return "\n".join(lines) + "\n"


def _row(setting: Setting) -> str:
    choices = f": {', '.join(f'`{choice}`' for choice in setting.choices)}" if setting.choices else ""
    name = setting.key.partition(".")[2]
    return f"| `{name}` | {setting.kind.value}{choices} | {_default(setting.default)} | {setting.what} |"


def _fields(noun: type[Record], words: Mapping[str, str], *, named_by: str = "") -> Iterator[str]:
    """A row for each field but `named_by`, which is part of the table's name."""
    for field in msgspec.structs.fields(noun):
        if field.name != named_by:
            default = "required" if field.required else _default(field.default)
            kind = _kind(inspect.type_info(field.type))
            yield f"| `{field.name}` | {kind} | {default} | {words[field.name]} |"


def _default(value: object) -> str:
    is_set = value is not None and value not in ("", (), {})
    return f"`{json.dumps(value)}`" if is_set and value is not msgspec.NODEFAULT else "unset"


def _kind(told: inspect.Type) -> str:
    match told:
        case inspect.StrType():
            return "text"
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return "a whole number"
        case inspect.FloatType():
            return "a number"
        case inspect.VarTupleType():
            return "a list of texts"
        case inspect.DictType():
            return "a table of texts"
        case inspect.UnionType(types=types):
            return " or ".join(_kind(one) for one in types if not isinstance(one, inspect.NoneType))
        case _:
            raise TypeError(f"no words for {told}")

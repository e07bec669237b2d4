"""The `showcause.toml` that `init` writes, from the one table of settings."""

from __future__ import annotations

import json

from showcause.settings import TABLE, Kind, Setting

__all__ = ["settings_template"]

_SECTIONS = tuple(dict.fromkeys(setting.key.split(".")[0] for setting in TABLE))

_TOOLS_TEMPLATE = (
    "# Any checker that writes SARIF; it runs before and after the patch, and what is new is told.",
    "#[[static]]",
    '#command = ["tool", "--sarif", "{out}"]  # to that file; without {out}: to standard output',
    '#name = "tool"',
    "#rejects = false  # true: what is new in the files of the patch is a reason to reject",
    "#limit_s = 60",
    "",
    "# A language model: it may write probes ([probe] models) or review ([review] reviewer). Keys stay in",
    "# environment variables.",
    "#[models.NAME]",
    '#kind = "openai"  # openai (any compatible endpoint), anthropic, local, mailbox, scripted',
    '#model = "..."',
    '#base_url = "https://..."  # unset: the provider\'s own',
    '#api_key_env = "OPENAI_API_KEY"',
    "#context_tokens = 100000",
    "",
)


def settings_template() -> str:
    """The text of a `showcause.toml` in which every setting stands as a comment with its default."""
    lines = [
        "# Settings of showcause. It reads this file from the base of a review, never from the patch.",
        "",
    ]
    for section in _SECTIONS:
        lines.append(f"[{section}]")
        for setting in TABLE:
            if setting.key.startswith(section + "."):
                choices = f" ({', '.join(setting.choices)})" if setting.choices else ""
                lines += [
                    f"# {setting.what}{choices}",
                    f"# {setting.key.partition('.')[2]} = {_toml(setting)}",
                ]
        lines.append("")
    return "\n".join([*lines, *_TOOLS_TEMPLATE])


def _toml(setting: Setting) -> str:
    """The default as TOML; an example where there is none."""
    match setting.default:
        case None:
            return "0.5" if setting.kind is Kind.SHARE else "60"
        case dict():
            return "{}"
        case _:
            return json.dumps(setting.default)

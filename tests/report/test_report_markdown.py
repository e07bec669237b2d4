"""The comment on a pull request: causes first, text from outside harmless."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from showcause.report.markdown import MARKER, code, render
from tests.report.report_samples import samples

SAMPLES = samples()
HOSTILE = [
    "`", "``", "a`b", "`a`", "```\nx\n```", "</details>", "<img src=x>", "@someone", "[x](http://x)",
    "\x1b[31mred", "| a | b |", "# title", "\u202eevil", "", " ", "a" * 1000,
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_outside_stays_in_one_code_span(text: str) -> None:
    tokens = MarkdownIt().parse(f"x {code(text)} y")
    (inline,) = [token for token in tokens if token.type == "inline"]
    assert [child.type for child in inline.children or []] == ["text", "code_inline", "text"]


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_comment_starts_with_its_marker_and_names_the_receipt(name: str) -> None:
    receipt = SAMPLES[name]
    text = render(receipt)
    assert text.startswith(MARKER)
    assert receipt.id in text
    assert text.count("<details>") == text.count("</details>")
    for number, _ in enumerate(receipt.body.causes[:5], 1):
        assert f"showcause reproduce {receipt.id}#{number}" in text

"""Reports: a receipt as text or bytes. Pure; no report changes an exit status, or any other fact."""

from __future__ import annotations

from collections.abc import Callable

from showcause.errors import UsageError
from showcause.receipt import Receipt

__all__ = ["FORMATS", "render"]


def _text(receipt: Receipt) -> bytes:
    from showcause.report.text import render as render_text

    return render_text(receipt).encode("utf-8")


def _json(receipt: Receipt) -> bytes:
    from showcause.report.json import render as render_json

    return render_json(receipt)


def _markdown(receipt: Receipt) -> bytes:
    from showcause.report.markdown import render as render_markdown

    return render_markdown(receipt).encode("utf-8")


FORMATS: dict[str, Callable[[Receipt], bytes]] = {
    "text": _text,
    "json": _json,
    "markdown": _markdown,
}


def render(receipt: Receipt, format: str) -> bytes:
    """A receipt in one of FORMATS, UTF-8, with a final newline. Raises UsageError for another name."""
    renderer = FORMATS.get(format)
    if renderer is None:
        raise UsageError(f"no format {format!r}; there is: {', '.join(FORMATS)}")
    return renderer(receipt)

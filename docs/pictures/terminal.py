"""Makes terminal.svg anew: a real review of one of the demo's patches, as it looks in a terminal.

    .venv/bin/python docs/pictures/terminal.py
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from showcause import Request, demo, review
from showcause.report import text

HERE = Path(__file__).parent


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        request = Request(
            directory=demo.make_demo(folder),
            diff=demo.PATCHES[2].file.read_bytes(),
            issue=demo.ISSUE.read_bytes(),
            overrides={"suite.python": sys.executable, "suite.runner": "unittest"},
        )
        shown = text.render(review(request).receipt, color=True)
    console = Console(record=True, width=124, file=io.StringIO(), force_terminal=True)
    console.print(Text("$ scripts/showcause review --issue issue.md", style="bold"))
    for line in shown.splitlines():
        console.print(Text.from_ansi(line) if line.strip() else "")
    picture = console.export_svg(title="showcause review")
    # no font from elsewhere: a picture in a repository loads nothing
    picture = re.sub(r"@font-face \{.*?\}\n", "", picture, flags=re.DOTALL)
    (HERE / "terminal.svg").write_text(picture.replace("Fira Code", "DejaVu Sans Mono"))


if __name__ == "__main__":
    main()

"""Draw `docs/demo.svg` from a real run of `engine demo`, 80 columns wide.

`make picture` runs this.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "demo.svg"
WIDTH = 80
MOST_FILES = 4  # shown for one step
# A picture of all 20 steps would be too small to read.
STEPS = (
    "the session starts", "reads api/orders.py", "writes worker/retry.py: held", "3 parallel reads",
    "starts with a task", "the client compacts", "the session is resumed",
)  # fmt: skip
LAST_LINES = ("every file exactly once", "time added per event")
# A README may load no fonts from elsewhere.
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace(
    "font-family: Fira Code, monospace", "font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
)


def main() -> None:
    screen = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    screen.print(Text.from_markup("[bold]$ engine demo[/]"))
    for line in excerpt(recorded()):
        screen.print(line, soft_wrap=True)
    picture = screen.export_svg(title="engine demo", code_format=FORMAT, unique_id="demo")
    PICTURE.write_text("\n".join(line.rstrip() for line in picture.splitlines()) + "\n", encoding="utf-8")


def recorded() -> list[Text]:
    """Return the output that the command prints for people."""
    with tempfile.TemporaryDirectory() as home:
        shell = {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT / "src"),
                 "FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": str(WIDTH)}  # fmt: skip
        command = [sys.executable, "-P", "-m", "handbill.cli.main", "demo", "--fast"]
        done = subprocess.run(command, env=shell, capture_output=True, text=True, check=True)
    return [Text.from_ansi(line) for line in done.stdout.splitlines()]


def excerpt(lines: list[Text]) -> list[Text]:
    """Return the chosen steps with their first files, and the last lines.

    Dots replace the lines in between.
    """
    found: list[Text] = []
    is_chosen, files, chosen = False, 0, set[str]()
    for line in lines:
        if line.plain.startswith("▸"):
            files = 0
            step = next((one for one in STEPS if line.plain[2:].startswith(one) and one not in chosen), "")
            is_chosen = bool(step)
            chosen.add(step)
            if is_chosen:
                found.append(line)
        elif is_chosen and line.plain.startswith("    "):
            files += 1
            if files <= MOST_FILES:
                found.append(line)
            elif files == MOST_FILES + 1:
                found.append(Text("    …", style="dim"))
        else:
            is_chosen = False
            if line.plain.startswith(LAST_LINES):
                found += [Text(), line] if line.plain.startswith(LAST_LINES[0]) else [line]
    missing = set(STEPS) - chosen
    if missing:
        raise SystemExit(f"engine demo no longer has these steps: {', '.join(sorted(missing))}")
    return found


if __name__ == "__main__":
    main()

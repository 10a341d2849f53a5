"""`docs/cli.md`, made from the commands themselves: `python -m handbill.cli.reference > docs/cli.md`."""

from __future__ import annotations

import argparse

from handbill.cli.main import parser

HEAD = """# Commands

`engine` and `handbill` are the same program. `make docs` generates this page from the help texts.

Every command prints text for people. With `--json`, it prints one JSON object for programs:
`{"handbill": 1, "verb": …, "ok": …, "data": …, "warnings": […], "error": null | {"code", "message", "hint"}}`.
Exit codes: 0 for success, 1 for an expected failure (one line says what is wrong, the next how to
fix it), 2 for wrong usage, 3 for a defect in Handbill (it writes a report).
"""


def markdown() -> str:
    return HEAD + "".join(_verb(name, sub) for name, sub in _verbs(parser()).items())


def _verbs(top: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            found: dict[str, argparse.ArgumentParser] = action.choices
            return found
    return {}


def _verb(name: str, sub: argparse.ArgumentParser, level: int = 2) -> str:
    inner = _verbs(sub)
    text = f"\n{'#' * level} engine {name}\n\n{sub.description}\n"
    if inner:
        return text + "".join(_verb(f"{name} {one}", own, level + 1) for one, own in inner.items())
    rows = [_row(action) for action in sub._actions if "-h" not in action.option_strings and action.dest != "json"]
    return text + ("\n| | |\n|---|---|\n" + "\n".join(rows) + "\n" if rows else "")


def _row(action: argparse.Action) -> str:
    shown = action.metavar or action.dest.upper()
    if action.option_strings:
        name = ", ".join(action.option_strings) + (f" {shown}" if action.nargs != 0 else "")
    else:
        words = "|".join(map(str, action.choices)) if action.choices else str(shown)
        name = {"?": f"[{words}]", "*": f"[{words} …]"}.get(str(action.nargs), words)
    escaped = name.replace("|", "\\|")
    return f"| `{escaped}` | {action.help or ''} |"


if __name__ == "__main__":
    print(markdown(), end="")

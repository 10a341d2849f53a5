"""The result of a verb: one value, printed for people or as one versioned JSON envelope."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from handbill.cli.clean import clean, clean_json, one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

ENVELOPE = 1


class Result:
    """The result of a verb.

    `show` draws for people. `text` is printed unchanged, for verbs that agents read as well.
    `is_answer`: the result is what the user asked for, not only a confirmation.
    """

    def __init__(
        self,
        data: dict[str, Any],
        show: Callable[[Console], None] | None = None,
        text: str = "",
        exit_code: int = 0,
        next_step: str = "",
        warnings: list[str] | None = None,
        is_answer: bool = False,
    ) -> None:
        self.data = data
        self.show = show
        self.text = text
        self.exit_code = exit_code
        self.next_step = next_step
        self.warnings = warnings or []
        self.is_answer = is_answer


def envelope(verb: str, result: Result) -> dict[str, Any]:
    return {
        "handbill": ENVELOPE, "verb": verb, "ok": result.exit_code == 0, "data": result.data,
        "warnings": result.warnings, "error": None,
    }  # fmt: skip


def error_envelope(verb: str, code: str, message: str, hint: str) -> dict[str, Any]:
    return {
        "handbill": ENVELOPE, "verb": verb, "ok": False, "data": None, "warnings": [],
        "error": {"code": code, "message": message, "hint": hint},
    }  # fmt: skip


def print_result(verb: str, result: Result, *, as_json: bool, quiet: bool = False, confirms: bool = False) -> None:
    """Print a result.

    `quiet` leaves out notes and the next step. `confirms`: the result only confirms the command.
    """
    if as_json:
        _print_json(envelope(verb, result))
        return
    if quiet and confirms and not result.is_answer:
        return
    notes, ending = ([], "") if quiet else (result.warnings, result.next_step)
    if result.show is None:  # print without loading the drawing code
        lines = [clean(result.text), *(_fitted(f"note {one_line(note)}", 1) for note in notes)]
        lines += [_fitted(f"next: {one_line(ending)}", 1)] if ending else []
        print("\n".join(filter(None, lines)))
        return
    from handbill.cli.screen import console

    screen = console()
    result.show(screen)
    for note in notes:
        screen.print(f"[yellow]note[/] {_plain(note)}")
    if ending:
        screen.print(f"[dim]next:[/] {_plain(ending)}")


def print_error(verb: str, code: str, message: str, hint: str, *, as_json: bool) -> None:
    if as_json:
        _print_json(error_envelope(verb, code, message, hint))
        return
    print(_fitted(one_line(f"engine {verb}: {message}".replace("engine :", "engine:")), 2), file=sys.stderr)
    if hint:
        print(_fitted(one_line(f"  {hint}"), 2, "  "), file=sys.stderr)


def _fitted(line: str, stream: int, indent: str = "") -> str:
    """Wrap a sentence between words if it goes to a terminal."""
    width = os.get_terminal_size(stream).columns if os.isatty(stream) else 0
    if not width or len(line) <= width:  # some terminals do not report their width
        return line
    import textwrap

    return textwrap.fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _print_json(value: dict[str, Any]) -> None:
    import json

    print(clean_json(json.dumps(value, ensure_ascii=False, indent=2)))


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(one_line(text))

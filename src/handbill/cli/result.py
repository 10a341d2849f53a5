"""What a verb answers with: a value, rendered once, for people or as one versioned JSON envelope."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

ENVELOPE = 1


@dataclass
class Result:
    """`show` draws for people; `text` is printed as it is, for verbs that agents read as well."""

    data: dict[str, Any]
    show: Callable[[Console], None] | None = None
    text: str = ""
    exit_code: int = 0
    next_step: str = ""
    warnings: list[str] = field(default_factory=list)


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


def print_result(verb: str, result: Result, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(envelope(verb, result), ensure_ascii=False, indent=2))
        return
    if result.show is None:  # without loading what draws
        notes = [f"note {warning}" for warning in result.warnings]
        ending = [f"next: {result.next_step}"] if result.next_step else []
        print("\n".join([line for line in (result.text, *notes, *ending) if line]))
        return
    from handbill.cli.screen import console

    screen = console()
    result.show(screen)
    for warning in result.warnings:
        screen.print(f"[yellow]note[/] {_plain(warning)}")
    if result.next_step:
        screen.print(f"[dim]next:[/] {_plain(result.next_step)}")


def print_error(verb: str, code: str, message: str, hint: str, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(error_envelope(verb, code, message, hint), ensure_ascii=False, indent=2))
        return
    print(f"engine {verb}: {message}".replace("engine :", "engine:"), file=sys.stderr)
    if hint:
        print(f"  {hint}", file=sys.stderr)


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)

"""The command line: options may stand anywhere, also before an argument that may be left out."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from handbill.errors import HandbillError


def like(word: str, known: Iterable[str]) -> str:
    """` (did you mean …?)`, where something there is looks like it."""
    import difflib

    found = difflib.get_close_matches(word.strip("/").lower(), list(known), 1)
    return f" (did you mean {found[0]}?)" if found else ""


class UsageError(HandbillError):
    code = "usage"


class VerbParser(argparse.ArgumentParser):
    """`argparse` takes an optional argument as missing once an option stands before it; here it comes first."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, " ".join(self.format_usage().split()))

    def parse_known_args(  # type: ignore[override]  # as its callers use it
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        if args is not None and not any(isinstance(one, argparse._SubParsersAction) for one in self._actions):
            args = self._arguments_first(list(args))
        return super().parse_known_args(args, namespace)

    def _arguments_first(self, words: list[str]) -> list[str]:
        arguments: list[str] = []
        options: list[str] = []
        while words:
            word = words.pop(0)
            if word == "--":
                options += [word, *words]
                break
            if not word.startswith("-") or word == "-":
                arguments.append(word)
                continue
            options.append(word)
            found = [
                one for name, one in self._option_string_actions.items() if name.startswith(word.partition("=")[0])
            ]
            if found and found[0].nargs is None and "=" not in word and words:
                options.append(words.pop(0))
        return arguments + options

"""The options and arguments of one command. Options may be anywhere; errors suggest a fix."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from handbill.errors import HandbillError
from handbill.reports.plain_text import like as like  # the verbs import it from here


class UsageError(HandbillError):
    code = "usage"


class VerbParser(argparse.ArgumentParser):
    """A parser that keeps a list of its arguments for the help, the reference and completion."""

    def __init__(self, name: str, help_text: Callable[[VerbParser], str]) -> None:
        self.arguments: list[argparse.Action] = []
        self._rivals: list[tuple[str, ...]] = []
        self._help_text = help_text
        super().__init__(prog=f"engine {name}", add_help=False, allow_abbrev=False)

    def add_argument(self, *names: str, **how: Any) -> argparse.Action:
        if "choices" in how:
            how["type"] = _one_of([str(one) for one in how["choices"]], how.get("type", str), how.get("default"))
        made = super().add_argument(*names, **how)
        self.arguments.append(made)
        return made

    def only_one_of(self, *options: str) -> None:
        self._rivals.append(options)

    @property
    def options(self) -> dict[str, argparse.Action]:
        return {name: one for one in self.arguments for name in one.option_strings}

    @property
    def usage_line(self) -> str:
        """Return the usage line without the options that every command has."""
        words = [written(one) for one in self.arguments if one.dest not in COMMON]
        return " ".join(["usage:", self.prog, *words])

    def format_help(self) -> str:
        return self._help_text(self)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"{self.usage_line} ({self.prog} --help explains it)")

    def parsed(self, words: Sequence[str]) -> argparse.Namespace:
        options, arguments = self._sorted(words)
        given = {word.partition("=")[0] for word in options}
        for names in self._rivals:
            both = [name for name in names if name in given]
            if len(both) > 1:
                self.error(f"{both[0]} and {both[1]} exclude each other")
        found, rest = self.parse_known_args([*options, *arguments])
        if rest:
            self.error(f"there is an argument too many: {rest[0]!r}")
        return found

    def _sorted(self, words: Sequence[str]) -> tuple[list[str], list[str]]:
        """Separate options from arguments.

        `argparse` treats an optional argument as missing if an option follows the argument before
        it.
        """
        arguments: list[str] = []
        options: list[str] = []
        left = list(words)
        while left:
            word = left.pop(0)
            if word == "--":
                arguments = [word, *arguments, *left]
                break
            if not word.startswith("-") or word == "-":
                arguments.append(word)
                continue
            name = word.partition("=")[0]
            option = self.options.get(name)
            if option is None:
                self.error(f"there is no option {name}{like(name, self.options)}")
            options.append(word)
            if option.nargs is None and "=" not in word and left:
                options.append(left.pop(0))
        return options, arguments


COMMON = ("help", "json", "quiet")


def add_common(parser: VerbParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object, for programs")
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors and results only, no notes")
    parser.add_argument("-h", "--help", action="help", help="show this help")


def written(argument: argparse.Action) -> str:
    """Return an argument as the usage line shows it."""
    if argument.option_strings:
        return f"[{name_of(argument)}]"
    return {"?": f"[{name_of(argument)}]", "*": f"[{name_of(argument)} …]"}.get(str(argument.nargs), name_of(argument))


def name_of(argument: argparse.Action) -> str:
    """Return the name of an argument, such as `--agent ID`, `SESSION` or `bash|zsh`."""
    shown = str(argument.metavar or argument.dest.upper())
    if not argument.option_strings:
        return "|".join(map(str, argument.choices)) if argument.choices and not argument.metavar else shown
    return ", ".join(argument.option_strings) + (f" {shown}" if argument.nargs != 0 else "")


def _one_of(choices: list[str], kind: Callable[[str], Any], default: Any) -> Callable[[str], Any]:
    def checked(text: str) -> Any:
        if text not in choices and text != default:  # `argparse` also converts the default
            shown = f"{choices[0]} to {choices[-1]}" if kind is int else ", ".join(choices)
            meant = like(text, choices) or f"; use one of {shown}"
            raise argparse.ArgumentTypeError(f"{text!r} is unknown{meant}")
        return kind(text)

    return checked

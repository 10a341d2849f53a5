"""Finds the command that some words name. Help, the reference and completion use the same list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from handbill.cli import help_text
from handbill.cli.parser import UsageError, VerbParser, add_common, like
from handbill.cli.subcommands import add_arguments
from handbill.cli.verb_table import VERBS

if TYPE_CHECKING:
    from types import ModuleType

    from handbill.cli.subcommands import Action, Fields


class Command(NamedTuple):
    """One command, such as `engine window` or `engine session phase`."""

    name: str
    about: str
    page: str
    examples: tuple[str, ...]
    configure: Callable[[VerbParser], None]
    fields: Fields | None = None
    confirms: bool = False

    def parser(self) -> VerbParser:
        made = VerbParser(self.name, lambda parser: help_text.of_command(self, parser))
        self.configure(made)
        add_common(made)
        return made


def module_of(verb: str) -> ModuleType:
    return import_module(f"handbill.cli.verbs.{VERBS[verb].module}")


def commands_of(verb: str) -> dict[str, Command]:
    """Map second words to commands. A verb without subcommands has one, under the empty word."""
    row, module = VERBS[verb], module_of(verb)
    actions: dict[str, Action] = getattr(module, "ACTIONS", {})
    if not actions:
        return {"": Command(verb, row.about, row.page, row.examples, module.configure, None, row.confirms)}
    return {
        name: Command(
            f"{verb} {name}", action.about, row.page, action.examples,
            partial(add_arguments, action=action), action.fields, action.confirms,
        )
        for name, action in actions.items()
    }  # fmt: skip


class Chosen(NamedTuple):
    command: Command | None  # None if these words ask for help
    words: list[str]  # its arguments and options
    help_text: str = ""


def chosen(given: Sequence[str]) -> Chosen:
    """Return the command that the words name. Raises UsageError if no command has this name."""
    options, words = _leading(given)
    if words[:1] == ["help"]:
        options, words = [*options, "--help"], words[1:]
    if not words:
        for name in options:
            if name.startswith("-") and name not in ("-h", "--help", "--json", "-q", "--quiet"):
                raise UsageError(f"there is no option {name}", "engine --help lists the commands")
        return Chosen(None, [], help_text.of_all())
    verb, rest = words[0], words[1:]
    if verb not in VERBS:
        raise UsageError(f"there is no command {verb!r}{like(verb, VERBS)}", "engine --help lists the commands")
    commands = commands_of(verb)
    if "" in commands:
        return Chosen(commands[""], [*rest, *options])
    more, rest = _leading(rest)
    options += more
    if not rest:
        return Chosen(None, [], help_text.of_verb(verb, list(commands.values())))
    if rest[0] not in commands:
        hint = f"use one of {', '.join(commands)}; engine {verb} --help explains them"
        raise UsageError(f"there is no command `engine {verb} {rest[0]}`{like(rest[0], commands)}", hint)
    return Chosen(commands[rest[0]], [*rest[1:], *options])


def _leading(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split off the options before the first name. Of these, only `--project DIR` takes a value."""
    end = 0
    while end < len(words) and words[end].startswith("-"):
        end += 2 if words[end] == "--project" else 1
    return list(words[:end]), list(words[end:])

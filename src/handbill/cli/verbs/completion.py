"""`engine completion SHELL`: a completion script made from the verbs' own options."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from handbill.cli.result import Result

if TYPE_CHECKING:
    from rich.console import Console

_WHERE = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/config.fish"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=sorted(_WHERE), help="the shell that runs the script")


def run(args: argparse.Namespace) -> Result:
    text = {"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell](_words())

    def show(screen: Console) -> None:
        print(f"# to use it: engine completion {args.shell} >> {_WHERE[args.shell]}")
        print(text)

    return Result({"shell": args.shell, "script": text}, show)


class Words:
    """What may follow a verb."""

    def __init__(self, sub: argparse.ArgumentParser) -> None:
        self.options = _options(sub)
        self.second: list[str] = []  # e.g. `session activate`, `find-sessions today`
        for action in sub._actions:
            if not action.option_strings and action.choices and not self.second:
                self.second = [str(choice) for choice in action.choices]
                if isinstance(action, argparse._SubParsersAction):
                    inner = (option for one in action.choices.values() for option in _options(one))
                    self.options = list(dict.fromkeys((*self.options, *inner)))


def _options(parser: argparse.ArgumentParser) -> list[str]:
    return [option for one in parser._actions for option in one.option_strings if option[:2] == "--"]


def _words() -> dict[str, Words]:
    from handbill.cli.main import parser

    found: dict[str, Words] = {}
    for action in parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            found.update({name: Words(sub) for name, sub in action.choices.items()})
    return found


def _bash(verbs: dict[str, Words]) -> str:
    cases = "\n".join(
        f"    {name}) words='{' '.join(one.options)}' second='{' '.join(one.second)}' ;;" for name, one in verbs.items()
    )
    return f"""_handbill() {{
  local words='' second='' word=${{COMP_WORDS[COMP_CWORD]}}
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W '{" ".join(verbs)}' -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{cases}
  esac
  # other words are file names: left to the shell, which knows how to quote them
  case $word in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    *) [ "$COMP_CWORD" = 2 ] && COMPREPLY=($(compgen -W "$second" -- "$word")) ;;
  esac
}}
complete -o default -o bashdefault -F _handbill engine handbill"""


def _zsh(verbs: dict[str, Words]) -> str:
    return f"autoload -U +X bashcompinit && bashcompinit\n{_bash(verbs)}"


def _fish(verbs: dict[str, Words]) -> str:
    lines = []
    for command in ("engine", "handbill"):
        lines.append(f"complete -c {command} -n __fish_use_subcommand -xa '{' '.join(verbs)}'")
        for name, one in verbs.items():
            seen = f"complete -c {command} -n '__fish_seen_subcommand_from {name}'"
            lines += [f"{seen} -l {option[2:]}" for option in one.options]
            lines += [f"{seen} -a '{' '.join(one.second)}'"] if one.second else []
    return "\n".join(lines)

"""`engine completion SHELL`: a completion script made from the verbs' own options."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from handbill.cli.result import Result

if TYPE_CHECKING:
    from rich.console import Console

_WHERE = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/config.fish"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=sorted(_WHERE))


def run(args: argparse.Namespace) -> Result:
    text = {"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell](_words())

    def show(screen: Console) -> None:
        print(f"# to use it: engine completion {args.shell} >> {_WHERE[args.shell]}")
        print(text)

    return Result({"shell": args.shell, "script": text}, show)


def _words() -> dict[str, list[str]]:
    from handbill.cli.main import parser

    verbs: dict[str, list[str]] = {}
    for action in parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, sub in action.choices.items():
                verbs[name] = [option for one in sub._actions for option in one.option_strings if option[:2] == "--"]
    return verbs


def _bash(verbs: dict[str, list[str]]) -> str:
    cases = "\n".join(f"    {name}) words='{' '.join(options)}' ;;" for name, options in verbs.items())
    return f"""_handbill() {{
  local words='' word=${{COMP_WORDS[COMP_CWORD]}}
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
    *) [ "${{COMP_WORDS[1]}}" = completion ] && COMPREPLY=($(compgen -W '{" ".join(_WHERE)}' -- "$word")) ;;
  esac
}}
complete -o default -o bashdefault -F _handbill engine handbill"""


def _zsh(verbs: dict[str, list[str]]) -> str:
    return f"autoload -U +X bashcompinit && bashcompinit\n{_bash(verbs)}"


def _fish(verbs: dict[str, list[str]]) -> str:
    lines = []
    for command in ("engine", "handbill"):
        lines.append(f"complete -c {command} -n __fish_use_subcommand -xa '{' '.join(verbs)}'")
        for name, options in verbs.items():
            lines += [f"complete -c {command} -n '__fish_seen_subcommand_from {name}' -l {o[2:]}" for o in options]
    return "\n".join(lines)

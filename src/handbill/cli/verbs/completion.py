"""`engine completion SHELL`: a completion script made from the commands' own options.

`shtab` would need all commands in one `argparse` parser, and would not make this much shorter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from handbill.cli.result import Result

if TYPE_CHECKING:
    import argparse

    from handbill.cli.parser import VerbParser

_WHERE = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/config.fish"}


def configure(parser: VerbParser) -> None:
    parser.add_argument("shell", choices=sorted(_WHERE), help="the shell that runs the script")


def run(args: argparse.Namespace) -> Result:
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell](_words())
    text = f"# to use it: engine completion {args.shell} >> {_WHERE[args.shell]}\n{script}"
    return Result({"shell": args.shell, "script": script}, text=text)


# The words so far, such as `session phase` -> the words that may follow.
Words = dict[str, list[str]]


def _words() -> Words:
    from handbill.cli.commands import commands_of
    from handbill.cli.verb_table import VERBS

    found: Words = {"": list(VERBS)}
    for verb in VERBS:
        commands = commands_of(verb)
        if "" not in commands:
            found[verb] = list(commands)
        for command in commands.values():
            arguments = command.parser().arguments
            choices = [str(choice) for one in arguments if not one.option_strings for choice in one.choices or ()]
            options = [name for one in arguments for name in one.option_strings if name.startswith("--")]
            found[command.name] = choices + options
    return found


def _bash(words: Words) -> str:
    cases = "\n".join(f"    '{before}') words='{' '.join(after)}' ;;" for before, after in words.items())
    return f"""_handbill() {{
  local words='' word=${{COMP_WORDS[COMP_CWORD]}} before="${{COMP_WORDS[*]:1:COMP_CWORD-1}}"
  case $before in
    {_with_verbs(words)}) before=${{COMP_WORDS[*]:1:2}} ;;
    ?*) before=${{COMP_WORDS[1]}} ;;
  esac
  case $before in
{cases}
  esac
  # other words are file names: left to the shell, which knows how to quote them
  case $word in -*) ;; *) words=${{words%%--*}} ;; esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -o bashdefault -F _handbill engine handbill"""


def _with_verbs(words: Words) -> str:
    """Return shell patterns for words that begin with a verb and one of its subcommands."""
    return "|".join(f"'{name}'*" for name in words if " " in name)


def _zsh(words: Words) -> str:
    return f"autoload -U +X bashcompinit && bashcompinit\n{_bash(words)}"


def _fish(words: Words) -> str:
    lines = []
    for command in ("engine", "handbill"):
        for before, after in words.items():
            verb, _, own = before.partition(" ")
            seen = f"__fish_seen_subcommand_from {verb}" if verb else "__fish_use_subcommand"
            if own:
                seen += f"; and __fish_seen_subcommand_from {own}"
            elif verb and any(name.startswith(f"{verb} ") for name in words):
                seen += f"; and not __fish_seen_subcommand_from {' '.join(after)}"
            options = [f"-l {word[2:]}" for word in after if word.startswith("--")]
            plain = [word for word in after if not word.startswith("--")]
            lines += [f"complete -c {command} -n '{seen}' {option}" for option in options]
            lines += [f"complete -c {command} -n '{seen}' -xa '{' '.join(plain)}'"] if plain else []
    return "\n".join(lines)

"""`engine VERB`: a table of verbs, each imported on use."""

from __future__ import annotations

import argparse
import io
import os
import sys
from importlib import import_module

from handbill import VERSION
from handbill.cli.parser import UsageError, VerbParser
from handbill.cli.result import print_error, print_result
from handbill.errors import HandbillError

# verb -> (module, what it is for); the order is the order of the help text
VERBS = {
    "install": ("install", "register the hooks in this project (or --user)"),
    "uninstall": ("uninstall", "remove exactly what install added"),
    "doctor": ("doctor", "check the installation, the state and the errors, and show a fix for each problem"),
    "window": ("window", "show what is in this context window, since when, and how that is proven"),
    "deliveries": ("deliveries", "show the delivery log: what was delivered, skipped, lost, and why"),
    "session": ("session", "manage a piece of work: activate a skill, move through its phases, end it"),
    "find-sessions": ("find_sessions", "find sessions by day, topic or state"),
    "gate": ("gate", "show what each gate requested, and what the agent did"),
    "context": ("context", "print the project's working context as one packet of a given size"),
    "role": ("role", "list, set or clear a session's role; its files are delivered again after a compaction"),
    "worker": ("worker", "start an agent with a contract of its own"),
    "dispatch": ("dispatch", "create, check, update and finish the contracts of workers"),
    "compaction": ("compaction", "show what a compaction removed and what was kept; restore lost files"),
    "resume": ("resume", "write, show or check the _resume.md of a project"),
    "skills": ("skills", "list skills, their phases and pages, and what is wrong with them"),
    "preview": ("preview", "show what would be delivered now, and why, without delivering it"),
    "why": ("why", "show when and where a file was delivered, or why it was not"),
    "glob": ("glob", "find files by pattern, through links, newest first"),
    "discover-directives": ("discover_directives", "show which directives apply to a directory"),
    "replay": ("replay", "play a recorded event stream and print or compare its deliveries"),
    "demo": ("demo", "play a whole agent session in a sample project and show each step"),
    "prune": ("prune", "remove ledgers of windows that ended long ago"),
    "completion": ("completion", "print a completion script for bash, zsh or fish"),
}


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """With `only`, the other verbs are left out: they cost start-up time."""
    top = VerbParser(
        prog="engine",
        description="Handbill gives a coding agent its rules and files: each once per context window, with a receipt.",
        epilog="In a new project, run engine install, use your agent as usual, then run engine window.",
    )
    top.add_argument("--version", action="version", version=f"handbill {VERSION}")
    verbs = top.add_subparsers(dest="verb", metavar="VERB", title="verbs")
    for name, (module, help_text) in VERBS.items():
        if only and only != name:
            continue
        sub = verbs.add_parser(name, help=help_text, description=help_text[0].upper() + help_text[1:] + ".")
        if only is None or only == name:  # "": the help text lists the verbs without their options
            import_module(f"handbill.cli.verbs.{module}").configure(sub)
            sub.add_argument("--json", action="store_true", help="print one JSON object, for programs")
    return top


def main(arguments: list[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # half of a character pair in somebody's text is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            return _run(["--help"] if words == ["help"] else words)
        finally:
            if sys.stdout is not None:  # it was closed by who started us
                sys.stdout.flush()  # here, because at exit a closed pipe would cause a complaint
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader went away: no second complaint at exit
        return 0


def _run(words: list[str]) -> int:
    if sys.platform == "win32":  # said here, because nothing else of the program can be loaded there
        named = words[0] if words else ""
        print_error(named, "unsupported", "Windows is not supported yet", "use Linux, macOS or WSL", as_json=False)
        return 1
    named = next((word for word in words if not word.startswith("-")), "")
    top = parser(named if named in VERBS else "")
    try:
        args = top.parse_args(words)
    except UsageError as error:
        print_error(named, error.code, str(error), error.hint, as_json="--json" in words)
        return 2
    if not args.verb:
        top.print_help()
        return 0
    verb = f"{args.verb} {args.action}" if hasattr(args, "action") else args.verb
    try:
        result = import_module(f"handbill.cli.verbs.{VERBS[args.verb][0]}").run(args)
        print_result(verb, result, as_json=args.json)
        return int(result.exit_code)
    except HandbillError as error:
        print_error(verb, error.code, str(error), error.hint, as_json=args.json)
        return 1
    except BrokenPipeError:
        raise
    except Exception as error:
        report = _report(verb, error)
        print_error(verb, "unexpected", f"{type(error).__name__}: {error}", report, as_json=args.json)
        return 3


def _report(verb: str, error: Exception) -> str:
    import traceback

    from handbill.cli.clean import clean
    from handbill.cli.screen import stamp

    text = (
        f"handbill {VERSION}, Python {sys.version.split()[0]}, {sys.platform}\n"
        f"engine {verb}, {stamp()}\n\n{''.join(traceback.format_exception(error))}"
    )
    from handbill.settings import folder_of

    folder = os.path.join(folder_of("XDG_STATE_HOME", ".local/state", os.environ), "handbill")
    path = os.path.join(folder, f"report-{stamp().replace(':', '')}-{os.getpid()}.txt")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
    except OSError:
        print(clean(text), file=sys.stderr)
        return "this is a bug in Handbill; include the report above when you report it"
    return f"this is a bug in Handbill; a report is in {path}"


if __name__ == "__main__":
    sys.exit(main())

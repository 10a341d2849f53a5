"""`engine VERB`: finds the command, runs it, and prints its result or its error."""

from __future__ import annotations

import io
import os
import sys

from handbill import VERSION
from handbill.cli.parser import UsageError
from handbill.cli.result import Result, print_error, print_result
from handbill.errors import HandbillError


def main(arguments: list[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        # An unpaired surrogate in somebody's text must not cause a failure.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            return _run(words)
        finally:
            if sys.stdout is not None:  # the parent process may have closed it
                sys.stdout.flush()  # flush here, because a closed pipe would print an error at exit
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader closed the pipe; this prevents a second error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0


def _run(words: list[str]) -> int:
    named = next((word for word in words if not word.startswith("-")), "")
    as_json = "--json" in words
    if sys.platform == "win32":  # reported here, because no other module can be loaded on Windows
        print_error(named, "unsupported", "Windows is not supported yet", "use Linux, macOS or WSL", as_json=False)
        return 1
    if words and words[0] in ("-V", "--version"):
        print(f"handbill {VERSION}")
        return 0
    from handbill.cli.commands import chosen, module_of

    try:
        command, rest, help_text = chosen(words)
        if command is None:
            print_result(named or "help", Result({"help": help_text}, text=help_text), as_json=as_json)
            return 0
        args = command.parser().parsed(rest)
    except UsageError as error:
        print_error(named, error.code, str(error), error.hint, as_json=as_json)
        return 2
    verb, _, args.action = command.name.partition(" ")
    try:
        result: Result = module_of(verb).run(args)
        print_result(command.name, result, as_json=args.json, quiet=args.quiet, confirms=command.confirms)
        return int(result.exit_code)
    except HandbillError as error:
        print_error(command.name, error.code, str(error), error.hint, as_json=args.json)
        return 1
    except BrokenPipeError:
        raise
    except Exception as error:
        report = _report(command.name, error)
        print_error(command.name, "unexpected", f"{type(error).__name__}: {error}", report, as_json=args.json)
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

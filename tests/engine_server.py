"""The real `engine` as its own process, without starting an interpreter each time.

A server has the commands loaded and forks for each of them, so every command still has its own
process, working directory, environment and streams. Each thread of a test has its own server, so
their commands run in parallel.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
import threading
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

_STREAMS = ("stdin", "stdout", "stderr")
_of_thread = threading.local()


def run_engine(
    words: tuple[str, ...], *, cwd: Path | None, environ: dict[str, str], stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as folder:
        files = {name: os.path.join(folder, name) for name in _STREAMS}
        Path(files["stdin"]).write_text(stdin or "", encoding="utf-8")
        request = {"words": words, "cwd": str(cwd or Path.cwd()), "environ": environ, **files}
        code = _answer_to(json.dumps(request))
        printed = [Path(files[name]).read_text(encoding="utf-8") for name in _STREAMS[1:]]
    return subprocess.CompletedProcess(["engine", *words], code, *printed)


def _answer_to(request: str) -> int:
    server: subprocess.Popen[str] | None = getattr(_of_thread, "server", None)
    if server is None or server.poll() is not None:
        server = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        _of_thread.server = server
        atexit.register(server.kill)
    assert server.stdin and server.stdout
    print(request, file=server.stdin, flush=True)
    return int(server.stdout.readline())


def _serve() -> None:
    from handbill.cli.commands import commands_of
    from handbill.cli.verb_table import VERBS

    for verb in VERBS:
        for command in commands_of(verb).values():
            command.parser()
    import_module("rich.table")
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _become(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _become(request: dict[str, Any]) -> NoReturn:
    """Turn the forked process into the command."""
    from handbill.cli.main import main

    code = 70
    try:
        for number, name in enumerate(_STREAMS):
            file = os.open(request[name], os.O_RDWR | os.O_CREAT, 0o600)
            os.dup2(file, number)
            os.close(file)
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
        os.environ.clear()
        os.environ.update(request["environ"])
        os.chdir(request["cwd"])
        sys.argv = ["engine", *request["words"]]
        try:
            code = main()
        except SystemExit as end:  # from --help and --version
            code = end.code if isinstance(end.code, int) else 1
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    _serve()

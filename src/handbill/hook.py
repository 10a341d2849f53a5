"""The host's entry: stdin -> pipeline -> stdout. Whatever happens: valid output or none, exit 0, a trace."""

from __future__ import annotations

import posix
import sys
import time

from handbill.errors import HandbillError, describe, trace_line
from handbill.hotjson import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

MOST_INPUT = 64 << 20


def main() -> None:
    """Never returns: skipping the interpreter's own shutdown is a third of the cost."""
    try:
        answer, printed = answer_to(_stdin(), sys.argv[1:], _environ())
        _print(answer)
        printed()
    except BaseException as error:  # even ^C: the agent's turn must go on
        _last_words(error)
    posix._exit(0)


def respond(data: bytes, arguments: list[str], environ: Mapping[str, str]) -> str:
    """The text for one event, taken as printed: for callers that are no process of their own."""
    answer, printed = answer_to(data, arguments, environ)
    printed()
    return answer


def answer_to(data: bytes, arguments: list[str], environ: Mapping[str, str]) -> tuple[str, Callable[[], None]]:
    """The text to print for one event, and what to do once it is printed."""
    raw, problem = _decoded(data)
    project = _project(raw, environ)
    from handbill.config import load, state_roots
    from handbill.store.files import FileStore

    root, spare = state_roots(project, environ)
    store = FileStore(root, spare)
    events: list[Any] = []
    try:
        return _answer(raw, problem, arguments, environ, events, store, load(project, environ, root))
    except Exception as error:
        return _failed(error, raw, events, store), _nothing


def _failed(error: Exception, raw: dict[str, Any], events: list[Any], store: Any) -> str:
    """A trace, a mark so that the window's next event makes good what this one missed, one message to the person."""
    name, session, agent = (raw.get(key) for key in ("hook_event_name", "session_id", "agent_id"))
    expected = isinstance(error, HandbillError)
    what, hint = (str(error), error.hint) if isinstance(error, HandbillError) else (describe(error), "")
    line = trace_line(time.time(), f"hook {name if isinstance(name, str) else '?'}", what, hint)
    key = events[0].window if events else (session, agent if isinstance(agent, str) and agent else "main")
    new = bool(session) and isinstance(session, str) and store.note_missed(key)
    store.append("errors", [line])
    if not new:
        return ""
    word = what if expected else "a hook failed"
    return dumps({"systemMessage": f"Handbill: {word}. See: engine doctor"})


def _answer(
    raw: dict[str, Any],
    problem: str,
    arguments: list[str],
    environ: Mapping[str, str],
    events: list[Any],
    store: Any,
    config: Any,
) -> tuple[str, Callable[[], None]]:
    from handbill.hosts.table import HOSTS, host
    from handbill.pipeline import run
    from handbill.world import World

    name = arguments[0] if arguments else ""
    if problem or name not in HOSTS:
        raise HandbillError(problem or f"no host called {name!r}", "run `engine install` again")
    speaker = host(name)
    client = environ.get("CLAUDE_PID", "")
    event = speaker.parse(raw, environ, int(client) if client.isdecimal() else posix.getppid())
    if event is None:
        return "", _nothing
    event.names_client = client.isdecimal()
    events.append(event)  # known to the caller, should what follows fail
    if not event.session_id:
        raise HandbillError(f"{raw.get('hook_event_name')} without a session id: no window to deliver to")
    if "--lane" in arguments[:-1]:
        event.lane = int(arguments[arguments.index("--lane") + 1].partition("/")[0])
    answer = run(event, speaker, store, World(config.roots), config)
    rendered = speaker.render(event, answer.text, answer.plan, answer.message)
    if event.kind == "session_ended":
        _prune_daily(store)
    printed = _nothing
    if answer.text and not speaker.records_injections(event):
        from handbill.remembering import acknowledging

        printed = acknowledging(event, store, answer)
    return dumps(rendered) if rendered else "", printed


def _nothing() -> None:
    """Most events leave nothing to do after printing."""


def _decoded(data: bytes) -> tuple[dict[str, Any], str]:
    """The event, or what is wrong with it; bytes that are no UTF-8 do not lose the rest."""
    try:
        value = loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        return {}, f"the host's event is not JSON ({len(data):,} bytes): {error}"
    if not isinstance(value, dict):
        return {}, f"the host's event is {type(value).__name__}, not an object"
    return value, ""


def _project(raw: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    from handbill.core.paths import normal

    cwd = raw.get("cwd")
    path = environ.get("CLAUDE_PROJECT_DIR") or (cwd if isinstance(cwd, str) else "") or posix.getcwd()
    start = normal(path) if path.startswith("/") else normal(f"{posix.getcwd()}/{path}")
    from handbill.config import project_around

    return project_around(start, environ)


def _prune_daily(store: Any) -> None:
    from handbill.prune import prune_daily

    prune_daily(store)


def _stdin() -> bytes:
    pieces = []
    size = 0
    while size < MOST_INPUT:
        piece = posix.read(0, 1 << 20)
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _environ() -> dict[str, str]:
    return {
        name.decode("utf-8", "surrogateescape"): value.decode("utf-8", "surrogateescape")
        for name, value in posix.environ.items()
    }


def _print(text: str) -> None:
    data = text.encode("utf-8", "replace")
    while data:
        data = data[posix.write(1, data) :]


def _last_words(error: BaseException) -> None:
    """No state could be written at all: the host's debug log is the only place left."""
    try:
        posix.write(2, f"handbill: {describe(error)}\n".encode("utf-8", "replace"))
    except OSError:
        pass  # nobody listens

"""The host's entry: stdin -> pipeline -> stdout. Whatever happens: valid output or none, exit 0, a trace."""

from __future__ import annotations

import posix
import sys

from handbill.errors import HandbillError
from handbill.fast_json import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType
    from typing import Any

    from handbill.event import Event

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
    from handbill.settings import load, project_around, state_roots
    from handbill.store.files import FileStore

    project = project_around(_start(raw, environ), environ)
    root, spare = state_roots(project, environ)
    store, event = FileStore(root, spare), None
    try:
        settings = load(project, environ, root, spare)
        speaker, event = _parsed(raw, problem, arguments, environ)
        return _answer(event, speaker, store, settings) if event is not None else ("", _nothing)
    except Exception as error:
        from handbill.flow.failed_hook import trace_failure

        return trace_failure(error, raw, event, store), _nothing


def _parsed(
    raw: dict[str, Any], problem: str, arguments: list[str], environ: Mapping[str, str]
) -> tuple[ModuleType, Event | None]:
    """The host that speaks here, and its event; None: one that means nothing to us."""
    from handbill.hosts import HOSTS, host

    name = arguments[0] if arguments else ""
    if problem or name not in HOSTS:
        hint = "nothing to do: Handbill continues with the next event" if problem else "run `engine install` again"
        raise HandbillError(problem or f"unknown host: {name!r}", hint)
    speaker = host(name)
    client = environ.get("CLAUDE_PID", "")
    event = speaker.parse(raw, environ, int(client) if client.isdecimal() else posix.getppid())
    if event is not None:
        event.names_client = client.isdecimal()
        if "--lane" in arguments[:-1]:
            event.lane = int(arguments[arguments.index("--lane") + 1].partition("/")[0])
    return speaker, event


def _answer(event: Event, speaker: ModuleType, store: Any, settings: Any) -> tuple[str, Callable[[], None]]:
    from handbill.flow.pipeline import run
    from handbill.world import World

    if not event.session_id:
        raise HandbillError(f"{event.raw.get('hook_event_name')} has no session id, so it has no window to deliver to")
    answer = run(event, speaker, store, World(settings.roots, speaker), settings)
    rendered = speaker.render(event, answer.text, answer.plan, answer.message)
    if event.kind == "session_ended":
        _prune_daily(store)
    printed = _nothing
    if answer.text and not speaker.records_injections(event):
        from handbill.flow.quiet_events import acknowledging

        printed = acknowledging(event, store, answer)
    return dumps(rendered) if rendered else "", printed


def _nothing() -> None:
    """Most events leave nothing to do after printing."""


def _decoded(data: bytes) -> tuple[dict[str, Any], str]:
    """The event, or what is wrong with it; bytes that are no UTF-8 do not lose the rest."""
    if not data.strip():
        return {}, "the host ended before it sent its event"
    try:
        value = loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        return {}, f"the host's event is not JSON ({len(data):,} bytes): {error}"
    if not isinstance(value, dict):
        return {}, f"the host's event is {type(value).__name__}, not an object"
    return value, ""


def _start(raw: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """The folder where the client was started."""
    from handbill.paths import normal

    cwd = raw.get("cwd")
    path = environ.get("CLAUDE_PROJECT_DIR") or (cwd if isinstance(cwd, str) else "") or posix.getcwd()
    return normal(path) if path.startswith("/") else normal(f"{posix.getcwd()}/{path}")


def _prune_daily(store: Any) -> None:
    from handbill.store.prune import prune_daily

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
        from handbill.trace import describe

        posix.write(2, f"handbill: {describe(error)}\n".encode("utf-8", "replace"))
    except (OSError, ImportError):
        pass  # nobody listens, or the package was removed while this ran

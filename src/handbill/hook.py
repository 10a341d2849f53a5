"""The host's entry point. A failure leaves a trace; the exit code is always 0.

An event is read from stdin. The output on stdout is always valid, or empty.
"""

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
    from handbill.settings import ProcessContext

MOST_INPUT = 64 << 20


def main() -> None:
    """Answer one event and exit. The interpreter's own shutdown, a third of the cost, is
    skipped."""
    try:
        answer, printed = answer_to(_stdin(), sys.argv[1:], _environ())
        _print(answer)
        printed()
    except BaseException as error:  # even ^C: the agent's turn must continue
        _last_words(error)
    posix._exit(0)


def respond(data: bytes, arguments: list[str], environ: Mapping[str, str]) -> str:
    """Return the text for one event as if it were printed, for callers in their own process."""
    answer, printed = answer_to(data, arguments, environ)
    printed()
    return answer


def answer_to(data: bytes, arguments: list[str], environ: Mapping[str, str]) -> tuple[str, Callable[[], None]]:
    """Return the text to print for one event, and a function to call after printing."""
    from handbill.hosts import HOSTS
    from handbill.settings import load, process_context, project_around
    from handbill.store.files import FileStore

    raw, problem = _decoded(data)
    name = arguments[0] if arguments else ""
    speaker: ModuleType | None = __import__(HOSTS[name], fromlist=("parse",)) if name in HOSTS else None
    caller = speaker.identify(raw, environ) if speaker is not None else None
    marks = speaker.MARKS if speaker is not None else ()
    start = _absolute(caller.folder if caller is not None else "")
    process = process_context(project_around(start, environ, marks), environ)
    store, event = FileStore(process.state, process.spare), None
    try:
        if problem or speaker is None or caller is None:
            hint = "nothing to do: Handbill continues with the next event" if problem else "run `engine install` again"
            raise HandbillError(problem or f"unknown host: {name!r}", hint)
        settings = load(process)
        caller.client = caller.client or posix.getppid()
        event = speaker.parse(raw, caller, environ)
        if event is None:
            return "", _nothing
        if "--lane" in arguments[:-1]:
            event.lane = int(arguments[arguments.index("--lane") + 1].partition("/")[0])
        return _answer(event, speaker, store, settings, process)
    except Exception as error:
        from handbill.flow.failed_hook import trace_failure

        return trace_failure(error, speaker, caller, event, raw, store), _nothing


def _answer(
    event: Event, speaker: ModuleType, store: Any, settings: Any, process: ProcessContext
) -> tuple[str, Callable[[], None]]:
    from handbill.flow.pipeline import run
    from handbill.world import World, deliverable_roots

    if not event.session_id:
        raise HandbillError(f"the event {event.kind} has no session id, so it has no window to deliver to")
    world = World(deliverable_roots(process, speaker, settings.allowed), speaker, process)
    answer = run(event, speaker, store, world, settings)
    rendered = speaker.render(event, answer.text, answer.plan, answer.message)
    if event.kind == "session_ended":
        _prune_daily(store)
    printed = _nothing
    if answer.text and not speaker.records_injections(event):
        from handbill.flow.quiet_events import acknowledging

        printed = acknowledging(event, store, answer)
    return dumps(rendered) if rendered else "", printed


def _nothing() -> None:
    """Do nothing: most events need no work after printing."""


def _decoded(data: bytes) -> tuple[dict[str, Any], str]:
    """Return the event, or its fault. Bytes that are not valid UTF-8 do not invalidate the rest."""
    if not data.strip():
        return {}, "the host ended before it sent its event"
    try:
        value = loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        return {}, f"the host's event is not JSON ({len(data):,} bytes): {error}"
    if not isinstance(value, dict):
        return {}, f"the host's event is {type(value).__name__}, not an object"
    return value, ""


def _absolute(folder: str) -> str:
    """Return the folder where the client was started; if empty, this process's own folder."""
    from handbill.paths import normal

    return normal(folder if folder.startswith("/") else f"{posix.getcwd()}/{folder}")


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
    """Write to the host's debug log, the last resort if no state could be written."""
    try:
        from handbill.trace import describe

        posix.write(2, f"handbill: {describe(error)}\n".encode("utf-8", "replace"))
    except (OSError, ImportError):
        pass  # nobody reads stderr, or the package was removed while this ran

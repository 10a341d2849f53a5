"""`engine why FILE`: when and where a file was delivered; or why it was not."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from handbill.cli.project import Project, here, project_option
from handbill.cli.result import Result
from handbill.cli.screen import count, safe, short, styled, table, when
from handbill.cli.verbs.deliveries import WORDS, read_log
from handbill.cli.verbs.window import with_newest_receipts
from handbill.errors import HandbillError
from handbill.event import MAIN
from handbill.handlers import load_gate, reread_gate
from handbill.handlers.standards import find
from handbill.ledger.host_files import FOUND
from handbill.ledger.window import ELSEWHERE, UNDELIVERABLE, state_of
from handbill.library.pages import page
from handbill.library.roots import root_of
from handbill.reports.deliveries import DELIVERED
from handbill.settings import PACKAGE
from handbill.text.document import Refusal
from handbill.text.references import page_name
from handbill.world import World

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.ledger.window import Record, Window
    from handbill.store.api import Key

    Line = dict[str, Any]

_LAST = 30
_MOST_WINDOWS = 20


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="a path, a name as `engine window` shows it, or a page (§CMD_X)")
    parser.add_argument("--session", metavar="ID", default="", help="only windows whose id begins with this")
    project_option(parser)


def run(args: argparse.Namespace) -> Result:
    project = here(args.project)
    world = project.world()
    path = _meant(args.file, project, world)
    lines = [
        line for line in read_log(project.store)
        if line.get("file") == path and str(line.get("window", "")).startswith(args.session)
    ]  # fmt: skip
    found = sorted(_holding(path, project, args.session), key=lambda one: -_since(path, one[1]))
    windows = [_row(path, key, with_newest_receipts(window, project), lines) for key, window in found[:_MOST_WINDOWS]]
    reasons = (
        [] if windows else list(_why_not(path, project, world, delivered=any(_is_delivery(line) for line in lines)))
    )
    data = {
        "file": path, "windows": windows, "more_windows": len(found) - len(windows),
        "decisions": lines[-_LAST:][::-1], "why_not": reasons, "session": args.session,
    }  # fmt: skip
    return Result(data, lambda screen: _show(screen, data, project.root), exit_code=0 if windows or lines else 1)


def _meant(word: str, project: Project, world: World) -> str:
    library = f"{PACKAGE}/data"
    if word.startswith("library:"):  # as `engine window` shows it
        inside = word.removeprefix("library:")
        return next((p for p in (f"{library}/directives/{inside}", f"{library}/{inside}") if os.path.exists(p)), inside)
    if "/" not in word and not os.path.exists(word):
        found = [path for path in _delivered(project) if path.endswith(f"/{word}")] or [
            find(word, world, project.settings)
        ]
        if len(found) > 1:
            names = [short(path, project.root) for path in found[:8]]
            more = f" and {len(found) - 8} more" if len(found) > 8 else ""
            raise HandbillError(f"{word} means {len(found)} files", f"name one of them: {', '.join(names)}{more}")
        if found[0]:
            return found[0]
    name = page_name(word)
    if name and not os.path.exists(word):
        path = page(name, f"{project.root}/x", world, project.settings)
        if not path:
            raise HandbillError(
                f"there is no page {name}", f"looked in .directives/ of {project.root} and the libraries"
            )
        return path
    return os.path.abspath(word)


def _delivered(project: Project) -> list[str]:
    """Files of the known windows, the newest last."""
    return list({path: None for _, window in _readable(project) for path in (*window.files, *window.pending)})


def _readable(project: Project) -> Iterator[tuple[Key, Window]]:
    for key in project.store.known():
        try:
            window = project.store.read(key)
        except HandbillError:
            continue  # `engine doctor` tells of it
        if window is not None:
            yield key, window


def _holding(path: str, project: Project, session: str) -> Iterator[tuple[Key, Window]]:
    """Windows that have the file, wait for it, or may have it."""
    for key, window in _readable(project):
        known = any(path in files for files in (window.files, window.pending, window.from_last_epoch))
        if known and key[0].startswith(session):
            yield key, window


def _record(path: str, window: Window) -> Record:
    return (
        window.files.get(path)
        or window.from_last_epoch.get(path)
        or {"reason": window.pending.get(path, ""), "at": 0.0}
    )


def _since(path: str, window: Window) -> float:
    return float(_record(path, window)["at"])


def _row(path: str, key: Key, window: Window, lines: list[Line]) -> dict[str, Any]:
    record = window.files.get(path)
    reason = _record(path, window)["reason"]
    if reason == FOUND:  # a rewind removed it and a resume brought it back: the log knows why it was delivered
        sources = [line["source"] for line in lines if _is_delivery(line) and line.get("window") == ".".join(key)]
        reason = f"{sources[-1]}, {FOUND}" if sources else FOUND
    return {
        "window": ".".join(key), "session": key[0], "agent": key[1],
        "state": state_of(record) if record is not None else "pending" if path in window.pending else "in doubt",
        "reason": reason, "at": _since(path, window),
    }  # fmt: skip


def _is_delivery(line: Line) -> bool:
    return line.get("event") in DELIVERED


def _why_not(path: str, project: Project, world: World, *, delivered: bool) -> Iterator[str]:
    """What stands in the way, in the order in which one would look for it."""
    settings, name = project.settings, os.path.basename(path)
    if delivered:
        yield "it was delivered, but a compaction or a rewind removed it, or its window is gone"
    if not os.path.exists(path):
        yield "it does not exist any more" if delivered else "it does not exist"
        return
    if delivered:
        yield "it is delivered again when it is needed"
        return
    document = world.load(path)
    if isinstance(document, Refusal):
        real = world.real(path)
        yield f"it {document.why}" + (f" (its links lead to {real})" if real not in ("", path) else "")
        return
    folder = os.path.dirname(path)
    level = os.path.dirname(folder) if os.path.basename(folder) == ".directives" else folder
    known = settings.core_types + settings.skill_types
    if name in known and (os.path.basename(folder) == ".directives" or name == "AGENTS.md"):
        if not root_of(level, world, settings):
            yield f"{short(level, project.root)} is outside the project, or below an excluded folder"
        elif name not in settings.core_types:
            yield f"{name} is delivered when the active skill asks for it, or `directives.always` names it"
        else:
            yield _not_yet(path, level, project)
    elif page_name(name.removesuffix(".md")):
        yield "a page is delivered when a phase or a delivered page names it; neither happened in a known window"
    elif name == "SKILL.md":
        yield "its skill was not invoked or activated in a known window"
    else:
        asked = [line for _, window in _readable(project) for line in _gates(path, window)]
        yield from dict.fromkeys(asked)
        if not asked:
            yield "it is not a standard, directive, page, skill or template, and no gate lists it: nothing asks for it"


def _not_yet(path: str, level: str, project: Project) -> str:
    """Of a directive that could be delivered."""
    named = short(level, project.root)
    for _, window in _readable(project):
        if path in window.flags.get(ELSEWHERE, ()):
            return f"the same text is in a window already, as {short(window.flags[ELSEWHERE][path][1], project.root)}"
        if path in window.flags.get(UNDELIVERABLE, ()):
            return "it could not be delivered before, but it can be now: it arrives with the next prompt or touch"
        if level in window.touched:
            return f"it is delivered when {named} is touched again"
    return f"it is delivered when {named}, or a folder below it, is touched"


def _gates(path: str, window: Window) -> Iterator[str]:
    """Gates that named it without giving it."""
    how = dict(load_gate.compliance(window)).get(path)
    if how is not None:
        yield f"the context gate listed it for the agent to read: {how or 'not read'}"
    state = reread_gate.state_of(window)
    if path in state.get("left", ()) or path in state.get("read", ()):
        word = "read" if path in state["read"] else "not read"
        yield f"after a compaction, the agent in the role {state['role']} had to read it itself: {word}"


def _window_name(session: str, agent: str) -> str:
    """Short enough for a table, and no two windows of a session alike."""
    id, second, process = session.partition("~")
    return f"{id[:8]}{second}{process} {agent if agent == MAIN else f'agent {agent[:8]}'}"


def _show(screen: Console, data: dict[str, Any], project: str) -> None:
    screen.print(f"[bold]{short(data['file'], project)}[/]")
    if data["windows"]:
        made = table("window|n", "state|n", "since|n", "why|+")
        for row in data["windows"]:
            made.add_row(
                safe(_window_name(row["session"], row["agent"])),
                styled(row["state"]),
                when(row["at"]),
                safe(row["reason"].replace(f"{project}/", "")),
            )
        screen.print(made)
        if data["more_windows"]:
            screen.print(
                f"[dim]and in {count(data['more_windows'], 'older window')}: --session ID shows one of them[/]"
            )
    else:
        screen.print("not in any window of that session" if data["session"] else "not in any window")
    for reason in data["why_not"]:
        screen.print(f"  why: {safe(reason)}")
    if data["decisions"]:
        made = table("when|n", "window|n", "decision|n", "why|+")
        for line in data["decisions"]:
            made.add_row(
                when(float(line.get("ts", 0))), safe(_window_name(*str(line.get("window", "")).partition(".")[::2])),
                WORDS.get(str(line.get("event")), safe(str(line.get("event")))),
                safe(str(line.get("source", "")).replace(f"{project}/", "")),
            )  # fmt: skip
        screen.print(made)

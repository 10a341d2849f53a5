"""When and where a file was delivered, or why it was not."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from handbill.gates import REREAD
from handbill.handlers import load_gate
from handbill.ledger.host_files import FOUND
from handbill.ledger.window import ELSEWHERE, UNDELIVERABLE, state_of
from handbill.library.directive_search import root_of
from handbill.reports.deliveries import is_delivery
from handbill.reports.plain_text import path_name
from handbill.reports.receipts import with_newest_receipts
from handbill.reports.store_files import delivery_log
from handbill.reports.windows import readable
from handbill.text.document import Refusal
from handbill.text.references import page_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from handbill.ledger.window import Record, Window
    from handbill.project import Project
    from handbill.reports.store_files import Line
    from handbill.store.api import Key

_LAST = 30
_MOST_WINDOWS = 20


@dataclass
class Holding:
    """A window that has the file, will receive it, or may have it."""

    window: str  # SESSION.AGENT
    session: str
    agent: str
    state: str  # the proven state, in one word
    reason: str
    at: float  # when this began


@dataclass
class Why:
    file: str
    windows: list[Holding]  # the newest first
    more_windows: int  # further windows that have it
    decisions: list[Line]  # the newest lines of the delivery log about this file, the newest first
    why_not: list[str]  # if no window has it: the reasons
    session: str  # restricts the search to windows whose ids begin with this


def why(path: str, project: Project, session: str = "") -> Why:
    lines = [
        line for line in delivery_log(project.store)
        if line.get("file") == path and str(line.get("window", "")).startswith(session)
    ]  # fmt: skip
    found = sorted(_holding(path, project, session), key=lambda one: -_since(path, one[1]))
    windows = [
        _row(path, key, with_newest_receipts(window, project.world()), lines) for key, window in found[:_MOST_WINDOWS]
    ]
    delivered = any(map(is_delivery, lines))
    reasons = [] if windows else list(_why_not(path, project, delivered=delivered))
    return Why(path, windows, len(found) - len(windows), lines[-_LAST:][::-1], reasons, session)


def _holding(path: str, project: Project, session: str) -> Iterator[tuple[Key, Window]]:
    for key, window in readable(project.store):
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


def _row(path: str, key: Key, window: Window, lines: list[Line]) -> Holding:
    record = window.files.get(path)
    reason = _record(path, window)["reason"]
    if reason == FOUND:  # a resume restored it after a rewind; the log has the original reason
        sources = [line["source"] for line in lines if is_delivery(line) and line.get("window") == ".".join(key)]
        reason = f"{sources[-1]}, {FOUND}" if sources else FOUND
    state = state_of(record) if record is not None else "pending" if path in window.pending else "in doubt"
    return Holding(".".join(key), *key, state, reason, _since(path, window))


def _why_not(path: str, project: Project, *, delivered: bool) -> Iterator[str]:
    """Yield what prevents the delivery, in the order in which to check it."""
    if delivered:
        yield "it was delivered, but a compaction or a rewind removed it, or its window is gone"
    if not os.path.exists(path):
        yield "it does not exist any more" if delivered else "it does not exist"
        return
    if delivered:
        yield "it is delivered again when it is needed"
        return
    world = project.world()
    document = world.load(path)
    if isinstance(document, Refusal):
        real = world.real(path)
        yield f"it {document.why}" + (f" (its links lead to {real})" if real not in ("", path) else "")
        return
    yield from _not_asked_for(path, project)


def _not_asked_for(path: str, project: Project) -> Iterator[str]:
    """Yield what must happen before a deliverable file is delivered."""
    settings, name, folder = project.settings, os.path.basename(path), os.path.dirname(path)
    level = os.path.dirname(folder) if os.path.basename(folder) == ".directives" else folder
    known = settings.core_types + settings.skill_types
    if name in known and (os.path.basename(folder) == ".directives" or name == "AGENTS.md"):
        if not root_of(level, project.world(), settings):
            yield f"{_name(level, project)} is outside the project, or below an excluded folder"
        elif name not in settings.core_types:
            yield f"{name} is delivered when the active skill requests it, or `directives.always` names it"
        else:
            yield _not_yet(path, level, project)
    elif page_name(name.removesuffix(".md")):
        yield "a page is delivered when a phase or a delivered page names it; neither happened in a known window"
    elif name == "SKILL.md":
        yield "its skill was not invoked or activated in a known window"
    else:
        asked = [line for _, window in readable(project.store) for line in _gates(path, window)]
        yield from dict.fromkeys(asked)
        if not asked:
            yield "it is not a standard, directive, page, skill or template, and no gate lists it: nothing requests it"


def _not_yet(path: str, level: str, project: Project) -> str:
    """Return what must happen before a deliverable directive is delivered."""
    for _, window in readable(project.store):
        if path in window.flags.get(ELSEWHERE, ()):
            other = _name(window.flags[ELSEWHERE][path][1], project)
            return f"the same text is in a window already, as {other}"
        if path in window.flags.get(UNDELIVERABLE, ()):
            return "it could not be delivered before, but it can be now: it arrives with the next prompt or touch"
        if level in window.touched:
            return f"it is delivered when {_name(level, project)} is touched again"
    return f"it is delivered when {_name(level, project)}, or a folder below it, is touched"


def _gates(path: str, window: Window) -> Iterator[str]:
    """Yield what gates required for the file without delivering it."""
    how = dict(load_gate.compliance(window)).get(path)
    if how is not None:
        yield f"the context gate listed it for the agent to read: {how or 'not read'}"
    state = REREAD.state_of(window)
    if path in state.get("left", ()) or path in state.get("read", ()):
        word = "read" if path in state["read"] else "not read"
        yield f"after a compaction, the agent in the role {state['role']} had to read it itself: {word}"


def _name(path: str, project: Project) -> str:
    return path_name(path, project.root, project.process.home)

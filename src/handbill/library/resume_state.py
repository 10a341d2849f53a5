"""Record the current work before a compaction, and hand it over afterwards.

`resume_mode` reports any error. An error does not stop anything else.
"""

from __future__ import annotations

from handbill.fast_json import dumps
from handbill.library.handover import resumed
from handbill.library.messages import say
from handbill.plan import Plan
from handbill.text.blocks import shown
from handbill.trace import describe
from handbill.work.detect_project import (
    CACHE,
    FILES,
    HIGH,
    LOW,
    MEDIUM,
    TRANSCRIPT,
    UNKNOWN,
    Found,
    Layout,
    by_calls,
    by_words,
    quoted,
    unusable,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handbill.event import Event, Inbox
    from handbill.ledger.window import Window
    from handbill.settings import Settings
    from handbill.world import World

NOTE, MODE = "resume", "resume_mode"
_MOST_PROJECTS = 2000
_MENTIONS = 256 << 10  # bytes at the end of a transcript that are searched for names


# --- before ------------------------------------------------------------------------------------


def noted(event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan:
    layout = Layout(world.project, settings.gate("resume")["layout"])
    found, method, chain = _project(event, inbox, window, world, settings, layout)
    plan = Plan()
    now = world.now()
    plan.save_notes[NOTE] = {
        "active_project_id": found.project or None, "confidence": found.confidence, "detection_method": method,
        "last_tool_calls": found.calls, "fallback_chain": chain, "created_at": world.clock(now), "created": now,
        "project_root": world.project, "offset": max(world.size(event.transcript), 0),
    }  # fmt: skip
    if found.confidence in (HIGH, MEDIUM):
        plan.flags["project"] = found.project
    return plan


def _project(
    event: Event, inbox: Inbox, window: Window, world: World, settings: Settings, layout: Layout
) -> tuple[Found, str, list[str]]:
    """Find the current project: from the transcript, then this window's record, then the files."""
    names = world.names(layout.folder)[:_MOST_PROJECTS]
    projects = [name for name in names if world.is_dir(layout.home(name))]
    found = by_calls(inbox.notes.get("calls", ()), layout, projects, settings.gate("resume")["skills"])
    if found.project:
        return found, TRANSCRIPT, [TRANSCRIPT]
    text = (world.tail(event.transcript, -_MENTIONS) or b"").decode("utf-8", "replace")
    mentioned = by_words(text, projects)
    known = window.flags.get("project")
    if isinstance(known, str) and known in projects:
        return Found(known, MEDIUM), CACHE, [TRANSCRIPT, CACHE]
    chain = [TRANSCRIPT, CACHE, FILES]
    ages = {name: world.changed(layout.resume_file(name)) for name in projects}
    # Ignore times in the future.
    ages = {name: age if age <= world.now() + 60 else 0.0 for name, age in ages.items()}
    newest = max(ages, key=lambda name: ages[name], default="")
    if newest and ages[newest] > window.created:  # The resume file was written during this session.
        return Found(newest, MEDIUM), FILES, chain
    if mentioned.project:
        return mentioned, TRANSCRIPT, [TRANSCRIPT]
    return (Found(newest, LOW), FILES, chain) if newest and ages[newest] else (Found(), "none", chain)


# --- after -------------------------------------------------------------------------------------


def consumed(event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan:
    """Return the handover after a compaction. The note is used once, whatever the result.

    All lanes of one start find it.
    """
    layout = Layout(world.project, settings.gate("resume")["layout"])
    state = inbox.notes.get(NOTE)
    if state is not None and state.get("consumed", window.epoch) != window.epoch:
        state = None  # This state belongs to an earlier compaction.
    try:
        plan, mode = _answer(state, world, settings, layout)
    except Exception as error:  # The start must continue, with everything else that belongs to it.
        plan, mode = Plan(), {"active": False, "error": "Handbill has a defect; `engine doctor` shows the details"}
        plan.notes.append(f"resume: {describe(error)}")
    if mode.get("error"):  # There was work to resume. Otherwise, no message is sent.
        why = str(mode["error"])
        plan.say("resume", say("resume", "inactive", world, settings, mode=dumps(mode), why=why), "resume gate")
    problems = [mode["error"]] if mode.get("error") else []
    problems += [str(state["problem"])] if state is not None and state.get("problem") else []
    plan.notes += [f"resume: {problem}" for problem in (*problems, *mode.get("problems", ()))]
    plan.flags["resumed"] = window.epoch
    plan.flags[MODE] = mode
    if state is not None:
        plan.save_notes[NOTE] = {**state, "consumed": window.epoch}
    return plan


def _answer(
    state: dict[str, Any] | None, world: World, settings: Settings, layout: Layout
) -> tuple[Plan, dict[str, Any]]:
    if state is None:
        return Plan(), {"active": False, "reason": "no resume state was written before the compaction"}
    damaged = "the note that Handbill saved about it is damaged" if state.get("problem") else ""
    problem = damaged or unusable(state, world.project, world.now())
    if problem:
        return Plan(), {"active": False, "error": problem}
    project, confidence = state["active_project_id"] or "", state["confidence"]
    if confidence not in (HIGH, MEDIUM) or not project:
        mode = {"active": False, "reason": f"the confidence is {confidence if project else UNKNOWN}, too low to resume"}
        return Plan(), {**mode, "project_id": project} if project else mode
    path = layout.resume_file(project)
    if not world.is_file(path):
        return Plan(), {
            "active": False, "project_id": project, "reason": f"{shown(path)} does not exist",
            "suggestion": f"engine resume write {quoted(project)} --load FILE",
        }  # fmt: skip
    return resumed(project, state, layout, world, settings)

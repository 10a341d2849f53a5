"""Restore files and work that only the host's record shows, and compare those files with the
disk."""

from __future__ import annotations

from handbill.digest import digest_of
from handbill.event import COMPACTING, MAIN
from handbill.flow.event_context import attempt
from handbill.ledger.window import PASSING, is_whole
from handbill.paths import name, under
from handbill.text.blocks import harmless
from handbill.text.document import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handbill.flow.event_context import EventContext
    from handbill.ledger.window import Window


_UNKNOWN = "unknown"  # the stamp of a state that no file has


def compare_found_files(context: EventContext, window: Window) -> None:
    context.world.add_roots(context.plan.roots)
    attempt(context, "files found again", _compare, context, window)


def _compare(context: EventContext, window: Window) -> None:
    """Compare files that only the transcript shows with the disk: do they still have the same
    text?"""
    from handbill.library.directive_levels import is_rule_here
    from handbill.world.documents import trimmed

    content = context.facts.content if context.facts is not None else None
    own = context.event.own_paths()
    project = context.world.project
    # the user's own files first
    for path, record in sorted(window.files.items(), key=lambda item: under(item[0], project)):
        by_host = record["reason"] in PASSING
        if path in context.plan.restamped or record.get("stamp") or (record["via"] == "host" and not by_host):
            continue
        text = content.files.get(path, "") if content is not None and by_host else ""
        # compare it later if that is impossible now or takes too long
        context.plan.restamped[path] = _UNKNOWN
        if text:
            context.plan.digests[path] = digest_of(harmless(trimmed(text)))
        document = context.world.load(path)
        if isinstance(document, Refusal):
            continue
        seen = path in own  # the agent saw it in this event
        same = seen or document.digest == record["hash"] or (by_host and harmless(trimmed(text)) in ("", document.text))
        if same or (by_host and not is_rule_here(path, context.inbox, context.world, context.settings)):
            context.plan.restamped[path] = document.stamp
            if by_host or seen:
                context.plan.digests[path] = document.digest
        elif is_whole(record):
            del context.plan.restamped[path]
            context.plan.stale[path] = record["reason"]


def found_again(context: EventContext, window: Window) -> None:
    """Restore the skill and the work of a ledger that was rebuilt from the transcript."""
    compacts = context.event.kind == COMPACTING
    # the last one that began continues
    skill = name(context.inbox.skills[-1]) if context.inbox.skills else ""
    if skill and not compacts and not context.event.skill and not window.work.get("skill"):
        context.event.skill = skill
    if not window.work and context.event.window[1] == MAIN:
        window.work = _linked_work(context) or (_begun(skill, context) if compacts else {})
        context.plan.work = window.work or None


def _begun(skill: str, context: EventContext) -> dict[str, Any]:
    """Return the skill in its first phase, so that files which a compaction removes are delivered
    again."""
    from handbill.library.skills import skill_at, skill_file

    path = skill_file(skill, context.world, shipped=False) if skill else ""
    found = skill_at(path, context.world)[0] if path else None
    if found is None:
        return {}
    return {"skill": skill, "phase": found.phases[0].label if found.phases else "", "directives": found.directives}


def _linked_work(context: EventContext) -> dict[str, Any]:
    """Return the work that is recorded in the session of this client."""
    from handbill.errors import HandbillError
    from handbill.store.sessions import read

    folder = context.store.linked(context.event.session_id)
    try:
        state = read(folder) if folder else None
    except HandbillError as error:
        context.trace(f"the session {folder} is ignored: {error}")
        return {}
    if state is None or state.get("sessionId") != context.event.session_id:
        return {}
    phase = str(state.get("currentPhase", "")).partition(":")[0]
    return {"session": folder, "skill": str(state.get("skill", "")), "phase": phase}

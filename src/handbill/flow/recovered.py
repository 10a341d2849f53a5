"""Files and work that only the host's record still knows of: compared with the disk, and taken up again."""

from __future__ import annotations

from handbill.digest import digest_of
from handbill.event import COMPACTING, MAIN
from handbill.flow.event_context import attempt
from handbill.ledger.window import PASSING
from handbill.paths import name, under
from handbill.text.blocks import harmless
from handbill.text.document import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handbill.flow.event_context import Turn
    from handbill.ledger.window import Window


_UNKNOWN = "unknown"  # the stamp of a state that the file never has


def compare_found_files(turn: Turn, window: Window) -> None:
    turn.world.add_roots(turn.plan.roots)
    attempt(turn, "files found again", _compare, turn, window)


def _compare(turn: Turn, window: Window) -> None:
    """Files that only the transcript told us of: are they still as they were delivered, or as the host showed them?"""
    from handbill.hosts.claude_code.native_files import is_rule_here
    from handbill.world.documents import trimmed

    content = turn.facts.content if turn.facts is not None else None
    own = turn.event.own_paths()
    project = turn.config.project
    for path, record in sorted(window.files.items(), key=lambda item: under(item[0], project)):  # the user's own first
        by_host = record["reason"] in PASSING
        if path in turn.plan.known or record.get("stamp") or (record["via"] == "host" and not by_host):
            continue
        text = content.files.get(path, "") if content is not None and by_host else ""
        turn.plan.known[path] = _UNKNOWN  # compared later, if that cannot be done now or takes too long
        if text:
            turn.plan.digests[path] = digest_of(harmless(trimmed(text)))
        sheet = turn.world.load(path)
        if isinstance(sheet, Refusal):
            continue
        seen = path in own  # by the agent, in this very event
        same = seen or sheet.digest == record["hash"] or (by_host and harmless(trimmed(text)) in ("", sheet.text))
        if same or (by_host and not is_rule_here(path, turn.event, turn.world, turn.config)):
            turn.plan.known[path] = sheet.stamp
            if by_host or seen:
                turn.plan.digests[path] = sheet.digest
        elif "." not in record["parts"]:
            del turn.plan.known[path]
            turn.plan.stale[path] = record["reason"]


def found_again(turn: Turn, window: Window) -> None:
    """A ledger rebuilt from the transcript: what was at work?"""
    compacts = turn.event.kind == COMPACTING
    skill = name(turn.event.skills[-1]) if turn.event.skills else ""  # the one that was begun last goes on
    if skill and not compacts and not turn.event.skill and not window.work.get("skill"):
        turn.event.skill = skill
    if not window.work and turn.event.window[1] == MAIN:
        window.work = _linked_work(turn) or (_begun(skill, turn) if compacts else {})
        turn.plan.work = window.work or None


def _begun(skill: str, turn: Turn) -> dict[str, Any]:
    """The skill in its first phase: what a compaction removes now is delivered again after it."""
    from handbill.library.skills import skill_at, skill_file

    path = skill_file(skill, turn.world, turn.config, shipped=False) if skill else ""
    found = skill_at(path, turn.world)[0] if path else None
    if found is None:
        return {}
    return {"skill": skill, "phase": found.phases[0].label if found.phases else "", "directives": found.directives}


def _linked_work(turn: Turn) -> dict[str, Any]:
    """What the session that this client holds says of itself."""
    from handbill.errors import HandbillError
    from handbill.store.sessions import read

    folder = turn.store.linked(turn.event.session_id)
    try:
        state = read(folder) if folder else None
    except HandbillError as error:
        turn.trace(f"the session {folder} is left out: {error}")
        return {}
    if state is None or state.get("sessionId") != turn.event.session_id:
        return {}
    phase = str(state.get("currentPhase", "")).partition(":")[0]
    return {"session": folder, "skill": str(state.get("skill", "")), "phase": phase}

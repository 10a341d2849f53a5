"""What would be delivered now, and why.

The real pipeline works on a copy of the window, and nothing is kept.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from handbill.errors import HandbillError
from handbill.event import MAIN
from handbill.fast_json import dumps
from handbill.flow.pipeline import run as play
from handbill.hosts import claude_code
from handbill.hosts.claude_code.registration import SKILL_LANES
from handbill.ledger.window import to_text
from handbill.library.skills import skill_at, skill_file
from handbill.project import session_of
from handbill.reports.plain_text import like
from handbill.reports.skills import names
from handbill.reports.store_files import waiting_handovers
from handbill.store.memory import MemoryStore

if TYPE_CHECKING:
    from handbill.flow.event_context import Answer
    from handbill.ledger.window import Window
    from handbill.project import Project
    from handbill.store.api import Key
    from handbill.work.skill_file import Skill

NO_WINDOW: Key = ("preview", MAIN)  # a window that has just begun
NOW, LATER = "now", "later"


@dataclass
class Occasion:
    """What the agent would do. If all fields are empty, it continues without touching a file."""

    paths: list[str] = field(default_factory=list)  # files to read
    write: str = ""  # a new file to write
    skill: str = ""  # a skill to begin
    phase: str = ""  # the label of the phase that its session moves to
    start: bool = False  # whether a new window begins


@dataclass
class Previewed:
    file: str
    why: str
    when: str  # now, later, already there, refused, or by the host
    chars: int  # size of the block that would be delivered now


@dataclass
class Preview:
    window: str  # SESSION.AGENT
    held: bool  # whether the write would be held once so that the agent gets these files first
    files: list[Previewed]


def preview(project: Project, key: Key, window: Window | None, occasion: Occasion, client: str = "") -> Preview:
    """Return what would be delivered.

    `window` is None for a window that has just begun. `client`: the client's version, as the host
    gives it to a shell.
    """
    stage = _Stage(project, key, client)
    stage.prepare(window, is_start=occasion.start)
    message = _message(occasion, project, stage.window())
    if message:
        stage.store.post(key[0], {**message, "by": "terminal" if key[1] == MAIN else "", "at": time.time()})
    event = _event(occasion, project)
    lanes = SKILL_LANES if event["hook_event_name"] == "UserPromptExpansion" else 1
    rows = stage.played(event)
    for _ in range(lanes - 1):  # the other lanes of this event deliver what did not fit
        rows += [row for row in stage.played(event) if row.when == NOW]
    after = stage.window()
    given = {row.file for row in rows if row.when == NOW}
    rows += [
        Previewed(path, why, LATER, 0) for path, why in (after.pending if after else {}).items() if path not in given
    ]
    return Preview(".".join(key), bool(occasion.write) and bool(given), rows)


class _Stage:
    """A store in memory that contains a copy of one window."""

    def __init__(self, project: Project, key: Key, client: str) -> None:
        self.project = project
        self.key = key
        # The agent's own shell names the client's version. Elsewhere, assume the newest known one.
        newest = f"{claude_code.NAME}_{'-'.join(map(str, claude_code.NEWEST))}_preview"
        self.environ = {"CLAUDE_PROJECT_DIR": project.root, "AI_AGENT": client or newest}
        self.store = MemoryStore()

    def window(self) -> Window | None:
        return self.store.read(self.key)

    def prepare(self, window: Window | None, *, is_start: bool) -> None:
        """Copy the window and its notices. Without a window, begin a new one."""
        if window is not None and not is_start:
            self.store.windows[self.key] = to_text(window, dumps)
            for notice in self.project.store.notices(session_of(self.key)):
                self.store.post(self.key[0], notice)
            return
        for handover in waiting_handovers(self.project.store):
            self.store.leave_handover({"by": "", "session": "", **handover})
        for _ in range(0 if is_start else 2):
            self.played({"hook_event_name": "SessionStart", "source": "startup"})

    def played(self, raw: dict[str, Any]) -> list[Previewed]:
        """Play one event. Return what it would deliver."""
        window = self.window()
        agent = {} if self.key[1] == MAIN else {"agent_id": self.key[1]}
        transcript = window.transcript if window is not None else ""
        full = {
            "session_id": self.key[0], "cwd": self.project.root, "transcript_path": transcript, **agent, **raw,
        }  # fmt: skip
        caller = claude_code.identify(full, self.environ)
        caller.client = window.client if window is not None else 1
        event = claude_code.parse(full, caller, self.environ)
        if event is None:
            return []
        event.transcript = transcript
        return _rows(play(event, claude_code, self.store, self.project.world(), self.project.settings))


def _rows(answer: Answer) -> list[Previewed]:
    rows = []
    if answer.claim is not None:
        for grant in answer.claim.grants:
            part = f" (part {grant.part}/{grant.parts})" if grant.parts > 1 else ""
            rows.append(Previewed(grant.path, grant.reason + part, NOW, len(grant.block)))
        rows += [Previewed(path, reason, "already there", 0) for path, _, reason in answer.claim.skipped]
        rows += [Previewed(refusal.path, refusal.why, "refused", 0) for refusal in answer.claim.refused]
    if answer.plan is not None:
        rows += [Previewed(path, reason, "by the host", 0) for path, reason in answer.plan.seen]
    return rows


def _message(occasion: Occasion, project: Project, window: Window | None) -> dict[str, Any]:
    """Return the notice that a command would leave for the hooks.

    It is about a phase, or about a skill that only a session can begin.
    """
    work = window.work if window is not None else {}
    if occasion.phase:
        label, name = occasion.phase.partition(":")[0].strip(), str(work.get("skill", ""))
        skill = _skill(name, project) if name else None
        if skill is None:
            hint = "try engine preview --skill NAME; engine window shows what is active"
            raise HandbillError("no skill is active in this window", hint)
        if skill.phase(label) is None:
            known = ", ".join(str(phase) for phase in skill.phases[:20])
            raise HandbillError(f"{name} has no phase {label!r}", f"declared: {known}")
        return {"verb": "phase", "skill": name, "phase": label, "session": work.get("session", "")}
    if not occasion.skill or _is_typed(occasion.skill, project):
        return {}
    skill = _skill(occasion.skill, project)
    if skill is None:
        meant = like(occasion.skill, names(project))
        raise HandbillError(f"there is no skill {occasion.skill!r}{meant}", "engine skills lists what there is")
    return {"verb": "activate", "skill": occasion.skill, "phase": skill.phases[0].label if skill.phases else ""}


def _event(occasion: Occasion, project: Project) -> dict[str, Any]:
    if occasion.start:
        return {"hook_event_name": "SessionStart", "source": "startup"}
    if occasion.skill and _is_typed(occasion.skill, project):
        return {"hook_event_name": "UserPromptExpansion", "command_name": occasion.skill}
    if occasion.write:
        values = {"file_path": os.path.abspath(occasion.write)}
        return {"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": values, "tool_use_id": "preview"}
    calls = [
        {"tool_name": "Read", "tool_input": {"file_path": os.path.abspath(path)}, "tool_use_id": f"preview-{number}"}
        for number, path in enumerate(occasion.paths)
    ]
    return {"hook_event_name": "PostToolBatch", "tool_calls": calls}


def _skill(name: str, project: Project) -> Skill | None:
    world = project.world()
    path = skill_file(name, world)
    return skill_at(path, world)[0] if path else None


def _is_typed(name: str, project: Project) -> bool:
    """Whether the client knows the skill, so that a user can type it."""
    return bool(skill_file(name, project.world(), shipped=False))

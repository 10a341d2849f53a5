"""The measured events: how a window reaches the moment before each, and what the event must do."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import callgrind
import records
from handbill.gates import CONTEXT_FILES
from project import TITLE, USUAL_TRANSCRIPT, Event, Plain, Project, context

STANDARDS = 6
CONTEXT = 4


def starting(project: Project) -> Event:
    project.write("README.md", "# Project\n")
    project.write("pkg/core/x.py", "x = 1\n")
    project.directive("pkg", "AGENTS.md")
    project.directive("pkg/core", "INVARIANTS.md")
    return project.event("SessionStart", source="startup")


def ready(project: Project) -> None:
    """Prepare a window with proven standards, after the project's root was touched."""
    start = starting(project)
    text = project.hook(start)  # the client creates its transcript only after this event
    records.fill(project.transcript, project.session, USUAL_TRANSCRIPT)
    project.arrive(start, text)
    records.append(project.transcript, records.prompt(project.session, "go"))
    project.deliver(project.reading("README.md"))


def delivering(project: Project) -> Event:
    ready(project)
    return project.reading("pkg/core/x.py")


def settling(project: Project) -> Event:
    project.deliver(delivering(project))
    return project.reading("pkg/core/x.py")


PAGES = 12


def beginning(project: Project) -> Event:
    """Return the event of a typed skill whose first phase has a dozen pages."""
    ready(project)
    names = [f"CMD_PAGE_{number:02}" for number in range(PAGES)]
    for name in names:
        text = f"# {name}\n\n" + "Do what this page says, in this order.\n" * 14 + f"\n## PROOF FOR §{name}\n"
        project.write(f".directives/commands/{name}.md", text)
    phases = [{"label": "0", "name": "Setup", "steps": [f"§{name}" for name in names]}]
    block = json.dumps({"taskType": "BUILD", "phases": phases, "directives": ["TESTING.md"]}, ensure_ascii=False)
    body = "Work through the phases.\n" * 200
    project.write(
        ".claude/skills/build/SKILL.md", f"# Build\n\n{body}\n### Session Parameters\n```json\n{block}\n```\n"
    )
    return project.event("UserPromptExpansion", command_name="build", command_args="", prompt="/build")


def idle(project: Project) -> Event:
    project.deliver(settling(project))
    return project.reading("pkg/core/x.py")


def prompting(project: Project) -> Event:
    """Return a prompt. Between turns, every delivered file is checked for changes."""
    project.hook(idle(project))
    return project.event("UserPromptSubmit", prompt="go on")


def writing(project: Project) -> Event:
    """Return the event of a new file in a folder with known directives."""
    project.hook(idle(project))
    values = {"file_path": str(project.path / "pkg/core/new.py"), "content": "x = 1\n"}
    return project.event("PreToolUse", tool_name="Write", tool_input=values, tool_use_id="toolu_write")


def calling(project: Project) -> Event:
    """Return a call where gates may hold any call and none has a reason to."""
    project.hook(idle(project))
    return project.event("PreToolUse", tool_name="Bash", tool_input={"command": "make"}, tool_use_id="toolu_bash")


def resting(project: Project) -> Event:
    project.hook(idle(project))
    return project.event("Stop", stop_hook_active=False)


def starting_with_context(project: Project) -> Event:
    for number in range(CONTEXT):
        project.write(f".context/{CONTEXT_FILES[number]}", f"# {number}\n\n" + "A rule of this project.\n" * 10)
    return starting(project)


def compacted(project: Project) -> Event:
    """Return the event after a compaction, in a project without any of the gates' folders."""
    project.hook(idle(project))
    project.hook(project.event("PreCompact", trigger="auto"))
    return project.event("SessionStart", source="compact")


def compacting(project: Project) -> Event:
    project.hook(idle(project))
    return project.event("PreCompact", trigger="auto")


def _notes(before: Plain, after: Plain) -> bool:
    return before != after and not after["openClaims"]


def _writes_nothing(before: Plain, after: Plain) -> bool:
    return before == after and not before["openClaims"] and not before["pendingPreloads"]


def _claims(before: Plain, after: Plain) -> bool:
    return not before["openClaims"] and len(after["openClaims"]) == 1


def _settles(before: Plain, after: Plain) -> bool:
    return [len(claim["items"]) for claim in before["openClaims"]] == [2] and not after["openClaims"]


@dataclass(frozen=True)
class Stage:
    name: str
    prepare: Callable[[Project], Event]
    files: int  # files that the event delivers
    did: Callable[[Plain, Plain], bool]
    limit: float | None


IDLE = Stage("a  PostToolBatch, nothing to do", idle, 0, _writes_nothing, 1.5)
DELIVER = Stage("b  PostToolBatch, delivers two directives", delivering, 2, _claims, 2.5)
START = Stage("c  SessionStart(startup), the six standards", starting, STANDARDS, _claims, 3.0)
SKILL = Stage("s  UserPromptExpansion, a skill begins with 12 pages", beginning, PAGES, _claims, 4.0)
WRITE = Stage("w  PreToolUse(Write), nothing to hold it for", writing, 0, _writes_nothing, 1.55)
PROMPT = Stage("p  UserPromptSubmit, nothing has changed", prompting, 0, _writes_nothing, 1.5)
CALL = Stage("g  PreToolUse(Bash), gates registered, none holds it", calling, 0, _writes_nothing, 1.45)
REST = Stage("h  Stop, gates registered, none keeps it going", resting, 0, _writes_nothing, 1.45)
LOAD = Stage("l  SessionStart(startup), standards and a context of 4 files", starting_with_context, 11, _claims, 3.0)
AGAIN = Stage("m  SessionStart(compact), regular session, no gate applies", compacted, STANDARDS, _claims, 3.0)
BEFORE = Stage("k  PreCompact, regular session, no gate applies", compacting, 0, _notes, 2.0)
SETTLE = Stage("d  PostToolBatch, settles two receipts", settling, 0, _settles, None)


def counted(stage: Stage, project: Project, grow: Callable[[Project], None] | None = None) -> int:
    """Return the instructions of the stage's event. `grow` first makes the project large."""
    event = stage.prepare(project)
    if grow is not None:
        grow(project)
    before = project.ledger if project.window.exists() else {"openClaims": [], "pendingPreloads": {}}
    command = project.subject.command(event["hook_event_name"])
    found, out = callgrind.count(command, json.dumps(event), project.environment(), str(project.path))
    files = context(out).count(TITLE)
    if files != stage.files or not stage.did(before, project.ledger) or project.errors():
        raise RuntimeError(f"{stage.name}: not what was to be measured: {files} files, {project.errors()}, {out[:500]}")
    return found

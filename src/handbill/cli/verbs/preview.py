"""`engine preview`: what would be delivered now, and why: the real pipeline on a copy of the window."""

from __future__ import annotations

import argparse
import os
import time
from typing import TYPE_CHECKING, Any

from handbill.cli.checks.installation import registrations
from handbill.cli.parser import like
from handbill.cli.project import Project, choose_window, here, project_option, session_of, waiting_handovers
from handbill.cli.result import Result
from handbill.cli.screen import count, safe, short, table, tokens
from handbill.cli.verbs.skills import names
from handbill.errors import HandbillError
from handbill.fast_json import dumps
from handbill.flow.pipeline import run as play
from handbill.hosts import claude_code
from handbill.hosts.claude_code.registration import SKILL_LANES
from handbill.ledger.window import to_text
from handbill.library.skills import skill_at, skill_file
from handbill.store.memory import MemoryStore

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.cli.parser import VerbParser
    from handbill.ledger.window import Window
    from handbill.store.api import Key
    from handbill.work.skill_file import Skill


def configure(parser: VerbParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="FILE", help="as if the agent read these now")
    parser.only_one_of("--write", "--skill", "--phase", "--start")
    parser.add_argument("--write", metavar="FILE", help="as if it wrote this new file")
    parser.add_argument("--skill", metavar="NAME", help="as if that skill began")
    parser.add_argument("--phase", metavar="LABEL", help="as if the session moved to this phase")
    parser.add_argument("--start", action="store_true", help="as if a new window began")
    parser.add_argument("--session", metavar="ID", help="whose window (default: yours, or the newest)")
    parser.add_argument("--agent", metavar="ID", help="a subagent's window instead of the main one")
    project_option(parser)


def run(args: argparse.Namespace) -> Result:
    project = here(args.project)
    for path in args.paths:
        if not os.path.exists(path):
            raise HandbillError(f"there is no {path}", "name files that the agent could read")
    key, store = _copy(project, args)
    told = _told(args, project, store.read(key))
    if told:
        store.post(key[0], {**told, "by": "terminal" if key[1] == "main" else "", "at": time.time()})
    event = _event(args, project)
    lanes = SKILL_LANES if event["hook_event_name"] == "UserPromptExpansion" else 1
    rows = _played(project, key, store, event)
    for _ in range(lanes - 1):  # the other lanes of the same moment take what did not fit
        rows += [row for row in _played(project, key, store, event) if row["when"] == "now"]
    window = store.read(key)
    waiting = [
        {"file": path, "why": why, "when": "later", "chars": 0}
        for path, why in (window.pending if window else {}).items()
    ]
    rows += [row for row in waiting if row["file"] not in {one["file"] for one in rows if one["when"] == "now"}]
    data = {
        "window": ".".join(key),
        "held": bool(args.write) and any(row["when"] == "now" for row in rows),
        "files": rows,
    }
    warnings = [] if registrations(project) else ["no hooks are registered for this project: engine install"]
    next_step = "engine window: what is there now"
    return Result(data, lambda screen: _show(screen, data, project.root), next_step=next_step, warnings=warnings)


def _told(args: argparse.Namespace, project: Project, window: Window | None) -> dict[str, Any]:
    """What a command would tell the hooks: a phase, or a skill that only a session can begin."""
    work = window.work if window is not None else {}
    if args.phase:
        label, name = args.phase.partition(":")[0].strip(), str(work.get("skill", ""))
        skill = _skill(name, project) if name else None
        if skill is None:
            hint = "try engine preview --skill NAME; engine window shows what is active"
            raise HandbillError("no skill is active in this window", hint)
        if skill.phase(label) is None:
            known = ", ".join(str(phase) for phase in skill.phases[:20])
            raise HandbillError(f"{name} has no phase {label!r}", f"declared: {known}")
        return {"verb": "phase", "skill": name, "phase": label, "session": work.get("session", "")}
    if not args.skill or _is_typed(args.skill, project):
        return {}
    skill = _skill(args.skill, project)
    if skill is None:
        meant = like(args.skill, names(project))
        raise HandbillError(f"there is no skill {args.skill!r}{meant}", "engine skills lists what there is")
    return {"verb": "activate", "skill": args.skill, "phase": skill.phases[0].label if skill.phases else ""}


def _skill(name: str, project: Project) -> Skill | None:
    world = project.world()
    path = skill_file(name, world, project.settings)
    return skill_at(path, world)[0] if path else None


def _is_typed(name: str, project: Project) -> bool:
    """Does the client know it, so that a user can type it?"""
    return bool(skill_file(name, project.world(), project.settings, shipped=False))


def _copy(project: Project, args: argparse.Namespace) -> tuple[Key, MemoryStore]:
    """The window and its notices in memory; without one, a window that has just begun."""
    store = MemoryStore()
    try:
        key = choose_window(project, args.session, args.agent)
        window = project.store.read(key)
    except HandbillError:
        if args.session or args.agent:
            raise
        key, window = ("preview", "main"), None
    if args.start or window is None:
        for handover in waiting_handovers(project):
            store.leave_handover({"by": "", "session": "", **handover})
        if not args.start:
            _played(project, key, store, {"hook_event_name": "SessionStart", "source": "startup"})
            _played(project, key, store, {"hook_event_name": "SessionStart", "source": "startup"})
        return key, store
    store.windows[key] = to_text(window, dumps)
    for notice in project.store.notices(session_of(key)):
        store.post(key[0], notice)
    return key, store


def _event(args: argparse.Namespace, project: Project) -> dict[str, Any]:
    if args.start:
        return {"hook_event_name": "SessionStart", "source": "startup"}
    if args.skill and _is_typed(args.skill, project):
        return {"hook_event_name": "UserPromptExpansion", "command_name": args.skill}
    if args.write:
        values = {"file_path": os.path.abspath(args.write)}
        return {"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": values, "tool_use_id": "preview"}
    calls = [
        {"tool_name": "Read", "tool_input": {"file_path": os.path.abspath(path)}, "tool_use_id": f"preview-{number}"}
        for number, path in enumerate(args.paths)
    ]
    return {"hook_event_name": "PostToolBatch", "tool_calls": calls}


def _played(project: Project, key: Key, store: MemoryStore, raw: dict[str, Any]) -> list[dict[str, Any]]:
    window = store.read(key)
    agent = {} if key[1] == "main" else {"agent_id": key[1]}
    transcript = window.transcript if window is not None else ""
    full = {"session_id": key[0], "cwd": project.root, "transcript_path": transcript, **agent, **raw}
    # in the agent's own shell the client tells its version; else the newest that is known
    agent_name = os.environ.get("AI_AGENT") or f"{claude_code.NAME}_{'-'.join(map(str, claude_code.NEWEST))}_preview"
    environ = {"CLAUDE_PROJECT_DIR": project.root, "AI_AGENT": agent_name}
    event = claude_code.parse(full, environ, window.client if window is not None else 1)
    if event is None:
        return []
    event.transcript = transcript
    answer = play(event, claude_code, store, project.world(), project.settings)
    rows = []
    for grant in answer.claim.grants if answer.claim is not None else ():
        part = f" (part {grant.part}/{grant.parts})" if grant.parts > 1 else ""
        rows.append({"file": grant.path, "why": grant.reason + part, "when": "now", "chars": len(grant.block)})
    for path, _, reason in answer.claim.skipped if answer.claim is not None else ():
        rows.append({"file": path, "why": reason, "when": "already there", "chars": 0})
    for refusal in answer.claim.refused if answer.claim is not None else ():
        rows.append({"file": refusal.path, "why": refusal.why, "when": "refused", "chars": 0})
    for path, reason in answer.plan.seen if answer.plan is not None else ():
        rows.append({"file": path, "why": reason, "when": "by the host", "chars": 0})
    return rows


_STYLE = {"now": "bold green", "later": "yellow", "refused": "red"}


def _show(screen: Console, data: dict[str, Any], project: str) -> None:
    screen.print(f"[dim]window {safe(data['window'])}; a preview delivers and changes nothing[/]")
    if not data["files"]:
        screen.print("nothing would be delivered: nothing applies here, or the window already holds it")
        return
    if data["held"]:
        screen.print("the call would be held once, with these pages as the reason:")
    made = table("when|n", "file|p", "why|+", "chars|r-")
    for row in data["files"]:
        style = _STYLE.get(row["when"], "dim")
        why = row["why"].replace(f"{project}/", "").replace(project, "the project")
        made.add_row(
            f"[{style}]{row['when']}[/]",
            short(row["file"], project),
            safe(why),
            f"{row['chars'] or '':,}" if row["chars"] else "",
        )
    screen.print(made)
    total = sum(row["chars"] for row in data["files"])
    screen.print(
        f"{count(sum(row['when'] == 'now' for row in data['files']), 'block')} now, about {tokens(total):,} tokens"
    )

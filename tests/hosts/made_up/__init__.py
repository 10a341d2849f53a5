"""A host that nobody uses: one folder and one row in `HOSTS`. It keeps no record of its windows."""

from __future__ import annotations

from typing import Any

from handbill import event as ev
from handbill.event import Event, Identity, Tool
from handbill.hosts.defaults import *  # noqa: F403  everything that only a transcript can answer
from handbill.plan import BLOCK

NAME = "made-up"
CAP, GATE_CAP = 9500, 20_000
CHANNELS = frozenset({ev.SESSION_STARTED, ev.TOOL_BATCH_FINISHED})
MARKS = (".made-up",)
OLDEST = NEWEST = (1, 0)
_KINDS = {
    "begin": ev.SESSION_STARTED, "ask": ev.PROMPT_SUBMITTED, "before": ev.TOOL_CALLED, "after": ev.TOOL_BATCH_FINISHED,
    "end": ev.SESSION_ENDED,
}  # fmt: skip
_DOES = {"look": ev.READS, "put": ev.WRITES, "shell": ev.RUNS, "hunt": ev.SEARCHES}


def identify(raw: Any, environ: Any) -> Identity:
    client = str(environ.get("MADE_UP_PID", ""))
    version = str(raw.get("version") or "").split(".")
    return Identity(
        str(raw.get("folder") or ""), str(raw.get("talk") or ""), str(raw.get("helper") or ""),
        client=int(client) if client.isdecimal() else 0, names_client=client.isdecimal(),
        version=tuple(map(int, version)) if all(part.isdecimal() for part in version) else None,
    )  # fmt: skip


def shell(environ: Any) -> Identity:
    return Identity(environ.get("MADE_UP_FOLDER", ""), environ.get("MADE_UP_TALK", ""))


def event_name(raw: Any) -> str:
    return str(raw.get("what", ""))


def parse(raw: Any, caller: Identity, environ: Any) -> Event | None:
    kind = _KINDS.get(raw.get("what"))
    if kind is None:
        return None
    folder, calls = caller.folder or "/", raw.get("calls")
    return Event(
        kind, caller.session_id, host=NAME, agent_id=caller.agent_id, cwd=folder, project=folder,
        tools=[_tool(call) for call in calls] if isinstance(calls, list) else [], prompt=str(raw.get("words", "")),
        source="startup" if kind == ev.SESSION_STARTED else "", client=caller.client,
        names_client=caller.names_client, version=caller.version,
    )  # fmt: skip


def _tool(call: dict[str, Any]) -> Tool:
    does = _DOES.get(call["verb"], "")
    named = (call["path"],) if "path" in call else ()
    is_file = does in (ev.READS, ev.WRITES)
    return Tool(
        does, call["id"], named if is_file else (), () if is_file else named, name=call["verb"],
        command=call.get("line", ""),
    )  # fmt: skip


def render(event: Event, text: str, plan: Any, message: str = "") -> dict[str, Any]:
    answer: dict[str, Any] = {}
    if plan is not None and plan.blocks:
        answer["no"] = "\n\n".join([*plan.texts(BLOCK), text]).strip()
    elif text:
        answer["read_this"] = text
    if message:
        answer.update(to_person(message))
    return answer


def to_person(message: str) -> dict[str, Any]:
    return {"person": message}


def user_folder(home: str) -> str:
    return f"{home}/.made-up"


def library_folders(home: str) -> tuple[str, ...]:
    return (f"{home}/.made-up/.directives",)


def skill_folders(project: str, home: str) -> tuple[str, ...]:
    return (f"{project}/.made-up/skills",)

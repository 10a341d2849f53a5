"""Claude Code: its events in our words, our answers in its JSON, and what its versions differ in."""

from __future__ import annotations

from handbill.core import event as ev
from handbill.core.event import Event, Tool
from handbill.core.paths import join, normal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from handbill.core.epochs import Survivors
    from handbill.core.plan import Plan
    from handbill.core.receipts import Evidence
    from handbill.core.window import Record
    from handbill.world import World

NAME = "claude-code"

KINDS = {
    "SessionStart": ev.SESSION_STARTED,
    "UserPromptSubmit": ev.PROMPT_SUBMITTED,
    "UserPromptExpansion": ev.SKILL_EXPANDED,
    "InstructionsLoaded": ev.INSTRUCTIONS_LOADED,
    "PreToolUse": ev.TOOL_CALLED,
    "PostToolBatch": ev.TOOL_BATCH_FINISHED,
    "SubagentStart": ev.SUBAGENT_STARTED,
    "SubagentStop": ev.SUBAGENT_STOPPED,
    "PreCompact": ev.COMPACTING,
    "PostCompact": ev.COMPACTED,
    "Stop": ev.STOPPING,
    "SessionEnd": ev.SESSION_ENDED,
}
_NAMES = {kind: name for name, kind in KINDS.items()}

# The client replaces a value over 10,000 UTF-16 units by a 2,000-unit preview and tells nobody.
CAP = 9500
# A denial's reason has no cap; this much is still something to read.
GATE_CAP = 120_000

# Where injected text survives a resume and keeps the prompt cache.
CHANNELS = frozenset({
    ev.SESSION_STARTED, ev.PROMPT_SUBMITTED, ev.SKILL_EXPANDED, ev.TOOL_BATCH_FINISHED, ev.SUBAGENT_STARTED,
})  # fmt: skip

# Newest version measured to behave the old way, oldest measured to behave the new way.
OLDEST = _OLD = (2, 1, 197)
NEWEST = _NEW = (2, 1, 325)


def version_of(environ: Mapping[str, str]) -> tuple[int, ...]:
    """`AI_AGENT=claude-code_2-1-325_harness` -> (2, 1, 325)"""
    fields = environ.get("AI_AGENT", "").split("_")
    numbers = fields[1].split("-") if len(fields) > 1 and fields[0] == NAME else []
    return tuple(int(number) for number in numbers if number.isdecimal())


def parse(raw: Mapping[str, Any], environ: Mapping[str, str], client: int) -> Event | None:
    """None: an event that is not ours to answer."""
    kind = KINDS.get(_text(raw.get("hook_event_name")))
    if kind is None:
        return None
    cwd = normal(_text(raw.get("cwd")) or "/")
    project = normal(environ.get("CLAUDE_PROJECT_DIR") or cwd)
    agent = _text(raw.get("agent_id"))
    transcript = _text(raw.get("transcript_path"))
    if agent:
        from handbill.hosts.claude_transcript import path_of

        transcript = path_of(transcript, agent)
    calls = [raw] if kind == ev.TOOL_CALLED else raw.get("tool_calls")
    version = version_of(environ)
    return Event(
        kind,
        _text(raw.get("session_id")),
        host=NAME,
        agent_id=agent,
        cwd=cwd,
        project=project,
        transcript=transcript,
        tools=[tool(call, cwd) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else [],
        prompt=_text(raw.get("prompt")),
        # stopping "again": a hook has kept the agent from resting in this turn already
        source="again" if raw.get("stop_hook_active") is True else _text(raw.get("source")),
        path=normal(_text(raw.get("file_path"))) if raw.get("file_path") else "",
        skill=_text(raw.get("command_name")) if kind == ev.SKILL_EXPANDED else "",
        reason=_text(raw.get("load_reason")),
        client=client,
        version=version,
        reads_agents_md=version > _OLD,
        raw=dict(raw),
    )


_LONGEST = 4096
_SKILL_LOADED = ("Launching skill", "already loaded")

_FILE_KEYS = {
    "Read": "file_path", "Edit": "file_path", "Write": "file_path", "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path", "NotebookRead": "notebook_path",
}  # fmt: skip


def tool(call: Mapping[str, Any], cwd: str) -> Tool:
    """A call as the batch event or the transcript lists it."""
    name = _text(call.get("tool_name") or call.get("name"))
    id = _text(call.get("tool_use_id") or call.get("id"))
    values = call.get("tool_input") if "tool_input" in call else call.get("input")
    values = values if isinstance(values, dict) else {}
    files: list[str] = []
    places: list[str] = []
    if name in _FILE_KEYS:
        files = [_text(values.get(_FILE_KEYS[name]))]
    elif name in ("Glob", "Grep", "LS"):
        places = [_text(values.get("path")) or cwd]
        pattern = _text(values.get("pattern")) if name == "Glob" else ""
        fixed = pattern[: min((pattern.find(c) for c in "*?[{" if c in pattern), default=len(pattern))]
        if "/" in fixed:
            places.append(join(join(cwd, places[0]), fixed[: fixed.rfind("/")] or "/"))
    elif name == "Bash":
        from handbill.core.shell import looks_like_path, plain_arguments

        places = [word for word in plain_arguments(_text(values.get("command"))) if looks_like_path(word)]
    output = _text(call.get("tool_response"))
    return Tool(
        name, id, _paths(files, cwd), _paths(places, cwd), values=values, output=output,
        failed=output.startswith("<tool_use_error>")
        or (name == "Skill" and bool(output) and not any(words in output for words in _SKILL_LOADED)),
        at=_text(call.get("timestamp")),
    )  # fmt: skip


def _paths(names: list[str], cwd: str) -> tuple[str, ...]:
    """What no file system can hold is no path."""
    return tuple(join(cwd, name) for name in names if name and "\0" not in name and len(name) <= _LONGEST)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def render(event: Event, text: str, plan: Plan | None, message: str = "") -> dict[str, Any]:
    """The answer as the client takes it; {} is silence. Never an approval of a tool call."""
    answer: dict[str, Any] = {}
    if message:
        answer["systemMessage"] = message
    specific: dict[str, Any] = {"hookEventName": _NAMES[event.kind]}
    if event.kind == ev.TOOL_CALLED:  # a context given here would not survive a resume: pages go with the denial
        if plan is not None and plan.verdict == "block":
            specific["permissionDecision"] = "deny"
            specific["permissionDecisionReason"] = f"{plan.gate_text}\n\n{text}" if text else plan.gate_text
    elif event.kind == ev.STOPPING:
        if plan is not None and plan.verdict == "block":
            answer.update(decision="block", reason=plan.gate_text)
    elif text:
        specific["additionalContext"] = text
    if len(specific) > 1:
        answer["hookSpecificOutput"] = specific
    return answer


# --- what versions differ in -------------------------------------------------------------------


def names_compacted_agent(event: Event) -> bool:
    """Newer clients put the agent's id on compaction events; between the two, evidence decides."""
    return bool(event.agent_id) or event.version >= _NEW


def agents_survive(event: Event) -> bool:
    """A continued subagent keeps its injections, and its SubagentStart text is not delivered again."""
    return event.version > _OLD


def records_injections(event: Event) -> bool:
    """Old clients write a subagent's tool-hook injections to no transcript."""
    return not event.agent_id or event.version >= _NEW


def resume_takes_siblings(event: Event) -> bool:
    """Newer clients rebuild more than the chain of parents; the resuming version decides."""
    return event.version >= _NEW


# --- what the transcript says ------------------------------------------------------------------

_MARK = b"handbill.hook"  # stands in every command line that `engine install` registers
_RECENT = 128 << 10
_SKILLS = 32 << 20
_TAIL = 4 << 20
# the last: a hook that died after its answer was taken; the client calls that a success with an exit code
_FAILURE_SIGNS = (b'"hook_non_blocking_error"', b'"hook_cancelled"', b'"exitCode":1')


def hook_failed(world: World, event: Event, since: int) -> bool:
    """A cheap look at the transcript's end: does the client say that a hook of ours failed?"""
    size = world.size(event.transcript) if event.transcript else -1
    data = world.tail(event.transcript, max(since, size - _RECENT)) if size > since else None
    if data is None:
        return False
    return any(sign in data for sign in _FAILURE_SIGNS) and _MARK in data


def failures(event: Event, world: World, since: int) -> tuple[list[tuple[str, str, str]], int]:
    """Our hooks that failed behind byte `since`, and how far the transcript was read."""
    from handbill.hosts.claude_failures import failures as read

    start = max(since, world.size(event.transcript) - (1 << 20), 0)
    data = world.tail(event.transcript, start) or b""
    whole = data[: data.rfind(b"\n") + 1]
    return read(whole, _MARK), start + len(whole)


def calls(event: Event, world: World, most: int) -> list[Tool]:
    """Earlier tool calls of this window, for directories whose event was missed."""
    from handbill.hosts.claude_transcript import calls as read

    known = {made.id for made in event.tools}
    found = read(world.tail(event.transcript, -most) or b"")
    return [tool(call, event.cwd) for call in found if call["id"] not in known]


def evidence(event: Event, tail: bytes | None, claims: list[Record]) -> Evidence:
    from handbill.hosts.claude_transcript import evidence as read

    return read(tail, claims, event, records=records_injections(event))


def kept_tail(data: bytes, since: int) -> Survivors | None:
    from handbill.hosts.claude_transcript import kept_tail as read

    return read(data, since)


def went_on(event: Event, world: World, batches: set[str]) -> set[str]:
    """Those of some batches behind which the conversation went on: no compaction keeps them in its last messages."""
    from handbill.hosts.claude_transcript import followed

    data = world.tail(event.transcript, -_TAIL) if event.transcript and batches else None
    return {batch for batch in batches if data and followed(data, batch)}


def skills_loaded(event: Event, world: World) -> list[str]:
    """Folders of the skills that the client put into this window, by its own record."""
    from handbill.hosts.claude_transcript import skills

    return skills(world.tail(event.transcript, -_SKILLS) or b"") if event.transcript else []


def survivors(event: Event, world: World, *, live: bool, most: int) -> Survivors | None:
    """What is in this window by its transcript (None: there is none to read, or not all of it yet).

    `live`: the window was not rebuilt by a resume.
    """
    data = world.tail(event.transcript, -most if most else 0, 256 << 20) if event.transcript else None
    if data is None or (live and not _reaches(data, event)):
        return None
    from handbill.hosts.claude_transcript import survivors as read

    complete = not most or world.size(event.transcript) <= len(data)
    return read(data, siblings=live or resume_takes_siblings(event), complete=complete)


def _reaches(data: bytes, event: Event) -> bool:
    """Is the transcript written up to this turn? A fork's copied history comes about 100 ms late."""
    marks = [event.raw.get("prompt_id"), *(made.id for made in event.tools)]
    if event.agent_id:
        return b'"assistant"' in data
    return any(isinstance(mark, str) and mark and f'"{mark}"'.encode() in data for mark in marks)


def transcript_of(event: Event, agent: str) -> str:
    """The transcript of another window of the same session; `event` is one of main's."""
    from handbill.hosts.claude_transcript import path_of

    return path_of(event.transcript, agent)


def agents_of(event: Event, world: World) -> list[str]:
    """Subagents that this session has had."""
    names = world.names(event.transcript.removesuffix(".jsonl") + "/subagents")
    return [name[6:-6] for name in names if name.startswith("agent-") and name.endswith(".jsonl")]

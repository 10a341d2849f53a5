"""Claude Code: its events in our words, our answers in its JSON, and what its versions differ in."""

from __future__ import annotations

from handbill.core import event as ev
from handbill.core.event import Event, Tool
from handbill.core.paths import join, normal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from handbill.core.content import Content
    from handbill.core.plan import Plan
    from handbill.turn import Asked
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

# The oldest and the newest version that was measured.
OLDEST = (2, 1, 197)
NEWEST = (2, 1, 325)
# The first version that does so, found by running those around it.
_RECORDS_AGENTS = (2, 1, 259)
_READS_AGENTS_MD = (2, 1, 281)
_NAMES_AGENT = (2, 1, 323)


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
        trigger=_text(raw.get("trigger")),
        attended=environ.get("CLAUDE_CODE_ENTRYPOINT") == "cli",
        client=client,
        version=version,
        reads_agents_md=version >= _READS_AGENTS_MD,
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
    return bool(event.agent_id) or event.version >= _NAMES_AGENT


def agents_survive(event: Event) -> bool:
    """A continued subagent keeps its injections, and its SubagentStart text is not delivered again."""
    return event.version > OLDEST


def records_injections(event: Event) -> bool:
    """Old clients write a subagent's tool-hook injections to no transcript."""
    return not event.agent_id or event.version >= _RECORDS_AGENTS


def resume_takes_siblings(event: Event) -> bool:
    """Newer clients rebuild more than the chain of parents; the resuming version decides."""
    return event.version >= NEWEST


# --- what the transcript says ------------------------------------------------------------------

_MARK = b"handbill.hook"  # stands in every command line that `engine install` registers
_MARGIN = 64 << 10  # the parent of the first row behind a noted place stands this close before it
_LARGE = 256 << 10  # so much may be searched again and again before its end is noted
_MOST = 256 << 20
# the last: a hook that died after its answer was taken; the client calls that a success with an exit code
_FAILURE_SIGNS = (b'"hook_non_blocking_error"', b'"hook_cancelled"', b'"exitCode":1')
_INTERRUPTED = b"[Request interrupted by user"


def look_for_signs(event: Event, world: World, since: int, asked: Asked) -> None:
    """A cheap search of what was written behind byte `since`: did a hook of ours fail, did the conversation go back
    to an earlier point, was a batch interrupted?"""
    start = max(since - _MARGIN, 0)
    data = world.tail(event.transcript, start) if event.transcript else None
    if not data:
        return
    new = data[since - start :] if len(data) > since - start else data
    asked.failed = any(sign in new for sign in _FAILURE_SIGNS) and _MARK in new
    asked.interrupted = _INTERRUPTED in new
    asked.moved = not event.agent_id and _went_back(data, len(data) - len(new), start == 0)
    if asked or len(new) > _LARGE:
        asked.scanned = start + data.rfind(b"\n") + 1


def _went_back(data: bytes, at: int, complete: bool) -> bool:
    """Is there a prompt behind `at` whose parent is not the newest message before it?"""
    at = data.find(b'"promptId":"', at)
    while at >= 0:
        start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        line = data[start : end if end >= 0 else len(data)]
        if start and b'"type":"tool_result"' not in line and b'"type":"user"' in line:
            _, found, rest = line.partition(b'"parentUuid":"')
            parent = data.rfind(b'"uuid":"' + rest[:36] + b'"', 0, start) if found else -1
            if parent < 0:
                if found:
                    return True
            elif b'"type":"assistant"' in data[data.find(b"\n", parent) : start]:
                return True
        at = data.find(b'"promptId":"', end) if end >= 0 else -1
    return False


def failures(event: Event, world: World, since: int) -> list[tuple[str, str, str]]:
    """Our hooks that failed behind byte `since`, by the client's own record."""
    from handbill.hosts.claude_failures import failures as read

    data = world.tail(event.transcript, since) or b""
    return read(data[: data.rfind(b"\n") + 1], _MARK)


def calls(event: Event, world: World, most: int) -> list[Tool]:
    """Earlier tool calls of this window, for directories whose event was missed."""
    from handbill.hosts.claude_transcript import calls as read

    known = {made.id for made in event.tools}
    found = read(world.tail(event.transcript, -most) or b"")
    return [tool(call, event.cwd) for call in found if call["id"] not in known]


def window_now(
    event: Event, world: World, *, since: int = 0, resumed: bool = False, unknown: bool = False
) -> Content | None:
    """What is in this window, by its transcript; None: there is none to read, or not all of it yet.

    `since`: only what was written behind this byte is asked for. `resumed`: a new process rebuilds the window.
    `unknown`: we have no ledger of it, so the transcript must reach up to this event.
    """
    if not event.transcript:
        return None
    from handbill.hosts.claude_chain import Loader
    from handbill.hosts.claude_window import content

    loader = Loader(siblings=resume_takes_siblings(event)) if resumed else None
    agent = bool(event.agent_id)
    if since:
        data = world.tail(event.transcript, max(since - _MARGIN, 0))
        found = content(data, loader, start=max(since - _MARGIN, 0), agent=agent) if data is not None else None
        if found is not None or data is None:
            return found
    data = world.tail(event.transcript, 0, _MOST)
    if data is None or (unknown and not resumed and not _reaches(data, event)):
        return None
    return content(data, loader, agent=agent)


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

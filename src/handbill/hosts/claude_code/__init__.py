"""Claude Code: convert its events and our answers, and describe differences between versions."""

from __future__ import annotations

from handbill import event as ev
from handbill.event import Event, Identity, Tool
from handbill.hosts.claude_code.tools import text_of as _text
from handbill.hosts.claude_code.tools import tool
from handbill.paths import ANYWHERE, normal
from handbill.plan import BLOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from handbill.flow.event_context import Asked
    from handbill.plan import Plan
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

# The client replaces a value of more than 10,000 UTF-16 units by a 2,000-unit preview, without a
# message.
CAP = 9500
# A denial's reason has no cap. This is our limit, so that it remains readable.
GATE_CAP = 120_000

# Events whose injected text survives a resume and keeps the prompt cache.
CHANNELS = frozenset({
    ev.SESSION_STARTED, ev.PROMPT_SUBMITTED, ev.SKILL_EXPANDED, ev.TOOL_BATCH_FINISHED, ev.SUBAGENT_STARTED,
})  # fmt: skip

# The oldest and the newest version that were measured.
OLDEST = (2, 1, 197)
NEWEST = (2, 1, 325)
# The first version with each behavior, found by running the versions around it.
_RECORDS_AGENTS = (2, 1, 259)
_READS_TOUCHED, _READS_AGENTS_MD, _READS_MENTIONS = (2, 1, 261), (2, 1, 281), (2, 1, 290)
_RECORDS_REQUESTS = (2, 1, 295)
_NAMES_AGENT = (2, 1, 323)
_TAKES_SIBLINGS = (2, 1, 325)  # possibly an earlier version: those after 2.1.261 were not tested
# Subagents that start without the instruction files of the project's root.
_WITHOUT_INSTRUCTIONS = ("Explore", "Plan")


def version_of(environ: Mapping[str, str]) -> tuple[int, ...] | None:
    """`AI_AGENT=claude-code_2-1-325_harness` -> (2, 1, 325); None if it is not known."""
    fields = environ.get("AI_AGENT", "").split("_")
    numbers = fields[1].split("-") if len(fields) > 1 and fields[0] == NAME else []
    return tuple(int(number) for number in numbers if number.isdecimal()) or None


def identify(raw: Mapping[str, Any], environ: Mapping[str, str]) -> Identity:
    client = environ.get("CLAUDE_PID", "")
    return Identity(
        environ.get("CLAUDE_PROJECT_DIR") or _text(raw.get("cwd")),
        _text(raw.get("session_id")),
        _text(raw.get("agent_id")),
        client=int(client) if client.isdecimal() else 0,
        names_client=client.isdecimal(),
        version=version_of(environ),
    )


def shell(environ: Mapping[str, str]) -> Identity:
    client = environ.get("CLAUDE_PID", "")
    return Identity(
        environ.get("CLAUDE_PROJECT_DIR", ""),
        environ.get("CLAUDE_CODE_SESSION_ID", ""),
        client=int(client) if client.isdecimal() else 0,
        names_client=client.isdecimal(),
        version=version_of(environ),
    )


def parse(raw: Mapping[str, Any], caller: Identity, environ: Mapping[str, str]) -> Event | None:
    """Return the event, or None if Handbill does not answer it."""
    kind = KINDS.get(_text(raw.get("hook_event_name")))
    if kind is None:
        return None
    cwd = normal(_text(raw.get("cwd")) or "/")
    agent = caller.agent_id
    transcript = _text(raw.get("transcript_path"))
    if agent:
        from handbill.hosts.claude_code.transcript import path_of

        transcript = path_of(transcript, agent)
    calls = [raw] if kind == ev.TOOL_CALLED else raw.get("tool_calls")
    prompt = _text(raw.get("prompt"))
    named: list[Tool] = []
    if kind == ev.PROMPT_SUBMITTED and "@" in prompt:
        from handbill.hosts.claude_code.mentioned_files import mentions as read_mentions

        named = read_mentions(prompt, cwd, environ.get("HOME", ""))
    agent_type = _text(raw.get("agent_type"))
    return Event(
        kind,
        caller.session_id,
        host=NAME,
        agent_id=agent,
        agent_type=agent_type,
        prompt_id=_text(raw.get("prompt_id")),
        imported_by=_text(raw.get("parent_file_path")),
        cwd=cwd,
        project=normal(caller.folder or cwd),
        transcript=transcript,
        tools=[tool(call, cwd) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else named,
        prompt=prompt,
        # "again": a hook has already prevented the end of this turn.
        source="again" if raw.get("stop_hook_active") is True else _text(raw.get("source")),
        path=normal(_text(raw.get("file_path"))) if raw.get("file_path") else "",
        skill=_text(raw.get("command_name")) if kind == ev.SKILL_EXPANDED else "",
        reason=_text(raw.get("load_reason")),
        trigger=_text(raw.get("trigger")),
        attended=environ.get("CLAUDE_CODE_ENTRYPOINT") == "cli",
        client=caller.client,
        names_client=caller.names_client,
        version=caller.version,
        # A rule that is delivered twice is better than a missing rule. So we assume that an unknown
        # client reads nothing by itself.
        reads_agents_md=_since(caller, _READS_AGENTS_MD, unknown=False),
        reads_mentions=_since(caller, _READS_MENTIONS, unknown=False),
        reads_touched=_since(caller, _READS_TOUCHED, unknown=False),
        reads_root=agent_type not in _WITHOUT_INSTRUCTIONS or not agent,
        raw=dict(raw),
    )


def _since(caller: Identity | Event, first: tuple[int, ...], *, unknown: bool) -> bool:
    """Whether the client has at least this version; `unknown` if the version is not known."""
    return caller.version >= first if caller.version is not None else unknown


def event_name(raw: Mapping[str, Any]) -> str:
    return _text(raw.get("hook_event_name"))


def to_person(message: str) -> dict[str, Any]:
    """Return an answer that only the person sees."""
    return {"systemMessage": message}


def render(event: Event, text: str, plan: Plan | None, message: str = "") -> dict[str, Any]:
    """Return the answer in the client's format. {} does nothing. Never approve a tool call."""
    answer: dict[str, Any] = {}
    if message or (plan is not None and plan.blocks):
        from handbill.text.blocks import escaped, harmless
    if message:
        answer.update(to_person(harmless(message)))
    specific: dict[str, Any] = {"hookEventName": _NAMES[event.kind]}
    # Context added here would not survive a resume, so the denial contains the pages.
    if event.kind == ev.TOOL_CALLED:
        if plan is not None and plan.blocks:
            specific["permissionDecision"] = "deny"
            said = harmless(escaped("\n\n".join(plan.texts(BLOCK))))
            specific["permissionDecisionReason"] = f"{said}\n\n{text}" if text else said
    elif event.kind == ev.STOPPING:
        if plan is not None and plan.blocks:
            answer.update(decision="block", reason=harmless(escaped("\n\n".join(plan.texts(BLOCK)))))
    elif text:
        specific["additionalContext"] = text
    if len(specific) > 1:
        answer["hookSpecificOutput"] = specific
    return answer


# --- differences between versions -----------------------------------------------------------------


def names_compacted_agent(event: Event) -> bool:
    """Whether the compacted window is known, because newer clients add the agent's id.

    Otherwise, evidence decides whether it was the main window or a subagent's.
    """
    return bool(event.agent_id) or _since(event, _NAMES_AGENT, unknown=False)


def agents_survive(event: Event) -> bool:
    """Whether a continued subagent keeps its injections.

    Its SubagentStart text is then not delivered again.
    """
    return event.version is not None and event.version > OLDEST


def records_injections(event: Event) -> bool:
    """Whether the transcript shows the text that hooks put into this window.

    Old clients do not record what tool hooks add to a subagent. For an unknown client, its record
    decides.
    """
    return not event.agent_id or _since(event, _RECORDS_AGENTS, unknown=True)


def resume_takes_siblings(event: Event) -> bool:
    """Whether the resuming client rebuilds more than the chain of parents, as newer ones do."""
    return _since(event, _TAKES_SIBLINGS, unknown=False)


def records_requests(event: Event) -> bool:
    """Whether the client records each request to the model's server, as newer ones do.

    For an unknown client, its record decides.
    """
    return _since(event, _RECORDS_REQUESTS, unknown=True)


# --- its folders ---------------------------------------------------------------------------------

MARKS = (".claude",)  # a folder that has one of these is a project
_LIBRARIES = (".directives", "skills", "commands", "agents", "engine", f"plugins{ANYWHERE}skills")


def user_folder(home: str) -> str:
    return f"{home}/.claude"


def library_folders(home: str) -> tuple[str, ...]:
    """Return the user's folders that files are delivered from.

    The settings and transcripts beside them are left out.
    """
    return tuple(f"{home}/.claude/{folder}" for folder in _LIBRARIES)


def skill_folders(project: str, home: str) -> tuple[str, ...]:
    """Return the folders of skills, in the order in which the client searches them."""
    return f"{home}/.claude/skills", f"{project}/.claude/skills"


# --- the transcript -------------------------------------------------------------------------------

# The parent of the first row after a noted place is at most this far before that place.
MARGIN = 64 << 10


def look_for_signs(event: Event, world: World, since: int, asked: Asked) -> None:
    """Search the part after byte `since` for signs such as failed hooks or rewinds."""
    start = max(since - MARGIN, 0)
    data = world.tail(event.transcript, start) if event.transcript else None
    if data:
        from handbill.hosts.claude_code.signs import search

        prompt = event.prompt_id if event.kind == ev.PROMPT_SUBMITTED else ""
        search(data, since - start, asked, prompt=prompt, agent=bool(event.agent_id))
        asked.scanned += start if asked.scanned else 0


# --- answers that need more than an event ---------------------------------------------------------

# Most events need none of these, so their modules are loaded on use.
_IN_MODULE = {
    **dict.fromkeys(
        (
            "added_directories", "agents_of", "answers", "call_behind", "calls", "compactions_since", "failures",
            "keeps_several_turns", "may_restore", "mentions", "mentions_in_commands", "transcript_of", "usage",
            "window_now",
        ), "record",
    ),
    "brings": "native_files",
    "plugin_folders": "plugins",
    **dict.fromkeys(("last_compaction", "runs_now", "version_in"), "past"),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _IN_MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = __import__(f"{__name__}.{_IN_MODULE[name]}", fromlist=(name,))
    return getattr(module, name)

"""Read a Claude Code window's transcript from the disk, to answer an event's questions."""

from __future__ import annotations

from handbill.event import DONE, LOADS_SKILL
from handbill.hosts.claude_code import MARGIN, records_requests, resume_takes_siblings
from handbill.hosts.claude_code.tools import text_of as _text
from handbill.hosts.claude_code.tools import tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from handbill.event import Event, Tool
    from handbill.hosts.claude_code.directories_added import Known
    from handbill.hosts.usage import Usage
    from handbill.ledger.content import Content
    from handbill.ledger.window import Window
    from handbill.world import World

_MOST = 256 << 20
_BODY = 1 << 16  # bytes of a command
_REQUESTS = 4 << 20  # bytes of a transcript, which has the newest request at its end
_WRITTEN_LATE = 0.2  # seconds, which is short compared to a compaction
_RECENT = 32 << 20  # bytes of a transcript; files read before that are not among the last few


def failures(event: Event, world: World, since: int) -> list[tuple[str, str, str]]:
    """Return our hooks that failed after byte `since`, from the client's own record."""
    from handbill.hosts.claude_code.failed_hooks import failures as read
    from handbill.hosts.claude_code.signs import MARK

    data = world.tail(event.transcript, since) or b""
    return read(data[: data.rfind(b"\n") + 1], MARK)


def calls(event: Event, world: World, most: int, there: Collection[str] | None = None) -> list[Tool]:
    """Return earlier tool calls of this window, for directories whose event was missed.

    `there`: the ids of the calls that are in the window, if they are known. Otherwise, all calls
    since the last compaction are returned.
    """
    from handbill.hosts.claude_code.transcript import calls as read

    known = {made.id for made in event.tools}
    found = read(world.tail(event.transcript, -most) or b"", there)
    return [tool(call, event.cwd) for call in found if call["id"] not in known]


def mentions(event: Event, world: World, most: int) -> list[Tool]:
    """Return files that earlier prompts of this window name. `id` is the prompt's."""
    from handbill.hosts.claude_code.mentioned_files import mentions as read
    from handbill.hosts.claude_code.transcript import prompts

    found = prompts(world.tail(event.transcript, -most) or b"")
    return [named for id, text in found for named in read(text, event.cwd, "", id)]


def mentions_in_commands(event: Event, world: World, home: str) -> list[Tool]:
    """Return files that the body of a command or skill mentions.

    The client attaches them as if they were typed.
    """
    from handbill.hosts.claude_code.mentioned_files import in_command

    called = [made for made in event.tools if made.does == LOADS_SKILL and made.outcome == DONE]
    commands = [(made.skill, made.arguments) for made in called]
    if event.skill:
        commands.append((event.skill, _text(event.raw.get("command_args"))))
    roots, found = (f"{event.project}/.claude", f"{home}/.claude"), []
    for name, words in commands:
        file = name.replace(":", "/")
        for place in (f"commands/{file}.md", f"skills/{file}/SKILL.md") if name and ".." not in name else ():
            bodies = [(world.tail(f"{root}/{place}", 0, _BODY) or b"").decode("utf-8", "replace") for root in roots]
            found += [one for body in bodies for one in in_command(body, words, event.cwd)]
    return found


def compactions_since(event: Event, world: World, since: int) -> list[int]:
    """Return where compactions are recorded after byte `since` of the transcript.

    A line that began before that byte does not count.
    """
    from handbill.hosts.claude_code.transcript import compactions

    data = world.tail(event.transcript, max(since - 1, 0)) or b""
    first = data.find(b"\n") + 1 if since else 0
    return [max(since - 1, 0) + first + at for at in compactions(data[first:])]


def keeps_several_turns(event: Event, world: World) -> bool:
    """Whether this compaction keeps several turns because the server refused a request.

    Usually, the client finds that a window is full before it sends a request, and keeps the last
    message only. If the model's server refuses a request as too long, the client keeps several
    turns. Its record then has that request, and no answer to it. Older clients record no requests,
    and keep the last message in this case too.
    """
    if event.agent_id or event.trigger == "manual" or not records_requests(event):
        return False
    world.pause(_WRITTEN_LATE)  # The answer or the request may not be recorded yet.
    data = world.tail(event.transcript, -_REQUESTS) or b""
    return data.rfind(b'\n{"type":"api-request",') > data.rfind(b'"type":"assistant"')


def answers(event: Event, world: World, since: int) -> list[str]:
    """Return the agent's messages after byte `since` of its transcript."""
    from handbill.hosts.claude_code.transcript import answers as read

    return read(world.tail(event.transcript, since) or b"")


def window_now(
    event: Event,
    world: World,
    *,
    since: int = 0,
    resumed: bool = False,
    unknown: bool = False,
    window: Window | None = None,
) -> Content | None:
    """Return the current content of this window, from its transcript.

    None: no transcript can be read, or it is not complete yet. `since`: only rows that were written
    after this byte are needed. `resumed`: a new process rebuilds the window. `unknown`: we have no
    ledger of it, so the transcript must reach up to this event. `window`: its ledger, which
    identifies its own rows if a second client writes to the same transcript.
    """
    if not event.transcript:
        return None
    from handbill.hosts.claude_code.chain import Loader
    from handbill.hosts.claude_code.transcript import reaches
    from handbill.hosts.claude_code.window import content
    from handbill.ledger.own_rows import own_rows

    loader = Loader(siblings=resume_takes_siblings(event)) if resumed else None
    newest = [mark for mark in (event.prompt_id, *(made.id for made in event.tools)) if mark]
    own = own_rows(window, newest)
    start = max(min([since, *own.joined]) - MARGIN, 0)
    if start:
        data = world.tail(event.transcript, start)
        found = content(data, loader, start=start, agent=bool(event.agent_id), own=own) if data is not None else None
        if found is not None or data is None:
            return found
    data = world.tail(event.transcript, 0, _MOST)
    if data is None or (unknown and not resumed and not reaches(data, event)):
        return None
    return content(data, loader, agent=bool(event.agent_id), own=own)


def may_restore(event: Event, world: World, paths: Collection[str]) -> list[str]:
    """Return files that the client may put back after a compaction.

    These are files that a call of this session named. The client restores the last few that were
    read or written, unless they are too large or in the messages that it keeps.
    """
    data = world.tail(event.transcript, -_RECENT) if event.transcript else None
    return [path for path in paths if f'"{path}"'.encode("utf-8", "surrogateescape") in (data or b"")]


def call_behind(event: Event, world: World) -> str:
    """Return the tool call that started this subagent; empty if it is not noted yet.

    The client notes it in a file beside the transcript.
    """
    from handbill.hosts.claude_code.rows import record_of

    data = world.tail(event.transcript.removesuffix(".jsonl") + ".meta.json", 0, 1 << 16)
    return _text((record_of(data or b"") or {}).get("toolUseId"))


def added_directories(event: Event, world: World, home: str, known: Known | None) -> tuple[list[str], Known]:
    """Return directories that the user added to this session. `known`: from an earlier answer."""
    from handbill.hosts.claude_code.directories_added import added

    return added(event, world, home, known or {"to": 0, "names": []})


def transcript_of(event: Event, agent: str) -> str:
    """Return the transcript of another window of the session. `event` is of the main window."""
    from handbill.hosts.claude_code.transcript import path_of

    return path_of(event.transcript, agent)


def agents_of(event: Event, world: World) -> list[str]:
    """Return the subagents that this session has had."""
    names = world.names(event.transcript.removesuffix(".jsonl") + "/subagents")
    return [name[6:-6] for name in names if name.startswith("agent-") and name.endswith(".jsonl")]


def usage(event: Event, world: World) -> Usage | None:
    """Return how full the window was at the model's newest answer; None if it is not recorded."""
    from handbill.hosts.claude_code.transcript import tokens_used
    from handbill.hosts.usage import Usage

    used = tokens_used(world.tail(event.transcript, -_REQUESTS) or b"") if event.transcript else 0
    return Usage(used) if used else None

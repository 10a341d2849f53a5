"""What happened, in host-neutral words."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handbill.work.task import Task

SESSION_STARTED = "session_started"
PROMPT_SUBMITTED = "prompt_submitted"
SKILL_EXPANDED = "skill_expanded"
INSTRUCTIONS_LOADED = "instructions_loaded"
TOOL_CALLED = "tool_called"
TOOL_BATCH_FINISHED = "tool_batch_finished"
SUBAGENT_STARTED = "subagent_started"
SUBAGENT_STOPPED = "subagent_stopped"
COMPACTING = "compacting"
COMPACTED = "compacted"
STOPPING = "stopping"
SESSION_ENDED = "session_ended"

MAIN = "main"

# What a tool call does, whatever the host calls the tool. "": something that Handbill has no interest in.
READS, WRITES, RUNS, SEARCHES = "reads", "writes", "runs", "searches"
DELEGATES, ASKS, LOADS_SKILL = "delegates", "asks", "loads a skill"
MENTIONS = "mentions"  # not a call: a prompt names a file, and the host attaches it

_HANDLES = frozenset({"cat", "sed", "tee", "head", "tail", "less", "more", "bat", "awk", "perl", "patch", "cp", "mv"})


# What became of a tool call. Held: by us. Refused: by the client, another hook or the user. Both did nothing.
DONE, FAILED, REFUSED, HELD = "done", "failed", "refused", "held"


class Tool:
    """One tool call: what it does, and the paths that it touches.

    `files` are paths to files (their folder was touched); `paths` may be files or folders.
    """

    def __init__(
        self,
        does: str,
        id: str = "",
        files: tuple[str, ...] = (),
        paths: tuple[str, ...] = (),
        *,
        name: str = "",
        whole: bool = True,
        command: str = "",
        skill: str = "",
        arguments: str = "",
        task: Task | None = None,
        output: str = "",
        outcome: str = DONE,
        at: str = "",
    ) -> None:
        self.does = does
        self.id = id
        self.files = files
        self.paths = paths
        self.name = name  # as the host calls the tool: for logs only
        self.whole = whole  # it reads, writes or mentions all of the file, not a part of it
        self.command = command  # RUNS: what is run
        self.skill = skill  # LOADS_SKILL: which one
        self.arguments = arguments  # of the skill
        self.task = task  # DELEGATES
        self.output = output
        self.outcome = outcome
        self.at = at  # when, as the host wrote it down; empty: now

    def handles_files(self) -> bool:
        """Does a shell command show or change the files that it names? `git log FILE` does neither."""
        words = self.command.split()
        return self.does == RUNS and (">" in self.command or any(word.rpartition("/")[2] in _HANDLES for word in words))


class Identity:
    """Who calls: which process of a client, in which folder, for which session and agent."""

    def __init__(
        self,
        folder: str,
        session_id: str = "",
        agent_id: str = "",
        *,
        client: int = 0,
        names_client: bool = True,
        version: tuple[int, ...] | None = None,
    ) -> None:
        self.folder = folder  # where the client was started
        self.session_id = session_id
        self.agent_id = agent_id  # empty: the main agent
        self.client = client  # its process; 0: not known
        self.names_client = names_client  # the host says so itself; else it is the parent of our own process
        self.version = version  # of the client; None: not known


class Event:
    def __init__(
        self,
        kind: str,
        session_id: str,
        *,
        host: str = "",
        agent_id: str = "",
        agent_type: str = "",
        prompt_id: str = "",
        imported_by: str = "",
        cwd: str = "",
        project: str = "",
        transcript: str = "",
        tools: list[Tool] | None = None,
        prompt: str = "",
        source: str = "",
        path: str = "",
        skill: str = "",
        reason: str = "",
        trigger: str = "",
        attended: bool = False,
        client: int = 0,
        version: tuple[int, ...] | None = None,
        reads_agents_md: bool = False,
        reads_mentions: bool = False,
        reads_touched: bool = False,
        reads_root: bool = True,
        names_client: bool = True,
        raw: dict[str, Any] | None = None,
    ) -> None:
        self.kind, self.session_id, self.host = kind, session_id, host
        self.agent_id = agent_id
        self.agent_type = agent_type
        self.prompt_id = prompt_id  # of the turn: the prompt that it began with
        self.imported_by = imported_by  # instructions_loaded: the file that imports it
        self.cwd = cwd
        self.project = project
        self.transcript = transcript  # of this window, not always of the whole session
        self.tools = tools or []
        self.calls = frozenset(tool.id for tool in self.tools if tool.id)  # `tools` may get earlier ones, too
        self.trigger = trigger  # compacting: "manual" or "auto"
        self.attended = attended  # a person sits before the host, and may do what no event tells
        self.prompt = prompt
        self.source = source
        self.path = path  # instructions_loaded: the file the host put into the window
        self.reason = reason
        self.skill = skill  # skill_expanded: what the user typed
        self.names_client = names_client
        self.client = client  # process id of the host; tells lanes of one start from a second start
        self.version = version
        self.reads_root = reads_root  # this window began with the instructions in the project's root
        self.reads_mentions = reads_mentions  # it does so with a file that a prompt names, too
        self.reads_touched = reads_touched  # and after some shell commands and writes: it says so after the event
        self.reads_agents_md = reads_agents_md  # the host reads AGENTS.md itself where no CLAUDE.md is
        self.raw = raw or {}  # as the host sent it; only the host looks at it
        self.terminal = ""  # of a second client on the same session, whose window is another one
        self.lane = 1  # which of several handlers of one start this is
        # names the moment: deliveries of one moment cannot be judged in that same moment
        last = self.tools[-1].id if self.tools else ""
        self.batch = last or f"{kind}:{source}:{self.prompt_id}"

    @property
    def window(self) -> tuple[str, str]:
        return self.session_id + self.terminal, self.agent_id or MAIN

    def is_of_another_client(self, client: int) -> bool:
        """Does another process of the host go on with the window of `client`? 0: nobody knows which process that was.

        A hook that outlives its client has another parent: that does not count.
        """
        return self.names_client and not self.agent_id and self.client > 0 and client not in (0, self.client)

    @property
    def mark(self) -> str:
        """What the transcript will show of this event, once it has got that far; of others it shows nothing."""
        if self.kind == TOOL_BATCH_FINISHED:
            return next((tool.id for tool in reversed(self.tools) if tool.id in self.calls), "")
        return self.prompt_id if self.kind == PROMPT_SUBMITTED else ""

    def own_paths(self) -> set[str]:
        """Files that the agent itself read as a whole, or changed, just now. A shell command may do anything."""
        own = [tool for tool in self.tools if tool.id in self.calls and tool.outcome == DONE and tool.does != RUNS]
        return {path for tool in own if tool.whole or tool.does != READS for path in (*tool.files, *tool.paths)}

    def is_moment(self, batch: str) -> bool:
        """Is this the moment of that name? A call that was held is of the batch that it ends in, and several events
        may tell of one prompt."""
        prompt = self.prompt_id if not self.calls else ""
        return batch == self.batch or batch in self.calls or (bool(prompt) and batch.endswith(f":{prompt}"))


class Inbox:
    """What is known at an event besides the event itself: messages from commands, notes, and the host's record."""

    def __init__(self) -> None:
        self.notices: list[dict[str, Any]] = []  # messages that commands left for this session's hooks
        self.tasks: list[dict[str, Any]] = []  # tasks that were handed to subagents
        self.notes: dict[str, Any] = {}  # stored facts about this window: its role, what to resume
        self.handover: dict[str, Any] = {}  # what an agent before this one left for it
        self.skills: list[str] = []  # folders of skills whose bodies the host's record shows
        self.added: list[str] = []  # directories that the user added to this session
        self.call = ""  # of a subagent: the tool call that started it, where the host says so


def event_mentions(event: Event) -> set[str]:
    """Files that the prompt at hand names as a whole. Those of earlier prompts may have changed since."""
    tools = [tool for tool in event.tools if tool.does == MENTIONS and not tool.id and tool.whole]
    return {path for tool in tools for path in tool.paths}

"""Events of a host, described independently of that host."""

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

# The effect of a tool call, whatever the host calls the tool. "" means that Handbill ignores it.
READS, WRITES, RUNS, SEARCHES = "reads", "writes", "runs", "searches"
DELEGATES, ASKS, LOADS_SKILL = "delegates", "asks", "loads a skill"
MENTIONS = "mentions"  # not a call: a prompt mentions a file, and the host attaches it

_HANDLES = frozenset({"cat", "sed", "tee", "head", "tail", "less", "more", "bat", "awk", "perl", "patch", "cp", "mv"})


# The outcome of a tool call. Held: by us. Refused: by the client, another hook or the user. A held
# or refused call did nothing.
DONE, FAILED, REFUSED, HELD = "done", "failed", "refused", "held"


class Tool:
    """One tool call: its effect, and the paths that it touches.

    `files` are paths of files (their folder was touched); `paths` may be files or folders.
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
        self.name = name  # the host's name of the tool, for logs only
        self.whole = whole  # it reads, writes or mentions the whole file
        self.command = command  # RUNS: the command
        self.skill = skill  # LOADS_SKILL: the skill
        self.arguments = arguments  # of the skill
        self.task = task  # DELEGATES
        self.output = output
        self.outcome = outcome
        self.at = at  # time in the host's record; empty: now

    def handles_files(self) -> bool:
        """Whether a shell command shows or changes the files that it names; `git log FILE` does
        not."""
        words = self.command.split()
        return self.does == RUNS and (">" in self.command or any(word.rpartition("/")[2] in _HANDLES for word in words))


class Identity:
    """The caller: a client's process and folder, and the session and agent."""

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
        self.client = client  # its process; 0: unknown
        # the host names it; otherwise it is our own parent process
        self.names_client = names_client
        self.version = version  # of the client; None: unknown


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
        self.prompt_id = prompt_id  # the prompt that began the turn
        self.imported_by = imported_by  # instructions_loaded: the file that imports it
        self.cwd = cwd
        self.project = project
        self.transcript = transcript  # of this window, not always of the whole session
        self.tools = tools or []
        self.calls = frozenset(tool.id for tool in self.tools if tool.id)  # `tools` may grow
        self.trigger = trigger  # compacting: "manual" or "auto"
        self.attended = attended  # a user is present, and may act without an event
        self.prompt = prompt
        self.source = source
        self.path = path  # instructions_loaded: the file that the host loaded
        self.reason = reason
        self.skill = skill  # skill_expanded: the skill that the user typed
        self.names_client = names_client
        self.client = client  # process id of the host: the lanes of one start have the same
        self.version = version
        self.reads_root = reads_root  # the window has the root's instructions from its start
        self.reads_mentions = reads_mentions  # the host loads rules for mentioned files
        self.reads_touched = reads_touched  # and, later, for some commands and writes
        self.reads_agents_md = reads_agents_md  # the host reads AGENTS.md if no CLAUDE.md exists
        self.raw = raw or {}  # the host's own data, which only the host module reads
        self.terminal = ""  # suffix for a second client's window on one session
        self.lane = 1  # the number of this handler among those of one start
        last = self.tools[-1].id if self.tools else ""
        self.batch = last or f"{kind}:{source}:{self.prompt_id}"  # names the moment

    @property
    def window(self) -> tuple[str, str]:
        return self.session_id + self.terminal, self.agent_id or MAIN

    def is_of_another_client(self, client: int) -> bool:
        """Whether another process of the host continues the window of `client`, which is 0 if
        unknown.

        A hook that outlives its client has another parent, which does not count.
        """
        return self.names_client and not self.agent_id and self.client > 0 and client not in (0, self.client)

    @property
    def mark(self) -> str:
        """Return the id by which the transcript will show this event; "" if it never will."""
        if self.kind == TOOL_BATCH_FINISHED:
            return next((tool.id for tool in reversed(self.tools) if tool.id in self.calls), "")
        return self.prompt_id if self.kind == PROMPT_SUBMITTED else ""

    def own_paths(self) -> set[str]:
        """Return files that the agent just read whole or changed. Shell commands may have any
        effect."""
        own = [tool for tool in self.tools if tool.id in self.calls and tool.outcome == DONE and tool.does != RUNS]
        return {path for tool in own if tool.whole or tool.does != READS for path in (*tool.files, *tool.paths)}

    def is_moment(self, batch: str) -> bool:
        """Whether `batch` names the moment of this event.

        Deliveries of one moment cannot be judged in that same moment. A held call belongs to the
        batch that it ends in, and several events may belong to one prompt.
        """
        prompt = self.prompt_id if not self.calls else ""
        return batch == self.batch or batch in self.calls or (bool(prompt) and batch.endswith(f":{prompt}"))


class Inbox:
    """Data besides the event itself: messages from commands, notes, and the host's record."""

    def __init__(self) -> None:
        self.notices: list[dict[str, Any]] = []  # messages for this session's hooks
        self.tasks: list[dict[str, Any]] = []  # tasks that were handed to subagents
        self.notes: dict[str, Any] = {}  # stored facts about this window, such as its role
        self.handover: dict[str, Any] = {}  # the handover of an earlier agent
        self.skills: list[str] = []  # folders of skills whose bodies are in the host's record
        self.added: list[str] = []  # directories that the user added to this session
        self.call = ""  # of a subagent: the tool call that started it, if the host names it


def event_mentions(event: Event) -> set[str]:
    """Return files that the current prompt mentions whole. Files of earlier prompts may have
    changed."""
    tools = [tool for tool in event.tools if tool.does == MENTIONS and not tool.id and tool.whole]
    return {path for tool in tools for path in tool.paths}

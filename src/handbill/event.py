"""What happened, in host-neutral words."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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

MENTION = "mention"  # not a tool: a prompt names a file, and the host attaches it

_HANDLES = frozenset({"cat", "sed", "tee", "head", "tail", "less", "more", "bat", "awk", "perl", "patch", "cp", "mv"})


def handles_files(values: dict[str, Any]) -> bool:
    """Does a shell command show or change the files that it names? `git log FILE` does neither."""
    command = str(values.get("command", ""))
    return ">" in command or any(word.rpartition("/")[2] in _HANDLES for word in command.split())


def _reads_a_part(tool: Tool) -> bool:
    return bool(tool.values.get("limit") or tool.values.get("offset"))


# What became of a tool call. Held: by us. Refused: by the client, another hook or the user. Both did nothing.
DONE, FAILED, REFUSED, HELD = "done", "failed", "refused", "held"


class Tool:
    """One tool call: what it is called, its id, and the paths it touched.

    `files` are paths to files (their folder was touched); `places` may be a file or a folder.
    """

    __slots__ = ("at", "files", "id", "name", "outcome", "output", "places", "values")

    def __init__(
        self,
        name: str,
        id: str = "",
        files: tuple[str, ...] = (),
        places: tuple[str, ...] = (),
        *,
        values: dict[str, Any] | None = None,
        output: str = "",
        outcome: str = DONE,
        at: str = "",
    ) -> None:
        self.name = name
        self.id = id
        self.files = files
        self.places = places
        self.values = values or {}  # the call's own input
        self.output = output
        self.outcome = outcome
        self.at = at  # when, as the host wrote it down; empty: now


class Event:
    __slots__ = (
        "added", "agent_id", "attended", "batch", "call", "calls", "client", "cwd", "handover", "host", "kind", "lane",
        "names_client", "notes", "notices", "path", "project", "prompt", "raw", "reads_agents_md", "reads_mentions",
        "reads_root", "reads_touched", "reason",
        "session_id", "skill", "skills", "source", "tasks", "terminal", "tools", "transcript", "trigger", "version",
    )  # fmt: skip

    def __init__(
        self,
        kind: str,
        session_id: str,
        *,
        host: str = "claude-code",
        agent_id: str = "",
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
        version: tuple[int, ...] = (),
        reads_agents_md: bool = False,
        reads_mentions: bool = False,
        reads_touched: bool = False,
        reads_root: bool = True,
        raw: dict[str, Any] | None = None,
    ) -> None:
        self.kind, self.session_id, self.host = kind, session_id, host
        self.agent_id = agent_id
        self.cwd = cwd
        self.project = project
        self.transcript = transcript  # of this window, not always of the whole session
        self.tools = tools or []
        self.calls = frozenset(tool.id for tool in self.tools if tool.id)  # `tools` may get earlier ones, too
        self.call = ""  # of a subagent: the tool call that started it, where the host tells
        self.trigger = trigger  # compacting: "manual" or "auto"
        self.attended = attended  # a person sits before the host, and may do what no event tells
        self.prompt = prompt
        self.source = source
        self.path = path  # instructions_loaded: the file the host put into the window
        self.reason = reason
        self.skill = skill  # skill_expanded: what the user typed
        self.skills: list[str] = []  # folders of skills whose bodies the host's record shows
        self.notices: list[dict[str, Any]] = []  # word that commands left for this session's hooks
        self.tasks: list[dict[str, Any]] = []  # word of tasks that were handed to subagents
        self.notes: dict[str, Any] = {}  # what was noted about this window: its role, what to resume
        self.handover: dict[str, Any] = {}  # what an agent before this one left for it
        self.names_client = True  # the host itself says which process it is; else it is the parent of our own
        self.client = client  # process id of the host; tells lanes of one start from a second start
        self.version = version
        self.reads_root = reads_root  # this window began with the instructions in the project's root
        self.reads_mentions = reads_mentions  # it does so with a file that a prompt names, too
        self.reads_touched = reads_touched  # and after some shell commands and writes: it says so after the event
        self.added: list[str] = []  # directories that the user added to this session
        self.reads_agents_md = reads_agents_md  # the host reads AGENTS.md itself where no CLAUDE.md is
        self.raw = raw or {}
        self.terminal = ""  # of a second client on the same session, whose window is another one
        self.lane = 1  # which of several handlers of one start this is
        # names the moment: deliveries of one moment cannot be judged in that same moment
        last = self.tools[-1].id if self.tools else ""
        self.batch = last or f"{kind}:{source}:{self.raw.get('prompt_id', '')}"

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
        prompt = self.raw.get("prompt_id") if self.kind == PROMPT_SUBMITTED else ""
        return prompt if isinstance(prompt, str) else ""

    def own_paths(self) -> set[str]:
        """Files that the agent itself read as a whole, or changed, just now. A shell command may do anything."""
        own = [tool for tool in self.tools if tool.id in self.calls and tool.outcome == DONE and tool.name != "Bash"]
        return {path for tool in own if not _reads_a_part(tool) for path in (*tool.files, *tool.places)}

    def is_moment(self, batch: str) -> bool:
        """Is this the moment of that name? A call that was held is of the batch that it ends in, and several events
        may tell of one prompt."""
        prompt = self.raw.get("prompt_id") if not self.calls else ""
        return batch == self.batch or batch in self.calls or (bool(prompt) and batch.endswith(f":{prompt}"))


def event_mentions(event: Event) -> set[str]:
    """Files that the prompt at hand names as a whole. Those of earlier prompts may have changed since."""
    tools = [tool for tool in event.tools if tool.name == MENTION and not tool.id and not tool.values]
    return {path for tool in tools for path in tool.places}

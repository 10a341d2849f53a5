"""Reads the events of a window, and what each delivered, from the client's own record.

The result lacks what the record does not show: events that left no row (a resume without output of
a hook, the end of a session), and files that the client loads by itself.
"""

from __future__ import annotations

from typing import Any

from handbill.event import MAIN
from handbill.hosts.claude_code.rows import (
    TYPES,
    attachment_of,
    blocks_of,
    calls_in,
    has_result,
    injected,
    is_boundary,
    is_summary,
    message_id,
    metadata_of,
    prompt_of,
    record_of,
)
from handbill.hosts.claude_code.tools import is_denial
from handbill.lab.notices_of_commands import notice_of
from handbill.text.blocks import read_title

Raw = dict[str, Any]
Title = tuple[str, str, int, int]

_REQUESTS = b'{"type":"api-request'
_CLIENTS_OWN = ("<local-command-", "<bash-", "<task-notification", "Stop hook feedback:")
_INTERRUPTED = "[Request interrupted by user"
# No rule depends on them.
_SECRET_INPUTS = ("content", "old_string", "new_string", "edits", "new_source")
_LONGEST_ANSWER = 400
_STOPPED = "stop_hook_summary"


class Line:
    """One line of a stream: an event with the titles that it delivered, a rewind, or a notice."""

    def __init__(self, at: str, event: Raw | None = None, act: Raw | None = None) -> None:
        self.at = at
        self.event = event or {}
        self.act = act
        self.titles: list[Title] = []

    @property
    def name(self) -> str:
        return str(self.event.get("hook_event_name", ""))


def record(
    session: str, main: bytes, agents: dict[str, bytes], project: str, held: frozenset[str] | None
) -> list[Line]:
    """Return all windows of a session in the order of time.

    `held`: the tools that a hook runs before; None for all tools.
    """
    reader = Reader(session, MAIN, project, held)
    reader.read(main)
    lines = reader.lines
    types = [one.event["tool_input"].get("subagent_type", "") for one in lines if one.event.get("tool_name") == "Agent"]
    for agent, data in sorted(agents.items(), key=lambda one: _first_time(one[1])):
        own = Reader(session, agent, project, held, str(types.pop(0)) if types else "general-purpose")
        own.read(data)
        lines += own.lines
    # The sort is stable: a line without its own time stays after its row.
    return sorted(lines, key=lambda line: line.at)


def _first_time(data: bytes) -> str:
    return next((str(row["timestamp"]) for row in map(record_of, data.splitlines()) if row and "timestamp" in row), "")


class Reader:
    """Reads the rows of one transcript in order."""

    def __init__(
        self, session: str, agent: str, project: str, held: frozenset[str] | None, agent_type: str = ""
    ) -> None:
        self.lines: list[Line] = []
        self._common: Raw = {"session_id": session}
        if agent != MAIN:
            self._common |= {"agent_id": agent, "agent_type": agent_type}
        self._is_main = agent == MAIN
        self._project = project
        self._held = held
        self._at = self._cwd = ""
        self._skill = ""  # the skill that a command began last
        self._message = ""  # the answer whose calls are open
        self._open: dict[str, Raw] = {}
        self._answers: dict[str, Raw] = {}
        self._answered_at = ""
        # (skill, arguments, prompt), until its body proves that it is a skill.
        self._typed: tuple[str, str, str] | None = None
        self._spoke = False  # whether the model spoke since the last start
        self._parents: dict[str, str] = {}
        self._prompts: dict[str, str] = {}  # row -> id of the prompt
        self._last = ""

    def read(self, data: bytes) -> None:
        for raw in data.splitlines():
            row = record_of(raw) if raw and not raw.startswith(_REQUESTS) else None
            if row is None or not isinstance(row.get("uuid"), str):
                continue
            if row.get("type") in TYPES and not (self._is_main and row.get("isSidechain")):
                self._at = str(row.get("timestamp") or self._at)
                self._cwd = str(row.get("cwd") or self._cwd)
                if not self.lines:
                    start = {"source": "startup"} if self._is_main else {}
                    self._add("SessionStart" if self._is_main else "SubagentStart", **start)
                self._take(row)
            # The second one belongs to a compaction.
            parent = row.get("parentUuid") or row.get("logicalParentUuid")
            self._parents[row["uuid"]] = parent if isinstance(parent, str) else ""
            self._last = row["uuid"]
        self._finish_batch()

    def _take(self, row: Raw) -> None:
        if attachment_of(row):
            self._hook(row)
        elif is_boundary(row):
            self._finish_batch()
            self._add("PreCompact", trigger=str(metadata_of(row).get("trigger", "auto")))
            self._add("SessionStart", source="compact")
            self._spoke = False
        elif row.get("subtype") == _STOPPED:
            self._finish_batch()
            self._add("Stop", stop_hook_active=False)
        elif row.get("type") == "assistant":
            self._answer(row)
        elif has_result(row):
            self._results(row)
        elif row.get("type") == "user" and not is_summary(row):
            self._words(row)

    def _add(self, event: str, **fields: Any) -> Line:
        common = {**self._common, "cwd": self._cwd or self._project, "hook_event_name": event}
        line = Line(self._at, {**common, **fields})
        self.lines.append(line)
        return line

    # --- hooks -------------------------------------------------------------------------------------

    def _hook(self, row: Raw) -> None:
        attachment = attachment_of(row)
        event, name = attachment.get("hookEvent"), str(attachment.get("hookName", ""))
        if event == "SessionStart" and self._is_main:
            source = name.partition(":")[2] or "resume"
            if self._spoke and source != "compact":
                self._finish_batch()
                self._add("SessionStart", source=source)
                self._spoke = False
        elif event == "PostToolBatch":
            self._finish_batch()
        titles = [title for text in injected(row) for title in _titles(text)]
        of_event = [line for line in self.lines if line.name == event] if titles else []
        if of_event:
            of_event[-1].titles += titles

    # --- the conversation --------------------------------------------------------------------------

    def _answer(self, row: Raw) -> None:
        self._spoke = True
        id = message_id(row)
        if not id or id != self._message:
            self._finish_batch()
        self._message = id
        for call in calls_in(row):
            self._open[call["id"]] = {
                "tool_name": str(call.get("name", "")), "tool_input": _without_texts(call.get("input")),
                "tool_use_id": call["id"],
            }  # fmt: skip
            if self._held is None or call.get("name") in self._held:
                self._add("PreToolUse", **self._open[call["id"]])

    def _results(self, row: Raw) -> None:
        for block in blocks_of(row):
            call = self._open.get(str(block.get("tool_use_id")))
            if call is None or block.get("type") != "tool_result":
                continue
            text, failed = _text_of(block.get("content")), block.get("is_error") is True
            if failed and is_denial(text):
                before = [line for line in self.lines if line.event.get("tool_use_id") == call["tool_use_id"]]
                for line in before[-1:]:
                    line.titles += _titles(text)
            answer = {"tool_response": text} if failed or _matters(call) else {}
            self._answers[call["tool_use_id"]] = {**call, **answer}
            self._answered_at = self._at

    def _finish_batch(self) -> None:
        """Finish a batch. A message interrupted before its last call was answered has no event."""
        if self._open and len(self._answers) == len(self._open):
            for call in self._answers.values():
                notice = notice_of(call, self._skill)
                if notice is not None:
                    self._skill = str(notice.get("skill") or self._skill)
                    self.lines.append(Line(self._answered_at, act={"notice": notice}))
            line = self._add("PostToolBatch", tool_calls=[_cut(call) for call in self._answers.values()])
            line.at = self._answered_at
        self._open, self._answers = {}, {}

    def _words(self, row: Raw) -> None:
        text = "\n".join(str(block.get("text", "")) for block in blocks_of(row))
        if text.startswith(_INTERRUPTED):
            self._open, self._answers = {}, {}
        elif row.get("isMeta") is True:
            if self._typed is not None and self._is_main:
                self._expanded(*self._typed)
            self._typed = None
        elif self._is_main and not text.startswith(_CLIENTS_OWN) and prompt_of(row):
            self._finish_batch()
            self._spoke = True
            undone = self._undone(str(row.get("parentUuid") or ""))
            if undone:
                self.lines.append(Line(self._at, act={"rewind": undone}))
            self._typed = _command(text, prompt_of(row))
            if self._typed is None:
                self._prompts[row["uuid"]] = prompt_of(row)
                self._add("UserPromptSubmit", prompt=text, prompt_id=prompt_of(row))

    def _undone(self, parent: str) -> str:
        """Return the first prompt that a rewind undid.

        It is between the newest row and the row that this prompt follows.
        """
        found, at = "", self._last
        seen: set[str] = set()
        while at and at != parent and at not in seen:
            seen.add(at)
            found = self._prompts.get(at, found)
            at = self._parents.get(at, "")
        return found if at == parent and parent else ""

    def _expanded(self, name: str, arguments: str, id: str) -> None:
        typed = f"/{name} {arguments}".strip()
        if not (self.lines and self.lines[-1].event.get("prompt") == typed):
            self._add("UserPromptSubmit", prompt=typed, prompt_id=id)
        self._add(
            "UserPromptExpansion", expansion_type="slash_command", command_name=name, command_args=arguments,
            command_source="projectSettings", prompt=typed, prompt_id=id,
        )  # fmt: skip


def _command(text: str, id: str) -> tuple[str, str, str] | None:
    name = text.partition("<command-name>")[2].partition("</command-name>")[0].strip().removeprefix("/")
    arguments = text.partition("<command-args>")[2].partition("</command-args>")[0].strip()
    return (name, arguments, id) if name else None


def _titles(text: str) -> list[Title]:
    lines = (line for line in text.split("\n") if line.startswith("["))
    return [title for title in map(read_title, lines) if title is not None]


def _without_texts(values: Any) -> Raw:
    given = values if isinstance(values, dict) else {}
    return {name: "…" if name in _SECRET_INPUTS else value for name, value in given.items()}


def _cut(call: Raw) -> Raw:
    return {**call, "tool_response": call["tool_response"][:_LONGEST_ANSWER]} if "tool_response" in call else call


def _matters(call: Raw) -> bool:
    """Whether a hook depends on the answer of a successful call."""
    return call["tool_name"] == "Skill" or (
        call["tool_name"] == "Bash" and "engine " in str(call["tool_input"].get("command", ""))
    )


def _text_of(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""

"""Event streams, which `engine record` writes and `engine replay` plays.

A stream is JSON lines. A line is an event as the host sends it, or `{"in": event, "out": [...]}`
with the deliveries expected. `$PROJECT` in a line means the project folder. A first line
`{"version": "2.1.325", "files": {path: text}, "lanes": {event: number}}` names the client, contains
the files of the project, and sets how many handlers an event has. Each of these is optional.
`{"rewind": ID}` goes back to before the prompt with that id. `{"notice": {...}}` is a notice that a
command of the agent left for the hooks.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any

from handbill.errors import HandbillError
from handbill.lab.simulator import Moment, Raw, Simulator, direct_hooks
from handbill.settings import state_roots
from handbill.store.files import FileStore

NEWEST = "2.1.325"
_FIELDS = ("tool_name", "tool_input", "tool_use_id")
_HEAD = ("version", "files", "lanes")


class Stream:
    """A stream. `head` is the first line, which describes the rest."""

    def __init__(self, text: str, name: str) -> None:
        self.head: Raw = {}
        self.lines: list[Raw] = []
        number = 0
        try:
            for number, line in enumerate(text.split("\n"), 1):
                if line.strip():
                    self._take(json.loads(line), f"{name}:{number}")
        except (ValueError, RecursionError) as error:
            raise HandbillError(f"{name}:{number}: {error}", "one JSON object per line") from error

    def _take(self, value: Any, where: str) -> None:
        is_head = (
            isinstance(value, dict) and not self.lines and not self.head and bool(value) and set(value) <= {*_HEAD}
        )
        if is_head:
            self.head = value
            return
        if not _is_act(value):
            _require_event(value, where)
        self.lines.append(value)

    @property
    def has_files(self) -> bool:
        return "files" in self.head

    def text(self) -> str:
        rows = [self.head] if self.head else []
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in (*rows, *self.lines))


def _is_act(value: Any) -> bool:
    """Whether a value is not an event, but an action between two events."""
    if not isinstance(value, dict) or len(value) != 1:
        return False
    notice = value.get("notice")
    return isinstance(value.get("rewind"), str) or (isinstance(notice, dict) and isinstance(notice.get("verb"), str))


def _require_event(value: Any, where: str) -> None:
    event = value.get("in", value) if isinstance(value, dict) else None
    if not isinstance(event, dict) or not isinstance(event.get("hook_event_name"), str):
        raise HandbillError(f"{where}: not an event, because it has no hook_event_name", "one event per line")
    calls = event.get("tool_calls", [])
    if not isinstance(calls, list) or not all(isinstance(one, dict) and set(_FIELDS) <= set(one) for one in calls):
        raise HandbillError(f"{where}: tool_calls must list objects with {', '.join(_FIELDS)}", "one event per line")


class Played:
    """One event of a stream and its results."""

    def __init__(self, moment: Moment, root: str, expected: list[str] | None, *, in_order: bool) -> None:
        event = moment.event
        tools = ", ".join(str(call.get("tool_name", "")) for call in event.get("tool_calls", []))
        self.event = str(event["hook_event_name"])
        self.about = str(event.get("source") or event.get("tool_name") or tools)
        self.window = moment.window
        self.delivered = [part_name(title, root) for title in moment.titles]
        self.expected = expected
        self.messages = moment.messages
        same = self.delivered == expected if in_order else sorted(self.delivered) == sorted(expected or ())
        self.differs = expected is not None and not same


def part_name(title: tuple[str, str, int, int], root: str) -> str:
    """Return a name of a delivery that does not depend on this machine."""
    path, _, part, parts = title
    page, library = path.find("/.engine/pages/"), path.find("/handbill/data/")
    name = path.replace(f"{root}/", "")
    if page >= 0:
        name = "page:" + path[page + 15 :].rpartition("-")[0]
    elif library >= 0:
        name = "library:" + path[library + 15 :].removeprefix("directives/")
    return f"{name} {part}/{parts}" if parts > 1 else name


def play(stream: Stream, folder: str, root: str) -> list[Played]:
    """Play a stream.

    `folder` holds the state, which is not the project's own, and the project in the stream.
    """
    if stream.has_files:
        _make_files(stream.head["files"], root)
    version = str(stream.head.get("version", NEWEST)).replace(".", "-")
    environ = {
        "HOME": os.path.join(folder, "home"), "CLAUDE_PROJECT_DIR": root, "CLAUDE_PID": "1",
        "AI_AGENT": f"claude-code_{version}_replay",
    }  # fmt: skip
    lanes = stream.head.get("lanes", {})
    counts = {name: count for name, count in lanes.items() if isinstance(count, int) and 0 < count < 20}
    simulator = Simulator(root, os.path.join(folder, "transcripts"), direct_hooks(environ, counts))
    store = FileStore(*state_roots(root, environ))
    prompts: dict[str, Moment] = {}
    rows = []
    for line in stream.lines:
        raw = json.loads(json.dumps(line).replace("$PROJECT", root))
        if "rewind" in raw:
            if raw["rewind"] in prompts:
                simulator.rewind(prompts[raw["rewind"]])
        elif "notice" in raw:
            store.post(simulator.session, {**raw["notice"], "at": time.time(), "by": "agent"})
        else:
            moment = _sent(simulator, raw.get("in", raw))
            if moment.event["hook_event_name"] == "UserPromptSubmit":
                prompts[str(moment.event.get("prompt_id", ""))] = moment
            rows.append(Played(moment, root, line.get("out"), in_order=not counts))
    return rows


def _sent(simulator: Simulator, event: Raw) -> Moment:
    simulator.session = _id(event.get("session_id", simulator.session))
    if "agent_id" in event:
        event["agent_id"] = _id(event["agent_id"])
    event["transcript_path"] = simulator.transcript
    if event["hook_event_name"] == "UserPromptExpansion":
        simulator.show_skill(str(event.get("command_name", "")), typed=True)
    moment = simulator.send(event)
    for call in event.get("tool_calls", ()):
        if call["tool_name"] == "Skill" and str(call.get("tool_response", "")).startswith("Launching skill"):
            simulator.show_skill(str(call["tool_input"].get("skill", "")), event.get("agent_id", ""))
    return moment


def _make_files(files: Any, root: str) -> None:
    """Create the files only below our own folder, because anybody may have made the recording."""
    for name, text in files.items() if isinstance(files, dict) else ():
        inside = isinstance(name, str) and not name.startswith("/") and ".." not in name.split("/") and "\0" not in name
        if not inside or not isinstance(text, str):
            raise HandbillError(f"the recording names a file {name!r}", "use relative names without `..`")
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)


def _id(value: Any) -> str:
    """Return a valid id, because it becomes the name of a file."""
    if isinstance(value, str) and value and not value.startswith(".") and not {"/", "\\", "\0"} & set(value):
        return value
    raise HandbillError(f"{value!r} is not the id of a session or an agent", "correct the recording")

"""A simulated host: it accepts events, calls the hooks, and handles answers as the client does.

It keeps a transcript in the client's format, so that receipts, audits and compactions work as they
do there, and a view of each window's content. `engine demo`, `engine replay` and tests use it.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime

from handbill.event import MAIN
from handbill.hosts.claude_code import registration
from handbill.hosts.claude_code.transcript import path_of
from handbill.lab.hooks import Hooks, ProcessHooks, Raw, direct_hooks
from handbill.text.blocks import read_title, units

__all__ = ["Hooks", "Moment", "ProcessHooks", "Raw", "Simulator", "direct_hooks"]

HOST_CAP = 10_000


@dataclass
class Moment:
    """One event and its results."""

    event: Raw
    window: str
    texts: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    denied: str = ""  # why the call was not made
    seconds: float = 0.0

    @property
    def titles(self) -> list[tuple[str, str, int, int]]:
        lines = (line for text in (*self.texts, self.denied) for line in text.split("\n") if line.startswith("["))
        return [title for title in map(read_title, lines) if title is not None]


class Simulator:
    def __init__(self, project: str, folder: str, hooks: Hooks, session: str = "") -> None:
        self.project = project
        self.folder = folder
        self.hooks = hooks
        self.session = session or str(uuid.uuid4())
        # The tools that PreToolUse is registered for; empty for all.
        self.held_tools = registration.HELD_TOOLS
        self.views: dict[str, list[tuple[str, str]]] = {}  # window -> (moment, text)
        self._last: dict[str, str] = {}  # transcript -> uuid of its newest record
        self._heads: dict[str, str] = {}  # transcript -> uuid of its newest assistant record
        self._batches: dict[str, str] = {}
        self._denied: dict[str, str] = {}  # call -> the reason for the denial
        self._kept_from: dict[str, int] = {}  # window -> where its last message begins in its view
        # Prompt id -> the row and the answer before it, the view's length.
        self._prompts: dict[str, tuple[str, str, int]] = {}
        self._count = 0
        self._trigger = "auto"  # the trigger of the newest compaction

    @property
    def transcript(self) -> str:
        return os.path.join(self.folder, f"{self.session}.jsonl")

    # --- events --------------------------------------------------------------------------------

    def start(self, source: str = "startup") -> Moment:
        return self.send({"hook_event_name": "SessionStart", "source": source})

    def prompt(self, text: str) -> Moment:
        return self.send({"hook_event_name": "UserPromptSubmit", "prompt": text, "prompt_id": str(uuid.uuid4())})

    def rewind(self, prompt: Moment) -> None:
        """Go back to before this prompt.

        The client sends no event, and the undone rows stay in the file.
        """
        path, view = self.transcript, self.views[MAIN]
        self._last[path], self._heads[path], length = self._prompts[prompt.event["prompt_id"]]
        del view[length:]
        self._kept_from[MAIN] = len(view)

    def skill(self, name: str, arguments: str = "") -> Moment:
        """Type `/name arguments`: the client expands it and adds the skill's body to the window."""
        typed = {"prompt": f"/{name} {arguments}".strip(), "prompt_id": str(uuid.uuid4())}
        self.send({"hook_event_name": "UserPromptSubmit", **typed})
        self.show_skill(name, typed=True, arguments=arguments, prompt=typed["prompt_id"])
        command = {"expansion_type": "slash_command", "command_name": name, "command_source": "projectSettings"}
        return self.send({"hook_event_name": "UserPromptExpansion", "command_args": arguments, **command, **typed})

    def batch(self, *calls: tuple[str, Raw] | tuple[str, Raw, str], agent: str = "") -> Moment:
        """Play one assistant message: (tool, input[, output]) each.

        Held calls are denied, and the others run.
        """
        made: list[Raw] = []
        denied = ""
        for name, values, *answer in calls:
            self._count += 1
            one: Raw = {"tool_name": name, "tool_input": values, "tool_use_id": f"toolu_{self._count:04d}"}
            if not self.held_tools or name in self.held_tools.split("|"):
                denied = self.send({"hook_event_name": "PreToolUse", **one, **_agent(agent)}).denied or denied
                if one["tool_use_id"] in self._denied:
                    answer = [self._denied[one["tool_use_id"]]]
            made.append({**one, "tool_response": answer[0]} if answer else one)
        moment = self.send({"hook_event_name": "PostToolBatch", "tool_calls": made, **_agent(agent)})
        moment.denied = denied
        return moment

    def invoke(self, skill: str, agent: str = "") -> Moment:
        """Call the Skill tool: the client adds the skill's body to the window after the result."""
        moment = self.batch(("Skill", {"skill": skill}, f"Launching skill: {skill}"), agent=agent)
        self.show_skill(skill, agent)
        return moment

    def show_skill(
        self, skill: str, agent: str = "", *, typed: bool = False, arguments: str = "", prompt: str = ""
    ) -> None:
        """Add what the client puts into the window when a skill begins."""
        if typed:
            text = f"<command-name>/{skill}</command-name>\n<command-args>{arguments}</command-args>"
            row = {"type": "user", "message": {"role": "user", "content": text}}
            self._write(self.transcript, {**row, "promptId": prompt} if prompt else row)
        text = f"Base directory for this skill: {os.path.join(self.project, '.claude', 'skills', skill)}\n\n# …"
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        self._write(path_of(self.transcript, agent), {"type": "user", "isMeta": True, "message": message})

    def write(self, path: str, agent: str = "") -> Moment:
        return self.batch(("Write", {"file_path": os.path.join(self.project, path), "content": "x"}), agent=agent)

    def read(self, *paths: str, agent: str = "") -> Moment:
        return self.batch(*(("Read", {"file_path": os.path.join(self.project, path)}) for path in paths), agent=agent)

    def subagent(self, agent: str) -> Moment:
        return self.send({"hook_event_name": "SubagentStart", **_agent(agent)})

    def compact(self, agent: str = "") -> Moment:
        self.send({"hook_event_name": "PreCompact", "trigger": "auto", **_agent(agent)})
        return self.send({"hook_event_name": "SessionStart", "source": "compact", **_agent(agent)})

    def stop(self, *, again: bool = False) -> Moment:
        """Play a Stop event. If the agent must continue, `denied` contains the reason."""
        return self.send({"hook_event_name": "Stop", "stop_hook_active": again})

    def fail(self, event: str) -> None:
        """Record, as the client does, that one of our hooks failed."""
        command = "python -c '# handbill.hook'"
        failure = {"type": "hook_non_blocking_error", "hookEvent": event, "command": command, "exitCode": 137}
        self._write(self.transcript, {"type": "attachment", "attachment": failure})

    def answer(self, text: str) -> None:
        """Write an answer of the model. The next event finds it in the transcript."""
        blocks = [{"type": "text", "text": text}]
        self._write(self.transcript, {"type": "assistant", "message": {"role": "assistant", "content": blocks}})

    def clear(self) -> Moment:
        self.send({"hook_event_name": "SessionEnd", "reason": "clear"})
        self.session = str(uuid.uuid4())
        self.views.pop(MAIN, None)
        return self.start("clear")

    # --- one event -----------------------------------------------------------------------------

    def send(self, raw: Raw) -> Moment:
        """Play one event as the host would send it. Missing fields are filled in."""
        raw = {"session_id": self.session, "transcript_path": self.transcript, "cwd": self.project, **raw}
        name, agent = raw["hook_event_name"], raw.get("agent_id", "")
        moment = Moment(raw, agent or MAIN)
        self._before(raw, path_of(self.transcript, agent))
        started = time.perf_counter()
        answers = self.hooks(name, raw)
        moment.seconds = time.perf_counter() - started
        for answer in answers:
            self._take(moment, answer)
        self._after(moment, path_of(self.transcript, agent))
        return moment

    def copies(self, window: str = MAIN) -> dict[tuple[str, str, int, int], int]:
        """Return how many copies of each block a window contains now."""
        found: dict[tuple[str, str, int, int], int] = {}
        for _, text in self.views.get(window, []):
            for title in Moment({}, "", [text]).titles:
                found[title] = found.get(title, 0) + 1
        return found

    def _take(self, moment: Moment, answer: str) -> None:
        value = json.loads(answer) if answer else {}
        specific = value.get("hookSpecificOutput", {})
        if specific.get("permissionDecision") == "allow":
            raise AssertionError("a hook must never approve a tool call")
        if specific and specific["hookEventName"] != moment.event["hook_event_name"]:
            raise AssertionError(f"an answer to {specific['hookEventName']}, not to {moment.event['hook_event_name']}")
        if specific.get("permissionDecision") == "deny":
            moment.denied = specific["permissionDecisionReason"]
            call = moment.event["tool_use_id"]
            self._denied[call] = f"PreToolUse:{moment.event['tool_name']} hook error: {moment.denied}"
            self.views.setdefault(moment.window, []).append((call, moment.denied))
        if value.get("decision") == "block":
            moment.denied = value["reason"]
            self.views.setdefault(moment.window, []).append(("Stop", moment.denied))
        text = specific.get("additionalContext", "")
        if units(text) > HOST_CAP:
            preview = f"Output too large\n\nPreview (first 2KB):\n{text[:2000]}\n..."
            text = f"<persisted-output>\n{preview}\n</persisted-output>"
        if text:
            moment.texts.append(text)
        if value.get("systemMessage"):
            moment.messages.append(value["systemMessage"])

    # --- the transcript ------------------------------------------------------------------------

    def _before(self, raw: Raw, path: str) -> None:
        """Write what the client has recorded by the time the hooks run."""
        self._trigger = raw.get("trigger", "auto") if raw["hook_event_name"] == "PreCompact" else self._trigger
        if raw["hook_event_name"] == "PostToolBatch":
            calls = raw.get("tool_calls", [])
            shown = [(call["tool_use_id"], call["tool_name"], call["tool_input"]) for call in calls]
            blocks = [{"type": "tool_use", "id": id, "name": name, "input": values} for id, name, values in shown]
            self._heads[path] = self._write(path, {"type": "assistant", "message": {"content": blocks}})
            results = [self._result(call) for call in calls]
            self._write(path, {"type": "user", "message": {"role": "user", "content": results}})
            window, ids = raw.get("agent_id") or MAIN, {call["tool_use_id"] for call in calls}
            view = self.views.setdefault(window, [])
            self._batches[window] = calls[-1]["tool_use_id"] if calls else ""
            self._kept_from[window] = next((i for i, (at, _) in enumerate(view) if at in ids), len(view))

    def _result(self, call: Raw) -> Raw:
        id, denied = call["tool_use_id"], self._denied.get(call["tool_use_id"])
        answer = denied or call.get("tool_response") or "…"
        return {"tool_use_id": id, "type": "tool_result", "content": answer, "is_error": bool(denied)}

    def _after(self, moment: Moment, path: str) -> None:
        """Put the answers into the window and the transcript, as the client does."""
        raw, view = moment.event, self.views.setdefault(moment.window, [])
        name = raw["hook_event_name"]
        at = self._batches.get(moment.window, "") if name == "PostToolBatch" else name
        if name == "SessionStart" and raw.get("source") == "compact":
            self._boundary(path)
            # Keep the last message and what arrived with it.
            view[:] = view[self._kept_from.get(moment.window, len(view)) :]
            self._kept_from[moment.window] = 0
        # The client writes the prompt only after its hooks have answered.
        if name == "UserPromptSubmit":
            before = self._last.get(path, ""), self._heads.get(path, ""), len(view)
            self._prompts[raw.get("prompt_id", "")] = before
            message = {"role": "user", "content": raw.get("prompt", "")}
            self._write(path, {"type": "user", "promptId": raw.get("prompt_id", ""), "message": message})
        for text in moment.texts:
            if name == "SessionStart" and (at, text) in view:
                continue  # the client drops a repeat of the same bytes
            view.append((at, text))
            attachment = {"type": "hook_additional_context", "content": [text], "hookName": name, "hookEvent": name}
            self._write(path, {"type": "attachment", "attachment": attachment})

    def _boundary(self, path: str) -> None:
        segment = {"headUuid": self._heads.get(path, ""), "tailUuid": self._last.get(path, "")}
        metadata = {"trigger": self._trigger, "preservedSegment": segment}
        row = {"type": "system", "subtype": "compact_boundary", "compactMetadata": metadata}
        before, self._last[path] = self._last.get(path), ""
        self._write(path, {**row, "logicalParentUuid": before})
        self._write(path, {"type": "user", "isCompactSummary": True, "message": {"role": "user", "content": "summary"}})

    def _write(self, path: str, record: Raw) -> str:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        name = str(uuid.uuid4())
        moment = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        line = {"parentUuid": self._last.get(path) or None, "isSidechain": False, **record, "uuid": name}
        line["timestamp"] = moment
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
        self._last[path] = name
        return name


def _agent(agent: str) -> Raw:
    return {"agent_id": agent, "agent_type": "general-purpose"} if agent else {}

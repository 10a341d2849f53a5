"""A temporary project with a window, and the events that a client would send for it."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from pathlib import Path
from typing import Any

import records
from handbill.settings import state_roots
from subject import Subject

Event = dict[str, Any]
Plain = dict[str, Any]

TITLE = "[Preloaded: "
USUAL_TRANSCRIPT = 160_000  # bytes; a real transcript has this length after three tool calls
SOURCE = "".join(f"value_{number} = {number}\n" for number in range(100))


class Project:
    def __init__(self, root: Path, subject: Subject) -> None:
        self.subject = subject
        self.session = str(uuid.uuid4())
        self.path = root / "project"
        self.home = root / "home"
        self.transcript = self.home / ".claude" / "projects" / "project" / f"{self.session}.jsonl"
        self.path.mkdir(parents=True)
        self.home.mkdir()

    @property
    def state_folder(self) -> Path:
        return Path(state_roots(str(self.path), self.environment())[0])

    def environment(self) -> dict[str, str]:
        """Return the environment that 2.1.325 gives to its hooks. Its size also costs time."""
        return {
            "AI_AGENT": "claude-code_2-1-325_harness", "CLAUDE_CODE_ENTRYPOINT": "sdk-cli", "DISABLE_TELEMETRY": "1",
            "CLAUDE_CODE_SESSION_ATTENDED": "0", "HOME": str(self.home), "CLAUDE_CODE_CHILD_SESSION": "1",
            "PATH": os.environ["PATH"], "COREPACK_ENABLE_AUTO_PIN": "0", "CLAUDE_EFFORT": "medium",
            "LANG": "C.UTF-8", "NoDefaultCurrentDirectoryInExePath": "1", "CLAUDE_PID": str(os.getpid()),
            "CLAUDE_CODE_SESSION_ID": self.session, "CLAUDECODE": "1", "CLAUDE_PROJECT_DIR": str(self.path),
            "DISABLE_AUTOUPDATER": "1", "PWD": str(self.path), "IS_SANDBOX": "1",
        }  # fmt: skip

    # --- files ---------------------------------------------------------------------------------

    def write(self, name: str, text: str) -> str:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return str(target)

    def directive(self, folder: str, name: str, size: int = 1000) -> str:
        """Write a directive and return its path.

        Each has a different text, because a repeated text would not be delivered.
        """
        text = f"# {name} of {folder}\n\n" + "Keep to what this page says about its folder.\n" * (size // 46)
        return self.write(f"{folder}/.directives/{name}", text)

    @property
    def window(self) -> Path:
        return self.state_folder / ".windows" / f"{self.session}.jsonl"

    @property
    def ledger(self) -> Plain:
        """Return the window's fields, with its records in order under `files` and `touched`."""
        head, *lines = self.window.read_text(encoding="utf-8").splitlines()
        found: Plain = json.loads(head)
        gap = lines.index("")
        found["files"] = [json.loads(line) for line in lines[:gap]]
        found["touched"] = [json.loads(line) for line in lines[gap + 1 :]]
        return found

    @ledger.setter
    def ledger(self, ledger: Plain) -> None:
        fields = {name: value for name, value in ledger.items() if name not in ("files", "touched")}
        parts = [[fields, *ledger["files"]], ledger["touched"]]
        texts = [
            "".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in part) for part in parts
        ]
        self.window.write_text("\n".join(texts), encoding="utf-8")

    def errors(self) -> list[str]:
        path = self.state_folder / ".engine" / "errors.jsonl"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    # --- events --------------------------------------------------------------------------------

    def event(self, name: str, **more: Any) -> Event:
        return {
            "session_id": self.session, "transcript_path": str(self.transcript), "cwd": str(self.path),
            "prompt_id": "bbd5ece0-ebe3-4af5-8304-24adc0dd1148", "permission_mode": "bypassPermissions",
            "effort": {"level": "medium"}, "hook_event_name": name, **more,
        }  # fmt: skip

    def reading(self, *names: str) -> Event:
        """Return the event after a batch of Read calls.

        At that moment the transcript contains the calls and their results.
        """
        tools = [
            {
                "tool_name": "Read", "tool_input": {"file_path": str(self.path / name)},
                "tool_use_id": f"toolu_{uuid.uuid4().hex[:24]}", "tool_response": SOURCE,
            }
            for name in names
        ]  # fmt: skip
        records.append(self.transcript, *records.calls(self.session, tools))
        return self.event("PostToolBatch", tool_calls=tools)

    def start(self, event: Event) -> subprocess.Popen[str]:
        """Start a hook process that waits for its event."""
        return subprocess.Popen(
            self.subject.command(event["hook_event_name"]), env=self.environment(), cwd=self.path, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def hook(self, event: Event) -> str:
        """Return the text that the hook adds to the window."""
        out, err = self.start(event).communicate(json.dumps(event))
        if err:
            raise RuntimeError(f"the hook said: {err}")
        return context(out)

    def arrive(self, event: Event, text: str) -> None:
        """Write the client's receipt for the hook's text."""
        if text:
            records.append(self.transcript, records.injection(self.session, event["hook_event_name"], text))

    def deliver(self, event: Event) -> str:
        text = self.hook(event)
        self.arrive(event, text)
        return text


def context(stdout: str) -> str:
    if not stdout:
        return ""
    text: str = json.loads(stdout).get("hookSpecificOutput", {}).get("additionalContext", "")
    return text

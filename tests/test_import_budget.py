"""Checks which modules each kind of event loads, so that a new one is added deliberately."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from handbill.settings import state_roots

SOURCE = str(Path(__file__).parents[1] / "src")

# Modules that a bare interpreter with -I -S does not load by itself.
STANDARD = {"_blake2", "_json", "errno", "fcntl", "posix", "time", "__future__"}
ALWAYS = {
    "errors", "event", "fast_json", "gates", "flow", "flow.event_context", "flow.pipeline", "handlers", "hook", "hosts",
    "hosts.claude_code", "hosts.claude_code.tools", "ledger", "ledger.records", "ledger.window", "paths", "plan",
    "settings", "store", "store.files", "world",
}  # fmt: skip
WRITING = {
    "digest", "flow.delivery", "flow.log_lines", "flow.window_changes", "ledger.claim", "store.api", "store.disk", "text", "text.blocks",
    "text.document",
}  # fmt: skip
# For a page that refers to others.
READING = {"library.named_pages", "text.markdown", "text.references"}
RECORDS = {
    "hosts.claude_code.chain", "hosts.claude_code.files_shown", "hosts.claude_code.rows",
    "hosts.claude_code.transcript", "hosts.claude_code.window",
}  # fmt: skip
LOOKING = RECORDS | {
    "flow.delivery", "flow.findings", "flow.window_changes", "flow.missed_calls", "ledger.content", "ledger.epochs", "ledger.host_files",
    "ledger.receipts", "ledger.reconcile", "text", "text.blocks",
}  # fmt: skip
LOADING = {"text.secret_paths", "world.documents"}  # for a file that may be delivered

PROBE = """
import sys; before = set(sys.modules); sys.path.insert(0, sys.argv[1])
from handbill import hook
import posix
data = posix.read(0, 1 << 20)
environ = {"HOME": sys.argv[2], "CLAUDE_PROJECT_DIR": sys.argv[3], "AI_AGENT": "claude-code_2-1-325_x", "CLAUDE_PID": "1"}
for line in data.split(b"\\n")[:-1]:
    hook.respond(line, ["claude-code"], environ)
print(" ".join(sorted(set(sys.modules) - before)))
"""


def loaded(tmp_path: Path, *events: dict[str, object], version: str = "") -> set[str]:
    """Return the modules loaded by the last event. Earlier events run in another process."""
    project = tmp_path / "project"
    state = Path(state_roots(str(project), {"HOME": str(tmp_path)})[0])
    (project / ".directives").mkdir(parents=True, exist_ok=True)
    (project / ".directives" / "AGENTS.md").write_text("rule\n")
    transcript = tmp_path / "t.jsonl"
    for number, event in enumerate(events):
        raw = {"session_id": "s", "cwd": str(project), "transcript_path": str(transcript), **event}
        command = [sys.executable, "-I", "-S", "-c", PROBE, SOURCE, str(tmp_path), str(project)]
        done = subprocess.run(command, input=json.dumps(raw) + "\n", capture_output=True, text=True, check=True)
        if number == len(events) - 2:
            _settle(state)
    assert not (state / ".engine" / "errors.jsonl").exists()
    return set(done.stdout.split())


def _settle(state: Path) -> None:
    """Mark everything as confirmed by the client's record."""
    window = state / ".windows" / "s.jsonl"
    head, *files = window.read_text().splitlines(keepends=True)
    window.write_text(json.dumps({**json.loads(head), "openClaims": []}) + "\n" + "".join(files))


START = {"hook_event_name": "SessionStart", "source": "startup"}


def read(number: int, project: str = "/nowhere") -> dict[str, object]:
    call = {"tool_name": "Read", "tool_input": {"file_path": "a.py"}, "tool_use_id": f"t{number}"}
    return {"hook_event_name": "PostToolBatch", "tool_calls": [call]}


def ours(modules: set[str]) -> set[str]:
    return {name.removeprefix("handbill.") for name in modules if name.startswith("handbill.")}


@pytest.mark.parametrize(
    "events, extra",
    [
        (
            [START, read(1), read(2)],
            {"handlers.directives", "library", "library.directive_search"},
        ),  # these events have nothing to do
        (
            [START, read(1)],
            {
                "handlers.directives",
                "hosts.claude_code.native_files",
                "library",
                "library.directive_levels",
                "library.directive_search",
            }
            | LOADING
            | WRITING,
        ),  # this event delivers a directive
        (
            [START],
            {"flow.inbox", "handlers.load_gate", "handlers.standards", "library"}
            | LOADING
            | WRITING
            | READING
            | LOOKING - RECORDS,
        ),
        ([START, {"hook_event_name": "UserPromptSubmit", "prompt": "x"}], {"handlers.freshness"}),
        (
            [START, {"hook_event_name": "InstructionsLoaded", "file_path": "/x/CLAUDE.md"}],
            {"handlers.host_files"} | WRITING,
        ),
    ],
    ids=["nothing", "directive", "start", "prompt", "instructions"],
)
def test_modules_of_an_event(tmp_path: Path, events: list[dict[str, object]], extra: set[str]) -> None:
    modules = loaded(tmp_path, *events)
    assert ours(modules) == ALWAYS | extra
    assert {name for name in modules if not name.startswith("handbill")} <= STANDARD

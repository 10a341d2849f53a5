"""The hook as the host runs it: a real process.

For any input, it prints valid output or nothing, exits with 0, and leaves a trace.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from handbill.hook import _last_words
from handbill.hosts.claude_code.registration import handler, inline

SOURCE = str(Path(__file__).parents[1] / "src")


class Hook:
    def __init__(self, root: Path) -> None:
        self.project = root / "project"
        self.project.mkdir(parents=True)
        self.command = handler(inline(sys.executable, SOURCE))
        self.environ = {"HOME": str(root / "home"), "CLAUDE_PROJECT_DIR": str(self.project), "PATH": "/usr/bin:/bin",
                        "AI_AGENT": "claude-code_2-1-325_x"}  # fmt: skip

    def run(self, data: bytes | dict[str, Any], **environ: str) -> dict[str, Any]:
        text = data if isinstance(data, bytes) else json.dumps(data).encode()
        done = subprocess.run(
            [self.command["command"], *self.command["args"]], input=text, capture_output=True, timeout=60, check=False,
            env={**self.environ, **environ}, cwd=self.project,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stderr == b""
        answer: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
        assert "permissionDecision" not in str(answer)
        return answer

    def event(self, name: str = "PostToolBatch", **more: Any) -> dict[str, Any]:
        return {
            "hook_event_name": name,
            "session_id": "s",
            "cwd": str(self.project),
            "transcript_path": "/none",
            **more,
        }

    def read(self, path: str, id: str = "t1") -> dict[str, Any]:
        return self.event(tool_calls=[{"tool_name": "Read", "tool_input": {"file_path": path}, "tool_use_id": id}])

    def errors(self) -> list[str]:
        found = list(self.project.parent.rglob("errors.jsonl"))
        return [json.loads(line)["error"] for path in found for line in path.read_text().splitlines()]


@pytest.fixture
def hook(tmp_path: Path) -> Hook:
    return Hook(tmp_path)


BAD = [
    b"", b" ", b"{", b"[]", b"7", b"null", b'"text"', b"\xff\xfe\x00", b'{"hook_event_name":', b"{}}", b"[" * 200_000,
    b'{"hook_event_name":"PostToolBatch","session_id":"s","tool_calls":[',
]  # fmt: skip


@pytest.mark.parametrize("data", BAD, ids=lambda data: repr(data[:20]))
def test_what_is_no_event(hook: Hook, data: bytes) -> None:
    assert hook.run(data) == {}
    assert len(hook.errors()) == 1


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"hook_event_name": "Unheard"},
        {"hook_event_name": 7},
        {"hook_event_name": "Stop", "session_id": "s", "new": [1]},
    ],
)
def test_events_that_are_not_ours_are_silent(hook: Hook, raw: dict[str, Any]) -> None:
    assert hook.run(raw) == {}
    assert hook.errors() == []


@pytest.mark.parametrize(
    "more",
    [
        {"session_id": ""}, {"session_id": None}, {"session_id": 7},
    ],
)  # fmt: skip
def test_without_a_session_there_is_no_window(hook: Hook, more: dict[str, Any]) -> None:
    assert hook.run(hook.event(**more)) == {}
    assert "session id" in hook.errors()[0]


@pytest.mark.parametrize(
    "more",
    [
        {"tool_calls": None}, {"tool_calls": 7}, {"tool_calls": [7, None, {}, {"tool_name": 7}]}, {"agent_id": 7},
        {"cwd": None}, {"cwd": "relative"}, {"transcript_path": 7}, {"transcript_path": "/dev/null"}, {"transcript_path": "/"},
        {"tool_calls": [{"tool_name": "Bash", "tool_input": {"command": "x" * 500_000}}]},
        {"tool_calls": [{"tool_name": "Read", "tool_input": {"file_path": "/" + "a/" * 3000 + "x"}}]},
        {"tool_calls": [{"tool_name": "Read", "tool_input": {"file_path": "nul\0byte"}}]},
        {"tool_calls": [{"tool_name": "Read", "tool_input": {"file_path": "\ud800lone"}}]},
    ],
    ids=lambda more: str(more)[:40],
)  # fmt: skip
def test_odd_fields(hook: Hook, more: dict[str, Any]) -> None:
    hook.run(hook.event("SessionStart", source="startup"))
    hook.run(hook.event(**more))
    assert hook.errors() == []


ODD_NAMES = [
    "with space",
    "new\nline",
    'quo"te',
    "emoji🙂",
    "it's",
    "back\\slash",
    "·",
    "[x]",
    "ünï",
    "-dash",
    "$HOME",
    "a" * 200,
]


@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
def test_odd_names_are_delivered_once(hook: Hook, name: str) -> None:
    folder = hook.project / name / ".directives"
    folder.mkdir(parents=True)
    (folder / "AGENTS.md").write_text(f"rules of {name}\n")
    hook.run(hook.event("SessionStart", source="startup"))
    path = str(hook.project / name / "sub" / ".." / "f.py")
    text = hook.run(hook.read(path))["hookSpecificOutput"]["additionalContext"]
    assert text.count("rules of") == 1 and text.split("\n")[0].startswith("[Preloaded: ")
    assert hook.run(hook.read(path, "t2")) == {}
    assert hook.errors() == []


def test_20_megabytes_of_event(hook: Hook) -> None:
    (hook.project / ".directives").mkdir()
    (hook.project / ".directives" / "AGENTS.md").write_text("rule\n")
    hook.run(hook.event("SessionStart", source="startup"))
    raw = hook.read(str(hook.project / "f.py"))
    raw["tool_calls"][0]["tool_response"] = "x" * (20 << 20)
    assert "rule" in hook.run(raw)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("project", ["/", "HOME"])
def test_a_project_that_is_the_root_or_the_home_folder(hook: Hook, project: str) -> None:
    home = hook.project.parent / "home"
    home.mkdir(exist_ok=True)
    place = str(home) if project == "HOME" else "/"
    before = set(os.listdir("/"))
    answer = hook.run(hook.event("SessionStart", source="startup", cwd=place), CLAUDE_PROJECT_DIR=place)
    assert "# Commands" in answer["hookSpecificOutput"]["additionalContext"]
    hook.run(hook.read(f"{place}/x.py"), CLAUDE_PROJECT_DIR=place)
    assert set(os.listdir("/")) == before
    assert not (home / "sessions").exists()
    assert hook.errors() == []


def test_an_open_stdin_without_data_does_not_outlive_its_host(hook: Hook) -> None:
    """The host closes the pipe when it gives up. The hook then ends and leaves a trace."""
    process = subprocess.Popen(
        [hook.command["command"], *hook.command["args"]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=hook.environ,
    )
    time.sleep(0.3)
    assert process.poll() is None
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 0 and out == b""


def test_nobody_reads_the_answer(hook: Hook) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = subprocess.Popen(
        [hook.command["command"], *hook.command["args"]], stdin=subprocess.PIPE, stdout=write_end, env=hook.environ
    )
    os.close(write_end)
    process.communicate(json.dumps(hook.event("SessionStart", source="startup")).encode(), timeout=20)
    assert process.returncode == 0


def test_no_home_at_all(hook: Hook) -> None:
    environ = {name: value for name, value in hook.environ.items() if name != "HOME"}
    done = subprocess.run(
        [hook.command["command"], *hook.command["args"]], env=environ, capture_output=True, check=False,
        input=json.dumps(hook.event("SessionStart", source="startup")).encode(),
    )  # fmt: skip
    assert done.returncode == 0 and b"# Commands" in done.stdout


@pytest.mark.parametrize("missing", ["package", "module"])
def test_the_registered_command_without_its_package(hook: Hook, tmp_path: Path, missing: str) -> None:
    folder = tmp_path / "copy"
    (folder / "handbill").mkdir(parents=True)
    if missing == "module":
        (folder / "handbill" / "__init__.py").write_text("")
    hook.command = handler(inline(sys.executable, str(folder)))
    assert hook.run(hook.event("UserPromptSubmit", prompt="x")) == {}


def test_32_processes_on_one_window(hook: Hook) -> None:
    """The same event runs 32 times at once, and exactly one process prints each file."""
    for number in range(8):
        folder = hook.project / f"d{number}" / ".directives"
        folder.mkdir(parents=True)
        (folder / "AGENTS.md").write_text(f"MARK-{number}-\n")
    hook.run(hook.event("SessionStart", source="startup"))
    calls = [
        {"tool_name": "Read", "tool_input": {"file_path": str(hook.project / f"d{n}" / "f.py")}, "tool_use_id": f"t{n}"}
        for n in range(8)
    ]
    data = json.dumps(hook.event(tool_calls=calls)).encode()
    processes = [
        subprocess.Popen([hook.command["command"], *hook.command["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=hook.environ)
        for _ in range(32)
    ]  # fmt: skip
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(data)
        process.stdin.close()
    printed = "".join(process.stdout.read().decode() for process in processes if process.stdout is not None)
    assert [process.wait() for process in processes] == [0] * 32
    assert [printed.count(f"MARK-{number}-") for number in range(8)] == [1] * 8
    assert hook.errors() == []


@pytest.mark.parametrize("listens", [True, False])
def test_the_last_words_when_the_package_was_removed(
    listens: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if not listens:
        monkeypatch.setitem(sys.modules, "handbill.trace", None)
    _last_words(ValueError("no"))
    assert ("handbill: ValueError: no" in capfd.readouterr().err) is listens

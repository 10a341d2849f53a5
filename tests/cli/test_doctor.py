"""`engine doctor`: what it finds, and how each fault is fixed."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from command import engine, run, state_of
from looked_at import checks, project

__all__ = ["project"]  # the fixture


def test_doctor_sees_that_hooks_are_switched_off(project: Path) -> None:
    (project / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')
    assert any("disableAllHooks" in check["text"] for check in checks(project, 1)["wiring"])


def test_doctor_looks_for_the_standards(project: Path) -> None:
    (project / ".handbill.toml").write_text('[standards]\nfiles = ["nope.md"]\n')
    assert any("nope.md was not found in any library" in check["text"] for check in checks(project, 1)["standards"])


def test_doctor_finds_all_well(project: Path) -> None:
    found = checks(project, 0)
    assert found["wiring"][0]["state"] == found["interpreter"][0]["state"] == found["receipts"][0]["state"] == "ok"
    assert "no problems found" in run("doctor", cwd=project).stdout


def test_doctor_names_each_fault_with_its_fix(project: Path) -> None:
    windows = state_of(project) / ".windows"
    (windows / "x.jsonl.corrupt-1").write_text("?")
    (windows / "x.jsonl.corrupt-1").chmod(0o644)
    (project / ".handbill.toml").write_text("[standards]\nfiles = 7\n")
    with open(state_of(project) / ".engine" / "errors.jsonl", "a") as log:
        log.write(json.dumps({"ts": time.time(), "where": "hook X", "error": "it broke"}) + "\n")
    settings = project / ".claude" / "settings.local.json"
    settings.write_text(settings.read_text().replace(os.path.realpath(sys.executable), "/gone/python"))
    found = checks(project, 1)
    for name, words in [
        ("interpreter", "/gone/python"),
        ("permissions", "read by others"),
        ("settings", "must be a list"),
        ("errors", "it broke"),
    ]:
        bad = [check for check in found[name] if check["state"] == "bad"]
        assert any(words in check["text"] and check["fix"] for check in bad), name
    assert any("put aside" in check["text"] for check in found["state"])
    engine("doctor", "--forget", cwd=project, expect=1)
    assert found["errors"] != checks(project, 1)["errors"]


def test_doctor_tells_of_a_state_folder_that_others_can_enter(project: Path) -> None:
    (state_of(project) / ".windows").chmod(0o755)
    found = checks(project, 1)
    assert "read by others" in found["permissions"][0]["text"] and "chmod" in found["permissions"][0]["fix"]


def test_doctor_without_hooks(tmp_path: Path) -> None:
    (tmp_path / "bare" / ".git").mkdir(parents=True)
    assert checks(tmp_path / "bare", 1)["wiring"][0]["fix"] == "engine install"


def test_doctor_looks_at_skills_sessions_and_the_write_gate(project: Path) -> None:
    engine("install", "--project", str(project))
    assert not [row for row in engine("doctor", cwd=project)["data"]["checks"] if row["check"] == "held calls"]
    (project / ".handbill.toml").write_text('[write_gate]\nmode = "edits"\n')
    (project / ".claude/skills/bad").mkdir(parents=True)
    (project / ".claude/skills/bad/SKILL.md").write_text("### Session Parameters\n```json\n{,}\n```\n")
    (project / "sessions/S").mkdir(parents=True)
    (project / "sessions/S/.state.json").write_text("{")
    found = {
        row["check"]: row for row in engine("doctor", cwd=project, expect=1)["data"]["checks"] if row["state"] == "bad"
    }
    assert "Edit" in found["held calls"]["text"] and found["held calls"]["fix"] == "engine install"
    assert "bad/SKILL.md, line 3: not JSON" in found["skills"]["text"]
    assert "S/.state.json is broken" in found["sessions"]["text"]
    engine("install", "--project", str(project))
    settings = json.loads((project / ".claude/settings.local.json").read_text())
    assert "|Edit|" in settings["hooks"]["PreToolUse"][0]["matcher"]
    assert not [
        row for row in engine("doctor", cwd=project, expect=1)["data"]["checks"] if row["check"] == "held calls"
    ]

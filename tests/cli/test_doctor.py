"""`engine doctor`: what it finds, and how each fault is fixed."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import engine, run, state_of
from looked_at import checks, project

from handbill import VERSION
from handbill.cli.launcher import Launcher

__all__ = ["project"]  # the fixture
SOURCE = Path(__file__).parents[2] / "src"


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
    command = json.loads(settings.read_text())["hooks"]["PreCompact"][0]["hooks"][0]["command"]
    settings.write_text(settings.read_text().replace(command, "/gone/handbill.hook-1"))
    found = checks(project, 1)
    for name, words in [
        ("interpreter", "no installation of yours registered /gone/handbill.hook-1"),
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


def record_of(project: Path, **values: str) -> None:
    """Change what our own record says about this project's installation."""
    path = state_of(project).parent / "installed.json"
    known = json.loads(path.read_text())
    [one] = known.values()
    one.update(values)
    path.write_text(json.dumps(known))


def copy_of_package(project: Path, version: str) -> Path:
    """Another Handbill is what the hooks run. The line behind its version must never be run."""
    folder = project.parent / "other"
    shutil.copytree(SOURCE / "handbill", folder / "handbill", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "handbill" / "__init__.py").write_text(f'"""x"""\nVERSION = "{version}"\n')
    path = state_of(project).parent / "installed.json"
    known = next(iter(json.loads(path.read_text()).values()))
    launcher = Launcher(known["interpreter"], str(folder), known["packages"])
    launcher.write()
    settings = project / ".claude" / "settings.local.json"
    settings.write_text(settings.read_text().replace(known["command"][0], launcher.path))
    record_of(project, folder=str(folder), command=[launcher.path])  # type: ignore[arg-type]
    return folder


@pytest.mark.parametrize(
    "version, state, fix",
    [
        ("0.0.1", "bad", "engine install"),
        ("9.0", "bad", f"use the `engine` of Handbill 9.0; or engine install, which goes back to {VERSION}"),
        (VERSION, "note", "engine install"),
    ],
)
def test_doctor_compares_the_version_that_the_hooks_run(project: Path, version: str, state: str, fix: str) -> None:
    folder = copy_of_package(project, version)
    found = engine("doctor", cwd=project, expect=state == "bad")["data"]["checks"]
    [one] = [row for row in found if row["check"] in ("version", "package")]
    assert (
        (one["state"], one["fix"]) == (state, fix) and str(folder) in one["text"] and version in one["text"] + VERSION
    )
    engine("install", cwd=project)
    assert {"version", "package"}.isdisjoint(checks(project, 0))


def test_doctor_says_that_the_package_was_upgraded_since(project: Path) -> None:
    record_of(project, version="0.0.9")
    [one] = checks(project, 0)["version"]
    assert (
        (one["state"], one["fix"]) == ("note", "engine install") and "0.0.9" in one["text"] and VERSION in one["text"]
    )


def hooks_of(project: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = project / ".claude" / "settings.local.json"
    settings = json.loads(path.read_text())
    change(settings["hooks"])
    path.write_text(json.dumps(settings))


CHANGES: list[tuple[Callable[[dict[str, Any]], object], str, str]] = [
    (lambda hooks: hooks.pop("PreCompact"), "bad", "has no hook for PreCompact"),
    (
        lambda hooks: hooks.update(PostToolUse=hooks["PreCompact"]),
        "note",
        "has hooks for PostToolUse, which this version",
    ),
    (lambda hooks: hooks["PostToolBatch"][0].update(matcher="Read"), "bad", "hooks for PostToolBatch in"),
    (
        lambda hooks: hooks["UserPromptExpansion"][0]["hooks"].pop(),
        "bad",
        "has 3 hooks for UserPromptExpansion; this version uses 4",
    ),
]


@pytest.mark.parametrize("change, state, words", CHANGES, ids=[words for _, _, words in CHANGES])
def test_doctor_finds_what_this_version_would_register_otherwise(
    project: Path, change: Callable[[dict[str, Any]], object], state: str, words: str
) -> None:
    hooks_of(project, change)
    found = [
        one for one in engine("doctor", cwd=project, expect=state == "bad")["data"]["checks"] if words in one["text"]
    ]
    assert [(one["check"], one["state"], one["fix"]) for one in found] == [("wiring", state, "engine install")]


def test_a_matcher_for_everything_is_no_difference(project: Path) -> None:
    hooks_of(project, lambda hooks: hooks["PostToolBatch"][0].update(matcher="*"))
    assert [one["state"] for one in checks(project, 0)["wiring"]] == ["ok"]


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one.update(args=["another-host"]),
        lambda one: one.update(args=[]),
        lambda one: one.update(args=["claude-code", "--quiet"]),
        lambda one: one.update(command="/bin/sh", args=[one["command"], "claude-code"]),
    ],
)
def test_doctor_knows_only_the_very_command_that_was_installed(
    project: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    hooks_of(project, lambda hooks: change(hooks["PreCompact"][0]["hooks"][0]))
    found = [one for one in checks(project, 1)["interpreter"] if one["state"] == "bad"]
    assert [one["fix"] for one in found] == ["engine install"] and "no installation of yours registered" in found[0][
        "text"
    ]


def test_doctor_goes_on_without_a_record_of_the_installation(project: Path) -> None:
    (state_of(project).parent / "installed.json").unlink()
    assert "so it was not run" in checks(project, 1)["interpreter"][0]["text"]

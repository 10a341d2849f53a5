"""Links of every kind in a repository: what they lead to is neither delivered, nor shown, nor written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from simulated_project import SimulatedProject, names

Make = Callable[..., SimulatedProject]
SECRET = "SECRET-OF-THE-USER"


@pytest.fixture
def box(make_project: Make) -> SimulatedProject:
    made = make_project()
    home = Path(made.environ["HOME"])
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh/id_ed25519").write_text(SECRET)
    (home / "notes.md").write_text(SECRET)
    return made


def deep_folder(box: SimulatedProject) -> str:
    """A folder whose path is too long to be looked at by its absolute name; the kernel follows it all the same."""
    parts = [*["d" * 250] * 16]
    parts.append("e" * (4085 - len("/".join(parts)) - 1))
    before = os.getcwd()
    os.chdir(box.project)
    try:
        for part in parts:
            os.mkdir(part)
            os.chdir(part)
        os.symlink(f"{'../' * 18}home", "x")
    finally:
        os.chdir(before)
    return "/".join(parts)


@pytest.mark.parametrize("target", [".ssh/id_ed25519", "notes.md"])
def test_a_link_that_is_too_long_to_follow_by_hand(box: SimulatedProject, target: str) -> None:
    folder = deep_folder(box)
    os.chdir(box.project)
    os.makedirs(".directives")
    os.symlink(f"{folder}/x", "h")
    os.symlink(f"../h/{target}", ".directives/AGENTS.md")
    assert Path(".directives/AGENTS.md").read_text() == SECRET  # the kernel follows it
    box.sim.start()
    assert SECRET not in "".join(box.sim.read("one/f.py").texts)


@pytest.mark.parametrize(
    "link, command",
    [
        ("sessions", "engine session init PWNED"),
        ("sessions", "engine session activate PWNED fix"),
        (".claude", "engine skills fix --copy"),
        (".claude", "engine install"),
        (".claude", "engine install --dry-run"),
        ("02-projects", "engine resume write p1 --load x"),
        ("tickets", "engine dispatch new tickets/t.md --task x"),
    ],
)
def test_nothing_is_written_through_such_a_link(box: SimulatedProject, link: str, command: str) -> None:
    folder = deep_folder(box)
    home = Path(box.environ["HOME"])
    (home / "p1").mkdir()
    os.chdir(box.project)
    if link == ".claude":
        os.rmdir(".claude")
    os.symlink(f"{folder}/x", link)
    before = sorted(home.rglob("*"))
    done = box.process(command, XDG_STATE_HOME=str(box.project.parent / "state"))
    assert done.returncode == 1 and "leads out of the project" in done.stderr
    assert sorted(home.rglob("*")) == before and SECRET not in done.stdout


@pytest.mark.parametrize(
    "name",
    [
        ".env",
        ".env.local",
        ".git/config",
        ".claude/settings.local.json",
        "deploy.pem",
        "id_rsa",
        ".npmrc",
        "secrets/db.yml",
        "service_account.json",
    ],
)
@pytest.mark.parametrize("how", ["standard", "link"])
def test_files_that_may_hold_secrets_are_never_delivered(box: SimulatedProject, name: str, how: str) -> None:
    box.write(name, SECRET)
    if how == "standard":
        box.write(".handbill.toml", f'[standards]\nfiles = ["./{name}"]\n')
    else:
        (box.project / ".directives").mkdir()
        (box.project / ".directives/AGENTS.md").symlink_to(box.project / name)
    texts = [*box.sim.start().texts, *box.sim.read("one/f.py").texts]
    assert SECRET not in "".join(texts)
    assert any("may contain secrets" in error for error in box.errors())


def test_samples_hold_no_secrets(box: SimulatedProject) -> None:
    box.write(".env.example", "KEY=…\n")
    box.write(".handbill.toml", '[standards]\nfiles = ["./.env.example"]\n')
    box.write("src/secrets/.directives/AGENTS.md", "rules for this folder")
    assert "KEY=…" in "".join(box.sim.start().texts)
    assert names(box.sim.read("src/secrets/f.py")) == ["secrets"]


@pytest.mark.parametrize("mark", [".claude", ".git", "nothing"])
def test_a_link_to_another_project_is_not_that_project(box: SimulatedProject, mark: str) -> None:
    other = box.project.parent / "other"
    (other / mark).mkdir(parents=True)
    (box.project / "tickets").symlink_to(other)
    for command in ("engine dispatch new tickets/t.md --task x", "engine worker launch w . x tickets/t.md"):
        done = box.process(command)
        assert done.returncode == 1 and "leads out of the project" in done.stderr
    assert not (other / "t.md").exists()


def test_a_worker_does_not_get_the_home_folder(box: SimulatedProject) -> None:
    contract = Path(box.environ["HOME"]) / "contract.md"
    done = box.process(f"engine worker launch w . x {contract}")
    assert done.returncode == 1 and "access to all of" in done.stderr


@pytest.mark.parametrize("whole", [True, False], ids=["the folder of all sessions", "one session"])
def test_sessions_of_another_project_are_not_listed(box: SimulatedProject, whole: bool) -> None:
    other = box.project.parent / "other"
    (other / ".claude").mkdir(parents=True)
    activate = f'cd {other} && echo \'{{"taskSummary": "Fire Bob"}}\' | engine session activate HR fix'
    assert box.process(activate).returncode == 0
    if whole:
        (box.project / "sessions").symlink_to(other / "sessions")
    else:
        (box.project / "sessions").mkdir()
        (box.project / "sessions/HR").symlink_to(other / "sessions/HR")
    for command in ("session list --all", "find-sessions all", "find-sessions all --files", "doctor"):
        done = box.process(f"engine {command}")
        assert "Fire Bob" not in done.stdout and "HR" not in done.stdout, command


def test_settings_that_are_a_link_are_not_read(box: SimulatedProject) -> None:
    own = Path(box.environ["HOME"]) / "credentials.toml"
    own.write_text(f'[{SECRET}]\ntoken = "x"\n')
    (box.project / ".handbill.toml").symlink_to(own)
    assert SECRET not in box.process("engine doctor").stdout


def test_hooks_that_only_look_like_ours_do_not_count(box: SimulatedProject) -> None:
    assert box.process("engine install").returncode == 0
    hook = {"type": "command", "command": "true", "args": ["-c", "# handbill.hook"]}
    events = ("SessionStart", "PostToolBatch", "UserPromptSubmit", "PreToolUse", "Stop", "PreCompact")
    import json

    box.write(".claude/settings.local.json", json.dumps({"hooks": {name: [{"hooks": [hook]}] for name in events}}))
    done = box.process("engine worker launch w . x tickets/t.md --json")
    assert done.returncode == 0, done.stderr
    made = next((box.state_folder / ".engine/workers").glob("*.json")).read_text()
    assert set(json.loads(made)["hooks"]) >= set(events)

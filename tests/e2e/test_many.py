"""Forks, two clients at once, hooks registered twice: still one copy each."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

from sandbox import STANDARDS, Sandbox, assert_extends, assert_once

from conftest import Make
from handbill.lab.live_client import Client, Script


def one_directory(box: Sandbox) -> None:
    box.write("one/.directives/AGENTS.md", "MARK-ONE\n")
    box.write("two/.directives/AGENTS.md", "MARK-TWO\n")
    box.write("one/f.py", "x\n")
    box.write("two/f.py", "x\n")


def test_fork(make: Make, version: str) -> None:
    box = make(version)
    one_directory(box)
    first = box.run(box.read("one/f.py"), "done")
    args = ("--resume", first.session, "--fork-session")
    fork = box.run(box.read("one/f.py"), box.read("two/f.py"), box.bash(), "done", args=args)
    assert fork.session != first.session
    for request in fork.of():
        assert_once(request, *STANDARDS, "MARK-ONE")
    assert_once(fork.of()[-1], "MARK-TWO")
    assert_extends(first.of()[-1], fork.of()[0])
    back = box.run(box.read("two/f.py"), box.read("one/f.py"), box.bash(), "done", args=("--resume", first.session))
    assert_once(back.of()[-1], *STANDARDS, "MARK-ONE", "MARK-TWO")  # the original goes on by itself
    again = box.run(box.read("two/f.py"), box.bash(), "done", args=("--resume", fork.session))
    assert_once(again.of()[-1], *STANDARDS, "MARK-ONE", "MARK-TWO")


def test_two_clients_at_once_in_one_project(make: Make, version: str) -> None:
    box = make(version)
    one_directory(box)
    steps = [box.read("one/f.py"), [box.read("two/f.py"), box.read("one/f.py")], box.bash(), "done"]
    clients = [Client(box.client.binary, str(box.project), str(box.home)) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda client: client.run("go", Script(json.loads(json.dumps(steps)))), clients))
    assert len({run.session for run in runs}) == 2
    for run in runs:
        assert run.exit_code == 0
        for request in run.of()[2:]:
            assert_once(request, *STANDARDS, "MARK-ONE", "MARK-TWO")


def test_the_same_hooks_in_the_project_and_in_a_plugin(make: Make, version: str) -> None:
    box = make(version)
    one_directory(box)
    plugin = box.project.parent / "plugin"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin" / "plugin.json").write_text('{"name": "twice", "version": "1.0.0"}')
    (plugin / "hooks").mkdir()
    hooks = json.loads(box.settings().read_text())
    ran = box.project.parent / "plugin-ran"
    hooks["hooks"]["PostToolBatch"].append({"hooks": [{"type": "command", "command": f"echo x >> {ran}"}]})
    (plugin / "hooks" / "hooks.json").write_text(json.dumps(hooks))
    run = box.run(
        box.read("one/f.py"), [box.read("two/f.py"), box.read("one/f.py")], box.bash(), "done",
        args=("--plugin-dir", str(plugin)),
    )  # fmt: skip
    for request in run.of()[2:]:
        assert_once(request, *STANDARDS, "MARK-ONE", "MARK-TWO")
    assert ran.exists(), "the plugin's hooks did not run: this test would show nothing"


def test_installed_for_the_user_leaves_the_project_alone(make: Make, version: str) -> None:
    box = make(version, install=False)
    one_directory(box)
    before = sorted(box.project.rglob("*"))
    box.engine("install", "--user")
    first = box.run(box.read("one/f.py"), box.bash(), "done")
    again = box.run(box.read("one/f.py"), "done", args=("--resume", first.session))
    for request in first.of()[1:] + again.of():
        assert_once(request, *STANDARDS, "MARK-ONE")
    assert sorted(box.project.rglob("*")) == before
    assert len(box.engine("window")["data"]["files"]) == 7
    box.engine("uninstall", "--user", "--state")
    gone = box.run(box.read("one/f.py"), "done")
    assert "[Preloaded: " not in gone.of()[-1].text

"""Where rules are found: mentioned files, added directories, worktrees, and an AGENTS.md that the client may read itself."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from sandbox import STANDARDS, Sandbox, assert_once, copies

from conftest import Make
from handbill.lab.live_client import Block, call


def git(folder: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *words],
        cwd=folder,
        check=True,
        capture_output=True,
    )


def rules(folder: Path, mark: str) -> None:
    (folder / ".directives").mkdir(parents=True, exist_ok=True)
    (folder / ".directives/AGENTS.md").write_text(f"{mark}\n")
    (folder / "f.py").write_text("x\n")


def test_a_file_that_the_prompt_mentions(make: Make, version: str) -> None:
    box = make(version)
    names = ("web", "api", "lib dir", "ops")
    for name in names:
        rules(box.project / name, f"RULES-{name[:3]}")
    prompt = (
        'compare @web/f.py#L1-20 with @api/, and see @"lib dir/f.py". Not me@web.example or `@docs/x`. '
        "Improve @ops/.directives/AGENTS.md"
    )
    run = box.run(box.bash(), box.read("ops/f.py"), "done", prompt=prompt)
    for request in (run.of()[0], run.of()[-1]):
        assert_once(request, *STANDARDS, *(f"RULES-{name[:3]}" for name in names))
    fork = box.run(box.read("ops/f.py"), "done", args=("--resume", run.session, "--fork-session"))
    assert_once(fork.of()[-1], *STANDARDS, *(f"RULES-{name[:3]}" for name in names))


def test_added_directories_and_worktrees(make: Make, version: str) -> None:
    box = make(version)
    rules(box.project, "RULES-root")
    git(box.project, "add", "a.py", ".directives", "f.py")
    git(box.project, "commit", "-q", "-m", "x")
    beside, inside = box.project.parent / "beside", box.project / "inside"
    git(box.project, "worktree", "add", "-q", str(beside), "-b", "beside")
    git(box.project, "worktree", "add", "-q", str(inside), "-b", "inside")
    rules(beside / "sub", "RULES-beside")
    rules(inside / "sub", "RULES-inside")
    added, other = box.project.parent / "added", box.project.parent / "other"
    rules(added / "sub", "RULES-added")
    rules(added, "RULES-of-all-added")
    rules(other, "RULES-other")
    reads = [
        call("Read", file_path=str(place / "f.py")) for place in (beside / "sub", inside / "sub", added / "sub", other)
    ]
    run = box.run(*reads, box.bash(), box.bash(), "done", args=("--add-dir", str(added)))
    last = run.of()[-1]
    assert_once(last, "RULES-beside", "RULES-inside", "RULES-added", "RULES-of-all-added", "RULES-root")
    assert last.text.count("The same rules as in") == 1, "the second worktree has the same rules in its root"
    assert copies(last, "RULES-other") == {"RULES-other": 0}
    found = box.engine("discover-directives", str(inside / "sub"), "--project", str(box.project))["data"]
    assert found["root"] == str(inside)


@pytest.mark.parametrize("how", ["read", "bash", "write"])
def test_a_bare_agents_md_is_there_once(make: Make, version: str, how: str) -> None:
    """From the client or from us, in the root and nested, whichever tool touches the folder."""
    box = make(version)
    box.write("AGENTS.md", "BARE-ROOT\n")
    box.write("sub/AGENTS.md", "BARE-SUB\n")
    box.write("sub/f.py", "x\n")
    run = box.run(*_touch(box, how), box.bash("ls sub"), box.bash(), box.bash(), "done")
    assert_once(run.of()[-1], *STANDARDS, "BARE-ROOT", "BARE-SUB")


def _touch(box: Sandbox, how: str) -> list[Block]:
    if how == "read":
        return [box.bash("ls sub"), box.read("sub/f.py")]
    if how == "bash":
        return [box.bash("cat sub/f.py")]
    write = call("Write", file_path=box.path("sub/new.py"), content="x\n")
    return [write, {**write}]


def test_subagents_that_begin_without_the_roots_instructions(make: Make, version: str) -> None:
    """The client gives some kinds no instruction files: they have the root's AGENTS.md from us, once."""
    box = make(version)
    box.write("AGENTS.md", "BARE-ROOT\n")
    box.write("sub/AGENTS.md", "BARE-SUB\n")
    box.write("sub/f.py", "x\n")
    for kind in ("Explore", "Plan", "general-purpose"):
        task = call("Agent", description="d", prompt="look", subagent_type=kind, run_in_background=False)
        run = box.run(task, "done", agent=(box.read("a.py"), box.read("sub/f.py"), box.bash(), "sub done"))
        last = [request for request in run.requests if request.agent][-1]
        assert_once(last, "BARE-ROOT", "BARE-SUB")


def test_rules_that_the_client_seems_to_bring(make: Make, version: str) -> None:
    """An import that leads elsewhere, one that settings exclude, and a read that fails: the client brings none of them."""
    box = make(version)
    for name in ("sub", "api"):
        rules(box.project / name, f"RULES-{name}")
    box.write("sub/.claude/CLAUDE.md", "# sub\n@.directives/AGENTS.md\n")
    box.write("api/CLAUDE.md", "# api\n@.directives/AGENTS.md\n")
    box.write(".claude/settings.json", json.dumps({"claudeMdExcludes": ["**/api/.directives/*.md"]}))
    box.write("lib/AGENTS.md", "RULES-lib\n")
    box.write("lib/f.py", "x\n")
    failing = [box.read("lib/nope.py"), box.bash("sed -n 1p lib/f.py"), box.bash(), box.bash()]
    run = box.run(box.read("sub/f.py"), box.read("api/f.py"), *failing, "done")
    assert_once(run.of()[-1], *STANDARDS, "RULES-sub", "RULES-api", "RULES-lib", "# sub\n", "# api\n")


def test_the_users_own_skill_comes_before_the_projects(make: Make, version: str) -> None:
    box = make(version)
    for folder, mark in ((box.project, "PROJECT"), (box.home, "USER")):
        path = folder / ".claude/skills/check-it"
        path.mkdir(parents=True)
        phase = json.dumps({"phases": [{"label": "0", "name": "A", "steps": [f"§CMD_{mark}"]}]})
        text = (
            f"---\nname: check-it\ndescription: x\n---\n{mark}-BODY\n\n### Session Parameters\n```json\n{phase}\n```\n"
        )
        (path / "SKILL.md").write_text(text)
        page = folder / (".claude/.directives" if folder == box.home else ".directives") / f"commands/CMD_{mark}.md"
        page.parent.mkdir(parents=True)
        page.write_text(f"{mark}-PAGE\n")
    run = box.run(box.bash(), "done", prompt="/check-it")
    assert_once(run.of()[-1], "USER-BODY", "USER-PAGE")
    assert copies(run.of()[-1], "PROJECT-BODY", "PROJECT-PAGE") == {"PROJECT-BODY": 0, "PROJECT-PAGE": 0}

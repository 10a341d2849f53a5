"""Standards and directives arrive once per window, whatever the session goes through."""

from __future__ import annotations

import json

import pytest
from sandbox import STANDARDS, Sandbox, assert_absent, assert_extends, assert_once
from talk import Talk

from conftest import Make
from handbill.lab.live_client import Script, call


def nested(box: Sandbox) -> tuple[str, ...]:
    """Directives on three levels; returns what to count."""
    box.write(".directives/INVARIANTS.md", "MARK-ROOT\n")
    box.write("pkg/.directives/AGENTS.md", "MARK-PKG\n")
    box.write("pkg/core/.directives/ARCHITECTURE.md", "MARK-CORE\n")
    box.write("pkg/core/.directives/TESTING.md", "MARK-SKILL-FILTERED\n")
    for name in ("pkg/core/x.py", "pkg/core/y.py", "pkg/z.py"):
        box.write(name, "x = 1\n")
    return "MARK-ROOT", "MARK-PKG", "MARK-CORE"


def test_once_and_before_the_next_request_and_not_again_on_resume_or_continue(make: Make, version: str) -> None:
    box = make(version)
    marks = nested(box)
    box.write("far/.directives/AGENTS.md", "MARK-FAR\n")
    for name in ("far/f.py", "far/g.py", "far/deep/h.py"):
        box.write(name, "x = 1\n")
    first = box.run(box.read("pkg/core/x.py"), box.read("pkg/z.py"), box.read("pkg/core/y.py"), "done")
    assert_once(first.of()[0], *STANDARDS)
    assert_absent(first.of()[0], *marks)
    for request in first.of()[1:]:
        assert_once(request, *STANDARDS, *marks)
        assert_absent(request, "MARK-SKILL-FILTERED")
    text = first.of()[1].text
    assert text.index("MARK-CORE") < text.index("MARK-PKG") < text.index("MARK-ROOT")  # child first
    together = [box.read(name) for name in ("far/f.py", "far/g.py", "pkg/z.py", "far/deep/h.py")]
    second = box.run(together, box.read("a.py"), "done", args=("--resume", first.session))
    third = box.run(box.read("pkg/core/x.py"), box.read("far/f.py"), "done", args=("--continue",))
    assert third.session == first.session
    assert_absent(second.of()[0], "MARK-FAR")
    for request in second.of() + third.of():
        assert_once(request, *STANDARDS, *marks)
    for request in second.of()[1:] + third.of():
        assert_once(request, "MARK-FAR")
    assert_extends(first.of()[-1], second.of()[0])
    assert_extends(second.of()[-1], third.of()[0])


def test_standards_again_once_after_clear(make: Make, version: str) -> None:
    box = make(version)
    marks = nested(box)
    box.client.model.script = Script([box.read("pkg/core/x.py"), "one", box.read("pkg/core/x.py"), "two"])
    talk = Talk(box)
    before = talk.say("one")["session_id"]
    talk.say("/clear")
    after = talk.say("two")["session_id"]
    talk.close()
    assert before != after
    requests = [request for request in box.client.model.requests if request.body.get("tools")]
    assert len(requests) == 4
    assert_absent(requests[2], *marks)  # a new window: empty but for the standards
    for request in (requests[1], requests[3]):
        assert_once(request, *STANDARDS, *marks)


def test_every_way_to_touch_a_directory(make: Make, version: str) -> None:
    box = make(version)
    ways = {
        "edit": call("Edit", file_path=box.path("edit/f.py"), old_string="old", new_string="new"),
        "write": call("Write", file_path=box.path("write/new.py"), content="x"),
        "list": box.bash("ls list/f.py"),
        "word": box.bash("cat 'word/f.py' && true"),
    }
    for name in ways:
        box.write(f"{name}/.directives/AGENTS.md", f"MARK-{name.upper()}\n")
        box.write(f"{name}/f.py", "old\n")
    run = box.run(box.read("edit/f.py"), *ways.values(), "done")
    assert_once(run.of()[-1], *(f"MARK-{name.upper()}" for name in ways))


def test_another_hooks_oversized_output_is_not_ours(make: Make, version: str) -> None:
    """The client keeps the texts of all handlers of a start in one record."""
    box = make(version)
    settings = json.loads(box.settings().read_text())
    large = "python3 -c 'print(\"x\" * 15000)'"
    settings["hooks"]["SessionStart"].append({"hooks": [{"type": "command", "command": large}]})
    box.settings().write_text(json.dumps(settings))
    first = box.run(box.bash(), "done")
    second = box.run(box.bash("echo 1"), box.bash("echo 2"), "done", args=("--resume", first.session))
    for request in first.of() + second.of():
        assert_once(request, *STANDARDS)


TOUCHES = {"sed": "sed -i s/x/y/", "cat": "cat", "write": ""}  # of some, the client takes no notice


@pytest.mark.parametrize(
    "files",
    [
        {
            "CLAUDE.md": "MARK-CLAUDE\n@.directives/INVARIANTS.md\n",
            ".directives/INVARIANTS.md": "MARK-RULE\n",
            "beside/AGENTS.md": "MARK-RULE-BESIDE\n",
        },
        {
            "imports/CLAUDE.md": "MARK-CLAUDE\n@.directives/AGENTS.md\n",
            "imports/.directives/AGENTS.md": "MARK-RULE\n",
            "bare/CLAUDE.md": "MARK-CLAUDE-BARE\n@AGENTS.md\n",
            "bare/AGENTS.md": "MARK-RULE-BARE\n",
            "beside/CLAUDE.md": "MARK-CLAUDE-BESIDE\n",
            "beside/AGENTS.md": "MARK-RULE-BESIDE\n",
            "above/CLAUDE.md": "MARK-CLAUDE-ABOVE\n",
            "above/deep/AGENTS.md": "MARK-RULE-ABOVE\n",
            **{f"by-{how}/CLAUDE.md": "@.directives/AGENTS.md\n" for how in TOUCHES},
            **{f"by-{how}/.directives/AGENTS.md": f"MARK-RULE-{how}\n" for how in TOUCHES},
            "code/CLAUDE.md": "MARK-CLAUDE-CODE\n\n    @.directives/AGENTS.md\n",  # not followed
            "code/.directives/AGENTS.md": "MARK-RULE-CODE\n",
            "html/CLAUDE.md": "MARK-CLAUDE-HTML\n\n<div>\n@.directives/AGENTS.md\n</div>\n",  # not followed
            "html/.directives/AGENTS.md": "MARK-RULE-HTML\n",
            "bold/CLAUDE.md": "MARK-CLAUDE-BOLD\n\n- item\n\n    **@.directives/AGENTS.md**\n",
            "bold/.directives/AGENTS.md": "MARK-RULE-BOLD\n",
        },
        {"../CLAUDE.md": "MARK-CLAUDE\n", "beside/AGENTS.md": "MARK-RULE\n"},
        {".claude/CLAUDE.md": "MARK-CLAUDE\n", "beside/AGENTS.md": "MARK-RULE\n"},
        {
            "CLAUDE.md": "MARK-CLAUDE\n",
            ".claude/settings.json": '{"claudeMdExcludes": ["**/AGENTS.md"]}',
            "AGENTS.md": "MARK-RULE\n",
        },
    ],
    ids=["root", "nested", "above", "dot-claude", "excluded"],
)
def test_a_rule_near_a_claude_md_is_there_once(make: Make, version: str, files: dict[str, str]) -> None:
    box = make(version)
    for name, text in files.items():
        box.write(name, text)
    folders = ("imports", "bare", "beside", "above", "above/deep", "code", "html", "bold")
    for folder in folders:
        box.write(f"{folder}/f.py", "x\n")
    for how in TOUCHES:
        box.write(f"by-{how}/f.py", "x\n")
    shell = [box.bash(f"{command} by-{how}/f.py") for how, command in TOUCHES.items() if command]
    write = call("Write", file_path=box.path("by-write/new.py"), content="x\n")
    run = box.run(
        *(box.read(f"{folder}/f.py") for folder in folders), *shell, write, write, box.bash(), box.bash(), "done"
    )
    lines = run.of()[-1].text.split("\n")
    marks = [text.split("\n")[0] for text in files.values() if text.startswith("MARK")]
    assert {mark: sum(line.strip() == mark for line in lines) for mark in marks} == dict.fromkeys(marks, 1)

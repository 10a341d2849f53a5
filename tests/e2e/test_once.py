"""Standards and directives arrive once per window, whatever the session goes through."""

from __future__ import annotations

import json

import pytest
from sandbox import STANDARDS, Sandbox, assert_absent, assert_extends, assert_once
from talk import Talk

from conftest import Make
from handbill.live import Script, call


def nested(box: Sandbox) -> tuple[str, ...]:
    """Directives on three levels; returns what to count."""
    box.write(".directives/INVARIANTS.md", "MARK-ROOT\n")
    box.write("pkg/.directives/AGENTS.md", "MARK-PKG\n")
    box.write("pkg/core/.directives/ARCHITECTURE.md", "MARK-CORE\n")
    box.write("pkg/core/.directives/TESTING.md", "MARK-SKILL-FILTERED\n")
    for name in ("pkg/core/x.py", "pkg/core/y.py", "pkg/z.py"):
        box.write(name, "x = 1\n")
    return "MARK-ROOT", "MARK-PKG", "MARK-CORE"


def test_standards_at_startup_and_not_again_on_resume_or_continue(make: Make, version: str) -> None:
    box = make(version)
    first = box.run(box.bash(), "done")
    for request in first.of():
        assert_once(request, *STANDARDS)
    resumed = box.run(box.bash(), "done", args=("--resume", first.session))
    continued = box.run(box.bash(), "done", args=("--continue",))
    assert continued.session == first.session
    for request in resumed.of() + continued.of():
        assert_once(request, *STANDARDS)
    assert_extends(first.of()[-1], resumed.of()[0])
    assert_extends(resumed.of()[-1], continued.of()[0])


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


def test_each_directive_once_and_before_the_next_request(make: Make, version: str) -> None:
    box = make(version)
    marks = nested(box)
    run = box.run(box.read("pkg/core/x.py"), box.read("pkg/z.py"), box.read("pkg/core/y.py"), "done")
    requests = run.of()
    assert_absent(requests[0], *marks)
    for request in requests[1:]:
        assert_once(request, *marks)
        assert_absent(request, "MARK-SKILL-FILTERED")
    text = requests[1].text
    assert text.index("MARK-CORE") < text.index("MARK-PKG") < text.index("MARK-ROOT")  # child first


def test_three_parallel_reads_still_once(make: Make, version: str) -> None:
    box = make(version)
    marks = nested(box)
    together = [box.read("pkg/core/x.py"), box.read("pkg/core/y.py"), box.read("pkg/z.py")]
    run = box.run(together, box.bash(), "done")
    for request in run.of()[1:]:
        assert_once(request, *marks)


def test_nothing_twice_and_nothing_missing_after_resume(make: Make, version: str) -> None:
    box = make(version)
    marks = nested(box)
    first = box.run([box.read("pkg/core/x.py"), box.read("pkg/z.py")], "done")
    second = box.run(box.read("pkg/core/y.py"), box.read("a.py"), "done", args=("--resume", first.session))
    third = box.run(box.read("pkg/core/x.py"), "done", args=("--resume", first.session))
    for request in second.of() + third.of():
        assert_once(request, *marks, *STANDARDS)
    assert_extends(first.of()[-1], second.of()[0])
    assert_extends(second.of()[-1], third.of()[0])


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


def test_bare_agents_md_once_whoever_loads_it(make: Make, version: str) -> None:
    """Newer clients read AGENTS.md themselves where no CLAUDE.md is; older ones never."""
    box = make(version)
    box.write("AGENTS.md", "MARK-BARE-ROOT\n")
    box.write("sub/AGENTS.md", "MARK-BARE-SUB\n")
    box.write("sub/f.py", "x\n")
    run = box.run(box.read("sub/f.py"), box.read("a.py"), "done")
    assert_once(run.of()[-1], "MARK-BARE-ROOT", "MARK-BARE-SUB")


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


@pytest.mark.parametrize(
    "files",
    [
        {"CLAUDE.md": "MARK-CLAUDE\n@.directives/INVARIANTS.md\n", ".directives/INVARIANTS.md": "MARK-RULE\n"},
        {"CLAUDE.md": "MARK-CLAUDE\n", "sub/AGENTS.md": "MARK-RULE\n"},
        {"sub/CLAUDE.md": "MARK-CLAUDE\n@.directives/AGENTS.md\n", "sub/.directives/AGENTS.md": "MARK-RULE\n"},
        {"sub/CLAUDE.md": "MARK-CLAUDE\n@AGENTS.md\n", "sub/AGENTS.md": "MARK-RULE\n"},
        {"sub/CLAUDE.md": "MARK-CLAUDE\n", "sub/AGENTS.md": "MARK-RULE\n"},
        {"../CLAUDE.md": "MARK-CLAUDE\n", "sub/AGENTS.md": "MARK-RULE\n"},
        {"sub/CLAUDE.md": "MARK-CLAUDE\n", "sub/deep/AGENTS.md": "MARK-RULE\n"},
        {".claude/CLAUDE.md": "MARK-CLAUDE\n", "sub/AGENTS.md": "MARK-RULE\n"},
        {
            "CLAUDE.md": "MARK-CLAUDE\n",
            ".claude/settings.json": '{"claudeMdExcludes": ["**/AGENTS.md"]}',
            "AGENTS.md": "MARK-RULE\n",
        },
    ],
    ids=["root-imports", "root", "imports", "imports-bare", "beside", "above", "between", "dot-claude", "excluded"],
)
def test_a_rule_near_a_claude_md_is_there_once(make: Make, version: str, files: dict[str, str]) -> None:
    box = make(version)
    for name, text in files.items():
        box.write(name, text)
    box.write("sub/f.py", "x\n")
    box.write("sub/deep/f.py", "x\n")
    run = box.run(box.read("sub/f.py"), box.read("sub/deep/f.py"), box.read("a.py"), "done")
    assert_once(run.of()[-1], "MARK-CLAUDE", "MARK-RULE")

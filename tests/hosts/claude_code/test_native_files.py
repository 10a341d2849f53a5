"""Files that the client itself brings: what CLAUDE.md imports, and a bare AGENTS.md."""

from __future__ import annotations

import pytest
from test_directives import wants

from builders import DictWorld, batch, config, window
from handbill.event import DONE, FAILED, MENTIONS, READS, RUNS, SEARCHES, WRITES, Event, Inbox, Tool
from handbill.handlers.directives import handle


@pytest.mark.parametrize(
    "tool, level, wanted, seen, again",
    [
        (Tool(READS, "t", ("/p/sub/f.py",)), "/p/sub", False, True, False),  # the host brings it with the file
        (Tool(WRITES, "t", ("/p/sub/f.py",)), "/p/sub", True, False, False),
        (Tool(WRITES, "t", ("/p/sub/f.py",)), "/p/sub", True, False, False),
        (Tool(RUNS, "t", (), ("/p/sub",), command="cat sub/f.py"), "/p/sub", True, False, False),
        (Tool(RUNS, "t", (), ("/p/sub",), command="ls sub"), "/p/sub", False, False, True),
        (Tool(SEARCHES, "t", (), ("/p/sub",)), "/p/sub", False, False, True),
        (Tool(MENTIONS, paths=("/p/sub",)), "/p/sub", True, False, False),
        (Tool(MENTIONS, paths=("/p/sub/f.py",)), "/p/sub", False, True, False),
        (Tool(READS, "t", ("/p/f.py",)), "/p", False, True, False),
        (Tool(RUNS, "t", (), ("/p",), command="cat f.py"), "/p", False, True, False),  # since its start
    ],
)
def test_a_bare_agents_md_comes_once_from_the_host_or_from_us(
    tool: Tool, level: str, wanted: bool, seen: bool, again: bool
) -> None:
    bare = f"{level}/AGENTS.md"
    event = Event(
        "tool_batch_finished", "s", tools=[tool], project="/p", cwd="/p", reads_agents_md=True, reads_mentions=True
    )
    plan = handle(event, Inbox(), window(), DictWorld({bare: "bare", f"{level}/f.py": "x"}), config())  # type: ignore[arg-type]
    assert (bare in wants(plan)) is wanted
    assert (bare in [path for path, _ in plan.seen] if plan else False) is seen
    assert (plan is None or level not in plan.touched) is again


@pytest.mark.parametrize(
    "tool, reads_touched, wanted, later",
    [
        (Tool(READS, "t", ("/p/sub/f.py",)), True, False, False),
        (Tool(WRITES, "t", ("/p/sub/f.py",)), False, True, False),
        (Tool(WRITES, "t", ("/p/sub/f.py",)), True, False, True),
        (Tool(WRITES, "before", ("/p/sub/f.py",)), True, True, False),  # the host has had its turn
        (Tool(RUNS, "t", (), ("/p/sub",), command="cat sub/f.py"), True, False, True),
        (Tool(RUNS, "before", (), ("/p/sub",), command="cat sub/f.py"), True, True, False),
    ],
)
def test_a_rule_that_a_claude_md_imports(tool: Tool, reads_touched: bool, wanted: bool, later: bool) -> None:
    rule = "/p/sub/.directives/AGENTS.md"
    event = Event("tool_batch_finished", "s", tools=[Tool(RUNS, "t")], project="/p", reads_touched=reads_touched)
    event.tools = [tool]
    world = DictWorld({rule: "rules", "/p/sub/CLAUDE.md": "@.directives/AGENTS.md", "/p/sub/f.py": "x"})
    plan = handle(event, Inbox(), window(), world, config())  # type: ignore[arg-type]
    assert plan is not None and (rule in wants(plan)) is wanted and plan.unfinished is later
    assert ("/p/sub" not in plan.touched) is later


def test_a_rule_that_is_the_claude_md_itself() -> None:
    """The pattern names the link; the client reads the file all the same."""
    rule = "/p/sub/.directives/AGENTS.md"
    settings = {"/p/.claude/settings.json": '{"claudeMdExcludes": ["**/.directives/*.md"]}'}
    world = DictWorld({"/p/sub/CLAUDE.md": "rules", "/p/sub/f.py": "x", **settings}, {rule: "/p/sub/CLAUDE.md"})
    assert rule not in wants(handle(batch("t1", "/p/sub/f.py"), Inbox(), window(), world, config()))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["Read", "NotebookRead"])
@pytest.mark.parametrize("imports", [True, False])
def test_a_read_that_failed_brings_no_nested_rule(name: str, imports: bool) -> None:
    """Some versions of the client read CLAUDE.md then, and record that; none reads AGENTS.md."""
    rule = "/p/sub/.directives/AGENTS.md" if imports else "/p/sub/AGENTS.md"
    files = {rule: "rules", "/p/sub/f.py": "x", **({"/p/sub/CLAUDE.md": "@.directives/AGENTS.md"} if imports else {})}
    failed = [Tool(READS, "t", ("/p/sub/nope.py",), name=name, outcome=FAILED)]
    event = Event("tool_batch_finished", "s", tools=failed, project="/p", reads_agents_md=True)
    plan = handle(event, Inbox(), window(), DictWorld(files), config())  # type: ignore[arg-type]
    assert plan is None or (not plan.seen and "/p/sub" not in plan.touched)
    written = [Tool(WRITES, "t2", ("/p/sub/f.py",), outcome=DONE)]
    event = Event("tool_batch_finished", "s", tools=written, project="/p", reads_agents_md=True)
    later = handle(event, Inbox(), window(), DictWorld(files), config())  # type: ignore[arg-type]
    assert rule in wants(later)


@pytest.mark.parametrize(
    "files, imported",
    [
        ({"/p/sub/CLAUDE.md": "@.directives/AGENTS.md"}, True),
        ({"/p/sub/CLAUDE.md": "@./.directives/AGENTS.md"}, True),
        ({"/p/sub/CLAUDE.md": "@/p/sub/.directives/AGENTS.md"}, True),
        ({"/p/sub/CLAUDE.local.md": "@.directives/AGENTS.md"}, True),
        ({"/p/sub/.claude/CLAUDE.md": "@../.directives/AGENTS.md"}, True),
        ({"/p/sub/.claude/CLAUDE.md": "@.directives/AGENTS.md"}, False),  # in .claude/, as the client sees it
        ({"/p/sub/CLAUDE.md": "@sub/.directives/AGENTS.md"}, False),
        ({"/p/CLAUDE.md": "@.directives/AGENTS.md"}, False),
    ],
)
@pytest.mark.parametrize("pattern, excluded", [("", False), ("**/.directives/*.md", True), ("**/docs/*.md", False)])
def test_which_file_an_import_names(files: dict[str, str], imported: bool, pattern: str, excluded: bool) -> None:
    """Measured on three versions of the client."""
    settings = f'{{"claudeMdExcludes": ["{pattern}"]}}' if pattern else "{}"
    rule = "/p/sub/.directives/AGENTS.md"
    world = DictWorld({rule: "rules", "/p/sub/f.py": "x", "/p/.claude/settings.json": settings, **files})
    plan = handle(batch("t1", "/p/sub/f.py"), Inbox(), window(), world, config())  # type: ignore[arg-type]
    assert (rule in wants(plan)) is (not imported or excluded)


@pytest.mark.parametrize("pattern, excluded", [("/p/sub/CLAUDE.md", True), ("/lib/*.md", True), ("/lib/sub/*", False)])
def test_settings_exclude_a_claude_md_that_is_a_link(pattern: str, excluded: bool) -> None:
    """By its own name, or by that of the file behind it."""
    rule, settings = "/p/sub/.directives/AGENTS.md", f'{{"claudeMdExcludes": ["{pattern}"]}}'
    files = {rule: "rules", "/p/sub/f.py": "x", "/p/sub/CLAUDE.md": "@.directives/AGENTS.md"}
    world = DictWorld({**files, "/p/.claude/settings.json": settings}, links={"/p/sub/CLAUDE.md": "/lib/C.md"})
    plan = handle(batch("t1", "/p/sub/f.py"), Inbox(), window(), world, config())  # type: ignore[arg-type]
    assert (rule in wants(plan)) is excluded


@pytest.mark.parametrize(
    "tool", [Tool(RUNS, "t", (), ("/p/sub",), command="ls sub"), Tool(SEARCHES, "t", (), ("/p/sub",))]
)
def test_a_rule_that_a_claude_md_imports_waits_while_the_agent_only_looks(tool: Tool) -> None:
    event = Event("tool_batch_finished", "s", tools=[tool], project="/p", reads_touched=True)
    files = {"/p/sub/.directives/AGENTS.md": "rules", "/p/sub/CLAUDE.md": "@.directives/AGENTS.md", "/p/sub/f.py": "x"}
    plan = handle(event, Inbox(), window(), DictWorld(files), config())  # type: ignore[arg-type]
    assert not wants(plan) and (plan is None or (not plan.unfinished and "/p/sub" not in plan.touched))


@pytest.mark.parametrize(
    "files, reads, wanted",
    [
        ({}, False, True),  # an old client never reads AGENTS.md
        ({}, True, False),  # a newer one does, where no CLAUDE.md is
        ({"/p/CLAUDE.md": "x"}, True, True),
        ({"/p/.claude/CLAUDE.md": "x"}, True, True),
        ({"/p/sub/CLAUDE.md": "see @AGENTS.md"}, False, False),  # imported: the host brings it
        ({"/p/sub/CLAUDE.md": "unrelated"}, False, True),
        ({"/p/sub/CLAUDE.md": "unrelated"}, True, True),  # then it reads that one instead
        ({"/CLAUDE.md": "above the project"}, True, True),
        ({"/p/CLAUDE.md": ""}, True, False),  # an empty one does not count
        ({"/home/u/.claude/CLAUDE.md": "the user's own"}, True, False),
        ({"/p/.claude/settings.json": '{"enabledPlugins": {"cc-plugin-agents-md@builtin": false}}'}, True, True),
        ({"/home/u/.claude/settings.json": '{"claudeMdExcludes": ["**/AGENTS.md"]}'}, True, True),
        ({"/p/.claude/settings.json": '{"x": "AGENTS.md"}'}, True, False),
        ({"/p/sub/.directives/AGENTS.md": "x"}, False, False),  # the folder's one stands for the directory
    ],
)
def test_bare_agents_md(files: dict[str, str], reads: bool, wanted: bool) -> None:
    world = DictWorld({"/p/sub/AGENTS.md": "bare", **files})
    event = batch("t1", "/p/sub/f.py", reads_agents_md=reads)
    assert ("/p/sub/AGENTS.md" in wants(handle(event, Inbox(), window(), world, config()))) is wanted  # type: ignore[arg-type]

from __future__ import annotations

import pytest

from handbill.core.event import Event, Tool
from handbill.core.plan import Plan
from handbill.handlers.directives import boundary, handle
from makers import DictWorld, batch, config, window

TREE = {
    "/p/.directives/INVARIANTS.md": "root",
    "/p/pkg/.directives/AGENTS.md": "pkg",
    "/p/pkg/.directives/PITFALLS.md": "skill-filtered",
    "/p/pkg/core/.directives/ARCHITECTURE.md": "core",
    "/p/pkg/core/.directives/notes.txt": "no directive",
    "/p/pkg/core/x.py": "x",
    "/p/other/y.py": "y",
}


def wants(plan: Plan | None) -> list[str]:
    return [want.path for want in plan.wants] if plan else []


def test_walk_up_child_to_root_cumulative() -> None:
    plan = handle(batch("t1", "/p/pkg/core/x.py"), window(), DictWorld(TREE), config())  # type: ignore[arg-type]
    assert wants(plan) == [
        "/p/pkg/core/.directives/ARCHITECTURE.md", "/p/pkg/.directives/AGENTS.md", "/p/.directives/INVARIANTS.md",
    ]  # fmt: skip
    assert plan is not None and {place: found["found"] for place, found in plan.touched.items()} == {
        "/p/pkg/core": ["ARCHITECTURE.md"], "/p/pkg": ["AGENTS.md", "PITFALLS.md"], "/p": ["INVARIANTS.md"],
    }  # fmt: skip


def test_a_level_that_was_seen_is_not_listed_again() -> None:
    world = DictWorld(TREE)
    plan = handle(batch("t1", "/p/pkg/core/x.py"), window(touched={"/p/pkg": [], "/p": []}), world, config())  # type: ignore[arg-type]
    assert wants(plan) == ["/p/pkg/core/.directives/ARCHITECTURE.md"]
    assert world.looked == ["/p/pkg/core/.directives"]


def test_one_scan_per_directory_in_a_parallel_batch() -> None:
    world = DictWorld(TREE)
    tools = [Tool("Read", f"t{n}", ("/p/pkg/core/x.py", "/p/pkg/core/z.py")) for n in range(3)]
    event = Event("tool_batch_finished", "s", tools=tools, project="/p", cwd="/p")
    assert len(wants(handle(event, window(), world, config()))) == 3  # type: ignore[arg-type]
    assert len(world.looked) == 3


def test_nothing_new_is_no_opinion() -> None:
    state = window(touched={"/p/pkg/core": [], "/p/pkg": [], "/p": []})
    assert handle(batch("t1", "/p/pkg/core/x.py"), state, DictWorld(TREE), config()) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "directory, root",
    [
        ("/p", "/p"), ("/p/a/b", "/p"), ("/q", ""), ("/", ""), ("/p/node_modules/x", ""), ("/p/a/.git/hooks", ""),
        ("/p/builder", "/p"), ("/home/u/.claude/skills/x", "/home/u/.claude"), ("/home/u/x", ""), ("/extra/y", "/extra"),
    ],
)  # fmt: skip
def test_boundary(directory: str, root: str) -> None:
    assert boundary(directory, config(files={"allow": ["/extra"]})) == root


@pytest.mark.parametrize("project", ["/tmp/build/dist/p", "/home/u/tmp/sessions/p"])
def test_excluded_names_apply_below_the_project_only(project: str) -> None:
    from handbill.config import Config

    assert boundary(f"{project}/src", Config(project, "/home/u")) == project
    assert boundary(f"{project}/dist/src", Config(project, "/home/u")) == ""


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
        ({"/p/.claude/settings.json": '{"enabledPlugins": {"cc-plugin-agents-md@builtin": false}}'}, True, True),
        ({"/home/u/.claude/settings.json": '{"claudeMdExcludes": ["**/AGENTS.md"]}'}, True, True),
        ({"/p/.claude/settings.json": '{"x": "AGENTS.md"}'}, True, False),
        ({"/p/sub/.directives/AGENTS.md": "x"}, False, False),  # the folder's one stands for the directory
    ],
)
def test_bare_agents_md(files: dict[str, str], reads: bool, wanted: bool) -> None:
    world = DictWorld({"/p/sub/AGENTS.md": "bare", **files})
    event = batch("t1", "/p/sub/f.py", reads_agents_md=reads)
    assert ("/p/sub/AGENTS.md" in wants(handle(event, window(), world, config()))) is wanted  # type: ignore[arg-type]


def test_places_may_be_files_or_folders_and_words_must_exist() -> None:
    world = DictWorld(TREE)
    for place, found in [("/p/pkg/core", 3), ("/p/pkg/core/x.py", 3), ("/p/pkg/nowhere.py", 0)]:
        event = Event("tool_batch_finished", "s", tools=[Tool("Bash", "t", (), (place,))], project="/p", cwd="/p")
        assert len(wants(handle(event, window(), world, config()))) == found  # type: ignore[arg-type]


def test_a_project_named_past_a_link() -> None:
    world = DictWorld(TREE, links={"/p": "/real/p"})
    plan = handle(batch("t1", "/real/p/pkg/x.py"), window(), world, config())  # type: ignore[arg-type]
    assert wants(plan) == ["/p/pkg/.directives/AGENTS.md", "/p/.directives/INVARIANTS.md"]

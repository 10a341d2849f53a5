from __future__ import annotations

import pytest

from builders import DictWorld, batch, config, window
from handbill.event import READS, RUNS, Event, Inbox, Tool
from handbill.handlers.directives import handle
from handbill.library.directive_search import MOST_DEPTH, MOST_LEVELS, MOST_WAITING, root_of, walk_up
from handbill.plan import Plan

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
    plan = handle(batch("t1", "/p/pkg/core/x.py"), Inbox(), window(), DictWorld(TREE), config())  # type: ignore[arg-type]
    assert wants(plan) == [
        "/p/pkg/core/.directives/ARCHITECTURE.md", "/p/pkg/.directives/AGENTS.md", "/p/.directives/INVARIANTS.md",
    ]  # fmt: skip
    assert plan is not None and {place: found["found"] for place, found in plan.touched.items()} == {
        "/p/pkg/core": ["ARCHITECTURE.md"], "/p/pkg": ["AGENTS.md", "PITFALLS.md"], "/p": ["INVARIANTS.md"],
    }  # fmt: skip


def test_a_level_that_was_seen_is_not_listed_again() -> None:
    world = DictWorld(TREE)
    plan = handle(batch("t1", "/p/pkg/core/x.py"), Inbox(), window(touched={"/p/pkg": [], "/p": []}), world, config())  # type: ignore[arg-type]
    assert wants(plan) == ["/p/pkg/core/.directives/ARCHITECTURE.md"]
    assert world.looked == ["/p/pkg/core/.directives"]


def test_one_scan_per_directory_in_a_parallel_batch() -> None:
    world = DictWorld(TREE)
    tools = [Tool(READS, f"t{n}", ("/p/pkg/core/x.py", "/p/pkg/core/z.py")) for n in range(3)]
    event = Event("tool_batch_finished", "s", tools=tools, project="/p", cwd="/p")
    assert len(wants(handle(event, Inbox(), window(), world, config()))) == 3  # type: ignore[arg-type]
    assert len(world.looked) == 3


def test_nothing_new_is_no_opinion() -> None:
    state = window(touched={"/p/pkg/core": [], "/p/pkg": [], "/p": []})
    assert handle(batch("t1", "/p/pkg/core/x.py"), Inbox(), state, DictWorld(TREE), config()) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "directory, root",
    [
        ("/p", "/p"), ("/p/a/b", "/p"), ("/q", ""), ("/", ""), ("/p/node_modules/x", ""), ("/p/a/.git/hooks", ""),
        ("/p/builder", "/p"), ("/home/u/.claude/skills/x", "/home/u/.claude"), ("/home/u/x", ""), ("/extra/y", "/extra"),
    ],
)  # fmt: skip
def test_where_a_walk_ends(directory: str, root: str) -> None:
    world = DictWorld({})
    assert root_of(directory, world, config(files={"allow": ["/extra"]})) == root  # type: ignore[arg-type]


@pytest.mark.parametrize("project", ["/tmp/build/dist/p", "/home/u/tmp/sessions/p"])
def test_excluded_names_apply_below_the_project_only(project: str) -> None:
    from handbill.settings import Settings

    world = DictWorld({})
    world.project = project
    assert root_of(f"{project}/src", world, Settings()) == project  # type: ignore[arg-type]
    assert root_of(f"{project}/dist/src", world, Settings()) == ""  # type: ignore[arg-type]


GIT = {"/p/.git/HEAD": "x"}
BESIDE = {"/wt/.git": "gitdir: /p/.git/worktrees/wt\n", "/p/.git/worktrees/wt/gitdir": "/wt/.git\n"}
WITHIN = {"/p/wt/.git": "gitdir: ../.git/worktrees/in\n", "/p/.git/worktrees/in/gitdir": "/p/wt/.git\n"}


@pytest.mark.parametrize(
    "files, directory, root",
    [
        (GIT | BESIDE, "/wt/api", "/wt"),
        (GIT | BESIDE, "/elsewhere/api", ""),
        (GIT | WITHIN, "/p/wt/api", "/p/wt"),
        (GIT | WITHIN, "/p/api", "/p"),
        (GIT | {"/wt/.git": BESIDE["/wt/.git"]}, "/wt/api", ""),  # it names us, we do not name it
        (GIT | {"/wt/.git": "gitdir: /q/.git/worktrees/wt", "/q/.git/worktrees/wt/gitdir": "/wt/.git"}, "/wt/api", ""),
        (GIT | {"/p/sub/.git": "gitdir: ../.git/modules/sub\n"}, "/p/sub/api", "/p"),  # a submodule is of the project
        (GIT | BESIDE, "/wt/node_modules/x", ""),
        ({"/wt/.git": "gitdir: /q/.git/modules/wt\n"}, "/wt/api", ""),  # neither is one of any repository
        # the project itself is a worktree
        ({"/p/.git": "gitdir: /q/.git/worktrees/p", "/q/.git/worktrees/p/gitdir": "/p/.git", "/wt/.git": "gitdir: /q/.git/worktrees/wt",
          "/q/.git/worktrees/wt/gitdir": "/wt/.git"}, "/wt/api", "/wt"),
    ],
)  # fmt: skip
def test_a_worktree_of_the_same_repository_has_its_own_root(files: dict[str, str], directory: str, root: str) -> None:
    assert root_of(directory, DictWorld(files), config()) == root  # type: ignore[arg-type]


def test_a_directory_that_the_user_added() -> None:
    world = DictWorld(
        {"/lib/x/.directives/AGENTS.md": "x", "/lib/.directives/AGENTS.md": "lib", "/.directives/AGENTS.md": "/"}
    )
    event = batch("t1", "/lib/x/f.py")
    assert wants(handle(event, Inbox(), window(), world, config())) == []  # type: ignore[arg-type]
    inbox = Inbox()
    inbox.added = ["/lib"]
    plan = handle(event, inbox, window(), world, config())  # type: ignore[arg-type]
    assert wants(plan) == ["/lib/x/.directives/AGENTS.md", "/lib/.directives/AGENTS.md"]
    assert plan is not None and plan.roots == ["/lib"]


@pytest.mark.parametrize("added", ["/", "/home", "/home/u", "/p"])
def test_an_added_directory_around_the_project_or_the_home_folder_is_not_taken(added: str) -> None:
    assert root_of("/home/u/other", DictWorld({}), config(), [added]) == ""  # type: ignore[arg-type]


def test_places_may_be_files_or_folders_and_words_must_exist() -> None:
    world = DictWorld(TREE)
    for place, found in [("/p/pkg/core", 3), ("/p/pkg/core/x.py", 3), ("/p/pkg/nowhere.py", 0)]:
        event = Event("tool_batch_finished", "s", tools=[Tool(RUNS, "t", (), (place,))], project="/p", cwd="/p")
        assert len(wants(handle(event, Inbox(), window(), world, config()))) == found  # type: ignore[arg-type]


def test_a_project_named_past_a_link() -> None:
    world = DictWorld(TREE, links={"/p": "/real/p"})
    plan = handle(batch("t1", "/real/p/pkg/x.py"), Inbox(), window(), world, config())  # type: ignore[arg-type]
    assert wants(plan) == ["/p/pkg/.directives/AGENTS.md", "/p/.directives/INVARIANTS.md"]


DEEP = "/p" + "/d" * 300


@pytest.mark.parametrize(
    "directory, root, number, first",
    [
        ("/p/a/b", "/p", 3, "/p/a/b"),
        ("/", "/", 1, "/"),
        ("/a", "/", 2, "/a"),
        (DEEP, "/p", MOST_DEPTH - 1, DEEP[: 2 + 2 * (MOST_DEPTH - 2)]),
        (f"{DEEP}/x", DEEP, 1, DEEP),
    ],
)
def test_walk_up_ends(directory: str, root: str, number: int, first: str) -> None:
    found = walk_up(directory, root)
    assert (len(found), found[0], found[-1]) == (number, first, root)


def test_one_event_looks_at_so_many_directories() -> None:
    """The next one goes on, also in the middle of a path."""
    names = [f"/p/m{number % 3}/n{number}" for number in range(MOST_LEVELS + 50)]
    world = DictWorld({f"{name}/.directives/AGENTS.md": name for name in names})
    event = batch("t1", *(f"{name}/x.py" for name in names))
    first = handle(event, Inbox(), window(), world, config())  # type: ignore[arg-type]
    assert first is not None and first.unfinished and len(first.touched) == MOST_LEVELS
    known = {name: found["found"] for name, found in first.touched.items()}
    rest = handle(event, Inbox(), window(touched=known), world, config())  # type: ignore[arg-type]
    assert rest is not None and not rest.unfinished
    assert {want.path for want in first.wants + rest.wants} == {f"{name}/.directives/AGENTS.md" for name in names}


def test_nothing_more_is_asked_for_while_many_files_wait() -> None:
    full = window(pending={f"/p/{number}": "why" for number in range(MOST_WAITING)})
    plan = handle(batch("t1", "/p/pkg/core/x.py"), Inbox(), full, DictWorld(TREE), config())  # type: ignore[arg-type]
    assert plan is not None and plan.unfinished and not plan.wants and not plan.touched


def test_a_project_with_many_directories_does_not_keep_the_users_rules_away() -> None:
    places = [*(f"/p/{number}" for number in range(MOST_LEVELS + 5)), "/u"]
    event = batch("t1", *(f"{place}/f.py" for place in places))
    inbox = Inbox()
    inbox.added = ["/u"]
    world = DictWorld({f"{place}/.directives/AGENTS.md": "rules" for place in places})
    plan = handle(event, inbox, window(), world, config())  # type: ignore[arg-type]
    assert plan is not None and plan.unfinished and len(plan.wants) < len(places)
    assert wants(plan)[0] == "/u/.directives/AGENTS.md"

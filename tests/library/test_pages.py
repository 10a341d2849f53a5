from __future__ import annotations

import json

import pytest

from builders import DictWorld
from handbill.library.pages import MANY, page, pages
from handbill.library.skills import skill_at, skill_file, template
from handbill.paths import SHIPPED as SHIPPED_PAGES
from handbill.paths import SHIPPED_SKILLS

SHIPPED = SHIPPED_SKILLS
LIBRARY = SHIPPED_PAGES


@pytest.mark.parametrize(
    "name, files, expected",
    [
        ("x", ["/p/.claude/skills/x", "/home/u/.claude/skills/x", f"{SHIPPED}/x"], "/home/u/.claude/skills/x/SKILL.md"),
        ("x", ["/p/.claude/skills/x", f"{SHIPPED}/x"], "/p/.claude/skills/x/SKILL.md"),
        ("x", ["/home/u/.claude/skills/x", f"{SHIPPED}/x"], "/home/u/.claude/skills/x/SKILL.md"),
        ("x", ["/home/u/.claude/plugins/cache/m/tools/1/skills/x", f"{SHIPPED}/x"], "/home/u/.claude/plugins/cache/m/tools/1/skills/x/SKILL.md"),
        ("tools:x", ["/p/.claude/skills/x", "/home/u/.claude/plugins/cache/m/tools/1/skills/x"], "/home/u/.claude/plugins/cache/m/tools/1/skills/x/SKILL.md"),
        ("other:x", ["/home/u/.claude/plugins/cache/m/tools/1/skills/x"], ""),
        ("x", [f"{SHIPPED}/x"], f"{SHIPPED}/x/SKILL.md"),
        ("x", [], ""), ("", [], ""), ("../x", ["/p/.claude/x"], ""), ("a/b", ["/p/.claude/skills/a/b"], ""), (".x", ["/p/.claude/skills/.x"], ""),
    ],
)  # fmt: skip
def test_where_a_skill_is(name: str, files: list[str], expected: str) -> None:
    plugins = {"version": 2, "plugins": {"tools@m": [{"installPath": "/home/u/.claude/plugins/cache/m/tools/1"}]}}
    tree = {f"{folder}/SKILL.md": "x" for folder in files}
    tree["/home/u/.claude/plugins/installed_plugins.json"] = json.dumps(plugins)
    assert skill_file(name, DictWorld(tree)) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["no json", "[]", '{"plugins": 3}', '{"plugins": {"a": [{}]}}', "{}"])
def test_a_plugin_list_that_we_do_not_understand(text: str) -> None:
    world = DictWorld({"/home/u/.claude/plugins/installed_plugins.json": text, f"{SHIPPED}/x/SKILL.md": "x"})
    assert skill_file("x", world) == f"{SHIPPED}/x/SKILL.md"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "referring, files, expected",
    [
        ("/p/a/b/f.md", ["/p/a/.directives", "/p/.directives", LIBRARY], "/p/a/.directives"),
        ("/p/a/b/f.md", ["/p/.directives", "/home/u/.claude/.directives"], "/p/.directives"),
        ("/p/a/b/f.md", ["/home/u/.claude/.directives", LIBRARY], "/home/u/.claude/.directives"),
        ("/p/a/b/f.md", [LIBRARY], LIBRARY),
        ("/p/a/b/f.md", ["/p/other/.directives"], ""),
        ("/home/u/.claude/skills/x/SKILL.md", ["/home/u/.claude/skills/x/.directives", "/p/.directives"], "/home/u/.claude/skills/x/.directives"),
        ("/home/u/.claude/skills/x/SKILL.md", ["/p/.directives", "/home/u/.claude/.directives"], "/p/.directives"),
        (f"{SHIPPED}/x/SKILL.md", ["/p/.directives", LIBRARY], "/p/.directives"),
        (f"{LIBRARY}/commands/CMD_Y.md", [LIBRARY], LIBRARY),
    ],
)  # fmt: skip
def test_which_page_a_name_means(referring: str, files: list[str], expected: str) -> None:
    world = DictWorld({f"{folder}/commands/CMD_X.md": "x" for folder in files})
    found = page("CMD_X", referring, world)  # type: ignore[arg-type]
    assert found == (f"{expected}/commands/CMD_X.md" if expected else "")


@pytest.mark.parametrize(
    "written, expected",
    [("assets/T.md", "/p/.claude/skills/x/assets/T.md"), ("/abs/T.md", "/abs/T.md"), ("~/T.md", "/home/u/T.md"),
     ("../../../../etc/passwd", "/etc/passwd")],  # delivery refuses it: it leads out
)  # fmt: skip
def test_templates_are_relative_to_their_skill(written: str, expected: str) -> None:
    assert template("/p/.claude/skills/x/SKILL.md", written, DictWorld({})) == expected  # type: ignore[arg-type]


def test_problems_name_file_and_line_and_end() -> None:
    block = json.dumps({"phases": [{"label": "bad"}] * 50})
    world = DictWorld({"/p/SKILL.md": f"### Session Parameters\n```json\n{block}\n```\n"})
    skill, problems = skill_at("/p/SKILL.md", world)  # type: ignore[arg-type]
    assert skill is not None and len(problems) == 6 and problems[0].startswith("/p/SKILL.md, line 3: phases[1]")
    assert skill_at("/p/none.md", world) == (None, ["/p/none.md does not exist"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "referring", ["/p/a/b/.directives/AGENTS.md", "/p/x.md", "/elsewhere/x.md", f"{LIBRARY}/commands/CMD_0.md"]
)
def test_many_names_are_found_as_one_is(referring: str) -> None:
    """The nearest file, whatever folders there are; names that no file has are left out."""
    folders = ("/p/a/b/.directives", "/p/a/.directives", "/p/.directives", "/home/u/.claude/.directives", LIBRARY)
    tree = {
        f"{folder}/{kind}/{kind[:3].upper() if kind != 'invariants' else 'INV'}_{number}.md": "x"
        for place, folder in enumerate(folders)
        for kind in ("commands", "invariants")
        for number in range(place, 2 * MANY, place + 2)
    }
    tree = {path.replace("/COM_", "/CMD_"): text for path, text in tree.items()}
    world = DictWorld(tree)
    names = [f"{kind}_{number}" for number in range(2 * MANY) for kind in ("CMD", "INV")]
    one_by_one = [page(name, referring, world) for name in names]  # type: ignore[arg-type]
    assert pages(names, referring, world) == [path for path in one_by_one if path]  # type: ignore[arg-type]

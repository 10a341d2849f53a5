"""One rule per mechanism, each with a marker of its own, in three projects that do not disturb each other."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import NamedTuple

from sandbox import Sandbox

from handbill.lab.live_client import Block, Request, call

OLD_TEXT, NEW_TEXT = "first edition", "second edition"
SKILL = "web-rules"
_DAY = 86_400
_LINES = 375  # of 40 characters: 15,000


class Rule(NamedTuple):
    key: str  # the row in why.toml
    path: str
    head: str = ""

    def begin(self, edition: str = OLD_TEXT) -> str:
        return f"BEGIN {self.key}, {edition}"

    def end(self, edition: str = OLD_TEXT) -> str:
        return f"END {self.key}, {edition}"

    def body(self, edition: str = OLD_TEXT, large: bool = False) -> str:
        lines = [f"{self.key} line {number:03d} ".ljust(39, ".") for number in range(_LINES * large)]
        return "\n".join([self.begin(edition), *lines, self.end(edition)]) + "\n"

    def copies(self, request: Request, edition: str = OLD_TEXT) -> int:
        """In everything that a request holds: the system prompt and the descriptions of tools count, too."""
        around = json.dumps([request.body.get("system"), request.body.get("tools")])
        return (request.text + around).count(self.end(edition))

    @property
    def is_skill(self) -> bool:
        return self.key == "skill"


# The client reads AGENTS.md only where no CLAUDE.md is, and Handbill must not do the client's part.
PROJECTS = {
    "client": (
        Rule("claude_root", "CLAUDE.md"),
        Rule("claude_nested", "web/CLAUDE.md"),
        Rule("rules", ".claude/rules/style.md"),
        Rule("rules_paths", ".claude/rules/web.md", '---\npaths:\n  - "web/**"\n---\n'),
        Rule("agents_beside", "web/AGENTS.md"),
        Rule("skill", f".claude/skills/{SKILL}/SKILL.md", f"---\nname: {SKILL}\ndescription: rules of web\n---\n"),
        Rule("hook_start", "rules/start.md"),
        Rule("hook_plain", "rules/plain.md"),
        Rule("hook_before", "rules/before.md"),
        Rule("hook_after", "rules/after.md"),
    ),
    "bare": (Rule("agents_root", "AGENTS.md"), Rule("agents_nested", "web/AGENTS.md")),
    "handbill": (
        Rule("handbill_root", ".directives/INVARIANTS.md"),
        Rule("handbill_nested", "web/.directives/AGENTS.md"),
    ),
}

_CAT = 'cat "$CLAUDE_PROJECT_DIR"/rules/'
_GIVE = """import json, sys
text = open(sys.argv[2]).read()
print(json.dumps({"hookSpecificOutput": {"hookEventName": sys.argv[1], "additionalContext": text}}))
"""


def _hooks() -> dict[str, list[dict[str, object]]]:
    """As people write them: `cat`, or a script that puts the file into the answer."""
    give = f'{sys.executable} "$CLAUDE_PROJECT_DIR"/rules/give.py'
    rows = (
        ("SessionStart", "", f"{_CAT}start.md"),
        ("PreToolUse", "Read|Edit|Write", f"{_CAT}plain.md"),
        ("PreToolUse", "Read|Edit|Write", f'{give} PreToolUse "$CLAUDE_PROJECT_DIR"/rules/before.md'),
        ("PostToolUse", "Read|Edit|Write", f'{give} PostToolUse "$CLAUDE_PROJECT_DIR"/rules/after.md'),
    )
    found: dict[str, list[dict[str, object]]] = {}
    for event, matcher, command in rows:
        handler = {"matcher": matcher, "hooks": [{"type": "command", "command": command}]}
        found.setdefault(event, []).append(handler)
    return found


def write_rules(box: Sandbox, project: str, edition: str = OLD_TEXT, large: bool = False) -> None:
    for rule in PROJECTS[project]:
        box.write(rule.path, rule.head + rule.body(edition, large))


def fill(box: Sandbox, project: str, large: bool = False) -> None:
    """Rules are older than the files that people work on: after a compaction, newer clients go by that."""
    write_rules(box, project, large=large)
    yesterday = time.time() - _DAY
    for rule in PROJECTS[project]:
        os.utime(box.path(rule.path), (yesterday, yesterday))
    for name in "abcdefgh":
        box.write(f"web/{name}.py", f"{name} = 1\n")
        box.write(f"lib/{name}.py", f"{name} = 1\n")
    if project == "client":
        box.write("rules/give.py", _GIVE)
        box.write(".claude/settings.json", json.dumps({"hooks": _hooks()}))


def use_skill(box: Sandbox, project: str) -> Block:
    """In a project without the skill, a call that touches nothing takes its place."""
    return call("Skill", skill=SKILL) if project == "client" else box.bash("echo skill")

"""The verbs of `engine`, one row for each.

The module of each verb defines its options and is loaded on use. A verb with subcommands lists them
in its module as `ACTIONS`, with an example for each.
"""

from __future__ import annotations

from typing import NamedTuple

SET_UP, INSPECT, WORK, GATES, WORKERS = "Set up", "Inspect", "Work", "Gates", "Workers"


class Verb(NamedTuple):
    group: str
    module: str
    about: str
    page: str  # the documentation page
    examples: tuple[str, ...]
    confirms: bool = False  # the output only confirms the action


# The help text uses this order.
VERBS = {
    "install": Verb(
        SET_UP, "install", "register the hooks in this project (or --user)", "README.md",
        ("engine install --dry-run", "engine install"), confirms=True,
    ),
    "uninstall": Verb(
        SET_UP, "uninstall", "remove exactly what install added", "README.md",
        ("engine uninstall --dry-run", "engine uninstall --state"), confirms=True,
    ),
    "doctor": Verb(
        SET_UP, "doctor", "check the installation, the state and the errors, and show a fix for each problem",
        "docs/architecture.md", ("engine doctor", "engine doctor --forget"),
    ),
    "config": Verb(
        SET_UP, "config", "show the settings that apply here, and where each one is from", "docs/configuration.md",
        ("engine config", "engine config write_gate.mode", "engine config load_gate"),
    ),
    "check": Verb(
        SET_UP, "check", "check the project's rules, pages, skills and settings, for CI: needs no agent",
        "docs/skills.md", ("engine check", "engine check --strict --quiet"),
    ),
    "demo": Verb(
        SET_UP, "demo", "play a whole agent session in a sample project and show each step", "README.md",
        ("engine demo", "engine demo --live --fast"),
    ),
    "completion": Verb(
        SET_UP, "completion", "print a completion script for bash, zsh or fish", "docs/cli.md",
        ("engine completion bash >> ~/.bashrc",),
    ),
    "prune": Verb(
        SET_UP, "prune", "remove ledgers of windows that ended long ago", "docs/architecture.md",
        ("engine prune --dry-run", "engine prune --days 30"), confirms=True,
    ),
    "window": Verb(
        INSPECT, "window", "show what is in this context window, since when, and how that is proven",
        "docs/windows.md", ("engine window", "engine window --all", "engine window --audit"),
    ),
    "deliveries": Verb(
        INSPECT, "deliveries", "show the delivery log: what was delivered, skipped, lost, and why", "docs/windows.md",
        ("engine deliveries --last 10", "engine deliveries --file api/ --event delivered",
         "engine deliveries --summary"),
    ),
    "why": Verb(
        INSPECT, "why", "show when and where a file was delivered, or why it was not", "docs/windows.md",
        ("engine why api/.directives/AGENTS.md", "engine why CMD_DEHYDRATE"),
    ),
    "preview": Verb(
        INSPECT, "preview", "show what would be delivered now, and why, without delivering it", "docs/windows.md",
        ("engine preview api/orders.py", "engine preview --write api/refunds.py", "engine preview --skill fix"),
    ),
    "discover-directives": Verb(
        INSPECT, "discover_directives", "show which directives apply to a directory", "docs/configuration.md",
        ("engine discover-directives api", "engine discover-directives api --core"),
    ),
    "glob": Verb(
        INSPECT, "glob", "find files by pattern, through links, newest first", "docs/sessions.md",
        ("engine glob '**/*.md'", "engine glob '*.{py,md}' api --limit 5"),
    ),
    "record": Verb(
        INSPECT, "record", "write a window's events to a file that `engine replay` plays", "docs/windows.md",
        ("engine record session.jsonl", "engine record session.jsonl --events-only --force"), confirms=True,
    ),
    "replay": Verb(
        INSPECT, "replay", "play a recorded event stream and print or compare its deliveries", "docs/windows.md",
        ("engine replay session.jsonl", "engine replay session.jsonl --update"),
    ),
    "session": Verb(
        WORK, "session", "manage a piece of work: activate a skill, move through its phases, end it",
        "docs/sessions.md", (),
    ),
    "find-sessions": Verb(
        WORK, "find_sessions", "find sessions by day, topic or state", "docs/sessions.md",
        ("engine find-sessions all", "engine find-sessions topic login", "engine find-sessions date 2026-01-31"),
    ),
    "skills": Verb(
        WORK, "skills", "list skills, their phases and pages, and what is wrong with them", "docs/skills.md",
        ("engine skills", "engine skills implement", "engine skills implement --copy"),
    ),
    "resume": Verb(WORK, "resume", "write, show or check the _resume.md of a project", "docs/gates.md", ()),
    "context": Verb(
        WORK, "context", "print the project's working context as one packet of a given size", "docs/gates.md",
        ("engine context", "engine context --budget 1000"),
    ),
    "gate": Verb(GATES, "gate", "show what each gate requested, and what the agent did", "docs/gates.md", ()),
    "compaction": Verb(
        GATES, "compaction", "show what a compaction removed and what was kept; restore lost files",
        "docs/windows.md", (),
    ),
    "role": Verb(
        GATES, "role", "list, set or clear a session's role; its files are delivered again after a compaction",
        "docs/gates.md", (),
    ),
    "worker": Verb(WORKERS, "worker", "start an agent with a contract of its own", "docs/gates.md", ()),
    "dispatch": Verb(
        WORKERS, "dispatch", "create, check, update and finish the contracts of workers", "docs/gates.md", ()
    ),
}  # fmt: skip

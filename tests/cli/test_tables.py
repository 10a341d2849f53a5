"""Tables at the widths of real terminals: no line is too long, no word is cut, no column is empty."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest
from command import run
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from engine_server import run_engine
from handbill.cli.table import Table
from handbill.cli.verb_table import VERBS
from handbill.cli.word_console import WordConsole
from handbill.cli.wrapping import shortened_left, wrapped
from handbill.lab.simulator import Simulator, direct_hooks

WIDTHS = (60, 80, 100, 200)


def drawn(table: Table, width: int) -> list[str]:
    file = io.StringIO()
    WordConsole(width=width, file=file, highlight=False).print(table)
    return file.getvalue().splitlines()


# --- the layout ------------------------------------------------------------------------------------


def sample(*columns: str) -> Table:
    table = Table(columns, "")
    table.add_row("packages/shop/api/carts/.directives/AGENTS.md", "1,234", "a reason of some words", "sent", "")
    table.add_row("a.md", "5", "short", "confirmed", "")
    return table


@pytest.mark.parametrize(
    "width, columns, expected",
    [
        (200, ("file|p", "tokens|r", "why", "state|n", "empty"), [
            "file                                           tokens  why                     state",
            "─" * 84,
            "packages/shop/api/carts/.directives/AGENTS.md   1,234  a reason of some words  sent",
            "a.md                                                5  short                   confirmed",
        ]),
        (60, ("file|p", "tokens|r", "why", "state|n", "empty"), [
            "file                    tokens  why                     state",
        ]),
        (54, ("file|p", "tokens|r-", "why|-", "state|n", "empty"), [
            "file                              tokens  state",
            "─" * 50,
            "…/api/carts/.directives/AGENTS.md       1,234  sent",
        ]),
        (50, ("file|p", "tokens|r", "why|+", "state|n", "empty"), [
            "file                              tokens  state",
            "  why",
        ]),
        (20, ("file|p", "tokens|r", "why", "state|n", "empty"), [
            "…/AGENTS.md", "  tokens: 1,234", "  why: a reason of", "  some words", "  state: sent",
        ]),
    ],
)  # fmt: skip
def test_a_table_gives_way(width: int, columns: tuple[str, ...], expected: list[str]) -> None:
    lines = drawn(sample(*columns), width)
    assert all(cell_len(line) <= width for line in lines), lines
    assert [" ".join(line.replace("─", "").split()) for line in lines[: len(expected)]] == [
        " ".join(line.replace("─", "").split()) for line in expected
    ]


@pytest.mark.parametrize(
    "path, width, shown",
    [
        ("api/.directives/AGENTS.md", 40, "api/.directives/AGENTS.md"),
        ("shop/api/.directives/AGENTS.md", 27, "…/api/.directives/AGENTS.md"),
        ("shop/api/.directives/AGENTS.md", 26, "…/.directives/AGENTS.md"),
        ("api/.directives/A_VERY_LONG_NAME.md", 10, "…G_NAME.md"),
        ("größe/🙂/文件/AGENTS.md", 16, "…/文件/AGENTS.md"),
        ("some/folder/", 8, "…folder/"),
    ],
)
def test_a_path_loses_its_beginning(path: str, width: int, shown: str) -> None:
    assert shortened_left(Text(path), width).plain == shown and cell_len(shown) <= width


some_words = st.lists(st.text(st.sampled_from("abß文🙂./-"), min_size=1, max_size=12), max_size=12)


@given(some_words, st.integers(3, 30), st.integers(0, 2))
def test_wrapping_cuts_no_word(given_words: list[str], width: int, hang: int) -> None:
    lines = [line.plain for line in wrapped(Text(" ".join(given_words)), width, hang)]
    assert " ".join(lines).split() == given_words
    assert all(cell_len(line) <= width or len(line.split()) == 1 for line in lines)


@given(
    st.lists(st.tuples(some_words, st.integers(0, 10**9), some_words, some_words), min_size=1, max_size=4),
    st.lists(st.sampled_from(["", "p", "n", "+", "p-", "r-", "n-", "p+"]), min_size=3, max_size=3),
    st.integers(30, 120),
)
def test_any_table_fits(rows: list[tuple[list[str], int, list[str], list[str]]], flags: list[str], width: int) -> None:
    table = Table((f"one|{flags[0]}", "two|r", f"three|{flags[1]}", f"four|{flags[2]}"), "")
    for first, number, third, fourth in rows:
        table.add_row(" ".join(first), f"{number:,}", " ".join(third), " ".join(fourth))
    rigid = any(len(word) > width - 10 for row in rows for part in row if isinstance(part, list) for word in part)
    assert rigid or all(cell_len(line) <= width for line in drawn(table, width))


# --- every command that draws one ------------------------------------------------------------------

LONG = "packages/storefront/src/checkout/payment-providers/card"
COMMANDS = [
    ["window"], ["window", "--all"], ["window", "--all", "--audit"], ["window", "--audit"], ["deliveries"],
    ["deliveries", "--summary"], ["deliveries", "--duplicates"], ["why", f"{LONG}/.directives/AGENTS.md"],
    ["preview", f"{LONG}/a.py"], ["preview", "--start"], ["preview", "--write", "worker/new.py"],
    ["discover-directives", LONG], ["session", "list"], ["session", "status", "2026_01_31_LOGIN"],
    ["find-sessions", "all"], ["skills"], ["skills", "implement"], ["skills", "release"], ["resume", "show"],
    ["config"], ["resume", "check"], ["gate", "status"], ["role", "list"], ["compaction", "report"], ["replay", "stream.jsonl"],
]  # fmt: skip
# they draw no table, or a test of their own looks at it
OTHERS = {
    "install", "uninstall", "doctor", "check", "completion", "prune", "record", "glob", "context", "worker", "dispatch", "demo",
}  # fmt: skip


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A project in which something of every kind has happened, below a long path."""
    root = tmp_path_factory.mktemp("tables")
    project = root / "project"
    files = {
        f"{LONG}/.directives/AGENTS.md": "rules of the card payments\n", f"{LONG}/a.py": "x\n",
        f"{LONG}/.directives/TESTING.md": "for skills\n", ".directives/INVARIANTS.md": "everywhere\n",
        "worker/.directives/AGENTS.md": "worker\n" * 4000, "worker/a.py": "x\n", "worker/.directives/PITFALLS.md": "\0",
        ".context/TASKS.md": "login\n", "02-projects/shop/01-planning/_resume.md": "---\nfiles_to_load: [a.md, b/c.md]\n---\n",
        "02-projects/shop/a.md": "text\n", ".directives/commands/CMD_RUN_THE_CHECKS_OF_THIS_REPOSITORY.md": "run\n",
        ".claude/skills/release/SKILL.md": "---\nname: release\ndescription: Makes a release of everything that is in this repository\n---\n"
        '### Session Parameters\n```json\n{"phases": [{"label": "0", "name": "Check it", "steps": ["§CMD_RUN_THE_CHECKS_OF_THIS_REPOSITORY", '
        '"§CMD_WITHOUT_A_PAGE"], "proof": ["versionOfTheRelease", "testsPassed"]}, {"label": "1", "name": "End"}]}\n```\n',
    }  # fmt: skip
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    environ = {"HOME": str(root / "home"), "PATH": os.environ["PATH"]}
    os.makedirs(environ["HOME"])
    session = "3f0c1c4e-1111-4222-8333-444455556666"
    hooks = {"CLAUDE_PROJECT_DIR": str(project), "AI_AGENT": "claude-code_2-1-325_x", "CLAUDE_PID": "1"}
    sim = Simulator(str(project), str(root / "transcripts"), direct_hooks({**environ, **hooks}), session=session)
    sim.start()
    sim.prompt("go")
    sim.read(f"{LONG}/a.py")
    sim.subagent("a1b2c3d4e5")
    sim.read("worker/a.py", agent="a1b2c3d4e5")
    sim.compact()
    sim.read("worker/a.py")
    stream = [
        {"hook_event_name": "SessionStart", "source": "startup"},
        {"in": _read(f"$PROJECT/{LONG}/a.py"), "out": ["x"]},
    ]
    (project / "stream.jsonl").write_text("\n".join(map(json.dumps, stream)))
    parameters = json.dumps({"taskSummary": "Let people log in with a second factor, and tell them why they must"})
    proof = json.dumps({"versionOfTheRelease": "1.4", "testsPassed": True})
    for words, stdin in (
        (["install", "--python", sys.executable], ""), (["session", "activate", "2026_01_31_LOGIN", "release"], parameters),
        (["session", "phase", "2026_01_31_LOGIN", "1"], proof),
    ):  # fmt: skip
        done = run_engine(tuple(words), cwd=project, environ=environ, stdin=stdin)
        assert done.returncode == 0, done.stderr
    return project, environ


def _read(path: str) -> dict[str, object]:
    call = {"tool_name": "Read", "tool_input": {"file_path": path}, "tool_use_id": "t1"}
    return {"hook_event_name": "PostToolBatch", "tool_calls": [call]}


def test_every_verb_is_looked_at() -> None:
    assert {words[0] for words in COMMANDS} | OTHERS == set(VERBS)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_fits_the_terminal(busy: tuple[Path, dict[str, str]], words: list[str]) -> None:
    project, environ = busy

    def shown(**more: str) -> list[str]:
        done = run_engine(tuple(words), cwd=project, environ={**environ, **more})
        assert done.returncode in (0, 1) and done.stderr == "", done.stderr
        return done.stdout.splitlines()

    piped = shown()
    known = {word for line in piped for word in line.split()} | {"·", "1", "min", "ago"}
    assert any("─" in line for line in piped) or words == ["window", "--audit"] or "--duplicates" in words
    for width in WIDTHS:
        for line in shown(COLUMNS=str(width)):
            assert cell_len(line) <= width, line
            for word in line.replace("─", " ").split():
                assert word in known or (word.startswith("…") and any(one.endswith(word[1:]) for one in known)), line


def test_a_pipe_gets_whole_lines(busy: tuple[Path, dict[str, str]]) -> None:
    project, environ = busy
    done = run_engine(("deliveries",), cwd=project, environ=environ)
    assert f"{LONG}/.directives/AGENTS.md" in done.stdout and "…" not in done.stdout


@pytest.mark.once
def test_the_demos_table() -> None:
    lines = run("demo", "--fast", COLUMNS="60").stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("window"))
    assert all(len(line) <= 60 for line in lines[at:])

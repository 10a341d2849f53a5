"""The table of commands: groups, help, examples, pages of the documentation; and what is said of wrong words."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from command import engine, run

from handbill.cli.commands import Command, chosen, commands_of
from handbill.cli.verb_table import GATES, INSPECT, SET_UP, VERBS, WORK, WORKERS
from handbill.reports.json_fields import rows_of
from handbill.work.detect_project import CONTEXT, HEAD
from handbill.work.stdin_fields import ENDING, PARAMETERS

ROOT = Path(__file__).parents[2]
COMMANDS = {command.name: command for verb in VERBS for command in commands_of(verb).values()}


def engine_words(example: str) -> list[str]:
    """The words behind `engine` in a shell's line."""
    words = shlex.split(re.split(r" (?:<|>|>>) ", example.rpartition("| ")[2])[0])
    assert words[0] == "engine", example
    return words[1:]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_group_and_a_page(verb: str) -> None:
    assert VERBS[verb].group in (SET_UP, INSPECT, WORK, GATES, WORKERS)
    assert (ROOT / VERBS[verb].page).is_file()


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_every_command_has_examples_that_parse(command: Command) -> None:
    assert command.examples
    for example in command.examples:
        found, rest, _ = chosen(engine_words(example))
        assert found is not None and found.name == command.name, example
        found.parser().parsed(rest)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    shown = run(*name.split(), "--help", COLUMNS="200").stdout
    command = COMMANDS[name]
    assert shown.startswith(f"usage: engine {name}")
    for text in ("--json", "--quiet", *(f"\nexample: {one}\n" for one in command.examples)):
        assert text in shown
    assert shown.endswith(f"\nmore: {command.page}\n")


@pytest.mark.parametrize("verb", [verb for verb in VERBS if "" not in commands_of(verb)])
def test_a_verb_alone_explains_its_own_verbs(verb: str) -> None:
    done = run(verb)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout == run(verb, "--help").stdout == run("help", verb).stdout
    for command in commands_of(verb).values():
        assert f"\n  {command.name.split()[1]} " in done.stdout
    assert f"\nmore: {VERBS[verb].page}\n" in done.stdout
    assert engine(verb)["data"]["help"] == done.stdout.rstrip("\n")


def test_the_help_lists_the_verbs_by_group() -> None:
    shown = run().stdout
    at = [shown.index(f"\n{group}:\n") for group in (SET_UP, INSPECT, WORK, GATES, WORKERS)]
    assert at == sorted(at)
    assert all(f"\n  {verb} " in shown for verb in VERBS)


@pytest.mark.parametrize("width", [40, 60, 80, 100])
@pytest.mark.parametrize("words", [[], ["session"], ["resume", "write"], ["deliveries"]], ids=" ".join)
def test_help_fits_the_terminal(words: list[str], width: int) -> None:
    wide = run(*words, "--help", COLUMNS="300").stdout
    for line in run(*words, "--help", COLUMNS=str(width)).stdout.splitlines():
        assert len(line) <= width or line.startswith("example: ") or " " not in line.strip()
        assert all(word in wide.split() for word in line.split()), line


@pytest.mark.parametrize(
    "words, schema",
    [
        (["session", "activate"], PARAMETERS), (["session", "idle"], ENDING), (["session", "deactivate"], ENDING),
        (["session", "dehydrate"], CONTEXT), (["resume", "write"], HEAD),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_fields_on_stdin_are_explained(words: list[str], schema: dict[str, object]) -> None:
    shown = " ".join(run(*words, "--help").stdout.split())
    for row in rows_of(schema):
        assert row.about, row.name
        required = ", required" if row.required else ""
        assert f" {row.name} {row.kind}{required}: {row.about} " in shown


@pytest.mark.parametrize(
    "schema, kind",
    [
        ({"type": "string"}, "string"),
        ({"type": ["string", "integer", "number", "null"]}, "string or number or null"),
        ({"type": "array", "items": {"type": "string"}}, "list of strings"),
        ({"type": "array"}, "list"),
        ({"enum": ["a", 2]}, '"a" or 2'),
        ({"type": "boolean"}, "true or false"),
        ({}, "any value"),
        ({"type": 5}, "any value"),
        ({"type": "array", "items": 5}, "list"),
    ],
)
def test_types_in_words(schema: dict[str, object], kind: str) -> None:
    assert rows_of({"properties": {"x": schema}, "required": ["x"]})[0][:3] == ("x", kind, True)


def test_skills_show_the_types_of_a_proof(tmp_path: Path) -> None:
    (phase,) = engine("skills", "fix", cwd=tmp_path)["data"]["phases"][:1]
    assert phase["proofFields"] and {field["name"] for field in phase["proofFields"]} == set(phase["proof"])
    assert "list of strings" in run("skills", "fix", cwd=tmp_path).stdout


# --- wrong words ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, meant",
    [
        (["windw"], "window"),
        (["sesion", "list"], "session"),
        (["session", "phse"], "phase"),
        (["window", "--al"], "--all"),
        (["session", "list", "--projct=x"], "--project"),
        (["deliveries", "--event", "deliverd"], "delivered"),
        (["completion", "bsh"], "bash"),
        (["find-sessions", "tody"], "today"),
        (["dispatch", "finish", "f.md", "--status", "Dne"], "done"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_may_have_been_meant(words: list[str], meant: str) -> None:
    done = run(*words)
    assert done.returncode == 2 and f"(did you mean {meant}?)" in done.stderr
    error = engine(*words, expect=2)["error"]
    assert error["code"] == "usage" and f"(did you mean {meant}?)" in error["message"] and error["hint"]


def test_names_that_may_have_been_meant(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert "(did you mean implement?)" in run("skills", "implment", cwd=tmp_path).stderr
    assert "(did you mean fix?)" in run("preview", "--skill", "fxi", cwd=tmp_path).stderr
    assert "(did you mean handler?)" in run("role", "set", "handlr", "--session", "x", cwd=tmp_path).stderr
    run("session", "activate", "2026_LOGIN", "do", cwd=tmp_path)
    for verb in ("status", "continue", "check"):
        assert "(did you mean 2026_LOGIN?)" in run("session", verb, "2026_LOGN", cwd=tmp_path).stderr


@pytest.mark.parametrize(
    "words, said",
    [
        (["zzz"], "there is no command 'zzz'\n"),
        (["session", "zzz"], "use one of init, activate"),
        (["glob", "a", "b", "c"], "there is an argument too many: 'c'"),
        (["glob"], "the following arguments are required: pattern"),
        (["preview", "--write", "a", "--skill=b"], "--write and --skill exclude each other"),
        (["install", "--lanes", "9"], "'9' is unknown; use one of 1 to 8"),
        (["deliveries", "--last", "x"], "must be 0 or a larger whole number"),
        (["--nonsense"], "there is no option --nonsense"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage(words: list[str], said: str) -> None:
    done = run(*words)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["glob", "*.md", "--limit", "1", "."], ["glob", "--limit", "1", "*.md", "."], ["--limit=1", "glob", "*.md"],
        ["glob", "--limit=1", "*.md", "--", "."], ["-q", "glob", "*.md", "--limit", "1"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_options_may_be_anywhere(words: list[str], tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("x\n")
    assert run(*words, cwd=tmp_path).stdout in ("a.md\n", "b.md\n")


def test_options_before_both_verbs(tmp_path: Path) -> None:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    for words in (["--project", "project", "session", "init", "A"], ["session", "--project", "project", "init", "B"]):
        assert run(*words, cwd=tmp_path).returncode == 0
    assert {path.name for path in (tmp_path / "project" / "sessions").iterdir()} == {"A", "B"}


def test_the_version() -> None:
    assert run("--version").stdout == run("-V").stdout and run("-V").stdout.startswith("handbill ")


def test_a_quiet_command(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.md").write_text("x\n")
    assert run("session", "init", "A", "--quiet", cwd=tmp_path).stdout == "", "it only confirms"
    assert run("glob", "*.md", "--quiet", cwd=tmp_path).stdout == "a.md\n", "what it found is what it is for"
    loud, quiet = (run("skills", *more, cwd=tmp_path).stdout for more in ([], ["-q"]))
    assert "next:" in loud and quiet and "next:" not in quiet
    done = run("window", "-q", cwd=tmp_path)
    assert done.returncode == 1 and done.stderr and done.stdout == ""
    assert engine("session", "init", "A", "-q", cwd=tmp_path)["data"]["created"] is False
    shown = run("doctor", "-q", cwd=tmp_path).stdout
    assert "✗ wiring" in shown and "✓" not in shown and "problem" not in shown

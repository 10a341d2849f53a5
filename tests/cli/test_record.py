"""`engine record` reads a session back from the client's record; `engine replay` then delivers what it did."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from handbill.lab.recorder import record
from simulated_project import NEW, OLD, SimulatedProject

RECORDINGS = Path(__file__).parents[1] / "hosts/claude_code/recordings"
MARK = re.compile(r"\[\[MARK ([A-Za-z]+)(?::([a-z]+))? (\d+)\]\]")

Make = Callable[..., SimulatedProject]


def recorded(box: SimulatedProject, *more: str) -> list[dict[str, Any]]:
    """The lines of the recording; playing it must deliver the same."""
    done = box.process(f"engine record session.jsonl --force {' '.join(more)}")
    assert done.returncode == 0, done.stderr
    replayed = box.process("engine replay session.jsonl --json")
    answer = json.loads(replayed.stdout)
    wrong = [(row["event"], row["delivered"], row["expected"]) for row in answer["data"]["events"] if row["differs"]]
    assert replayed.returncode == 0 and answer["data"]["differences"] == 0, wrong
    return [json.loads(line) for line in (box.project / "session.jsonl").read_text().splitlines()]


def events(lines: list[dict[str, Any]]) -> list[str]:
    return [
        f"{line['in']['hook_event_name']} {line['in'].get('source', '')}".strip() for line in lines if "in" in line
    ]  # fmt: skip


def delivered(lines: list[dict[str, Any]]) -> list[str]:
    return [name for line in lines for name in line.get("out", ())]


@pytest.mark.parametrize("version", [OLD, NEW])
@pytest.mark.parametrize("more", ["", "--events-only"])
def test_a_session_with_a_compaction_and_a_resume(make_project: Make, version: str, more: str) -> None:
    box = make_project(version)
    box.write("big/.directives/ARCHITECTURE.md", "a rule of many\n" * 1500)
    box.sim.start()
    box.sim.prompt("look at the parts")
    box.sim.read("one/f.py", "two/f.py")
    box.sim.read("big/x.py")
    box.idle(3)
    box.sim.compact()
    box.sim.read("one/f.py")
    box.sim.start("resume")
    box.sim.prompt("go on")
    box.sim.read("two/f.py")
    lines = recorded(box, more)
    assert ("files" in lines[0]) is (more == "") and lines[0]["version"]
    assert events(lines)[:3] == ["SessionStart startup", "UserPromptSubmit", "PostToolBatch"]
    names = delivered(lines)
    assert names.count("one/.directives/AGENTS.md") == 2, "a compaction lies between"
    assert [name for name in names if name.startswith("big/")] == [
        f"big/.directives/ARCHITECTURE.md {n}/3" for n in (1, 2, 3)
    ]


def test_held_calls_and_subagents(make_project: Make) -> None:
    box = make_project()
    box.sim.start()
    box.sim.prompt("go")
    assert box.sim.write("one/new.py").denied
    box.sim.write("one/new.py")
    box.sim.subagent("a1")
    box.sim.read("two/f.py", agent="a1")
    box.sim.read("two/f.py")
    lines = recorded(box)
    held = next(line for line in lines[1:] if line["in"].get("tool_name") == "Write")
    assert held["out"] == ["one/.directives/AGENTS.md"]
    agents = [line for line in lines[1:] if line["in"].get("agent_id") == "a1"]
    assert events(agents) == ["SubagentStart", "PostToolBatch"] and "two/.directives/AGENTS.md" in agents[1]["out"]
    assert events(lines).index("SubagentStart") == len(events(lines)) - 3, "in the order of time"


def test_skills_that_a_user_types_and_an_agent_calls(make_project: Make) -> None:
    box = make_project()
    box.skill("build", {"label": "0", "name": "Setup", "steps": ["§CMD_ONE", "§CMD_TWO"]}, directives=["TESTING.md"])
    box.skill("note", {"label": "0", "name": "Look", "steps": ["§CMD_THREE"]})
    box.write("one/.directives/TESTING.md", "test it\n")
    box.sim.start()
    box.sim.skill("build", "it now")
    box.sim.read("one/f.py")
    box.sim.invoke("note")
    box.idle(2)
    lines = recorded(box)
    typed = next(line["in"] for line in lines[1:] if line["in"]["hook_event_name"] == "UserPromptExpansion")
    assert (typed["command_name"], typed["command_args"], typed["prompt"]) == ("build", "it now", "/build it now")
    assert {".directives/commands/CMD_ONE.md", "one/.directives/TESTING.md"} <= set(delivered(lines))


def test_commands_of_the_agent(make_project: Make) -> None:
    box = make_project()
    phases = [{"label": str(n), "name": "P", "steps": [f"§CMD_{word}"]} for n, word in enumerate(("ONE", "TWO"))]
    box.skill("build", *phases)
    box.sim.start()
    box.sim.prompt("go")
    box.shell("engine session activate WORK build")
    box.idle()
    box.shell("engine session phase WORK 1")
    box.idle()
    lines = recorded(box)
    assert [line["notice"]["verb"] for line in lines if "notice" in line] == ["activate", "phase"]
    assert {f".directives/commands/CMD_{word}.md" for word in ("ONE", "TWO")} <= set(delivered(lines))


def test_a_rewind(make_project: Make) -> None:
    box = make_project()
    box.sim.start()
    box.sim.prompt("first")
    box.sim.read("one/f.py")
    undone = box.sim.prompt("second")
    box.sim.read("two/f.py")
    box.sim.rewind(undone)
    box.sim.prompt("third")
    box.sim.read("two/f.py")
    box.idle(2)
    lines = recorded(box)
    assert [line["rewind"] for line in lines if "rewind" in line] == [undone.event["prompt_id"]]
    assert (
        delivered(lines).count("two/.directives/AGENTS.md") == 2
        and delivered(lines).count("one/.directives/AGENTS.md") == 1
    )


def test_another_delivery_is_found(make_project: Make) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    lines = recorded(box)
    lines[0]["files"]["one/.directives/INVARIANTS.md"] = "new\n"
    (box.project / "session.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = box.process("engine replay session.jsonl --json")
    assert done.returncode == 1 and json.loads(done.stdout)["data"]["differences"] == 1


def test_what_a_recording_contains(make_project: Make) -> None:
    """Rules, prompts, commands and paths; never what was written or read."""
    box = make_project()
    (box.project / ".env").write_text("PASSWORD=1\n")
    box.write("one/f.py", "the text of a file\n")
    box.sim.start()
    box.sim.prompt("the prompt")
    box.sim.batch(
        ("Write", {"file_path": f"{box.project}/one/g.py", "content": "TOP SECRET"}),
        ("Edit", {"file_path": f"{box.project}/one/f.py", "old_string": "TOP SECRET", "new_string": "TOP SECRET"}),
        ("Read", {"file_path": f"{box.project}/.env"}, "1\tPASSWORD=1"),
        ("Bash", {"command": "cat one/f.py"}, "TOP SECRET"),
    )
    text = "".join(map(json.dumps, recorded(box)))
    assert "the prompt" in text and "rules of one" in text and "cat one/f.py" in text
    for secret in ("TOP SECRET", "PASSWORD", "the text of a file", str(box.project)):
        assert secret not in text


def test_where_it_is_written(make_project: Make) -> None:
    box = make_project()
    assert box.process("engine record x.jsonl").returncode == 1, "there is no window yet"
    box.sim.start()
    done = box.process("engine record x.jsonl")
    assert done.returncode == 0 and "may contain secrets" in done.stdout and "engine replay x.jsonl" in done.stdout
    file = box.project / "x.jsonl"
    assert file.stat().st_mode & 0o777 == 0o600
    assert "already exists" in box.process("engine record x.jsonl").stderr
    assert box.process("engine record x.jsonl --force --quiet").stdout == ""
    assert box.process("engine record - --quiet").stdout == file.read_text()
    (box.project / "out").symlink_to(box.project.parent)
    assert "leads out of the project" in box.process("engine record out/x.jsonl").stderr
    Path(box.sim.transcript).unlink()
    assert "the client keeps transcripts only for a few weeks" in box.process("engine record y.jsonl").stderr


# --- what the real client writes -------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(RECORDINGS.glob("*.jsonl")), ids=lambda path: path.stem)
def test_the_events_of_a_real_session(path: Path) -> None:
    """Each mark in these transcripts was printed by a hook, and says for which event: the order must be theirs."""
    *rows, _ = [json.loads(line) for line in path.read_text().splitlines()]
    wanted: list[str] = []
    for row in rows:
        for text in row.get("attachment", {}).get("content") or ():
            for event, source, _ in MARK.findall(text):
                row["attachment"] |= {"hookEvent": event, "hookName": f"{event}:{source}" if source else event}
                wanted.append(f"{event} {source}".strip())
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    lines = record("s", data, {}, "/project", frozenset())
    # texts are left out of these files: a typed /compact and the note of an interruption look like prompts
    unmarked = {"UserPromptSubmit", "PostToolBatch"} if "-esc" in path.stem else {"UserPromptSubmit"}
    found = [f"{line.name} {line.event.get('source', '')}".strip() for line in lines if line.act is None]
    kinds = {one.split()[0] for one in wanted}
    at = 0
    for name in [name for name in found if name.split()[0] in kinds]:
        if at < len(wanted) and name == wanted[at]:
            at += 1
        else:
            assert name in unmarked, (name, wanted[at:])
    assert at == len(wanted)
    rewinds = sum("rewind" in (line.act or {}) for line in lines)
    assert rewinds == REWINDS.get(path.stem, REWINDS.get(path.stem.partition("-")[2], 0))


# where the next prompt follows an earlier row than the newest one; Esc before the first answer does that, too
REWINDS = {"r1": 1, "r2": 1, "esc": 1, "escfirst": 1, "twice": 2, "2.1.260-compact": 1}


def rows(*given: dict[str, Any]) -> bytes:
    """Each follows the one before."""
    made = [{"parentUuid": f"u{n - 1}" if n else None, "uuid": f"u{n}", **row} for n, row in enumerate(given)]
    return b"".join(json.dumps(row).encode() + b"\n" for row in made)


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "promptId": "p", "message": {"content": content}, **more}


CALL = {
    "type": "assistant",
    "message": {"id": "m", "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]},
}
RESULT = user([{"type": "tool_result", "tool_use_id": "t", "content": "x"}])


@pytest.mark.parametrize(
    "given, expected",
    [
        ([user("go"), CALL, RESULT], ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolBatch"]),
        ([user("go"), CALL], ["SessionStart", "UserPromptSubmit", "PreToolUse"]),
        ([user("go"), CALL, RESULT, user("[Request interrupted by user for tool use]")], ["SessionStart", "UserPromptSubmit", "PreToolUse"]),
        ([user("<command-name>/compact</command-name>"), user("<local-command-stdout>")], ["SessionStart"]),
        ([user("<command-name>/a</command-name>"), user("body", isMeta=True)], ["SessionStart", "UserPromptSubmit", "UserPromptExpansion"]),
        ([user("summary", isCompactSummary=True), user("caveat", isMeta=True)], ["SessionStart"]),
        ([user("go"), {"type": "system", "subtype": "stop_hook_summary"}], ["SessionStart", "UserPromptSubmit", "Stop"]),
        ([user("go", isSidechain=True)], []),
        ([{"type": "assistant", "message": {"content": "x"}}], ["SessionStart"]),
    ],
)  # fmt: skip
def test_rows_and_their_events(given: list[dict[str, Any]], expected: list[str]) -> None:
    assert [line.name for line in record("s", rows(*given), {}, "/p", None)] == expected


@pytest.mark.parametrize(
    "data", [b"", b"{\n", b"[1]\n", b'{"uuid": 3}\n', b'{"type":"user","uuid":"u","message":"x"}\n', b"\xff\xfe\n"]
)
def test_rows_that_cannot_be_read(data: bytes) -> None:
    lines = record("s", data + rows(user("go")), {"a": data}, "/p", None)
    assert "UserPromptSubmit" in [line.name for line in lines]

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from simulated_project import SimulatedProject


def audited(box: SimulatedProject, expect: int) -> list[dict[str, str]]:
    done = box.process(f"engine window {box.sim.session} --audit --json")
    assert done.returncode == expect, done.stdout + done.stderr
    found: list[dict[str, str]] = json.loads(done.stdout)["data"]["differences"]
    return found


def test_a_ledger_that_agrees(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    assert audited(box, 0) == []
    assert "agree" in box.process(f"engine window {box.sim.session} --audit").stdout


def test_what_is_gone_is_shown_and_comes_again(make_project: Callable[..., SimulatedProject]) -> None:
    """As after a rewind that nobody noticed: the record no longer shows what the ledger says."""
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.read("two/f.py")
    box.idle()
    transcript = Path(box.sim.transcript)
    rows = [json.loads(line) for line in transcript.read_text().splitlines()]
    for row in rows:
        if "/one/.directives/" in str(row.get("attachment")):
            row["attachment"]["content"] = ["something else"]
    transcript.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    assert [row["file"] for row in audited(box, 1)] == [str(box.project / "one/.directives/AGENTS.md")]
    assert "rules of one" in "".join(box.idle().texts), "its call is still there"
    assert audited(box, 0) == []


def test_what_the_ledger_lost_is_found_and_not_delivered_again(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    box.idle()
    window = next((box.state_folder / ".windows").glob("*.jsonl"))
    text = window.read_text()
    window.write_text(
        "\n".join(line for line in text.split("\n") if "one/.directives" not in line and '"dir"' not in line)
    )
    assert [row["ledger"] for row in audited(box, 1)] == ["not known"]
    box.idle()
    assert audited(box, 0) == []
    assert box.sim.read("one/f.py").texts == []


def test_every_window_at_once(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.clear()
    box.sim.read("two/f.py")
    done = box.process("engine window --all --audit --json")
    rows = json.loads(done.stdout)["data"]["windows"]
    assert done.returncode == 0 and len(rows) == 2 and all(row["compared"] and not row["differences"] for row in rows)
    Path(box.sim.transcript).unlink()
    assert "missing" in box.process("engine window --all --audit").stdout


@pytest.mark.parametrize("command, code", [("window", 1), ("window --all", 0), ("window --all --audit", 0)])
def test_a_ledger_with_a_broken_line(make_project: Callable[..., SimulatedProject], command: str, code: int) -> None:
    """Its lines are parsed when they are needed."""
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    ledger = next((box.state_folder / ".windows").glob("*.jsonl"))
    lines = ledger.read_text().split("\n")
    ledger.write_text("\n".join([lines[0], '{"path":"/x",broken', *lines[2:]]))
    done = box.process(f"engine {command}")
    assert done.returncode == code, done.stdout + done.stderr
    if "audit" not in command:
        assert "a broken line" in " ".join((done.stdout + done.stderr).split())


def test_what_a_compaction_left_open_is_not_called_an_agreement(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    box.idle()
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "auto"})
    box.sim.send({"hook_event_name": "SessionStart", "source": "compact"})
    for command in (f"engine window {box.sim.session} --audit", "engine window --all --audit"):
        done = box.process(command)
        assert done.returncode == 0 and "not decided yet" in done.stdout and "agree" not in done.stdout, done.stdout


def test_differences_beside_what_a_compaction_left_open(make_project: Callable[..., SimulatedProject]) -> None:
    """The next event repairs them, whatever else it decides."""
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    box.idle()
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "auto"})
    box.sim.send({"hook_event_name": "SessionStart", "source": "compact"})
    ledger = next((box.state_folder / ".windows").glob("*.jsonl"))
    ledger.write_text(ledger.read_text().replace("/INVARIANTS.md", "/OTHERS.md"))
    done = box.process(f"engine window {box.sim.session} --audit")
    assert done.returncode == 1 and "the next event in this window repairs this" in " ".join(done.stdout.split())

"""A project names a directory of the user's, so that files there are delivered."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from handbill.event import Event
from handbill.hosts.claude_code.directories_added import added as directories
from handbill.world import World
from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]
SECRET = "SECRET-OF-THE-USER"
REFUSED = "<tool_use_error>Permission to use Bash with command ls has been denied.</tool_use_error>"


@pytest.fixture
def box(make_project: Make) -> SimulatedProject:
    made = make_project()
    for name in ("credentials", ".directives/AGENTS.md"):
        path = Path(made.environ["HOME"]) / ".cloud" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{SECRET} in {name}\n")
    return made


def added(box: SimulatedProject) -> str:
    return f"{box.environ['HOME']}/.cloud"


def allow(box: SimulatedProject, directory: str) -> None:
    box.write(".claude/settings.json", json.dumps({"permissions": {"additionalDirectories": [directory]}}))


def templates(box: SimulatedProject, *names: str) -> None:
    more = dict(zip(("planTemplate", "logTemplate"), names))
    box.skill("evil", {"label": "1", "name": "A", "steps": []}, **more)


def test_only_rules_are_delivered_from_a_directory_that_settings_add(box: SimulatedProject) -> None:
    allow(box, "~/.cloud")
    templates(box, "~/.cloud/credentials", f"{added(box)}/credentials")
    box.sim.start()
    box.sim.batch(("Bash", {"command": f"ls {added(box)}"}, "credentials"))
    box.sim.invoke("evil")
    box.idle(2)
    assert f"{SECRET} in .directives/AGENTS.md" in box.seen() and f"{SECRET} in credentials" not in box.seen()


def test_a_call_that_was_refused_touches_nothing(box: SimulatedProject) -> None:
    allow(box, "~/.cloud")
    box.sim.start()
    box.sim.batch(("Bash", {"command": f"ls {added(box)}"}, REFUSED))
    box.idle(2)
    assert SECRET not in box.seen() and not box.state()["flags"].get("roots")


@pytest.mark.parametrize("is_body", [True, False], ids=["a command's body", "typed"])
def test_only_what_the_user_typed_adds_a_directory(box: SimulatedProject, is_body: bool) -> None:
    text = f"<command-name>/add-dir</command-name><command-args>{added(box)}</command-args>\n"
    box.sim.start()
    row = {"type": "user", "isMeta": is_body, "message": {"role": "user", "content": [{"type": "text", "text": text}]}}
    box.sim._write(box.sim.transcript, row)
    box.sim.batch(("Bash", {"command": f"ls {added(box)}"}, "credentials"))
    box.idle(2)
    assert (f"{SECRET} in .directives/AGENTS.md" in box.seen()) != is_body


@pytest.mark.parametrize("name", ["/", "~", "{home}", "/proc/self/root", "/proc/self/root{home}"])
def test_a_directory_that_holds_the_home_folder_is_not_taken(box: SimulatedProject, name: str) -> None:
    allow(box, name.format(home=box.environ["HOME"]))
    place = f"/proc/self/root{added(box)}" if name.startswith("/proc") else added(box)
    box.sim.start()
    box.sim.batch(("Bash", {"command": f"ls {place}"}, "credentials"))
    box.idle(2)
    assert SECRET not in box.seen() and not box.state()["flags"].get("roots")


def test_what_the_transcript_tells_is_read_once(box: SimulatedProject) -> None:
    """The cost of a call outside of the project does not grow with the transcript."""
    text = f"<command-name>/add-dir</command-name><command-args>{added(box)}</command-args>\n"
    box.sim.start()
    box.sim._write(box.sim.transcript, {"type": "user", "message": {"role": "user", "content": text}})
    box.sim.answer("x" * (2 << 20))
    box.sim.batch(("Bash", {"command": "ls /usr/share"}, "x"))
    known = box.state()["flags"]["added"]
    assert known["names"] == [added(box)] and known["to"] > 2 << 20
    box.sim.batch(("Bash", {"command": f"ls {added(box)}"}, "credentials"))
    box.idle()
    assert f"{SECRET} in .directives/AGENTS.md" in box.seen() and box.state()["flags"]["added"] == known


def test_a_row_that_is_being_written_is_read_when_it_is_whole(tmp_path: Path) -> None:
    text = "<command-name>/add-dir</command-name><command-args>/srv/other</command-args>"
    row = json.dumps({"type": "user", "message": {"role": "user", "content": text}}, separators=(",", ":"))
    transcript = tmp_path / "t.jsonl"
    event = Event("tool_batch_finished", "s", project=str(tmp_path), transcript=str(transcript))
    transcript.write_text('{"type":"x"}\n' + row[:40])
    names, known = directories(event, World(()), str(tmp_path), {"to": 0, "names": []})
    assert names == []
    transcript.write_text('{"type":"x"}\n' + row + "\n")
    assert directories(event, World(()), str(tmp_path), known)[0] == ["/srv/other"]


def test_a_call_outside_of_the_project_beside_one_inside(box: SimulatedProject) -> None:
    allow(box, "~/.cloud")
    box.sim.start()
    box.sim.batch(
        ("Read", {"file_path": f"{box.project}/one/f.py"}, "x"),
        ("Bash", {"command": f"ls {added(box)}"}, "credentials"),
    )
    box.idle(2)
    assert f"{SECRET} in .directives/AGENTS.md" in box.seen()

"""What cannot be resumed is said in `resume_mode` and in the trace, and costs the start nothing else."""

from __future__ import annotations

import time
from typing import Any

import pytest
from unfinished_work import HEAD, HOME, RESUME, Make, mode, prepared, work

from handbill.store.files import FileStore
from simulated_project import SimulatedProject


@pytest.fixture
def box(make_project: Make) -> SimulatedProject:
    return prepared(make_project())


# --- the document's error cases, and worse -------------------------------------------------------


def left(box: SimulatedProject, **changes: Any) -> None:
    """A state as somebody else may have left it."""
    state = {
        "active_project_id": "24-login", "confidence": "high", "project_root": str(box.project), "created": time.time(),
        **changes,
    }  # fmt: skip
    FileStore(str(box.state_folder)).note((box.sim.session, "main"), "resume", state)


def compact_without_note(box: SimulatedProject) -> None:
    box.sim.send({"hook_event_name": "SessionStart", "source": "compact"})


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"confidence": "low"}, "confidence is low"),
        ({"confidence": "certain"}, "invalid resume state"),
        ({"active_project_id": None}, "confidence is unknown"),
        ({"active_project_id": "../../etc"}, "cannot be the name of a folder"),
        ({"active_project_id": "a/b"}, "cannot be the name of a folder"),
        ({"active_project_id": ".."}, "cannot be the name of a folder"),
        ({"active_project_id": 7}, "invalid resume state"),
        ({"active_project_id": "26-none"}, "does not exist"),
        ({"project_root": "/elsewhere"}, "another project"),
        ({"created": time.time() + 86400}, "from the future"),
        ({"created": "now"}, "invalid resume state"),
    ],
)
def test_a_state_that_is_not_used(box: SimulatedProject, changes: dict[str, Any], why: str) -> None:
    left(box, **changes)
    compact_without_note(box)
    found = mode(box)
    assert found["active"] is False and why in str(found.get("error") or found.get("reason"))
    assert "MARK-OVERVIEW" not in box.seen() and "# Invariants" in box.seen(), "the start goes on"
    assert bool(box.errors()) is ("error" in found)


def test_no_state_at_all(box: SimulatedProject) -> None:
    compact_without_note(box)
    assert mode(box) == {"active": False, "reason": "no resume state was written before the compaction"}
    assert box.errors() == []


def test_a_state_that_is_not_json(box: SimulatedProject) -> None:
    (box.state_folder / f".windows/{box.sim.session}.resume").write_text("{half")
    compact_without_note(box)
    assert "damaged" in mode(box)["error"] and any("not JSON" in line for line in box.errors())


@pytest.mark.parametrize(
    "text, why",
    [
        ("no frontmatter", "does not begin with `---`"),
        ("---\nfiles_to_load: [a.md]\n", "never closed"),
        ("---\nfiles_to_load:\n\t- a.md\n---\n", "line 3"),
        ("---\nfiles_to_load: a.md\n---\n", "files_to_load must be an array"),
        ("---\nnext_action: [a, b]\nfiles_to_load: [a.md]\n---\n", "next_action must be a string"),
        ("---\nnext_action: x\n---\n", "files_to_load"),
        ("---\nfiles_to_load: [a.md]\nfiles_to_load: [b.md]\n---\n", "occurs twice"),
        ("---\n- a\n- b\n---\n", "not a list of"),
        ("---\nfiles_to_load: [a.md]\nx: " + "y" * 70_000 + "\n---\n", "more than the 32,768"),
        ("---\nfiles_to_load: [a.md]\nx: !!python/object/apply:os.system [ls]\n---\n", "line 3"),
        ("---\nx: " + "[" * 5000 + "\n---\n", "_resume.md: "),
        ("---\nwhen: 2026-13-45\nfiles_to_load: [a.md]\n---\n", "line 2, column 7: the value '2026-13-45'"),
        ("---\nfiles_to_load: [7]\n---\n", "files_to_load[0] must be a string"),
    ],
)
def test_a_resume_file_that_cannot_be_used(box: SimulatedProject, text: str, why: str) -> None:
    box.write(RESUME, text)
    work(box)
    box.sim.compact()
    found = mode(box)
    assert found["active"] is False and why in found["error"], found
    assert any(why in line for line in box.errors()) and "# Invariants" in box.seen()


def test_a_resume_file_of_100_megabytes(box: SimulatedProject) -> None:
    with open(box.project / RESUME, "ab") as file:
        file.truncate(100 << 20)
    work(box)
    box.sim.compact()
    assert "104,857,600 bytes" in mode(box)["error"]


@pytest.mark.parametrize(
    "head",
    [
        HEAD.replace("\n", "\r\n"),
        "\ufeff" + HEAD,
        HEAD.replace("next_action: execute-project", "next_action: &next execute-project\nlast: *next"),
    ],
    ids=["CRLF", "BOM", "anchors"],
)
def test_heads_that_are_odd_but_right(box: SimulatedProject, head: str) -> None:
    (box.project / RESUME).write_bytes(head.encode())
    work(box)
    box.sim.compact()
    assert mode(box)["active"] and box.seen().count("MARK-OVERVIEW") == 1


def test_files_that_lead_out_are_refused_logged_and_shown(box: SimulatedProject) -> None:
    secret = box.project.parent / "secret.txt"
    secret.write_text("SECRET")
    (box.project / HOME / "link.md").symlink_to(secret)
    names = ["../../etc/passwd", "/etc/shadow", "../../../secret.txt", "link.md", "~/x", "a\\u0000b"]
    quoted = ", ".join(f'"{name}"' for name in names)
    box.write(RESUME, f"---\nfiles_to_load: [{quoted}, 01-planning/overview.md]\n---\n")
    work(box)
    box.sim.compact()
    text = box.seen()
    assert "SECRET" not in text and "root:" not in text and text.count("MARK-OVERVIEW") == 1
    for name in ("/etc/shadow", "../../../secret.txt", "link.md"):
        assert any(name in line and "leads out" in line for line in text.splitlines()), name
        assert any(name in line for line in box.errors()), name
    assert mode(box)["active"]


def test_missing_files_are_named(box: SimulatedProject) -> None:
    (box.project / HOME / "01-planning/overview.md").unlink()
    work(box)
    box.sim.compact()
    assert "overview.md does not exist" in box.seen() and any(
        "overview.md does not exist" in line for line in box.errors()
    )
    assert mode(box)["problems"] == [f"{box.project}/{HOME}/01-planning/overview.md does not exist"]


def test_an_unexpected_fault_is_said_and_nothing_else_is_lost(
    box: SimulatedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    from handbill.library import resume_state

    def fails(*_: object) -> None:
        raise ZeroDivisionError("boom")

    monkeypatch.setattr(resume_state, "resumed", fails)
    work(box)
    box.sim.compact()
    assert (
        "boom" not in box.seen() and "a defect" in mode(box)["error"] and any("boom" in line for line in box.errors())
    )
    assert "# Invariants" in box.seen()

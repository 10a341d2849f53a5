"""The value that describes one window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from builders import window
from handbill.reports.receipts import content_of, with_newest_receipts
from handbill.reports.window import FileInWindow, FileState, context_of, described
from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]


def record(parts: str, **more: Any) -> dict[str, Any]:
    return {"parts": parts, "chars": 400, "reason": "standard", "at": 5.0, "via": "session_started", **more}


@pytest.mark.parametrize(
    "found, delivered, state, lost",
    [
        (record("k"), 1, "confirmed", 0), (record("s"), 1, "sent", 0), (record("ks."), 2, "partial", 0),
        (record(".", lost=2), 0, "lost", 2), (record("kt"), 2, "truncated", 0), (record("h"), 1, "seen", 0),
        (record("e"), 1, "assumed", 0), (record("k", updated=True), 1, "updated", 0),
    ],
)  # fmt: skip
def test_a_file_of_the_ledger(found: dict[str, Any], delivered: int, state: str, lost: int) -> None:
    (one,) = described(window(files={"/a": found}), "/p").files
    parts = len(found["parts"])
    assert one == FileInWindow(
        "/a", parts, delivered, 400, 100, "standard", 5.0, "session_started", state, lost
    )  # fmt: skip


def test_what_waits_follows_what_is_there() -> None:
    """A file of which some parts are there waits as well, and is one file."""
    made = window(files={"/a": record("k."), "/b": record("k")}, pending={"/a": "standard", "/c": "context"})
    files = described(made, "/p").files
    assert [(one.file, one.state) for one in files] == [("/a", "partial"), ("/b", "confirmed"), ("/c", "pending")]
    assert files[2] == FileInWindow("/c", 0, 0, 0, 0, "context", 0.0, "", "pending", 0)


def test_a_window_as_a_whole() -> None:
    made = window(
        epoch=2, created=7.0, work={"skill": "fix"}, touched={"/p/one": [], "/p": []},
        from_last_epoch={"/b": record("k"), "/a": record("k")}, lifecycle="active",
    )  # fmt: skip
    found = described(made, "/p")
    assert (found.session, found.agent, found.epoch, found.created) == ("s", "main", 2, 7.0)
    assert (found.project, found.lifecycle, found.work, found.directories) == ("/p", "active", {"skill": "fix"}, 2)
    assert found.files == [] and found.unsettled == ["/a", "/b"]


def test_the_working_context() -> None:
    state = {"epoch": 0, "files": ["/c/A.md", "/c/B.md", "/c/C.md"], "read": ["/c/B.md"], "tried": []}
    made = window(flags={"context": state}, files={"/c/A.md": record("k")})
    rows = [FileState("/c/A.md", "in the window"), FileState("/c/B.md", "read"), FileState("/c/C.md", "not read")]
    assert context_of(made) == rows and context_of(window()) == []


def test_what_the_transcript_proves_before_a_hook_writes_it_down(make_project: Make) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    project = box.opened()
    before = project.store.read((box.sim.session, "main"))
    assert before is not None and before.claims
    after = with_newest_receipts(before, project.world())
    rules = str(box.project / "one/.directives/AGENTS.md")
    states = [{one.file: one.state for one in described(made, "").files}[rules] for made in (before, after)]
    assert states == ["sent", "confirmed"]
    content = content_of(after, project.world())
    assert content is not None and any(title[0] == rules for title in content.titles({}))
    assert content_of(window(), project.world()) is None

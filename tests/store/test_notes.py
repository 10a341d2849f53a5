"""Notes about windows, our own pages, and handovers: tests of every store, then real processes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from handbill.errors import CorruptState
from handbill.store.files import FileStore
from handbill.store.memory import MemoryStore

if TYPE_CHECKING:
    from handbill.store.api import Store

KEY = ("session-1", "main")


@pytest.fixture(params=["files", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return FileStore(str(tmp_path / "state")) if request.param == "files" else MemoryStore()


def test_a_note_is_replaced_and_removed(store: Store) -> None:
    assert store.noted(KEY, "role") is None
    store.note(KEY, "role", {"role": "worker", "umlaut": "ü"})
    store.note(KEY, "role", {"role": "handler"})
    store.note(("session-1", "a1"), "role", {"role": "other"})
    store.note(KEY, "resume", {"x": 1})
    assert store.noted(KEY, "role") == {"role": "handler"} and store.noted(KEY, "resume") == {"x": 1}
    store.note(KEY, "role", None)
    store.note(KEY, "role", None)
    assert store.noted(KEY, "role") is None and store.noted(("session-1", "a1"), "role") == {"role": "other"}


def test_notes_are_no_windows(store: Store) -> None:
    store.note(KEY, "role", {})
    assert store.known() == []


def test_a_handover_is_taken_by_one(store: Store) -> None:
    assert store.take_handover("s1") is None
    store.leave_handover({"session": "A", "context": {"n": 1}, "by": "s0"})
    assert store.take_handover("s1", again=True) is None, "it has not taken one"
    store.leave_handover({"session": "B", "context": {}, "by": "s0"})
    store.leave_handover({"session": "A", "context": {"n": 2}, "by": "s0"})
    assert store.take_handover("s0") is None, "not by who left it"
    first = store.take_handover("s1")
    assert first is not None and first["session"] == "B", "the oldest; A was left anew"
    for again in (store.take_handover("s1"), store.take_handover("s1", again=True)):
        assert again is not None and again["session"] == "B", "the lanes of one start all ask"
    second = store.take_handover("s2")
    assert second is not None and second["context"] == {"n": 2}
    assert store.take_handover("s3") is None


def test_a_page_is_a_private_file(tmp_path: Path) -> None:
    store = FileStore(str(tmp_path / "state"))
    path = store.keep_page("resume-0.md", "text ü")
    assert Path(path).read_text() == "text ü" and stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert store.keep_page("resume-0.md", "text ü") == path


def test_a_broken_note_is_said(tmp_path: Path) -> None:
    store = FileStore(str(tmp_path / "state"))
    for text in ("{half", "[]", ""):
        store.note(KEY, "role", {})
        Path(store.root, ".windows", "session-1.role").write_text(text)
        with pytest.raises(CorruptState):
            store.noted(KEY, "role")


def test_a_broken_handover_file_is_put_aside(tmp_path: Path) -> None:
    store = FileStore(str(tmp_path / "state"))
    store.leave_handover({"session": "A", "context": {}})
    path = Path(store.root, ".engine", "handovers.json")
    path.write_text("{half")
    assert store.take_handover("s1") is None
    assert [one.read_text() for one in path.parent.glob("handovers.json.corrupt-*")] == ["{half"]
    store.leave_handover({"session": "C", "context": {}})
    assert store.take_handover("s1") is not None, "what comes after it is not lost with it"
    path.write_text('{"waiting": [7, null, {"session": "A", "taker": "x", "taken": null}, {"session": "B"}]}')
    found = store.take_handover("s1")
    assert found is not None and found["session"] == "B"


def test_a_note_in_the_spare_root_does_not_outlive_a_newer_one(tmp_path: Path) -> None:
    (tmp_path / "root").write_text("a file for now")
    store = FileStore(str(tmp_path / "root"), str(tmp_path / "spare"))
    store.note(KEY, "role", {"role": "old"})
    (tmp_path / "root").unlink()
    store.note(KEY, "role", {"role": "new"})
    assert store.noted(KEY, "role") == {"role": "new"}
    store.note(KEY, "role", None)
    assert store.noted(KEY, "role") is None


def test_where_the_first_root_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("a file")
    store = FileStore(str(tmp_path / "blocked"), str(tmp_path / "spare"))
    store.note(KEY, "role", {"role": "worker"})
    assert store.noted(KEY, "role") == {"role": "worker"}
    store.leave_handover({"session": "A", "context": {}})
    assert store.take_handover("s1") is not None
    assert store.keep_page("x.md", "x").startswith(str(tmp_path / "spare"))


def test_sixteen_starts_at_once_take_each_handover_once(tmp_path: Path) -> None:
    root = str(tmp_path / "state")
    for number in range(8):
        FileStore(root).leave_handover({"session": f"S{number}", "context": {}})
    code = (
        "import sys\nfrom handbill.store.files import FileStore\n"
        "found = FileStore(sys.argv[1]).take_handover(sys.argv[2])\nprint(found['session'] if found else '-')"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, root, f"agent-{number}"], stdout=subprocess.PIPE, text=True)
        for number in range(16)
    ]
    taken = sorted(process.communicate()[0].strip() for process in started)
    assert taken == ["-"] * 8 + [f"S{number}" for number in range(8)]

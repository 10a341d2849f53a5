"""What every store must do, then tests of files only, with real processes and disks."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from handbill.errors import CorruptState
from handbill.fast_json import dumps
from handbill.ledger.window import SCHEMA, Window
from handbill.store import disk
from handbill.store.disk import StateBusy, StateUnwritable
from handbill.store.files import FileStore, file_name
from handbill.store.memory import MemoryStore

if TYPE_CHECKING:
    from handbill.store.api import Store

KEY = ("session-1", "main")


@pytest.fixture(params=["files", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return FileStore(str(tmp_path / "state")) if request.param == "files" else MemoryStore()


def adding(path: str) -> Callable[[Window | None], tuple[Window, int]]:
    def change(window: Window | None) -> tuple[Window, int]:
        after = window.copy() if window is not None else Window(*KEY)
        after.pending[path] = "why"
        return after, len(after.pending)

    return change


def break_window(store: Store, text: str) -> None:
    store.update(KEY, adding("/x"))
    if isinstance(store, MemoryStore):
        store.windows[KEY] = text
    elif isinstance(store, FileStore):
        Path(store.root, ".windows", "session-1.jsonl").write_text(text)


def test_nothing_there(store: Store) -> None:
    assert store.read(KEY) is None
    assert store.known() == []


def test_update_returns_and_keeps(store: Store) -> None:
    assert store.update(KEY, adding("/a")) == 1
    assert store.update(KEY, adding("/b")) == 2
    window = store.read(KEY)
    assert window is not None and list(window.pending) == ["/a", "/b"]


def test_windows_are_apart(store: Store) -> None:
    for key in [KEY, ("session-1", "agent-1"), ("session-2", "main")]:
        store.update(key, adding(f"/{key}"))
    assert [len(store.read(key).pending) for key in store.known()] == [1, 1, 1]  # type: ignore[union-attr]
    assert len(store.known()) == 3


def test_what_was_read_is_the_readers_own(store: Store) -> None:
    store.update(KEY, adding("/a"))
    window = store.read(KEY)
    assert window is not None
    window.pending["/mine"] = "x"
    assert list(store.read(KEY).pending) == ["/a"]  # type: ignore[union-attr]


def test_returning_the_given_window_writes_nothing(store: Store) -> None:
    store.update(KEY, adding("/a"))

    def change(window: Window | None) -> tuple[Window | None, None]:
        assert window is not None
        window.pending["/b"] = "changed in place: not kept, because it is the same window"
        return window, None

    store.update(KEY, change)
    assert list(store.read(KEY).pending) == ["/a"]  # type: ignore[union-attr]


def test_an_error_in_the_change_leaves_all_as_it_was_and_the_lock_free(store: Store) -> None:
    store.update(KEY, adding("/a"))

    def change(window: Window | None) -> tuple[Window | None, None]:
        raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        store.update(KEY, change)
    assert store.update(KEY, adding("/b")) == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"v":1,"epoch":"x"}\n', "\x00", '{"v":1}\ngarbage\n', '{"v":1}'])
def test_a_broken_window_is_told_and_put_aside(store: Store, text: str) -> None:
    break_window(store, text)
    with pytest.raises(CorruptState):
        store.read(KEY)
    assert store.update(KEY, adding("/new")) == 1
    assert list(store.read(KEY).pending) == ["/new"]  # type: ignore[union-attr]
    if isinstance(store, FileStore):
        aside = list(Path(store.root, ".windows").glob("*.corrupt-*"))
        assert [path.read_text() for path in aside] == [text]


def test_append_keeps_lines_in_order(store: Store) -> None:
    store.append("deliveries", [{"n": 1}, {"n": 2, "text": "zwei\nZeilen 🙂"}])
    store.append("deliveries", [])
    store.append("deliveries", [{"n": 3}])
    if isinstance(store, FileStore):
        lines = Path(store.root, ".engine", "deliveries.jsonl").read_text().splitlines()
        found = [json.loads(line) for line in lines]
    else:
        assert isinstance(store, MemoryStore)
        found = store.logs["deliveries"]
    assert [line["n"] for line in found] == [1, 2, 3]


def test_threads_lose_nothing(store: Store) -> None:
    threads = [Thread(target=lambda n=n: [store.update(KEY, adding(f"/{n}/{i}")) for i in range(10)]) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.read(KEY).pending) == 80  # type: ignore[union-attr]


# --- files only ----------------------------------------------------------------------------------


def test_32_processes_lose_nothing_and_tear_no_line(tmp_path: Path) -> None:
    writer = str(Path(__file__).with_name("parallel_writer.py"))
    processes = [subprocess.Popen([sys.executable, writer, str(tmp_path), f"w{n}", "10"]) for n in range(32)]
    assert [process.wait(timeout=120) for process in processes] == [0] * 32
    window = FileStore(str(tmp_path)).read(("s", "main"))
    assert window is not None and len(window.pending) == 320 and window.serial == 320
    lines = (tmp_path / ".engine" / "deliveries.jsonl").read_text().splitlines()
    assert len([json.loads(line) for line in lines]) == 960


def test_a_dead_holder_holds_no_lock(tmp_path: Path) -> None:
    store = FileStore(str(tmp_path))
    store.update(KEY, adding("/a"))
    lock = tmp_path / ".windows" / "session-1.lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", f"import fcntl,time\nf=open({str(lock)!r})\nfcntl.flock(f,2)\nprint('held',flush=True)\ntime.sleep(60)"],
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert store.update(KEY, adding("/b")) == 2
    assert lock.exists()


def test_a_live_holder_is_not_waited_for_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    monkeypatch.setattr(disk, "PATIENCE", 0.1)
    store = FileStore(str(tmp_path))
    store.update(KEY, adding("/a"))
    with open(tmp_path / ".windows" / "session-1.lock") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        started = time.monotonic()
        with pytest.raises(StateBusy):
            store.update(KEY, adding("/b"))
        assert time.monotonic() - started < 5


def test_private_and_ignored_by_git(tmp_path: Path) -> None:
    store = FileStore(str(tmp_path / "sessions"))
    store.update(KEY, adding("/a"))
    store.append("errors", [{"x": 1}])
    for path in (tmp_path / "sessions").rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path
    assert (tmp_path / "sessions" / ".windows" / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    "session", ["../../etc/passwd", "a/b", "", ".", "x" * 300, "emoji🙂", "🙂" * 90, "a.b", "nul\0"]
)
def test_no_id_becomes_a_path(session: str, tmp_path: Path) -> None:
    store = FileStore(str(tmp_path / "state"))
    key = (session, "../agent")
    store.update(key, adding("/a"))
    assert store.read(key) is not None
    made = {str(path.parent.relative_to(tmp_path)) for path in tmp_path.rglob("*.jsonl")}
    assert made == {"state/.windows"}
    assert file_name((session, "main")) != file_name((session, "other"))


def test_long_odd_ids_are_told_apart(tmp_path: Path) -> None:
    store = FileStore(str(tmp_path))
    keys = [("🙂" * 90 + end, agent) for end in "ab" for agent in ("main", "ä" * 200)]
    for key in keys:
        store.update(key, lambda _, key=key: (Window(*key), None))  # type: ignore[misc]
    assert store.known() == sorted(keys)


def test_a_newer_schema_is_neither_used_nor_put_aside(tmp_path: Path) -> None:
    store = FileStore(str(tmp_path))
    store.update(KEY, adding("/a"))
    path = tmp_path / ".windows" / "session-1.jsonl"
    text = dumps({"v": SCHEMA + 1}) + "\n"
    path.write_text(text)
    with pytest.raises(StateBusy, match="schema"):
        store.update(KEY, adding("/b"))
    assert path.read_text() == text


def test_a_root_that_cannot_be_written_moves_the_window_to_the_spare_one(tmp_path: Path) -> None:
    root = tmp_path / "root"
    store = FileStore(str(root), str(tmp_path / "spare"))
    store.update(KEY, adding("/a"))
    windows = root / ".windows"
    windows.rename(root / "was")
    windows.write_text("a file where the folder was: nothing can be made below it")
    (root / "was" / "session-1.jsonl").rename(root / "kept.json")
    assert store.update(KEY, adding("/b")) == 1
    assert store.update(KEY, adding("/c")) == 2
    store.append("errors", [{"x": 1}])
    assert (tmp_path / "spare" / ".windows" / "session-1.jsonl").exists()


def test_no_root_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for spare in ("", str(tmp_path / "file" / "spare")):
        with pytest.raises(StateUnwritable):
            FileStore(str(tmp_path / "file" / "root"), spare).update(KEY, adding("/a"))


def test_many_processes_make_the_folders_at_once(tmp_path: Path) -> None:
    code = f"from handbill.store.disk import *\nmake_private_directory({str(tmp_path / 'a/b/c/d/.windows')!r})"
    processes = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(16)]
    assert [process.wait() for process in processes] == [0] * 16


@pytest.mark.skipif(os.getuid() == 0, reason="root writes everywhere; the e2e tests mount a read-only file system")
def test_a_read_only_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / ".windows").mkdir(parents=True)
    (root / ".windows").chmod(0o500)
    store = FileStore(str(root), str(tmp_path / "spare"))
    assert store.update(KEY, adding("/a")) == 1
    assert store.read(KEY) is not None

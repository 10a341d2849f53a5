"""Messages from commands to hooks, in every store; then tests of files only."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from handbill.store.files import FileStore
from handbill.store.memory import MemoryStore

if TYPE_CHECKING:
    from handbill.store.api import Store


@pytest.fixture(params=["files", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return FileStore(str(tmp_path / "state")) if request.param == "files" else MemoryStore()


def test_notices_are_kept_until_they_are_settled(store: Store) -> None:
    assert store.notices("s1") == []
    store.post("s1", {"verb": "phase", "phase": "1"})
    store.post("s1", {"verb": "phase", "phase": "2"})
    store.post("s2", {"verb": "other", "text": "ü\n"})
    first, second = store.notices("s1")
    assert (first["phase"], second["phase"]) == ("1", "2") and first["id"] != second["id"]
    store.settle_notices("s1", [first["id"], "unknown"])
    assert store.notices("s1") == [second]
    store.settle_notices("s1", [second["id"]])
    assert store.notices("s1") == [] and store.notices("s2")[0]["text"] == "ü\n"
    store.settle_notices("never", ["x"])
    assert store.known() == []


def test_notices_posted_while_others_are_settled(store: Store) -> None:
    """No notice is lost or repeated, even if processes post and settle at the same time."""

    def post(number: int) -> None:
        for turn in range(20):
            store.post("s", {"verb": "x", "n": f"{number}-{turn}"})

    seen: list[str] = []
    workers = [Thread(target=post, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers) or store.notices("s"):
        found = store.notices("s")
        seen += [notice["n"] for notice in found]
        store.settle_notices("s", [notice["id"] for notice in found])
    assert sorted(seen) == sorted(f"{number}-{turn}" for number in range(4) for turn in range(20))


def test_notices_where_the_project_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    store = FileStore(str(tmp_path / "state"), str(tmp_path / "spare"))
    store.post("s", {"verb": "x", "n": 1})
    assert [notice["n"] for notice in store.notices("s")] == [1]
    with (tmp_path / "spare/.windows/s.notices").open("a") as file:
        file.write('5\nnull\n[]\n{"verb":"phase"}\n{"id":"a"}\n' + "[" * 100_000 + '\n{"torn":')
    store.post("s", {"verb": "x", "n": 2, "at": "no time"})
    assert [(notice["n"], notice["at"]) for notice in store.notices("s")] == [(1, 0.0), (2, 0.0)]
    store.settle_notices("s", [store.notices("s")[1]["id"]])
    assert [notice["n"] for notice in store.notices("s")] == [1]
    store.settle_notices("s", [store.notices("s")[0]["id"]])
    assert store.notices("s") == []


def test_two_hooks_settle_the_same_notice(tmp_path: Path) -> None:
    store = FileStore(str(tmp_path))
    for _ in range(40):
        store.post("s", {"verb": "x"})
        ids = [notice["id"] for notice in store.notices("s")]
        faults: list[BaseException] = []

        def settle(ids: list[str] = ids, faults: list[BaseException] = faults) -> None:
            try:
                FileStore(str(tmp_path)).settle_notices("s", ids)
            except OSError as error:
                faults.append(error)

        workers = [Thread(target=settle) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert faults == [] and store.notices("s") == []

"""The file store's files, read by their paths."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from handbill.errors import HandbillError
from handbill.reports import store_files
from handbill.store.files import FileStore


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    for name in ("state", "spare"):
        for folder in (".windows", ".engine"):
            (tmp_path / name / folder).mkdir(parents=True)
    return FileStore(str(tmp_path / "state"), str(tmp_path / "spare"))


def log(root: str, name: str, *times: int) -> Path:
    path = Path(root) / ".engine" / name
    path.write_text("".join(f'{{"ts":{time}}}\n' for time in times))
    return path


def test_the_delivery_log_of_both_folders(store: FileStore) -> None:
    log(store.root, "deliveries.old.jsonl", 1, 2)
    log(store.root, "deliveries.jsonl", 3)
    log(store.spare, "deliveries.jsonl", 4)
    assert [line["ts"] for line in store_files.delivery_log(store)] == [4, 1, 2, 3]
    assert [line["ts"] for line in store_files.end_of_delivery_log(store, 0)] == [4, 3]
    assert store_files.growing_delivery_log(store) == f"{store.root}/.engine/deliveries.jsonl"


def test_without_a_log(store: FileStore) -> None:
    assert not store_files.has_delivery_log(store) and list(store_files.delivery_log(store)) == []
    assert store_files.growing_delivery_log(store) == f"{store.root}/.engine/deliveries.jsonl"
    assert list(store_files.error_log(store)) == [] and store_files.waiting_handovers(store) == []


def test_only_the_end_of_a_long_log_is_read(store: FileStore) -> None:
    log(store.root, "deliveries.jsonl", *range(100_000))
    times = [line["ts"] for line in store_files.end_of_delivery_log(store, 5)]
    assert 5 <= len(times) < 10_000 and times == list(range(100_000 - len(times), 100_000))


def test_lines_that_a_full_disk_cut_off(store: FileStore) -> None:
    path = log(store.root, "deliveries.jsonl", 1)
    path.write_text(path.read_text() + '{"ts":\n[]\n"x"\n{"ts":2}\n')
    assert [line["ts"] for line in store_files.delivery_log(store)] == [1, 2]


def test_new_lines_of_a_log_that_grows(store: FileStore) -> None:
    path = f"{store.root}/.engine/deliveries.jsonl"
    assert store_files.new_lines(path, 7) == ([], 0), "there is no log yet"
    file = log(store.root, "deliveries.jsonl", 1)
    lines, position = store_files.new_lines(path, 0)
    assert [line["ts"] for line in lines] == [1]
    with open(path, "a") as more:
        more.write('{"ts":2}\n{"ts"')
    lines, position = store_files.new_lines(path, position)
    assert [line["ts"] for line in lines] == [2], "the half line waits for its end"
    with open(path, "a") as more:
        more.write(":3}\n")
    assert [line["ts"] for line in store_files.new_lines(path, position)[0]] == [3]
    file.write_text("")
    assert store_files.new_lines(path, position) == ([], 0), "another file took its place"


def test_errors_until_they_are_forgotten(store: FileStore) -> None:
    log(store.root, "errors.jsonl", 1)
    log(store.spare, "errors.jsonl", 2)
    assert [line["ts"] for line in store_files.error_log(store)] == [1, 2]
    assert store_files.errors_forgotten_at(store) == 0.0
    store_files.forget_errors(store)
    assert list(store_files.error_log(store)) == [] and store_files.errors_forgotten_at(store) > 0


def ledger(root: str, name: str, time: int) -> str:
    path = f"{root}/.windows/{name}.jsonl"
    Path(path).write_text("{}\n")
    os.utime(path, (time, time))
    return path


def test_the_windows_written_last(store: FileStore) -> None:
    ledger(store.root, "first", 100)
    ledger(store.root, "third", 200)
    second = ledger(store.root, "second.a1", 300)
    moved = ledger(store.spare, "first", 250)
    assert store_files.newest_windows(store, 2) == [("second", "a1"), ("first", "main")]
    assert store_files.window_file(store, ("first", "main")) == moved, "it had to move there"
    assert store_files.window_file(store, ("second", "a1")) == second
    assert store_files.window_file(store, ("fourth", "main")) == ""
    assert store_files.last_written(store, ("third", "main")) == 200
    assert store_files.moved_ledgers(store) == ["first.jsonl"]


def test_the_folders_of_the_state(store: FileStore) -> None:
    folders = [f"{store.root}/.windows", f"{store.root}/.engine", f"{store.spare}/.windows", f"{store.spare}/.engine"]
    assert store_files.state_folders(store) == folders
    assert store_files.state_folders(FileStore(store.root)) == folders[:2]
    ledger(store.root, "a", 1)
    log(store.root, "errors.jsonl", 1)
    assert store_files.ledgers_in(folders[0]) == ["a.jsonl"] and store_files.ledgers_in(folders[1]) == []
    assert store_files.moved_ledgers(FileStore(store.root)) == []


@pytest.mark.parametrize(
    "text, waiting",
    [
        (json.dumps({"waiting": [{"session": "A"}, {"session": "B", "taker": "t"}, "C"]}), ["A"]),
        ("[]", []), ("{}", []), (json.dumps({"waiting": {"session": "A"}}), []),
    ],
)  # fmt: skip
def test_handovers_that_nobody_has_taken(store: FileStore, text: str, waiting: list[str]) -> None:
    (Path(store.root) / ".engine" / "handovers.json").write_text(text)
    assert [one["session"] for one in store_files.waiting_handovers(store)] == waiting


def test_handovers_that_cannot_be_read(store: FileStore) -> None:
    (Path(store.root) / ".engine" / "handovers.json").write_text("{half")
    with pytest.raises(HandbillError, match=r"handovers\.json"):
        store_files.waiting_handovers(store)

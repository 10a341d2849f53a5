"""The sessions of a project, and which of them a question means."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import Any

import pytest

from handbill.errors import HandbillError
from handbill.reports.sessions import SessionRow, condition, day_of, described, documents, every_session, find
from handbill.store import sessions
from handbill.work.session import Holder

TODAY = datetime.date.today()


def alive(holder: Holder) -> bool:
    return holder.pid == 7


def make_session(root: Path, name: str, **state: object) -> str:
    (root / name).mkdir(parents=True)
    sessions.update(str(root / name), lambda _: ({"v": 1, **state}, None))
    (root / name / "LOG.md").write_text("x")
    return str(root / name)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project" / "sessions"
    yesterday = (TODAY - datetime.timedelta(days=1)).strftime("%Y_%m_%d")
    make_session(folder, f"{TODAY:%Y_%m_%d}_LOGIN", lifecycle="active", skill="fix", taskSummary="Login form")
    make_session(folder, f"{yesterday}_SEARCH", lifecycle="idle", searchKeywords=["ranking"])
    make_session(folder, "2020_02_03_OLD", lifecycle="completed", sessionDescription="the first one")
    make_session(folder, "unnamed", lifecycle="completed", startedAt="2020-02-05T10:00:00Z")
    (folder / "broken").mkdir()
    (folder / "broken/.state.json").write_text("{")
    os.utime(folder / "broken", (1, 1))
    return folder


@pytest.mark.parametrize(
    "kind, words, expected",
    [
        ("today", [], ["LOGIN"]), ("yesterday", [], ["SEARCH"]), ("recent", [], ["LOGIN", "SEARCH"]), ("date", ["2020-02-03"], ["OLD"]),
        ("range", ["2020_02_01", "2020-02-28"], ["unnamed", "OLD"]), ("topic", ["login"], ["LOGIN"]), ("topic", ["RANKING"], ["SEARCH"]),
        ("topic", ["first", "one"], ["OLD"]), ("active", [], ["LOGIN"]), ("all", [], ["LOGIN", "SEARCH", "unnamed", "OLD", "broken"]),
        ("topic", ["nothing"], []),
    ],
)  # fmt: skip
def test_sessions_by_day_topic_and_state(root: Path, kind: str, words: list[str], expected: list[str]) -> None:
    assert [row.name.rpartition("_")[2] for row in find(str(root), kind, words, alive)] == expected


def test_a_day_that_is_none(root: Path) -> None:
    with pytest.raises(HandbillError, match="'yesterday' is not a date"):
        find(str(root), "date", ["yesterday"], alive)


def test_sessions_by_their_last_change(root: Path) -> None:
    os.utime(root / "unnamed/.state.json", (5e9, 5e9))
    rows = every_session(str(root), alive)
    assert rows[0].name == "unnamed" and rows[-1].name == "broken" and len(rows) == 5
    assert every_session(str(root / "none"), alive) == []


@pytest.mark.parametrize(
    "state, expected",
    [
        ({"lifecycle": "idle"}, "idle"), ({"lifecycle": "completed", "pid": 8}, "completed"), ({}, "–"),
        ({"lifecycle": "active"}, "active"), ({"lifecycle": "active", "pid": 7}, "active"),
        ({"lifecycle": "active", "pid": 8}, "dead"), ({"lifecycle": "active", "lastKnownPid": 8}, "abandoned"),
    ],
)  # fmt: skip
def test_the_condition_of_a_session(state: dict[str, Any], expected: str) -> None:
    assert condition(state, alive) == expected


def test_a_session_as_a_row(tmp_path: Path) -> None:
    folder = make_session(
        tmp_path / "sessions", "S", lifecycle="active", pid=7, skill="fix", currentPhase="1: Build",
        startedAt="2026-01-31T10:00:00Z", sessionDescription="in short",
    )  # fmt: skip
    changed = os.path.getmtime(f"{folder}/.state.json")
    assert described(folder, alive) == SessionRow(
        "S", folder, "active", "active", "fix", "1: Build", "7", "in short", "", changed, "2026-01-31T10:00:00Z"
    )
    assert described(folder, lambda holder: False).held == ""


def test_folders_without_a_state_and_with_a_broken_one(root: Path) -> None:
    (root / "new").mkdir()
    new, broken = described(str(root / "new"), alive), described(str(root / "broken"), alive)
    assert (new.state, new.lifecycle, new.problem) == ("–", "–", "")
    assert (broken.state, broken.lifecycle) == ("broken", "broken") and ".state.json is broken" in broken.problem


def test_documents_the_newest_first(root: Path) -> None:
    folder = root / "unnamed"
    (folder / "A.md").write_text("x")
    os.utime(folder / "A.md", (5e9, 5e9))
    (folder / "loop").symlink_to("loop")
    (folder / ".hidden").write_text("x")
    assert [Path(path).name for path in documents(str(folder))] == ["A.md", "LOG.md"]


@pytest.mark.parametrize(
    "name, started, day",
    [
        ("2026_01_31_LOGIN", "2020-01-01T12:00:00Z", "2026-01-31"), ("2026-01-31", "", "2026-01-31"),
        ("2026_01_311", "2020-01-01T12:00:00Z", "2020-01-01"), ("S", "2020-01-01T12:00:00Z", "2020-01-01"), ("S", "soon", "2001-09-09"),
    ],
)  # fmt: skip
def test_the_day_of_a_session(name: str, started: str, day: str) -> None:
    assert day_of(SessionRow(name, "", "", "", "", "", "", "", "", 1_000_000_000.0, started)) == day

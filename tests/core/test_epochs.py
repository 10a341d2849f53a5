from __future__ import annotations

import pytest

from handbill.core import epochs
from handbill.core.epochs import Survivors, chapter
from handbill.core.event import (
    INSTRUCTIONS_LOADED,
    PROMPT_SUBMITTED,
    SESSION_STARTED,
    SUBAGENT_STARTED,
    Event,
)  # fmt: skip
from handbill.core.pack import shown
from handbill.core.window import Window
from makers import batch, window


def start(source: str, client: int = 7) -> Event:
    return Event(SESSION_STARTED, "s", source=source, client=client)


def record(parts: str = "k", via: str = "tool_batch_finished", **more: object) -> dict[str, object]:
    return {
        "inode": "", "hash": "0123abcd", "chars": 1, "reason": "why", "at": 1.0, "via": via, "batch": "t1",
        "parts": parts, **more,
    }  # fmt: skip


UNSTARTED = Window("s", "main")


@pytest.mark.parametrize(
    "event, known, expected",
    [
        (start("startup"), None, epochs.FRESH),
        (start("startup"), UNSTARTED, epochs.FRESH),
        (start("startup"), window(client=7), epochs.GO_ON),  # a lane, or registered twice
        (start("startup"), window(client=8), epochs.FRESH),
        (start("clear"), None, epochs.FRESH),
        (start("resume"), None, epochs.ADOPT),
        (start("resume"), window(), epochs.AUDIT),
        (start("fork"), None, epochs.WAIT),
        (start("compact"), window(), epochs.COMPACT),
        (start("compact"), window(flags={"compacted": 95.0}), epochs.GO_ON),  # a second lane
        (start("compact"), window(flags={"compacted": 95.0, "compacting": True}), epochs.COMPACT),
        (start("compact"), window(flags={"compacted": 5.0}), epochs.COMPACT),
        (Event(PROMPT_SUBMITTED, "s"), None, epochs.WAIT),
        (Event(PROMPT_SUBMITTED, "s"), window(), epochs.GO_ON),
        (batch(), None, epochs.ADOPT),
        (batch(), UNSTARTED, epochs.ADOPT),
        (batch(), window(), epochs.GO_ON),
        (Event(INSTRUCTIONS_LOADED, "s"), None, epochs.GO_ON),
        (Event(SUBAGENT_STARTED, "s", agent_id="a"), None, epochs.FRESH),
        (Event(SUBAGENT_STARTED, "s", agent_id="a"), window(), epochs.GO_ON),
    ],
)
def test_chapter(event: Event, known: Window | None, expected: str) -> None:
    assert chapter(event, known, 100.0) == expected


def test_a_compaction_that_does_not_say_whose_is_only_suspected() -> None:
    assert chapter(start("compact"), window(), 100.0, whose_known=False) == epochs.SUSPECT


@pytest.mark.parametrize("touched, expected", [({}, epochs.GO_ON), ({"/p": []}, epochs.CONTINUED)])
def test_a_continued_subagent_of_an_old_client_is_told(touched: dict[str, list[str]], expected: str) -> None:
    event = Event(SUBAGENT_STARTED, "s", agent_id="a")
    assert chapter(event, window(created=99.0, touched=touched), 100.0, agents_survive=False) == expected


def test_a_continued_subagent_of_an_old_client_has_what_its_start_was_given() -> None:
    before = window(
        agent="a",
        files={"/std": record(via=SUBAGENT_STARTED), "/dir": record("e")},
        flags={"standards": 0},
        touched={"/p": []},
    )
    after = epochs.continued(Event(SUBAGENT_STARTED, "s", agent_id="a"), before, 100.0)
    assert list(after.files) == ["/std"] and after.flags == {"standards": 0} and len(after.touched) == 0


def test_compaction_drops_all_but_what_the_host_reloads() -> None:
    before = window(
        files={"/std": record(via="session_started"), "/dir": record(), "/CLAUDE.md": record("h", "host", reason="session_start"),
               "/sub/CLAUDE.md": record("h", "host", reason="nested_traversal")},
        pending={"/x": "why"}, touched={"/p": []}, claims=[{"id": 1}], flags={"compacting": True, "standards": 0},
    )  # fmt: skip
    after = epochs.compacted(before, 500, 100.0)
    assert after.epoch == 1
    assert list(after.files) == ["/CLAUDE.md"]
    assert set(after.carried) == {"/std", "/dir", "/sub/CLAUDE.md"}
    assert not after.pending and not len(after.touched) and not after.claims
    assert after.carried_from == 500
    assert "compacting" not in after.flags


def test_the_kept_tail_comes_back_into_the_ledger() -> None:
    before = window(carried={"/dir": record(), "/gone": record(), "/big": record("kkk")})
    titles = {("/dir", "0123abcd", 1, 1): 5, ("/big", "0123abcd", 3, 3): 5}
    after = epochs.inherited(before, Survivors(titles), records=True)
    assert after.files["/dir"]["parts"] == "k"
    assert after.files["/big"]["parts"] == "..k"
    assert "/gone" not in after.files
    assert list(after.pending) == ["/big"]
    assert not after.carried


def test_without_records_the_tail_is_known_by_its_tool_call() -> None:
    before = window(carried={"/dir": record("e", batch="t9"), "/gone": record("e", batch="t8")})
    after = epochs.inherited(before, Survivors(tools=("t9",)), records=False)
    assert list(after.files) == ["/dir"]


def test_resume_requeues_what_did_not_survive() -> None:
    before = window(files={"/kept": record("s"), "/gone": record(), "/CLAUDE.md": record("h", "host")}, claims=[
        {"id": 1, "batch": "t1", "at": 1.0, "items": []}
    ])  # fmt: skip
    after = epochs.resumed(before, Survivors({("/kept", "0123abcd", 1, 1): 5}), start("resume"), 100.0)
    assert after.files["/kept"]["parts"] == "k"
    assert after.files["/CLAUDE.md"]["parts"] == "h"
    assert list(after.pending) == ["/gone"]
    assert not after.claims


def test_resume_leaves_alone_what_another_lane_just_delivered() -> None:
    mine = start("resume")
    before = window(files={"/new": record("s", batch=mine.batch, at=99.5)}, claims=[
        {"id": 1, "batch": mine.batch, "at": 99.5, "items": []}
    ])  # fmt: skip
    assert epochs.resumed(before, Survivors(), mine, 100.0) is before


def test_resume_trusts_what_is_older_than_what_was_read() -> None:
    before = window(files={"/old": record()})
    after = epochs.resumed(before, Survivors(complete=False), start("resume"), 100.0)
    assert after is before


def test_resume_of_a_long_transcript_keeps_open_claims_and_old_parts() -> None:
    claims = [{"id": 1, "batch": "t1", "at": 1.0, "items": []}]
    before = window(files={"/sent": record("s"), "/big": record("kkk")}, claims=claims)
    after = epochs.resumed(before, Survivors({("/big", "0123abcd", 3, 3): 5}, complete=False), start("resume"), 100.0)
    assert after.files["/sent"]["parts"] == "s" and after.files["/big"]["parts"] == "kkk"
    assert after.claims == claims and not after.pending


def test_resume_judges_what_a_compaction_left_open() -> None:
    before = window(carried={"/kept": record(), "/gone": record()}, carried_from=5, suspect=5)
    after = epochs.resumed(before, Survivors({("/kept", "0123abcd", 1, 1): 5}), start("resume"), 100.0)
    assert list(after.files) == ["/kept"] and not after.carried and after.suspect == -1


def test_adoption_knows_odd_paths_by_their_real_name() -> None:
    path = "/p/new\nline/\u3000x.md"
    after = epochs.adopted(batch(), None, Survivors({(shown(path), "0123abcd", 1, 1): 5}), 100.0)
    assert list(after.files) == [path]


def test_adoption_rebuilds_the_ledger_from_titles() -> None:
    titles = {("/a", "0123abcd", 1, 1): 10, ("/b", "0123abcd", 2, 3): 20, ("/b", "0123abcd", 1, 3): 20}
    after = epochs.adopted(batch(), None, Survivors(titles), 100.0)
    assert after.started
    assert after.files["/a"]["parts"] == "k"
    assert after.files["/b"]["parts"] == "kk."
    assert after.files["/b"]["chars"] == 40
    assert list(after.pending) == ["/b"]


def test_a_coming_compaction_is_noted_once() -> None:
    armed = epochs.arming(window(), 500)
    assert armed.flags["compacting"] is True and armed.suspect == 500
    assert epochs.arming(armed, 600) is armed

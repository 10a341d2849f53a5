from __future__ import annotations

import pytest
from test_epochs import record, start

from builders import batch, window
from handbill.event import TOOL_CALLED, Event
from handbill.ledger import reconcile
from handbill.ledger.content import Content
from handbill.ledger.epochs import compacted
from handbill.ledger.host_files import doubtful
from handbill.ledger.window import DOUBTFUL
from handbill.text.blocks import Title, shown


def content(titles: dict[Title, int] | None = None, **values: object) -> Content:
    found = Content()
    found.blocks = titles or {}
    for name, value in values.items():
        setattr(found, name, value)
    return found


def test_the_kept_tail_comes_back_into_the_ledger() -> None:
    before = window(from_last_epoch={"/dir": record(), "/gone": record(), "/big": record("kkk")})
    titles = {("/dir", "0123456789abcdef", 1, 1): 5, ("/big", "0123456789abcdef", 3, 3): 5}
    after = reconcile.inherited(before, content(titles), records=True)
    assert after.files["/dir"]["parts"] == "k"
    assert after.files["/big"]["parts"] == "..k"
    assert "/gone" not in after.files
    assert list(after.pending) == ["/big"]
    assert not after.from_last_epoch


def test_without_records_the_tail_is_known_by_its_tool_call() -> None:
    before = window(from_last_epoch={"/dir": record("e", batch="t9"), "/gone": record("e", batch="t8")})
    after = reconcile.inherited(before, content(calls=["t9"]), records=False)
    assert list(after.files) == ["/dir"]


def test_resume_requeues_what_did_not_survive() -> None:
    before = window(files={"/kept": record("s"), "/gone": record(), "/CLAUDE.md": record("h", "host")}, claims=[
        {"id": 1, "batch": "t1", "at": 1.0, "items": []}
    ])  # fmt: skip
    after = reconcile.resumed(before, content({("/kept", "0123456789abcdef", 1, 1): 5}), start("resume"), 100.0)
    assert after.files["/kept"]["parts"] == "k"
    assert after.files["/CLAUDE.md"]["parts"] == "h"
    assert list(after.pending) == ["/gone"]
    assert not after.claims


def test_resume_leaves_alone_what_another_lane_just_delivered() -> None:
    mine = start("resume")
    before = window(files={"/new": record("s", batch=mine.batch, at=99.5)}, claims=[
        {"id": 1, "batch": mine.batch, "at": 99.5, "items": []}
    ])  # fmt: skip
    assert reconcile.resumed(before, content(), mine, 100.0) is before


def test_resume_judges_what_a_compaction_left_open() -> None:
    before = window(
        from_last_epoch={"/kept": record(), "/gone": record()}, compacted_at_offset=5, maybe_compacted_from=5
    )
    after = reconcile.resumed(before, content({("/kept", "0123456789abcdef", 1, 1): 5}), start("resume"), 100.0)
    assert list(after.files) == ["/kept"] and not after.from_last_epoch and after.maybe_compacted_from == -1


def test_adoption_knows_odd_paths_by_their_real_name() -> None:
    path = "/p/new\nline/\u3000x.md"
    after = reconcile.adopted(batch(), None, content({(shown(path), "0123456789abcdef", 1, 1): 5}), 100.0)
    assert list(after.files) == [path]


def test_adoption_rebuilds_the_ledger_from_titles() -> None:
    titles = {
        ("/a", "0123456789abcdef", 1, 1): 10,
        ("/b", "0123456789abcdef", 2, 3): 20,
        ("/b", "0123456789abcdef", 1, 3): 20,
    }
    after = reconcile.adopted(batch(), None, content(titles), 100.0)
    assert after.started
    assert after.files["/a"]["parts"] == "k"
    assert after.files["/b"]["parts"] == "kk."
    assert after.files["/b"]["chars"] == 40
    assert list(after.pending) == ["/b"]


def test_only_a_denial_of_a_call_that_the_ledger_names_is_a_receipt() -> None:
    title = ("/a", "0123456789abcdef", 1, 1)
    found = content(denials={"t1": {title: 5}, "t7": {("/b", "0123456789abcdef", 1, 1): 5}})
    ours = window(files={"/a": record("s", TOOL_CALLED), "/b": record("s")})
    assert reconcile.resumed(ours, found, start("resume"), 100.0).pending == {"/b": "why"}


def test_without_a_ledger_only_denials_of_file_tools_are_believed() -> None:
    denials = {"t1": {("/a", "0123456789abcdef", 1, 1): 5}, "t2": {("/b", "0123456789abcdef", 1, 1): 5}}
    after = reconcile.adopted(batch(), None, content(denials=denials, file_calls={"t1"}, calls=["t1", "t2"]), 100.0)
    assert list(after.files) == ["/a"]
    again = reconcile.resumed(
        after, content(denials=denials, file_calls={"t1"}, calls=["t1", "t2"]), start("resume"), 100.0
    )
    assert not again.pending, "a resume still knows by which call it came"


def test_a_rewind_takes_what_came_after_it() -> None:
    before = window(
        files={"/kept": record(), "/gone": record(), "/now": record("s", batch="t9"), "/half": record("kk"),
               "/CLAUDE.md": record("h", "host", reason="session_start"),
               "/in/SKILL.md": record("h", "host", reason="skill in, typed"),
               "/out/SKILL.md": record("h", "host", reason="skill out, typed")},
        touched={"/p": []}, pending={"/later": "why"}, claims=[
            {"id": 1, "batch": "t1", "items": []}, {"id": 2, "batch": "t9", "items": []}
        ],
    )  # fmt: skip
    titles = {("/kept", "0123456789abcdef", 1, 1): 5, ("/half", "0123456789abcdef", 2, 2): 5}
    after = reconcile.rewound(before, content(titles, skills=["/in"]), batch("t9"))
    assert set(after.files) == {"/kept", "/now", "/half", "/CLAUDE.md", "/in/SKILL.md"}
    assert after.files["/half"]["parts"] == ".k" and list(after.pending) == ["/half"]
    assert after.epoch == 1 and not len(after.touched) and [claim["id"] for claim in after.claims] == [2]


@pytest.mark.parametrize(
    "parts, via, claims, gone",
    [
        ("k", "tool_batch_finished", [], True),
        ("s", "tool_batch_finished", [], True),
        ("s", "tool_batch_finished", [{"batch": "t1", "items": [["/a", 1, "0123456789abcdef", 1]]}], False),
        (".", "tool_batch_finished", [], False),
        ("e", "tool_batch_finished", [], False),
        ("h", "host", [], False),
    ],
)
def test_left_is_what_should_be_in_the_transcript(parts: str, via: str, claims: list[object], gone: bool) -> None:
    before = window(files={"/a": record(parts, via)}, claims=claims)
    assert reconcile.left(before, content()) == (["/a"] if gone else [])


def test_a_line_that_refers_to_a_file_goes_with_that_file() -> None:
    before = window(files={"/a": record(), "/b": record(same="/a")})
    title = ("/b", "0123456789abcdef", 1, 1)
    after = reconcile.rewound(before, content({title: 5}), Event("tool_batch_finished", "s"))
    assert list(after.files) == []


# --- files that the host restores ------------------------------------------------------------------


@pytest.mark.parametrize("restored", [True, False])
def test_a_doubtful_file_is_settled_by_what_the_host_shows(restored: bool) -> None:
    doubt = doubtful(window(pending={"/state.md": "role x"}), "/state.md", "why", 5.0)
    assert doubt.from_last_epoch["/state.md"]["via"] == DOUBTFUL
    after = reconcile.inherited(doubt, content(files={"/state.md": ""} if restored else {}), records=True)
    assert after.holds("/state.md") is restored and ("/state.md" in after.pending) is not restored
    assert not after.from_last_epoch
    again = reconcile.resumed(doubt, content(files={"/state.md": ""} if restored else {}), start("resume"), 9.0)
    assert again.holds("/state.md") is restored


@pytest.mark.parametrize(
    "files, carried, via",
    [
        ({"/a": record()}, {}, None),  # there
        ({}, {"/a": record(via="tool_batch_finished")}, "tool_batch_finished"),  # in doubt already
        ({}, {"/a": record(via="session_started")}, DOUBTFUL),  # of the start before: gone, unless restored
        ({}, {}, DOUBTFUL),
    ],
)
def test_what_is_in_doubt(
    files: dict[str, dict[str, object]], carried: dict[str, dict[str, object]], via: str | None
) -> None:
    after = doubtful(window(files=files, from_last_epoch=carried), "/a", "why", 5.0)
    assert (after.from_last_epoch["/a"]["via"] if "/a" in after.from_last_epoch else None) == via


def test_a_restored_file_is_not_taken_for_one_that_comes_again_by_itself() -> None:
    doubt = doubtful(window(pending={"/a": "role x"}), "/a", "why", 5.0)
    before = reconcile.inherited(doubt, content(files={"/a": ""}), records=True)
    assert compacted(before, 10, 7.0).files.get("/a") is None, "the next compaction may leave it out"
    assert reconcile.rewound(before, content(files={"/a": ""}), batch()).holds("/a")
    assert not reconcile.rewound(before, content(), batch()).holds("/a")

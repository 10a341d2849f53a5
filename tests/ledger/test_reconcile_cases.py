"""The ledger against the content, case by case."""

from __future__ import annotations

import pytest
from test_epochs import record, start
from test_reconcile import content

from builders import batch, window
from handbill.event import TOOL_CALLED
from handbill.ledger import reconcile
from handbill.ledger.host_files import doubtful

D = "0123456789abcdef"


def title(path: str, part: int = 1, parts: int = 1) -> tuple[str, str, int, int]:
    return (path, D, part, parts)


def test_only_calls_that_our_ledger_names_can_be_denials() -> None:
    before = window(
        files={"/a": record(via=TOOL_CALLED, batch="t1"), "/b": record(batch="t2")},
        from_last_epoch={"/c": record(via=TOOL_CALLED, batch="t3"), "/d": record(batch="t4")}, claims=[{"batch": "t5", "via": TOOL_CALLED}, {"batch": "t6", "via": "tool_batch_finished"}],
    )  # fmt: skip
    assert reconcile.denied_calls(before) == {"t1", "t3", "t5"}


def test_a_compaction_that_is_settled_leaves_nothing_open() -> None:
    before = window(
        from_last_epoch={"/a": record()}, compacted_at_offset=77, flags={"kept_unknown": True, "told": True}
    )
    after = reconcile.inherited(before, content(), records=True)
    assert (after.from_last_epoch, after.compacted_at_offset, after.flags) == ({}, 0, {"told": True})
    assert before.compacted_at_offset == 77


def test_a_line_that_refers_to_a_text_is_worth_nothing_without_it() -> None:
    carried = {"/x": record(), "/y": record(same="/x"), "/v": record(), "/w": record(same="/v")}
    after = reconcile.inherited(
        window(from_last_epoch=carried), content({title("/y"): 1, title("/v"): 1, title("/w"): 1}), records=True
    )
    assert set(after.files) == {"/v", "/w"} and not after.pending
    before = window(files={"/x": record(), "/y": record(same="/x")})
    resumed = reconcile.resumed(before, content({title("/y"): 1}), start("resume"), 9.0)
    assert "/y" not in resumed.files and list(resumed.pending) == ["/x", "/y"]  # its directory was looked at


def test_a_file_in_doubt_has_one_open_part() -> None:
    assert doubtful(window(), "/a", "why", 5.0).from_last_epoch["/a"]["parts"] == "."


def test_a_record_of_the_new_epoch_is_not_replaced_by_the_old_one() -> None:
    before = window(files={"/a": record("s", batch="new")}, from_last_epoch={"/a": record(batch="old")})
    after = reconcile.inherited(before, content({title("/a"): 1}), records=True)
    assert after.files["/a"]["batch"] == "new"
    after = reconcile.resumed(before, content({title("/a"): 1}), start("resume"), 99.0)
    assert (after.files["/a"]["parts"], after.files["/a"]["batch"]) == ("k", "new")


def test_parts_that_a_resume_brings_back() -> None:
    before = window(
        files={"/a": record("kkk"), "/b": record("ss")},
        from_last_epoch={"/c": record("kk")},
        compacted_at_offset=5,
        maybe_compacted_from=3,
    )
    titles = {title("/a", 2, 3): 1, title("/b", 1, 2): 1, title("/b", 2, 2): 1, title("/c", 1, 2): 1}
    after = reconcile.resumed(before, content(titles), start("resume"), 99.0)
    assert {path: after.files[path]["parts"] for path in ("/a", "/b", "/c")} == {"/a": ".k.", "/b": "kk", "/c": "k."}
    assert set(after.pending) == {"/a", "/c"} and (after.compacted_at_offset, after.maybe_compacted_from) == (0, -1)


def test_a_resume_that_changes_nothing_gives_the_same_window() -> None:
    before = window(files={"/a": record(), "/h": record("h", "host")})
    assert reconcile.resumed(before, content({title("/a"): 1}), start("resume"), 99.0) is before


def open_claim(batch: str, at: float) -> dict[str, object]:
    return {"id": 1, "batch": batch, "at": at, "offset": 0, "items": []}


def test_what_another_lane_of_the_same_start_delivered_is_left_alone() -> None:
    event = start("resume")
    mine = record("s", via="session_started", batch=event.batch, at=99.0)
    before = window(files={"/a": mine}, claims=[open_claim(event.batch, 99.0), open_claim("t1", 1.0)])
    after = reconcile.resumed(before, content(), event, 100.0)
    assert after.files["/a"]["parts"] == "s" and [claim["batch"] for claim in after.claims] == [event.batch]
    later = reconcile.resumed(before, content(), event, 999.0)
    assert later.files["/a"]["parts"] == "." and not later.claims


@pytest.mark.parametrize(
    "one, gone",
    [
        (record("k"), True), (record("s"), True), (record("e"), False), (record("t"), False), (record("."), False),
        (record("h", "host"), False), (record("kk"), True),
    ],
)  # fmt: skip
def test_what_has_left_a_window(one: dict[str, object], gone: bool) -> None:
    assert reconcile.left(window(files={"/a": one}), content()) == (["/a"] if gone else [])


def test_parts_that_are_on_their_way_have_not_left() -> None:
    before = window(files={"/a": record("ks")}, claims=[{"batch": "t1", "items": [["/a", 2, D, 2]]}])
    assert reconcile.left(before, content({title("/a", 1, 2): 1})) == []
    assert reconcile.left(before, content()) == ["/a"]


def test_what_is_there_although_the_ledger_does_not_say_so() -> None:
    before = window(
        files={"/a": record("k."), "/old": record(hash="f" * 16), "/full": record()}, pending={"/a": "why", "/b": "why"}
    )
    titles = {title("/a", 2, 2): 7, title("/b"): 5, title("/old"): 5, title("/full"): 5, title("/c", 1, 2): 5}
    after = reconcile.found(before, content(titles), 9.0)
    assert (after.files["/a"]["parts"], after.files["/a"]["chars"]) == ("kk", 8)
    assert (
        after.files["/b"]["parts"] == "k"
        and after.files["/c"]["parts"] == "k."
        and after.files["/old"]["hash"] == D  # delivered by another client on the same session
    )
    assert not after.pending
    assert reconcile.found(after, content({title("/b"): 5}), 9.0) is after


def test_a_rewind_is_a_new_epoch_with_what_is_left() -> None:
    now = batch("now")
    files = {
        "/kept": record(), "/gone": record(), "/half": record("kk"), "/now": record("s", batch=now.batch),
        "/root": record("h", "host", reason="session_start"), "/deep": record("h", "host", reason="nested, read by the host"),
        "/s/SKILL.md": record("h", "host", reason="skill x, typed"), "/u/SKILL.md": record("h", "host", reason="skill y, typed"),
    }  # fmt: skip
    before = window(files=files, claims=[{"batch": "t1"}, {"batch": now.batch}])
    found = content({title("/kept"): 1, title("/half", 1, 2): 1}, skills=["/s"])
    after = reconcile.rewound(before, found, now)
    assert set(after.files) == {"/kept", "/half", "/now", "/root", "/s/SKILL.md"}
    assert after.files["/half"]["parts"] == "k." and after.pending == {"/half": "why"}
    assert after.epoch == before.epoch + 1 == after.flags["rewound"] and after.claims == [{"batch": now.batch}]
    assert after.flags["host_once"] == ["/deep"], "the host brings it once, until it is compacted"


def test_an_unknown_window_is_rebuilt_with_what_is_missing_of_it() -> None:
    titles = {title("/a"): 5, title("/b", 2, 3): 6}
    after = reconcile.adopted(batch(), None, content(titles), 9.0)
    assert {path: after.files[path]["parts"] for path in after.files} == {"/a": "k", "/b": ".k."}
    assert after.pending == {"/b": "found in the transcript"} and after.started and after.files["/b"]["chars"] == 6


def test_without_records_only_a_file_of_one_part_is_known_by_its_call() -> None:
    carried = {"/one": record("s", batch="t1"), "/two": record("ss", batch="t1"), "/none": record("s", batch="")}
    after = reconcile.inherited(window(from_last_epoch=carried), content(calls=["t1", ""]), records=False)
    assert {path: after.files[path]["parts"] for path in after.files} == {"/one": "e"}


def test_of_two_states_of_a_file_the_later_one_counts() -> None:
    """The older one came with a denial, the newer one as an update; or the other way round."""
    older, newer = ("/a", "0" * 16, 1, 1), ("/a", "f" * 16, 1, 1)
    for first, digest in ((1, newer[1]), (9, older[1])):
        found = content(
            {newer: 5}, denials={"t1": {older: 5}}, file_calls={"t1"}, calls=["t1"],
            order={("t1", older): first, ("", newer): 5},
        )  # fmt: skip
        assert reconcile.adopted(batch(), None, found, 9.0).files["/a"]["hash"] == digest


def test_a_file_that_nobody_wants_is_not_noted_as_restored() -> None:
    after = reconcile.inherited(window(from_last_epoch={"/dir": record()}), content(files={"/dir"}), records=True)
    assert "/dir" not in after.files


@pytest.mark.parametrize(
    "work, skills, titles, after",
    [
        ({"skill": "ship", "phase": "0"}, [], {}, {}),  # taken back
        ({"skill": "ship", "phase": "0"}, ["/s/ship"], {}, {"skill": "ship", "phase": "0"}),
        ({"skill": "ship", "phase": "0"}, [], {title("/s/ship/SKILL.md"): 1}, {"skill": "ship", "phase": "0"}),
        ({"skill": "p:ship"}, ["/s/ship"], {}, {"skill": "p:ship"}),
        ({"skill": "ship"}, [], {title("/s/ship/AGENTS.md"): 1}, {}),
        ({"skill": "ship", "session": "/w"}, [], {}, {"skill": "ship", "session": "/w"}),  # a session holds it
    ],
)
def test_a_skill_that_was_taken_back_is_not_at_work(
    work: dict[str, str], skills: list[str], titles: dict[tuple[str, str, int, int], int], after: dict[str, str]
) -> None:
    assert reconcile.rewound(window(work=work), content(titles, skills=skills), batch()).work == after
    assert reconcile.resumed(window(work=work), content(titles, skills=skills), start("resume"), 9.0).work == after


@pytest.mark.parametrize(
    "one, claims",
    [
        (record("s", hash="f" * 16), [{"id": 1, "batch": "t1", "items": [["/a", 1, "f" * 16, 1]]}]),  # on its way
        (record(".", before="k", updated=True), []),  # it has changed since: that state is wanted
        (record("k.", hash="f" * 16), []),  # a newer state is delivered in part
    ],
)
def test_an_older_state_in_the_window_changes_nothing(one: dict[str, object], claims: list[object]) -> None:
    before = window(files={"/a": one}, claims=claims, pending={"/a": "why"})
    found = content({title("/a"): 5}, order={("", title("/a")): 1})
    assert reconcile.found(before, found, 9.0) is before


def test_a_skill_that_did_not_survive_a_resume() -> None:
    files = {f"/s/{name}/SKILL.md": record("h", "host", reason=f"skill {name}, typed") for name in "xy"}
    after = reconcile.resumed(window(files=files), content(skills=["/s/y"]), start("resume"), 99.0)
    assert set(after.files) == {"/s/y/SKILL.md"}


def test_every_file_of_a_resumed_window_is_judged() -> None:
    event = start("resume")
    files = {
        "/lane": record("s", batch=event.batch, at=98.0), "/CLAUDE.md": record("h", "host", reason="session_start"),
        "/gone": record(), "/also": record(),
    }  # fmt: skip
    after = reconcile.resumed(window(files=files), content(), event, 99.0)
    assert list(after.pending) == ["/gone", "/also"] and after.holds("/lane") and after.holds("/CLAUDE.md")


@pytest.mark.parametrize("reason", ["restored by the client", "read by the agent"])
@pytest.mark.parametrize("shown", [True, False])
def test_a_file_that_the_host_showed_once(reason: str, shown: bool) -> None:
    before = window(files={"/a": record("h", "host", reason=reason)})
    after = reconcile.resumed(before, content(files={"/a"} if shown else set()), start("resume"), 99.0)
    assert after.holds("/a") is shown


def test_a_resume_ends_what_the_process_before_had_noted() -> None:
    flags = {"host_once": ["/a"], "kept_unknown": True, "standards": 0}
    assert reconcile.resumed(window(flags=flags), content(), start("resume"), 99.0).flags == {"standards": 0}


def test_a_doubtful_file_need_not_be_pending() -> None:
    doubt = doubtful(window(), "/a", "why", 5.0)
    assert reconcile.inherited(doubt, content(files={"/a"}), records=True).holds("/a")


@pytest.mark.parametrize(
    "files, found, wanted",
    [
        ({"/c/CMD_X.md": record(), "/c/CMD_Y.md": record(reason="named by CMD_X.md")}, [title("/c/CMD_X.md")], True),
        ({"/c/CMD_X.md": record(), "/c/CMD_Y.md": record(reason="named by CMD_X.md")}, [], False),  # both are gone
        ({"/c/CMD_X.md": record(), "/c/CMD_Y.md": record(reason="CMD_X.md")}, [title("/c/CMD_X.md")], False),
        ({"/c/CMD_X.md": record(), "/c/CMD_Y.md": record(reason="named by CMD_X.md")},
         [title("/c/CMD_X.md"), title("/c/CMD_Y.md")], False),
        ({"/c/CMD_X.md": record("kk"), "/c/CMD_Y.md": record(reason="named by CMD_X.md")},
         [title("/c/CMD_X.md", 1, 2)], False),  # when the rest of it is there
    ],
)  # fmt: skip
def test_pages_that_are_named_by_one_that_is_kept(
    files: dict[str, dict[str, object]], found: list[tuple[str, str, int, int]], wanted: bool
) -> None:
    kept = content(dict.fromkeys(found, 1))
    assert ("/c/CMD_Y.md" in reconcile.inherited(window(from_last_epoch=files), kept, records=True).pending) is wanted
    assert ("/c/CMD_Y.md" in reconcile.rewound(window(files=files), kept, batch("t9")).pending) is wanted


def test_what_is_found_leaves_the_window_that_was_given_alone() -> None:
    before = window()
    assert reconcile.found(before, content({title("/a"): 5}), 9.0).holds("/a") and not before.holds("/a")


def test_what_is_found_behind_something_that_is_known() -> None:
    """An earlier state of a file, one that is on its way, and one of the host's own do not hide what follows."""
    older, newer = ("/a", "0" * 16, 1, 1), ("/a", "f" * 16, 1, 1)
    places = [older, newer, title("/waiting"), title("/host"), title("/line"), title("/known"), title("/new")]
    other = "e" * 16
    before = window(
        files={"/host": record("h", "host", hash=""), "/line": record(same="/known", hash=other), "/known": record()},
        claims=[{"id": 1, "batch": "t1", "items": [["/waiting", 1, D, 1]]}],
    )
    found = content(dict.fromkeys(places, 5), order={("", one): place for place, one in enumerate(places)})
    after = reconcile.found(before, found, 9.0)
    assert after.holds("/new") and after.files["/a"]["hash"] == newer[1] and "/waiting" not in after.files
    assert after.files["/host"]["via"] == "host" and after.files["/line"]["same"] == "/known"


def test_a_file_that_was_divided_in_another_way() -> None:
    thirds = {title("/a", part, 3): 5 for part in (1, 2, 3)}
    after = reconcile.adopted(batch(), None, content({**thirds, title("/a", 1, 2): 5}), 9.0)
    assert after.files["/a"]["parts"] == "k." and list(after.pending) == ["/a"]
    after = reconcile.found(window(files={"/a": record("kk")}), content(thirds), 9.0)
    assert after.files["/a"]["parts"] == "kkk"


@pytest.mark.parametrize("call, via, batch_", [("", "transcript", ""), ("t1", TOOL_CALLED, "t1")])
def test_how_a_found_file_had_come(call: str, via: str, batch_: str) -> None:
    line = title("/a")
    found = content({title("/b"): 5} if call else {title("/b"): 5, line: 5}, same={(call, line): "/b"})
    if call:
        found.denials, found.calls, found.file_calls = {call: {line: 5}}, [call], {call}
    record = reconcile.adopted(batch(), None, found, 9.0).files["/a"]
    assert (record["via"], record["batch"], record.get("same")) == (via, batch_, "/b")

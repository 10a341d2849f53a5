"""Claims, case by case: what is settled without a delivery, what fits exactly, what is in the record."""

from __future__ import annotations

import pytest

from builders import batch, document, window
from handbill.ledger.claim import DIRECTIVE, MOST_CONSIDERED, Claim, claim
from handbill.ledger.window import Window
from handbill.plan import Want
from handbill.text.blocks import BETWEEN, block, units
from handbill.text.document import Document, Refusal

CAP = 2000


def ask(
    state: Window, documents: dict[str, Document | Refusal], *paths: str, room: int = CAP, reason: str = "why"
) -> tuple[Window, Claim]:
    return claim(state, [Want(path, reason) for path in paths], documents, batch("t9"), room, now=5.0)


def held(path: str, text: str = "", **more: object) -> dict[str, object]:
    one = document(path, text)
    return {
        "inode": one.inode, "hash": one.digest, "chars": 1, "reason": "why", "at": 1.0, "via": "tool_batch_finished",
        "batch": "t1", "parts": "k", "stamp": "old", **more,
    }  # fmt: skip


def size(one: Document) -> int:
    return units(block(one.path, one.digest, one.text))


# --- settled without a delivery -------------------------------------------------------------------


def test_what_the_window_holds_does_not_stay_pending() -> None:
    after, answer = ask(window(files={"/a": held("/a")}, pending={"/a": "why"}), {"/a": document("/a")})
    assert not after.pending and [why for _, why, _ in answer.skipped] == ["skip-dedup"]


def test_text_that_is_there_under_another_name_does_not_stay_pending() -> None:
    after, answer = ask(window(files={"/b": held("/b", "text")}, pending={"/a": "why"}), {"/a": document("/a", "text")})
    assert not after.pending and [why for _, why, _ in answer.skipped] == ["skip-content"]


def test_a_partly_delivered_file_is_no_other_name() -> None:
    """Nobody can rely on text of which a part is missing."""
    after, answer = ask(window(files={"/b": held("/b", "text", parts="k.")}), {"/a": document("/a", "text")}, "/a")
    assert [grant.path for grant in answer.grants] == ["/a"] and after.holds("/a")


def test_a_name_that_fills_the_message_is_refused() -> None:
    path = "/" + "n" * CAP
    after, answer = ask(window(), {path: document(path, "word " * 900)}, path)
    assert [one.path for one in answer.refused] == [path] and not after.pending and not answer.grants


CHANGED = held("/a", "older", parts=".", before="k", updated=True, stamp="old")


@pytest.mark.parametrize(
    "now, stamp",
    [(Refusal("/a", "is gone"), "old"), (document("/a", "older"), document("/a", "older").stamp)],
    ids=["gone", "as it was"],
)
def test_a_newer_state_that_is_not_delivered_leaves_what_was_there(now: Document | Refusal, stamp: str) -> None:
    after, answer = ask(window(files={"/a": CHANGED}, pending={"/a": "why"}), {"/a": now})
    record = after.files["/a"]
    assert (record["parts"], record["before"], record["updated"], record["stamp"]) == ("k", "", False, stamp)
    assert not answer.grants and not after.pending


def test_a_newer_state_that_is_there_under_another_name() -> None:
    files = {"/a": CHANGED, "/b": held("/b", "newer")}
    after, answer = ask(window(files=files, pending={"/a": "why"}), {"/a": document("/a", "newer")})
    assert after.files["/a"]["parts"] == "k" and not after.files["/a"]["updated"] and not answer.grants


@pytest.mark.parametrize(
    "path, updated, line",
    [
        ("/p/b/.directives/AGENTS.md", True, True),  # the agent had seen the old text itself
        ("/p/b/.directives/AGENTS.md", False, False),
        ("/p/b/page.md", True, False),  # no rule of a directory
    ],
)
def test_a_changed_rule_that_has_another_directorys_text_now(path: str, updated: bool, line: bool) -> None:
    text = held("/p/a/.directives/AGENTS.md", "newer")
    changed = held(path, "older", parts=".", before="k", updated=updated)
    files = {"/p/a/.directives/AGENTS.md": text, path: changed}
    _, answer = ask(window(files=files, pending={path: "read by the agent"}), {path: document(path, "newer")})
    assert [grant.same for grant in answer.grants] == (["/p/a/.directives/AGENTS.md"] if line else [])


def test_a_newer_state_that_is_nowhere_else_is_delivered() -> None:
    after, answer = ask(window(files={"/a": CHANGED}, pending={"/a": "why"}), {"/a": document("/a", "newer")})
    assert [(grant.word, grant.same) for grant in answer.grants] == [("Updated", "")] and after.holds("/a")


def test_a_line_that_refers_to_a_text_is_not_the_text() -> None:
    files = {"/b": held("/b", "text", same="/a")}  # /a itself is gone
    _, answer = ask(window(files=files), {"/c": document("/c", "text")}, "/c")
    assert [(grant.path, grant.same) for grant in answer.grants] == [("/c", "")]


def test_a_file_from_the_start_waits_while_nobody_knows_what_was_kept() -> None:
    carried = {"/std": held("/std", via="session_started")}
    after, answer = ask(
        window(from_last_epoch=carried, flags={"kept_unknown": True}), {"/std": document("/std")}, "/std"
    )
    assert not answer.grants and list(after.pending) == ["/std"]


# --- what fits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("spare, granted", [(0, ["/a"]), (-1, [])])
def test_a_block_may_fill_a_message_exactly(spare: int, granted: list[str]) -> None:
    one = document("/a", "x" * 500)
    _, answer = ask(window(), {"/a": one}, "/a", room=size(one) + spare)
    assert [grant.path for grant in answer.grants if grant.parts == 1] == granted


@pytest.mark.parametrize("spare, granted", [(0, ["/a", "/b"]), (-1, ["/a"])])
def test_what_stands_between_two_blocks_counts(spare: int, granted: list[str]) -> None:
    documents: dict[str, Document | Refusal] = {"/a": document("/a", "x" * 300), "/b": document("/b", "y" * 300)}
    room = sum(size(one) for one in documents.values() if isinstance(one, Document)) + len(BETWEEN) + spare
    _, answer = ask(window(), documents, "/a", "/b", room=room)
    assert [grant.path for grant in answer.grants] == granted and units(answer.text) <= room


def test_parts_are_delivered_in_their_order() -> None:
    """The first part does not fit beside another file: the second, which may be smaller, waits for it."""
    documents: dict[str, Document | Refusal] = {
        "/small": document("/small", "s" * 1000),
        "/large": document("/large", "line\n" * 700),
    }
    after, answer = ask(window(), documents, "/small", "/large", reason=f"{DIRECTIVE}/x")
    parts = [grant.part for grant in answer.grants if grant.path == "/large"]
    assert parts == list(range(1, len(parts) + 1)) and "/large" in after.pending


def test_more_files_than_one_event_considers() -> None:
    paths = [f"/{number}" for number in range(MOST_CONSIDERED + 3)]
    after, answer = ask(window(), {path: document(path) for path in paths}, *paths, room=1_000_000)
    assert [grant.path for grant in answer.grants] == paths[:MOST_CONSIDERED]
    assert list(after.pending) == paths[MOST_CONSIDERED:]


def test_the_size_of_the_parts_does_not_depend_on_the_event() -> None:
    wants, documents = [Want("/a", "why")], {"/a": document("/a", "x" * 1500)}
    after, answer = claim(window(), wants, documents, batch("t1"), 1000, part=1000)
    assert [(grant.part, grant.parts, grant.word) for grant in answer.grants] == [(1, 2, "Preloaded")]
    after, answer = claim(after, (), documents, batch("t2"), CAP, part=1000)
    assert [(grant.part, grant.parts, grant.word) for grant in answer.grants] == [(2, 2, "Preloaded")]
    assert after.holds("/a")


def test_a_file_whose_parts_now_have_another_size_begins_again() -> None:
    wants, documents = [Want("/a", "why")], {"/a": document("/a", "x" * 1500)}
    before, _ = claim(window(), wants, documents, batch("t1"), 1000, part=1000)
    _, answer = claim(before, (), documents, batch("t2"), CAP, part=700)
    assert [(grant.part, grant.parts) for grant in answer.grants] == [(1, 3), (2, 3), (3, 3)]


# --- order ----------------------------------------------------------------------------------------


def test_a_file_of_two_parts_waits_for_whole_ones() -> None:
    documents: dict[str, Document | Refusal] = {"/two": document("/two", "w" * 2500), "/one": document("/one")}
    _, answer = ask(window(), documents, "/two", "/one", reason="standards")
    assert answer.grants[0].path == "/one"


def test_files_of_a_gate_wait_for_the_one_before_them() -> None:
    documents: dict[str, Document | Refusal] = {path: document(path) for path in ("/b", "/c")}
    documents["/a"] = document("/a", "w" * 5000)
    after, answer = ask(window(), documents, "/a", "/b", "/c", reason="context")
    assert {grant.path for grant in answer.grants} == {"/a"} and list(after.pending) == ["/a", "/b", "/c"]
    _, answer = ask(after, {**documents, "/r": document("/r")}, "/r", reason=f"{DIRECTIVE}/x")
    assert "/r" in {grant.path for grant in answer.grants}, "a rule does not wait for them"


def test_a_large_rule_waits_for_a_file_of_a_gate() -> None:
    documents: dict[str, Document | Refusal] = {
        "/rule": document("/rule", "r" * 5000),
        "/context": document("/context"),
    }
    wants = [Want("/rule", f"{DIRECTIVE}/x"), Want("/context", "context")]
    assert claim(window(), wants, documents, batch("t1"), CAP)[1].grants[0].path == "/context"


def test_a_large_rule_of_the_users_waits_for_a_file_of_a_gate() -> None:
    documents: dict[str, Document | Refusal] = {
        "/own": document("/own", "r" * 5000),
        "/p/context": document("/p/context"),
    }
    wants = [Want("/own", f"{DIRECTIVE}/x"), Want("/p/context", "context")]
    assert claim(window(), wants, documents, batch("t1"), CAP, project="/p")[1].grants[0].path == "/p/context"


def test_only_files_of_a_gate_wait_for_one_another() -> None:
    """A rule that does not fit holds up no file of a gate, and a file of a gate holds up no part of a rule."""
    documents: dict[str, Document | Refusal] = {
        "/r1": document("/r1", "a" * 1200), "/r2": document("/r2", "b" * 1200), "/context": document("/context"),
    }  # fmt: skip
    wants = [Want("/r1", f"{DIRECTIVE}/x"), Want("/r2", f"{DIRECTIVE}/y"), Want("/context", "context")]
    _, answer = claim(window(), wants, documents, batch("t1"), CAP)
    assert [grant.path for grant in answer.grants] == ["/r1", "/context"]
    documents = {"/large": document("/large", "r" * 2100), "/context": document("/context", "c" * 3800)}
    before, _ = claim(window(), [Want("/large", f"{DIRECTIVE}/x")], documents, batch("t1"), CAP)
    _, answer = claim(before, [Want("/context", "context")], documents, batch("t2"), 3400, part=CAP)
    assert [(grant.path, grant.part) for grant in answer.grants] == [("/context", 1), ("/large", 2)]


# --- the same rules -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first, second, same",
    [
        ("/p/x/.directives/AGENTS.md", "/p/y/.directives/AGENTS.md", True),
        ("/p/x/.directives/AGENTS.md", "/p/x/AGENTS.md", False),  # of the same directory
        ("/p/x/AGENTS.md", "/p/y/AGENTS.md", True),
        ("/p/x/.directives/AGENTS.md", "/p/x/.directives/INVARIANTS.md", False),
    ],
)
def test_one_line_where_it_speaks_for_another_directory(first: str, second: str, same: bool) -> None:
    before, _ = ask(window(), {first: document(first, "rules", "1:1")}, first, reason=f"{DIRECTIVE}/p/x")
    after, answer = ask(before, {second: document(second, "rules", "1:2")}, second, reason=f"{DIRECTIVE}/p/y")
    assert bool(answer.grants) is same
    assert "same" not in before.files[first]
    if same:
        assert after.files[second]["same"] == first and answer.grants[0].same == first


def test_one_line_only_for_a_rule_whose_text_we_delivered() -> None:
    first, second = "/p/x/AGENTS.md", "/p/y/AGENTS.md"
    before, _ = ask(window(), {first: document(first, "rules", "1:1")}, first, reason=f"{DIRECTIVE}/p/x")
    _, answer = ask(before, {second: document(second, "rules", "1:2")}, second, reason="context")
    assert not answer.grants and [why for _, why, _ in answer.skipped] == ["skip-content"], "it speaks for no directory"
    host = {"inode": "1:2", "hash": "", "parts": "h", "via": "host", "reason": "session_start"}
    _, answer = ask(window(files={"/CLAUDE.md": host}), {second: document(second, "rules", "1:2")}, second,
                    reason=f"{DIRECTIVE}/p/y")  # fmt: skip
    assert not answer.grants and [why for _, why, _ in answer.skipped] == ["skip-inode"]


@pytest.mark.parametrize("updated, word", [(False, "Preloaded"), (True, "Updated")])
def test_a_line_says_whether_the_rules_have_changed(updated: bool, word: str) -> None:
    first, second = "/p/x/AGENTS.md", "/p/y/AGENTS.md"
    files = {first: held(first, "rules"), second: held(second, "older", parts=".", updated=updated)}
    _, answer = ask(window(files=files), {second: document(second, "rules")}, second, reason=f"{DIRECTIVE}/p/y")
    assert [(grant.word, grant.same) for grant in answer.grants] == [(word, first)]


def test_a_line_waits_for_the_whole_text_that_it_refers_to() -> None:
    first, second = "/p/x/AGENTS.md", "/p/y/AGENTS.md"
    documents: dict[str, Document | Refusal] = {path: document(path, "rules " * 500) for path in (first, second)}
    state, answer = ask(window(), documents, first, second, reason=f"{DIRECTIVE}/p")
    assert {grant.path for grant in answer.grants} == {first} and set(state.pending) == {first, second}
    state, answer = ask(state, documents)
    assert [(grant.path, grant.part) for grant in answer.grants] == [(first, 2), (second, 1)]
    assert answer.grants[-1].same == first and state.holds(second)


# --- however much waits from a project, the user's own files have their turn ------------------------


@pytest.mark.parametrize("many, first", [(3, "/p/0"), (40, "/u/own")])
def test_whole_files_of_the_user_pass_a_crowd(many: int, first: str) -> None:
    paths = [*(f"/p/{number}" for number in range(many)), "/u/own"]
    documents: dict[str, Document | Refusal] = {path: document(path, path) for path in paths}
    state = window(pending=dict.fromkeys(paths, "why"))
    _, answer = claim(state, [], documents, batch("t9"), 200, now=5.0, project="/p")
    assert answer.grants[0].path == first


def test_files_of_gates_keep_their_order_in_a_crowd() -> None:
    paths, many = ["/p/first", "/u/second", "/p/third"], [f"/p/{number}" for number in range(40)]
    documents: dict[str, Document | Refusal] = {path: document(path, path) for path in (*paths, *many)}
    wants = [*(Want(path, "directive of /p") for path in many), *(Want(path, "context of x") for path in paths)]
    _, answer = claim(window(), wants, documents, batch("t9"), 100_000, project="/p")
    assert [grant.path for grant in answer.grants if grant.path in paths] == paths


def test_large_files_of_the_user_pass_those_of_the_project() -> None:
    documents: dict[str, Document | Refusal] = {
        path: document(path, f"{path} word" * 900) for path in ("/p/a", "/u/own", "/p/b")
    }
    state = window(pending=dict.fromkeys(documents, "why"))
    _, answer = claim(state, [], documents, batch("t9"), CAP, now=5.0, project="/p")
    assert answer.grants[0].path == "/u/own"

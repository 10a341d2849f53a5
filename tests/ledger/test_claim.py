from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import batch, document, window
from handbill.ledger.claim import Claim, claim
from handbill.ledger.window import Window, brought_by, postponed, state_of
from handbill.plan import Want
from handbill.text.blocks import read_title, units
from handbill.text.document import Document, Refusal

CAP = 2000


def ask(state: Window, documents: dict[str, Document | Refusal], *paths: str, id: str = "t1") -> tuple[Window, Claim]:
    return claim(state, [Want(path, "why") for path in paths], documents, batch(id), CAP, now=5.0)


def test_a_new_file_is_granted_and_recorded() -> None:
    after, answer = ask(window(), {"/a": document("/a")}, "/a")
    assert [grant.path for grant in answer.grants] == ["/a"]
    assert after.files["/a"]["parts"] == "s"
    assert after.claims[0]["items"] == [["/a", 1, document("/a").digest, 1]]
    assert state_of(after.files["/a"]) == "sent"


def test_the_window_that_was_given_is_not_changed() -> None:
    before = window()
    ask(before, {"/a": document("/a")}, "/a")
    assert not before.files and not before.claims and before.serial == 0


def test_dedup_by_path_inode_and_content() -> None:
    documents = {
        "/a": document("/a", "one", "1:1"),
        "/link": document("/link", "one", "1:1"),
        "/copy": document("/copy", "one", "1:9"),
    }
    after, _ = ask(window(), documents, "/a")
    again, answer = ask(after, documents, "/a", "/link", "/copy", id="t2")
    assert answer.grants == []
    assert [why for _, why, _ in answer.skipped] == ["skip-dedup", "skip-inode", "skip-content"]
    assert set(again.files) == {"/a"}


@pytest.mark.parametrize(
    "reason, order",
    [
        ("directive of /x", ["/small"]),  # a small file does not wait for a large one
        ("standards", ["/small"]),
        ("context gate", ["/large"]),  # the most important file comes first, whatever its size
        ("role handler", ["/large"]),
        ("resume 24-login", ["/large"]),
        ("handover of x", ["/large"]),
    ],
)
def test_which_file_goes_first(reason: str, order: list[str]) -> None:
    documents: dict[str, Document | Refusal] = {
        "/large": document("/large", "word " * 1000),
        "/small": document("/small", "s" * 900),
    }
    wants = [Want("/large", reason), Want("/small", reason)]
    _, answer = claim(window(), wants, documents, batch("t1"), CAP, now=5.0)
    assert [grant.path for grant in answer.grants] == order


def test_two_names_of_one_file_in_one_claim() -> None:
    documents = {"/a": document("/a", "one", "1:1"), "/link": document("/link", "one", "1:1")}
    _, answer = ask(window(), documents, "/a", "/link")
    assert [grant.path for grant in answer.grants] == ["/a"]


def test_what_does_not_fit_waits() -> None:
    documents = {name: document(name, name[1] * 900) for name in ("/a", "/b", "/c")}
    after, answer = ask(window(), documents, "/a", "/b", "/c")
    assert [grant.path for grant in answer.grants] == ["/a", "/b"]
    assert list(after.pending) == ["/c"]
    assert answer.queued == [("/c", "why")]
    last, answer = ask(after, documents, id="t2")
    assert [grant.path for grant in answer.grants] == ["/c"]
    assert not last.pending


def test_a_refused_file_is_neither_granted_nor_pending() -> None:
    after, answer = ask(window(pending={"/a": "why"}), {"/a": Refusal("/a", "is binary")})
    assert not after.pending and not after.files
    assert [refusal.why for refusal in answer.refused] == ["is binary"]


def test_pending_that_another_process_queued_stays() -> None:
    after, answer = ask(window(pending={"/other": "why"}), {"/a": document("/a")}, "/a")
    assert list(after.pending) == ["/other"]
    assert [grant.path for grant in answer.grants] == ["/a"]


def test_a_file_that_changed_between_its_parts_starts_again_as_updated() -> None:
    old = {"/a": document("/a", "old line\n" * 500)}
    after, _ = ask(window(), old, "/a")
    new = {"/a": document("/a", "new line\n" * 500)}
    after, answer = ask(after, new, id="t2")
    assert answer.grants == [], "it is being edited: wait until it has come to rest"
    after, answer = ask(after, new, id="t3")
    assert [(grant.word, grant.part) for grant in answer.grants] == [("Updated", 1)]
    _, answer = ask(after, new, id="t4")
    assert [(grant.word, grant.part) for grant in answer.grants] == [("Updated", 2)]


def test_an_inode_that_is_used_again_proves_nothing() -> None:
    after, _ = ask(window(), {"/a": document("/a", "one", "1:1")}, "/a")
    _, answer = ask(after, {"/b": document("/b", "other text", "1:1")}, "/b", id="t2")
    assert [grant.path for grant in answer.grants] == ["/b"]


def test_a_file_that_the_host_loaded_is_known_by_its_inode() -> None:
    host = {"inode": "1:1", "hash": "", "parts": "h", "via": "host", "reason": "session_start"}
    _, answer = ask(window(files={"/CLAUDE.md": host}), {"/link": document("/link", "x", "1:1")}, "/link")
    assert [why for _, why, _ in answer.skipped] == ["skip-inode"]
    for other in ({**host, "reason": "imported by CLAUDE.md"}, {**host, "parts": "."}):  # not sure; since changed
        _, answer = ask(window(files={"/CLAUDE.md": other}), {"/link": document("/link", "x", "1:1")}, "/link")
        assert [grant.path for grant in answer.grants] == ["/link"]


def test_postponed_wants_wait() -> None:
    after = postponed(window(files={"/there": {"parts": "k"}}), [Want("/a", "why"), Want("/there", "why")])
    assert after.pending == {"/a": "why"}


def test_carried_files_wait_for_the_audit_unless_they_cannot_be_in_the_tail() -> None:
    record = {"inode": "", "hash": "x", "parts": "k", "via": "tool_batch_finished"}
    state = window(from_last_epoch={"/a": record, "/std": {**record, "via": "session_started"}})
    after, answer = ask(state, {"/a": document("/a"), "/std": document("/std")}, "/a", "/std")
    assert [grant.path for grant in answer.grants] == ["/std"]
    assert list(after.pending) == ["/a"]


@pytest.mark.parametrize("size", range(1935, 1970))
@pytest.mark.parametrize("updated", [False, True])
def test_a_file_that_just_fits_or_just_does_not(size: int, updated: bool) -> None:
    documents: dict[str, Document | Refusal] = {"/f": document("/f", "a" * size)}
    before = {"inode": "", "hash": "old", "parts": ".", "via": "tool_batch_finished", "updated": True, "stamp": ""}
    state, answer = ask(window(files={"/f": before} if updated else {}), documents, "/f")
    assert answer.grants and units(answer.text) <= CAP
    assert answer.grants[0].word == ("Updated" if updated else "Preloaded")
    assert state.holds("/f") or ask(state, documents, id="t2")[0].holds("/f")


sizes = st.lists(st.integers(1, 5000), min_size=1, max_size=8)


@given(sizes=sizes, seed=st.integers(0, 1 << 32))
def test_every_file_arrives_whole_once_and_no_event_is_over_the_cap(sizes: list[int], seed: int) -> None:
    order = random.Random(seed)  # a draw per letter would be too much for one example
    texts = {
        f"/f{n}": "".join(order.choice("abcdefgh \n") for _ in range(size)) + f"#{n}" for n, size in enumerate(sizes)
    }
    documents: dict[str, Document | Refusal] = {path: document(path, text) for path, text in texts.items()}
    state, events, received = window(), 0, []
    wanted = list(texts)
    while wanted or state.pending:
        state, answer = ask(state, documents, *wanted, id=f"t{events}")
        assert units(answer.text) <= CAP
        received += [grant.block for grant in answer.grants]
        wanted, events = [], events + 1
        assert answer.grants, "an event that could deliver delivered nothing"
    for path, text in texts.items():
        mine = [
            block.partition("\n") for block in received if (read_title(block.partition("\n")[0]) or ("",))[0] == path
        ]
        mine.sort(key=lambda piece: (read_title(piece[0]) or ("", "", 0, 0))[2])
        assert "".join(piece[2] for piece in mine) == text
    assert not ask(state, documents, *texts, id="again")[1].grants


@given(wanted=st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), max_size=6))
def test_whatever_is_wanted_whenever_nothing_is_granted_twice(wanted: list[list[str]]) -> None:
    documents: dict[str, Document | Refusal] = {f"/{name}": document(f"/{name}", name * 700) for name in "abcdef"}
    state, granted = window(), []
    for number, names in enumerate(wanted):
        state, answer = ask(state, documents, *(f"/{name}" for name in names), id=f"t{number}")
        granted += [(grant.path, grant.part) for grant in answer.grants]
    assert len(granted) == len(set(granted))
    assert {path for path, _ in granted} | set(state.pending) == {f"/{name}" for names in wanted for name in names}


def test_the_same_rules_in_another_directory_are_one_line() -> None:
    paths = ["/p/a/.directives/AGENTS.md", "/p/b/.directives/AGENTS.md", "/p/b/AGENTS.md"]
    documents: dict[str, Document | Refusal] = {path: document(path, "the rules " * 50) for path in paths}
    wants = [Want(path, f"directive of {path.partition('/.dir')[0]}") for path in paths]
    state, answer = claim(window(), wants, documents, batch("t1"), CAP)
    assert [grant.same for grant in answer.grants] == ["", paths[0], paths[0]]
    assert 'The same rules as in "/p/a/.directives/AGENTS.md"' in answer.grants[1].block
    assert answer.text.count("the rules " * 50) == 1
    assert not claim(state, wants, documents, batch("t2"), CAP)[1].grants


@pytest.mark.parametrize("before, after", [("", "/p/b/.directives/AGENTS.md"), ("/p/b/.directives/AGENTS.md", "")])
def test_a_lost_text_is_replaced_by_a_line_or_the_reverse(before: str, after: str) -> None:
    """The record says what the window has now: else the receipt would be for the other."""
    path, other = "/p/a/.directives/AGENTS.md", "/p/b/.directives/AGENTS.md"
    one = document(path, "the rules")
    lost = {
        "inode": one.inode, "hash": one.digest, "chars": 1, "reason": "directive of /p/a", "at": 1.0, "parts": ".",
        "via": "tool_batch_finished", "batch": "t1", "stamp": "old", "same": before,
    }  # fmt: skip
    files = {path: lost, **({other: {**lost, "parts": "k", "same": ""}} if after else {})}
    state, answer = claim(window(files=files), [Want(path, "directive of /p/a")], {path: one}, batch("t2"), CAP)
    assert [grant.same for grant in answer.grants] == [after] and state.files[path].get("same", "") == after


def test_a_text_that_only_shares_a_few_bits_is_another_text() -> None:
    """A checksum of 32 bits can be forged with six characters; what is compared is the content."""
    import zlib

    one, two = "plumless", "buckeroo"  # a known pair: the same CRC-32
    assert zlib.crc32(one.encode()) == zlib.crc32(two.encode())
    documents: dict[str, Document | Refusal] = {
        "/a/x.md": document("/a/x.md", one),
        "/b/x.md": document("/b/x.md", two),
    }
    _, answer = ask(window(), documents, "/a/x.md", "/b/x.md")
    assert [grant.path for grant in answer.grants] == ["/a/x.md", "/b/x.md"]


@pytest.mark.parametrize(
    "before, kind, batch, denials",
    [
        ({}, "tool_batch_finished", "t1", None),
        ({}, "tool_called", "t1", ["t1"]),
        ({"denials": ["t1"]}, "tool_called", "t1", ["t1"]),
        ({"denials": ["t1"]}, "tool_called", "t2", ["t1", "t2"]),
        ({"denials": ["t1"]}, "tool_batch_finished", "t2", ["t1"]),
    ],
)
def test_every_denied_call_that_brought_a_part_is_noted(
    before: dict[str, list[str]], kind: str, batch: str, denials: list[str] | None
) -> None:
    after = brought_by({"parts": "s", **before}, kind, batch)
    assert after.get("denials") == denials and (after["via"], after["batch"], after["parts"]) == (kind, batch, "s")


@pytest.mark.parametrize("path, delivered", [("/p/link", False), ("/u/own", True)])
def test_what_the_host_reads_in_a_project_is_not_the_users_file(path: str, delivered: bool) -> None:
    one = document("/p/AGENTS.md", "text")
    read = {
        "inode": one.inode, "hash": one.digest, "chars": 4, "reason": "session_start", "at": 1.0, "via": "host",
        "batch": "", "parts": "h",
    }  # fmt: skip
    link = Document(path, str(read["inode"]), "0" * 16, "text")
    _, answer = claim(
        window(files={"/p/AGENTS.md": read}), [Want(path, "why")], {path: link}, batch("t9"), CAP, project="/p"
    )
    assert bool(answer.grants) is delivered

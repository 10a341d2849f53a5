"""A file's record in a window: what it says, and what people read."""

import pytest

from handbill.ledger.window import READ_ITSELF, RESTORED, Window, is_shown, see, state_of, with_letter


@pytest.mark.parametrize(
    ("record", "shown"),
    [
        (None, False),
        ({"via": "host", "reason": READ_ITSELF}, True),
        ({"via": "host", "reason": RESTORED}, True),
        ({"via": "host", "reason": "the client loads it"}, False),
        ({"via": "batch", "reason": READ_ITSELF}, False),
    ],
)
def test_only_a_message_shows_it(record: dict[str, str] | None, shown: bool) -> None:
    assert is_shown(record) is shown


@pytest.mark.parametrize(
    ("record", "state"),
    [
        ({"parts": "k"}, "confirmed"),
        ({"parts": "k", "updated": True}, "updated"),
        ({"parts": "ks"}, "sent"),
        ({"parts": "she"}, "sent"),
        ({"parts": "eh"}, "assumed"),
        ({"parts": "kh"}, "seen"),
        ({"parts": "kts"}, "truncated"),
        ({"parts": "kt."}, "partial"),
        ({"parts": ".", "lost": 1}, "lost"),
    ],
)
def test_the_least_proven_part_speaks_for_the_file(record: dict[str, object], state: str) -> None:
    assert state_of(record) == state


@pytest.mark.parametrize(
    ("part", "parts"),
    [(1, "sk."), (2, "ks."), (3, "kks")],
)
def test_one_part_changes(part: int, parts: str) -> None:
    record = {"parts": "kk."}
    assert with_letter(record, part, "s") == {"parts": parts}
    assert record == {"parts": "kk."}


def test_our_parts_stay_known_when_the_host_shows_the_file() -> None:
    ours = {"inode": "1:1", "hash": "abcd", "via": "batch", "reason": "", "parts": "k."}
    window = Window("s", "")
    window.files["/a"] = ours
    window.pending["/a"] = {}
    seen = see(window, "/a", "1:1", READ_ITSELF, now=1.0)
    assert seen.files["/a"]["ours"] == ours
    assert "/a" not in seen.pending
    assert window.files["/a"] == ours

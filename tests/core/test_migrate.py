from __future__ import annotations

import pytest

from handbill.core.migrate import TooNew, from_plain, to_plain
from handbill.core.window import SCHEMA, Window
from handbill.hotjson import dumps, loads
from makers import window


def test_there_and_back() -> None:
    before = window(
        files={"/a": {"parts": "k", "via": "x"}}, pending={"/b": "why"}, touched={"/p": ["AGENTS.md"]}, epoch=3
    )
    after = from_plain(loads(dumps(to_plain(before))))
    assert all(getattr(before, slot) == getattr(after, slot) for slot in Window.__slots__)


def test_names_of_the_source_documents() -> None:
    plain = to_plain(window())
    assert plain["v"] == SCHEMA
    assert {"preloadedFiles", "pendingPreloads", "touchedDirs", "lifecycle"} <= plain.keys()


def test_a_seed_file_of_the_source_documents_is_read() -> None:
    seed = {
        "lifecycle": "seeding",
        "pid": 7,
        "preloadedFiles": ["/a", "/b"],
        "pendingPreloads": ["/c"],
        "touchedDirs": {},
    }
    after = from_plain(seed)
    assert after.holds("/a") and after.holds("/b")
    assert list(after.pending) == ["/c"]
    assert after.client == 7


@pytest.mark.parametrize(
    "plain", [None, [], "x", 7, {"v": "1"}, {"v": -1}, {"v": True}, {"v": 1, "preloadedFiles": []}, {"v": 1, "epoch": "x"},
              {"v": 1, "preloadedFiles": {"/a": 7}}, {"v": 1, "preloadedFiles": {"/a": {}}}],
)  # fmt: skip
def test_what_is_no_window_is_refused(plain: object) -> None:
    with pytest.raises(ValueError):
        from_plain(plain)


def test_a_newer_schema_is_not_touched() -> None:
    with pytest.raises(TooNew):
        from_plain({"v": SCHEMA + 1})

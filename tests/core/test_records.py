from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from handbill.core.records import Records
from handbill.hotjson import dumps, loads

paths = st.sampled_from(["/a", "/a/b", "/b", '/q"x', "/new\nline", "/🙂", "/back\\slash"])
record = st.fixed_dictionaries({"hash": st.sampled_from(["1", "2", "11"]), "parts": st.text(max_size=3)})
steps = st.lists(st.tuples(paths, st.none() | record), max_size=12)


def stored(records: Records) -> Records:
    return Records("path", records.written(dumps), loads, dumps)


@given(first=steps, second=steps)
def test_as_a_dict_would(first: list[tuple[str, Any]], second: list[tuple[str, Any]]) -> None:
    """Set and delete, write and read, set and delete again: the same as a plain dict."""
    records, model = Records("path"), dict[str, Any]()
    for part in (first, second):
        for path, value in part:
            if value is None:
                del records[path]
                model.pop(path, None)
            else:
                records[path] = value
                model[path] = value
        for view in (records, stored(records), records.copy()):
            assert view == model
            assert set(view) == set(model) and len(view) == len(model)
            for path in ("/a", "/a/b", '/q"x', "/nowhere"):
                assert (path in view) == (path in model)
                assert (view.get(path) or {}).get("hash") == model.get(path, {}).get("hash")
            for value in ("1", "2", "11"):
                assert {path for path, _ in view.where("hash", value)} == {
                    p for p, r in model.items() if r["hash"] == value
                }
        records = stored(records)


def test_a_copy_is_apart() -> None:
    one = Records.of("path", {"/a": {"hash": "1"}})
    two = one.copy()
    two["/b"] = {"hash": "2"}
    assert "/b" not in one and one != two


def test_lines_that_did_not_change_are_not_touched() -> None:
    text = '\n{"path":"/a","odd":  "spacing"}\n{"path":"/b","hash":"2"}'
    records = Records("path", text, loads, dumps)
    records["/b"] = {"hash": "3"}
    assert records.written(dumps) == '\n{"path":"/a","odd":  "spacing"}\n{"path":"/b","hash":"3"}'

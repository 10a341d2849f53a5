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


@given(st.dictionaries(st.text(max_size=12), st.sampled_from(["", "1:2", "3:4"]), max_size=8), st.data())
def test_a_column_is_what_the_records_say(stamps: dict[str, str], data: st.DataObject) -> None:
    """Whatever the names hold: quotes, commas, line ends; also when some were changed since."""
    made = Records.of("path", {name: {"a": 'x","stamp":"9', "stamp": stamp} for name, stamp in stamps.items()})
    read = Records("path", made.written(dumps), loads, dumps)
    for name in data.draw(st.lists(st.sampled_from(sorted(stamps)), max_size=3)) if stamps else ():
        stamps[name] = "5:6"
        read[name] = {"stamp": "5:6"}
    assert {name: stamp for name, stamp in read.column("stamp") if stamp} == {n: s for n, s in stamps.items() if s}


def test_a_long_column_is_read_in_turns() -> None:
    made = Records.of("path", {f"/{number}": {"stamp": str(number)} for number in range(250)})
    read = Records("path", made.written(dumps), loads, dumps)
    turns = [dict(read.column("stamp", 100, turn)) for turn in range(3)]
    assert all(len(turn) <= 100 for turn in turns)
    assert len({name for turn in turns for name in turn}) == 250

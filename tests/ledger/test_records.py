from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handbill.errors import CorruptState
from handbill.fast_json import dumps, loads
from handbill.ledger import records
from handbill.ledger.records import Records

paths = st.sampled_from(["/a", "/a/b", "/b", '/q"x', "/new\nline", "/🙂", "/back\\slash"])
record = st.fixed_dictionaries({"hash": st.sampled_from(["1", "2", "11"]), "parts": st.text(max_size=3)})
steps = st.lists(st.tuples(paths, st.none() | record), max_size=12)


def stored(some: Records) -> Records:
    return Records("path", some.written(dumps), loads, dumps)


@given(first=steps, second=steps)
def test_as_a_dict_would(first: list[tuple[str, Any]], second: list[tuple[str, Any]]) -> None:
    """Set and delete, write and read, set and delete again: the same as a plain dict."""
    made, model = Records("path"), dict[str, Any]()
    for part in (first, second):
        for path, value in part:
            if value is None:
                del made[path]
                model.pop(path, None)
            else:
                made[path] = value
                model[path] = value
        for view in (made, stored(made), made.copy()):
            assert view == model
            assert set(view) == set(model) and len(view) == len(model)
            for path in ("/a", "/a/b", '/q"x', "/nowhere"):
                assert (path in view) == (path in model)
                assert (view.get(path) or {}).get("hash") == model.get(path, {}).get("hash")
            for value in ("1", "2", "11"):
                assert {path for path, _ in view.where("hash", value)} == {
                    p for p, r in model.items() if r["hash"] == value
                }
        made = stored(made)


def test_a_copy_is_apart() -> None:
    one = Records.of("path", {"/a": {"hash": "1"}})
    two = one.copy()
    two["/b"] = {"hash": "2"}
    assert "/b" not in one and one != two


def test_what_is_deleted_is_not_listed() -> None:
    made = stored(Records.of("path", {"/a": {"hash": "1"}, "/b": {"hash": "2"}}))
    del made["/a"]
    assert list(made) == ["/b"] and "/a" not in made and not list(made.where("hash", "1"))


def test_records_with_other_lines_and_the_same_changes_differ() -> None:
    one, two = (stored(Records.of("path", {name: {"hash": "1"}})) for name in ("/a", "/b"))
    assert one != two
    one["/c"] = two["/c"] = {"hash": "3"}
    assert one != two and one == one.copy()


@pytest.mark.parametrize("most, turn, names", [(0, 0, "abc"), (2, 0, "a"), (2, 1, "bc"), (2, 2, "a"), (9, 1, "abc")])
def test_a_column_in_turns(most: int, turn: int, names: str) -> None:
    """The text begins with an empty line, which counts as one."""
    made = stored(Records.of("path", {f"/{name}": {"stamp": name} for name in "abc"}))
    assert "".join(value for _, value in made.column("stamp", most, turn)) == names


def test_records_below_a_folder_do_not_take_the_turns_of_others() -> None:
    inside = {f'/p "x"/{number}': {"stamp": str(number)} for number in range(40)}
    made = stored(Records.of("path", {"/u/own": {"stamp": "own"}, **inside}))
    turns = [[value for _, value in made.column("stamp", 10, turn, '/p "x"')] for turn in range(5)]
    assert all(found[0] == "own" and found.count("own") == 1 and len(found) <= 11 for found in turns)
    assert {value for found in turns for value in found} == {"own", *map(str, range(40))}


def test_a_column_of_names_that_are_escaped() -> None:
    made = stored(Records.of("path", {'/q"x': {"stamp": "1"}, "/plain": {"stamp": "2"}}))
    assert dict(made.column("stamp")) == {'/q"x': "1", "/plain": "2"}


@pytest.mark.parametrize("line", ["5", "[]", '["path"]', "null", '{"hash":"1"}', "{"])
def test_a_line_that_is_no_record(line: str) -> None:
    with pytest.raises(CorruptState):
        Records("path", f"\n{line}", loads, dumps).items()


def test_lines_that_did_not_change_are_not_touched() -> None:
    text = '\n{"path":"/a","odd":  "spacing"}\n{"path":"/b","hash":"2"}'
    made = Records("path", text, loads, dumps)
    made["/b"] = {"hash": "3"}
    assert made.written(dumps) == '\n{"path":"/a","odd":  "spacing"}\n{"path":"/b","hash":"3"}'


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


@pytest.mark.parametrize(
    "searches", [records._SEARCHES - 1, records._SEARCHES, records._SEARCHES + 1, 3 * records._SEARCHES]
)
def test_many_searches_find_what_one_finds(searches: int) -> None:
    names = ["/a", "/a/b", '/q"x', "/new\nline", "/🙂", "/back\\slash", '/x","y']
    made = stored(Records.of("path", {name: {"hash": name} for name in names}))
    for _ in range(searches):
        assert made.get("/nowhere") is None
    assert [made[name]["hash"] for name in names] == names
    with pytest.raises(KeyError):
        made["/nowhere"]
    made["/a"] = {"hash": "new"}
    assert stored(made)["/a"]["hash"] == "new" and len(stored(made)) == len(names)
    assert [name for name, _ in made.copy().where("hash", "/🙂")] == ["/🙂"]


@pytest.mark.parametrize(
    "text, said", [("\n{", "a broken line"), ("\n[]", "without its path"), ('\n{"x":1}', "without its path")]
)
def test_a_line_that_is_not_a_record(text: str, said: str) -> None:
    with pytest.raises(CorruptState, match=said):
        Records("path", text, loads, dumps).items()


def test_an_empty_ledger() -> None:
    made = Records("path", "", loads, dumps)
    assert not made and made.items() == [] and made.values() == [] and list(made.where("hash", "1")) == []
    made["/a"] = {"hash": "1"}
    assert made and stored(made)
    del made["/a"]
    assert not made
    assert made != 5 and made == Records("path")


def test_a_field_of_another_record_or_of_a_text_is_not_taken_for_it() -> None:
    made = stored(Records.of("path", {"/a": {"note": '"hash":"1"', "hash": "2"}, "/b": {"deep": {"hash": "1"}}}))
    assert list(made.where("hash", "1")) == []
    assert [name for name, _ in made.where("hash", "2")] == ["/a"]
    made["/c"], made["/d"] = {"stamp": ""}, {"hash": "1"}
    del made["/a"]
    assert list(made.column("stamp")) == []

"""Our hooks in a settings file: every other byte stays, whatever the file looks like."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handbill.hosts.claude_code import registration
from handbill.hosts.claude_code.settings_text import Group, added, removed


def groups(lanes: int, *, every: bool = False, command: str = "/s/handbill.hook-1") -> dict[str, Group]:
    return registration.grouped(registration.handlers([command], lanes, every=every), "" if every else "Write|Task")


FEW, MANY = groups(2), groups(3, every=True, command="/s/handbill.hook-2")
gaps = st.text(alphabet=" \t\n\r", max_size=3)
scalars = st.one_of(
    st.sampled_from(
        ["1", "-0.0", "1e999", "9" * 5000, "true", "null", '"\\ud800"', '"\\/\\u00e9\\n"', '"{[,"', '"\udcff"']
    ),
    st.text(max_size=4).map(lambda text: json.dumps(text, ensure_ascii=False)),
)


@st.composite
def boxes(draw: Any, opening: str, items: Any) -> str:
    """An object or array with odd gaps everywhere."""
    made = draw(st.lists(items, max_size=3))
    inner = ",".join(draw(gaps) + item + draw(gaps) for item in made) if made else draw(gaps)
    return f"{opening}{inner}{'}' if opening == '{' else ']'}"


def members(keys: Any, value: Any) -> Any:
    return st.tuples(keys, gaps, gaps, value).map(lambda parts: f'"{parts[0]}"{parts[1]}:{parts[2]}{parts[3]}')


anything = st.recursive(
    scalars, lambda inner: boxes("[", inner) | boxes("{", members(st.sampled_from("ab"), inner)), max_leaves=5
)
other = boxes("{", members(st.sampled_from(["command", "type", "comm\\u0061nd"]), scalars))
group = boxes("{", members(st.sampled_from(["matcher", "x"]), scalars) | members(st.just("hooks"), boxes("[", other)))
events = members(st.sampled_from(["PreToolUse", "Stop", "PostToolUse", "St\\u006fp"]), boxes("[", group))
roots = boxes("{", members(st.just("hooks"), boxes("{", events)) | members(st.sampled_from("ab"), anything))
files = st.one_of(st.none(), gaps, st.tuples(st.sampled_from(["", "\ufeff"]), gaps, roots, gaps).map("".join))


def value_of(text: str) -> Any:
    return json.loads(text.removeprefix("\ufeff"), parse_int=str)


@given(before=files)
def test_adding_then_removing_restores_every_byte(before: str | None) -> None:
    after = added(before, FEW)
    assert removed(after) == before
    assert added(after, FEW) == after, "a second time nothing changes"


@given(before=files)
def test_another_installation_takes_the_place_of_the_first(before: str | None) -> None:
    later = added(added(before, FEW), MANY)
    assert registration.registered(registration.parse(later, "")) == {name: one["hooks"] for name, one in MANY.items()}
    assert removed(later) == before
    assert removed(added(later, FEW)) == before, "an event that is no longer needed goes away"


@given(before=files)
def test_what_others_registered_stays_where_it_was(before: str | None) -> None:
    after = value_of(added(before, FEW))
    there = value_of(before) if before and before.strip("\ufeff \t\r\n") else {}
    for event, one in FEW.items():
        assert [*there.get("hooks", {}).get(event, []), json.loads(json.dumps(one), parse_int=str)] == after["hooks"][
            event
        ]
    assert {key: one for key, one in after.items() if key != "hooks"} == {
        key: there[key] for key in there if key != "hooks"
    }


SHORT: dict[str, Group] = {"Stop": {"hooks": [{"command": "handbill.hook"}]}}
ONE_LINE = '{"hooks":[{"command":"handbill.hook"}]}'


@pytest.mark.parametrize(
    "before, after",
    [
        (
            None,
            '{\n  "hooks": {\n    "Stop": [\n      {\n        "hooks": [\n          {\n            "command": "handbill.hook"\n          }\n        ]\n      }\n    ]\n  }\n}\n',
        ),
        ('{"a":1}', f'{{"a":1,"hooks":{{"Stop":[{ONE_LINE}]}}}}'),
        ('{"a": 1}', '{"a": 1, "hooks": {"Stop": [{"hooks": [{"command": "handbill.hook"}]}]}}'),
        ('{"hooks":{"Stop":[]}}', f'{{"hooks":{{"Stop":[{ONE_LINE}  ]}}}}'),
        (
            '{\n\t"a": 1\n}',
            '{\n\t"a": 1,\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{\n\t\t\t\t"hooks": [\n\t\t\t\t\t{\n\t\t\t\t\t\t"command": "handbill.hook"\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}',
        ),
        (
            '{\r\n "hooks": {"Stop": [{"x": 1}]}\r\n}\r\n',
            '{\r\n "hooks": {"Stop": [{"x": 1}, {"hooks": [{"command": "handbill.hook"}]}]}\r\n}\r\n',
        ),
        (
            '{\r\n "a":1\r\n}',
            '{\r\n "a":1,\r\n "hooks": {'.replace(": {", ":{")
            + '\r\n  "Stop":[\r\n   {\r\n    "hooks":[\r\n     {\r\n      "command":"handbill.hook"\r\n     }\r\n    ]\r\n   }\r\n  ]\r\n }\r\n}',
        ),
    ],
)
def test_what_is_added_looks_like_what_is_around_it(before: str | None, after: str) -> None:
    assert added(before, SHORT) == after
    assert removed(after) == before


MINE = '{"command":"mine"}'
OURS = '{"command":"python","args":["# handbill.hook"]}'


@pytest.mark.parametrize(
    "before, after",
    [
        # somebody moved our handler into a group of their own, or wrote theirs behind ours
        (f'{{"hooks":{{"Stop":[{{"hooks":[{OURS} , {MINE}]}}]}}}}', f'{{"hooks":{{"Stop":[{{"hooks":[{MINE}]}}]}}}}'),
        (f'{{"hooks":{{"Stop":[{{"hooks":[{MINE} , {OURS} ]}}]}}}}', f'{{"hooks":{{"Stop":[{{"hooks":[{MINE} ]}}]}}}}'),
        (
            f'{{"hooks":{{"Stop":[{{"hooks":[{OURS}]}}, {{"hooks":[{MINE}]}}]}}}}',
            f'{{"hooks":{{"Stop":[{{"hooks":[{MINE}]}}]}}}}',
        ),
        (f'{{"hooks":{{"Stop":[{{"hooks":[{OURS}]}}]}}, "b":2}}', '{"b":2}'),
        # below a key that occurs twice
        (f'{{"hooks":{{"Stop":[{{"hooks":[{OURS}]}}]}},"hooks":{{"Stop":[{{"hooks":[{OURS}]}}]}},"b":2}}', '{"b":2}'),
        (
            f'{{"hooks":{{"Stop":[{{"hooks":[{MINE}]}}],"Stop":[{{"hooks":[{OURS}]}}]}}}}',
            f'{{"hooks":{{"Stop":[{{"hooks":[{MINE}]}}]}}}}',
        ),
        # what only looks like it
        (
            '{"hooks":{"Stop":[{"hooks":[]},{"hooks":["handbill.hook"]},{}]},"a":"handbill.hook"}',
            '{"hooks":{"Stop":[{"hooks":[]},{"hooks":["handbill.hook"]},{}]},"a":"handbill.hook"}',
        ),
    ],
)
def test_only_what_is_ours_is_removed(before: str, after: str) -> None:
    assert removed(before) == after


@pytest.mark.parametrize(
    "before",
    [
        f'{{"hooks":{{"Stop":[{{"hooks":[{OURS},{MINE}]}}]}}}}',
        f'{{"hooks":{{"Stop":[{{"hooks":[{OURS}]}},{{"hooks":[{OURS}]}},{{"hooks":[{MINE}]}}]}}}}',
        f'{{"hooks":{{"Stop":[{{"hooks":[{OURS}]}}]}},"hooks":{{"Stop":[{{"hooks":[{MINE}]}}]}}}}',
    ],
)
def test_installing_leaves_one_group_of_ours_that_the_client_reads(before: str) -> None:
    after = added(before, SHORT)
    found = registration.parse(after, "")["hooks"]["Stop"]
    assert sorted(map(json.dumps, found)) == sorted(map(json.dumps, [SHORT["Stop"], {"hooks": [json.loads(MINE)]}]))
    assert "python" not in after


def test_a_file_that_an_editor_ended_otherwise_is_not_taken_for_a_new_one() -> None:
    made = added("", FEW)
    assert removed(made) == "" and removed(made + "\n") is None
    assert removed(added("\ufeff\n", FEW)) == "\ufeff\n"

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handbill.hosts.claude_code import registration as settings

OURS = settings.handlers("/usr/bin/python3", "/opt/hb", 2)
other = st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=8)})
group = st.fixed_dictionaries(
    {"hooks": st.lists(other, min_size=1, max_size=3)}, optional={"matcher": st.text(max_size=5)}
)
hooks = st.dictionaries(
    st.sampled_from([*settings.EVENTS, "PreToolUse", "Stop"]), st.lists(group, min_size=1, max_size=2), min_size=1
)
files = st.fixed_dictionaries(
    {}, optional={"hooks": hooks, "model": st.text(max_size=5), "env": st.dictionaries(st.text(), st.text())}
)


@given(before=files)
def test_install_then_uninstall_is_the_identity(before: dict[str, Any]) -> None:
    assert settings.without_ours(settings.with_ours(before, OURS)) == before


@given(before=files)
def test_install_twice_is_install_once_and_others_stay(before: dict[str, Any]) -> None:
    after = settings.with_ours(before, OURS)
    assert settings.with_ours(after, OURS) == after
    assert settings.registered(after) == OURS
    for event, groups in before.get("hooks", {}).items():
        assert after["hooks"][event][: len(groups)] == groups


@given(before=files, indent=st.sampled_from([2, 4, "\t", None]), ascii_only=st.booleans())
def test_usual_formatting_is_kept(before: dict[str, Any], indent: Any, ascii_only: bool) -> None:
    text = json.dumps(before, indent=indent, ensure_ascii=ascii_only) + "\n"
    assert settings.written(before, settings.style_of(text, before)) == text


@pytest.mark.parametrize(
    "text",
    [
        "// a comment\n{}",
        '{"a": 1,}',
        '{"a": 1, "a": 2}',
        "[]",
        "7",
        '{"hooks": []}',
        '{"hooks": {"Stop": {}}}',
        '{"hooks": {"Stop": [7]}}',
        "{",
    ],
)
def test_what_could_not_be_kept_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(settings.OddSettings) as caught:
        settings.parse(text, "settings.json")
    assert "settings.json" in str(caught.value) and caught.value.hint


def test_odd_formatting_is_refused() -> None:
    text = '{ "a":1 }\n'
    with pytest.raises(settings.OddSettings):
        settings.style_of(text, json.loads(text))


def test_lanes_are_separate_handlers_and_no_script_can_be_missing() -> None:
    assert [one["args"][-1] for one in OURS["SessionStart"]] == ["1/2", "2/2"]
    for ones in OURS.values():
        for one in ones:
            assert one["args"][:4] == ["-I", "-S", "-X", "utf8"] and one["args"][4] == "-c"

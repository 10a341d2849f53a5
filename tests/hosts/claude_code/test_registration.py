from __future__ import annotations

import pytest

from handbill.hosts.claude_code import registration as settings

OURS = settings.handlers(["/usr/bin/python3", "-c", "# handbill.hook"], 2)


@pytest.mark.parametrize(
    "text, words",
    [
        ("// a comment\n{}", "line 1, column 1: a comment"),
        ('{"a": 1,}', "line 1, column 9: a comma before }"),
        ("[]", "is not a JSON object"),
        ("7", "is not a JSON object"),
        ('{"hooks": []}', "`hooks` does not have the form"),
        ('{"hooks": {"Stop": {}}}', "`hooks` does not have the form"),
        ('{"hooks": {"Stop": [7]}}', "`hooks` does not have the form"),
        ('{"hooks": {"Stop": [{"hooks": 7}]}}', "`hooks` does not have the form"),
        ('{"hooks": ' + "[" * 20000 + "]" * 20000 + "}", "its hooks cannot be read"),
        ("{", "line 1, column 2"),
    ],
)
def test_what_the_client_does_not_read_is_refused_with_a_hint(text: str, words: str) -> None:
    with pytest.raises(settings.OddSettings) as caught:
        settings.parse(text, "settings.json")
    assert str(caught.value).startswith("settings.json") and words in str(caught.value) and caught.value.hint


@pytest.mark.parametrize(
    "text",
    ["", "\ufeff\n", '\ufeff{"a": 1, "a": 2}', '{"x": ' + "9" * 5000 + "}", '{"x": ' + "[" * 20000 + "]" * 20000 + "}"],
)
def test_what_is_not_about_hooks_may_be_as_odd_as_it_likes(text: str) -> None:
    assert settings.parse(text, "settings.json") == {}


@pytest.mark.parametrize(
    "text, disabled",
    [
        ('\ufeff{"disableAllHooks": true}', True),
        ('{"disableAllHooks": false}', False),
        ('{"disableAllHooks": true, "disableAllHooks": false}', False),
        ('{"disableAllHooks": true', False),
        ("", False),
    ],
)
def test_switched_off(text: str, disabled: bool) -> None:
    assert settings.hooks_disabled(text) is disabled


def test_lanes_are_separate_handlers() -> None:
    assert [one["args"][-1] for one in OURS["SessionStart"]] == ["1/2", "2/2"]
    assert len(settings.handlers(["x"], 1)["SessionStart"]) == 1
    assert OURS["PreCompact"][0]["args"] == ["-c", "# handbill.hook", "claude-code"]


def test_only_the_hook_before_a_call_has_a_matcher() -> None:
    found = settings.grouped(OURS, "Write")
    assert [event for event, group in found.items() if "matcher" in group] == ["PreToolUse"]
    assert not [event for event, group in settings.grouped(OURS, "").items() if "matcher" in group]


def test_the_inline_command_needs_no_file_of_its_own() -> None:
    words = settings.inline("/usr/bin/python3", "/opt/hb", "/opt/yaml")
    assert words[:6] == ["/usr/bin/python3", "-I", "-S", "-X", "utf8", "-c"]
    assert "sys.path.append('/opt/yaml')" in words[6] and settings.is_ours(settings.handler(words))
    assert "append" not in settings.hook_code("/opt/hb", "/opt/hb")

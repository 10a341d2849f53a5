"""What the bytes of a transcript say by themselves: who wrote them, and how far they go."""

from __future__ import annotations

import pytest
from transcript_lines import answer, call, line, prompt, result

from handbill.event import PROMPT_SUBMITTED, READS, SUBAGENT_STARTED, TOOL_BATCH_FINISHED, Event, Tool
from handbill.hosts.claude_code.past import runs_now, version_in
from handbill.hosts.claude_code.transcript import (
    answers,
    calls,
    compactions,
    path_of,
    prompts,
    reaches,
)


@pytest.mark.parametrize(
    "versions, expected",
    [
        ((), ()),
        (("2.1.197",), (2, 1, 197)),
        (("2.1.197", "2.1.325"), (2, 1, 325)),
        (("2.1.325", "2.1"), ()),
        (("2.1.x",), ()),
        (("2.1.325.4",), ()),
        (("10.20.30",), (10, 20, 30)),
    ],
)
def test_the_version_that_wrote_the_newest_row(versions: tuple[str, ...], expected: tuple[int, ...]) -> None:
    rows = [line("user", str(number), None, version=version) for number, version in enumerate(versions)]
    assert version_in(b"".join(rows) + line("system", "s")) == expected


CALL = prompt("1", None) + call("2", "1", "t1")


@pytest.mark.parametrize("agent", ["", "a1"])
@pytest.mark.parametrize(
    "data, reached", [(b"", False), (CALL, False), (CALL + result("3", "2", "t0"), False), (CALL + result("3", "2", "t1"), True)]
)  # fmt: skip
def test_a_record_reaches_a_batch_with_the_results_of_its_calls(agent: str, data: bytes, reached: bool) -> None:
    event = Event(TOOL_BATCH_FINISHED, "s", agent_id=agent, tools=[Tool(READS, "t1")], prompt_id="p-1")
    event.tools = [Tool(READS, "t0"), *event.tools]  # an earlier call that was missed
    assert reaches(data, event) is reached


@pytest.mark.parametrize(
    "data, reached", [(b"", False), (prompt("1", None), False), (prompt("1", None) + answer("2", "1"), True)]
)
def test_the_record_of_a_subagent_that_is_continued_has_an_answer(data: bytes, reached: bool) -> None:
    assert reaches(data, Event(SUBAGENT_STARTED, "s", agent_id="a1")) is reached


@pytest.mark.parametrize("id, reached", [("p-1", True), ("p-2", False), ("", False)])
def test_a_record_reaches_a_prompt_with_its_row(id: str, reached: bool) -> None:
    data = prompt("1", None, "") + line("user", "2", None, message={"content": "5"})
    assert reaches(data, Event(PROMPT_SUBMITTED, "s", prompt_id=id)) is reached


@pytest.mark.parametrize(
    "agent, path",
    [("", "/t/s.jsonl"), ("main", "/t/s.jsonl"), ("a1", "/t/s/subagents/agent-a1.jsonl")],
)
def test_where_a_window_is_recorded(agent: str, path: str) -> None:
    assert path_of("/t/s.jsonl", agent) == path


def test_a_record_with_another_name_has_no_folder_of_subagents() -> None:
    assert path_of("/t/s.txt", "a1") == "/t/s.txt"


COMPACTION = line("system", "b", None, subtype="compact_boundary")


@pytest.mark.parametrize(
    "data, there, ids",
    [
        (call("1", None, "t1") + call("2", "1", "t2"), None, ["t1", "t2"]),
        (call("1", None, "t1") + call("2", "1", "t2"), ["t2"], ["t2"]),
        (call("1", None, "t1") + COMPACTION + call("2", "b", "t2"), None, ["t2"]),
        (call("1", None, "t1") + COMPACTION + call("2", "b", "t2"), ["t1", "t2"], ["t1", "t2"]),
        (call("1", None, "t1") + line("user", "u", "1", about={"subtype": "compact_boundary"}) + call("2", "u", "t2"), None, ["t1", "t2"]),
        (call("1", None, "t1") + COMPACTION.replace(b'"uuid":"b"', b'"uuid":7') + call("2", "1", "t2"), None, ["t1", "t2"]),
    ],
)  # fmt: skip
def test_the_calls_of_a_window(data: bytes, there: list[str] | None, ids: list[str]) -> None:
    assert [found["id"] for found in calls(data, there)] == ids


def test_a_call_has_its_answer() -> None:
    data = call("1", None, "t1") + call("2", "1", "t2") + result("3", "2", "t1", "the answer")
    assert [found["tool_response"] for found in calls(data)] == ["the answer", None]


@pytest.mark.parametrize(
    "data, running",
    [
        (b"", False),
        (call("1", None, "t1", "Bash", command="sh test.sh"), True),
        (call("1", None, "t1", "Bash", command="sh test.sh") + result("2", "1", "t1"), False),
        (call("1", None, "t1", "Bash", command="sh test.sh") + result("2", "1", "t0"), True),
        (call("1", None, "t1", "Bash", command="sh other.sh"), False),
        (call("1", None, "t1", "Read", command="sh test.sh"), False),
        (call("1", None, "t1", "Bash", command="sh other.sh") + call("2", "1", "t2", "Bash", command="sh test.sh"), True),
        (call("1", None, "t1", "Bash").replace(b'"input":{}', b'"input":"sh test.sh"'), False),
    ],
)  # fmt: skip
def test_is_a_command_running(data: bytes, running: bool) -> None:
    assert runs_now(data, "test.sh") is running


TYPED = prompt("1", None, "see @a")


@pytest.mark.parametrize(
    "data, expected",
    [
        (TYPED, [("p-1", "see @a")]),
        (prompt("1", None, "no mention"), []),
        (TYPED.replace(b'"type":"user"', b'"type":"attachment"'), []),
        (line("user", "1", None, promptId="p-1", toolUseResult={}, message={"content": "see @a"}), []),
        (TYPED.replace(b'"p-1"', b'""'), []),
        (line("system", "1", None, promptId="p-1", message={"content": "see @a"}), []),
        (TYPED + prompt("2", "1", "and @b"), [("p-1", "see @a"), ("p-2", "and @b")]),
        (line("attachment", "q", "1", attachment={"type": "queued_command", "commandMode": "prompt", "prompt": "@c"}), [("q", "@c")]),
    ],
)  # fmt: skip
def test_prompts_with_a_mention(data: bytes, expected: list[tuple[str, str]]) -> None:
    assert prompts(data) == expected


def test_the_agents_own_words() -> None:
    said = line("assistant", "1", None, message={"content": [{"type": "text", "text": "one"}]})
    thought = line("assistant", "2", "1", message={"content": [{"type": "thinking", "text": "two"}]})
    odd = line("assistant", "3", "2", message={"content": [{"type": "text", "text": 3}]})
    quoted = line("user", "4", "3", message={"content": '"assistant"'})
    other = line("user", "5", "4", message={"role": "assistant", "content": [{"type": "text", "text": "two"}]})
    assert answers(said + thought + odd + quoted + other + said) == ["one", "one"]


@pytest.mark.parametrize(
    "data, expected",
    [(b"", []), (TYPED, []), (COMPACTION, [0]), (TYPED + COMPACTION, [len(TYPED)]), (COMPACTION * 2, [0, len(COMPACTION)])],
)  # fmt: skip
def test_where_compactions_are_recorded(data: bytes, expected: list[int]) -> None:
    assert compactions(data) == expected

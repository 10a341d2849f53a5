"""Two clients on one session: two windows, each with its own files, once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sandbox import STANDARDS, Sandbox, assert_absent, assert_once
from talk import Talk
from terminal import UP_TO_HERE, Obedient, Terminal

from handbill.lab.live_client import Reply, Request, say

pytestmark = pytest.mark.long


def test_each_terminal_has_its_own_window(make: Callable[..., Sandbox], version: str) -> None:
    box = make(version)
    for name in ("web", "api", "lib"):
        box.write(f"{name}/.directives/AGENTS.md", f"RULES-{name}\n")
        box.write(f"{name}/f.py", "x\n")

    def obey(request: Request) -> Reply:
        """The newest prompt names a folder: read it once, then say so."""
        if not request.body.get("tools"):
            return Reply([say("ok")])
        prompts = [i for i, m in enumerate(request.messages) if m["role"] == "user" and "READ " in str(m["content"])]
        folder = str(request.messages[prompts[-1]]["content"]).rpartition("READ ")[2][:3]
        answered = any(message["role"] == "assistant" for message in request.messages[prompts[-1] + 1 :])
        return Reply([say("done")] if answered else [box.read(f"{folder}/f.py")], delay=0.3)

    box.client.model.script = obey

    def last(mark: str) -> Request:
        return requests(box, mark)[-1]

    first = Talk(box)
    session = str(first.say("A1 READ web")["session_id"])
    second = Talk(box, "--resume", session)
    second.say("B1 READ api")
    assert_once(last("B1"), *STANDARDS, "RULES-web", "RULES-api")
    first.say("A2 READ lib")
    assert_once(last("A2"), *STANDARDS, "RULES-web", "RULES-lib")
    assert_absent(last("A2"), "RULES-api")
    second.say("B2, only words. READ the answer above")
    second.say("B3 see @lib/f.py READ lib")  # when a prompt is submitted, the newest rows are the other terminal's
    found = requests(box, "B3")
    assert_once(found[0], *STANDARDS, "RULES-web", "RULES-api", "RULES-lib")
    assert_once(found[-1], *STANDARDS, "RULES-web", "RULES-api", "RULES-lib")
    for one in box.engine("window", "--all", "--audit")["data"]["windows"]:
        assert one["differences"] == [], one
    first.say("A3 READ api")
    assert_once(last("A3"), *STANDARDS, "RULES-web", "RULES-api", "RULES-lib")
    second.close()
    first.say("A4 READ web")
    assert_once(last("A4"), *STANDARDS, "RULES-web", "RULES-api", "RULES-lib")
    first.close()
    run = box.run(
        *(box.read(f"{name}/f.py") for name in ("web", "api", "lib")), box.bash(), "done", args=("--resume", session)
    )
    assert_once(run.of()[-1], *STANDARDS, "RULES-web", "RULES-api", "RULES-lib")


@pytest.mark.parametrize("who", [0, 1], ids=["the first compacts", "the second compacts"])
def test_a_compaction_in_one_terminal_leaves_the_other_alone(
    make: Callable[..., Sandbox], version: str, who: int
) -> None:
    box = make(version)
    for folder in ("web", "api"):
        box.write(f"{folder}/.directives/AGENTS.md", f"RULES-OF-{folder.upper()}\n")
        box.write(f"{folder}/f.py", "x\n")
    model = Obedient(box)
    box.client.model.script = model
    first, second = Terminal(box), Terminal(box)
    try:
        first.model = second.model = model
        first.start()
        first.say("A1 DO: read web/f.py; bash true")
        session = max(box.home.glob(".claude/projects/*/*.jsonl"), key=lambda path: path.stat().st_mtime).stem
        second.start("--resume", session)
        second.say("B1 DO: read api/f.py; bash true")
        one, other = (first, second) if who == 0 else (second, first)
        one.compact()
        other.say("OTHER DO: bash true; bash true")
        own = ["RULES-OF-WEB", *(["RULES-OF-API"] if who == 0 else [])]
        for request in requests(box, "OTHER DO"):
            assert_once(request, *STANDARDS, *own)
        one.say("COMPACTED DO: bash true; read api/f.py; bash true")
        for request in requests(box, "COMPACTED DO"):
            assert_once(request, *STANDARDS)
        assert_once(requests(box, "COMPACTED DO")[-1], "RULES-OF-API")
        assert_absent(requests(box, "COMPACTED DO")[-1], "RULES-OF-WEB")
        for window in box.engine("window", "--all", "--audit")["data"]["windows"]:
            assert window["differences"] == [], window
        other.say("AGAIN DO: bash true; read api/f.py; bash true")
        assert_once(requests(box, "AGAIN DO")[-1], *STANDARDS, "RULES-OF-WEB", "RULES-OF-API")
        other.rewind(1, UP_TO_HERE)
        other.say("SUMMARIZED DO: bash true; read api/f.py; bash true")
        for request in requests(box, "SUMMARIZED DO"):
            assert_once(request, *STANDARDS)
        assert_once(requests(box, "SUMMARIZED DO")[-1], "RULES-OF-API")
    finally:
        first.close()
        second.close()


def test_the_second_terminal_is_closed_and_a_third_one_opened(make: Callable[..., Sandbox], version: str) -> None:
    """It resumes what the client rebuilds of both: the summary of one, and the last turn of the other."""
    box = make(version)
    for folder in ("web", "api", "lib"):
        box.write(f"{folder}/.directives/AGENTS.md", f"RULES-OF-{folder.upper()}\n")
        box.write(f"{folder}/f.py", "x\n")
    model = Obedient(box)
    box.client.model.script = model
    first, second, third = Terminal(box), Terminal(box), Terminal(box)
    first.model = second.model = third.model = model
    try:
        first.start()
        first.say("A1 DO: read web/f.py; bash true")
        session = max(box.home.glob(".claude/projects/*/*.jsonl"), key=lambda path: path.stat().st_mtime).stem
        second.start("--resume", session)
        second.say("B1 DO: read api/f.py; bash true")
        second.compact()
        second.say("B2 DO: bash true")
        first.say("A2 DO: read lib/f.py; bash true")
        second.exit()
        third.start("--resume", session)
        third.say("C1 DO: read web/f.py; bash true; bash true")
        last = requests(box, "C1 DO")[-1]
        assert_once(last, *STANDARDS, "RULES-OF-WEB", *(["RULES-OF-LIB"] if "A2 DO" in last.text else []))
        first.say("A3 see @api/f.py DO: bash true; bash true")
        found = requests(box, "A3 see")
        assert_once(found[0], *STANDARDS, "RULES-OF-WEB", "RULES-OF-LIB", "RULES-OF-API")
        assert_once(found[-1], *STANDARDS, "RULES-OF-WEB", "RULES-OF-LIB", "RULES-OF-API")
        for window in box.engine("window", "--all", "--audit")["data"]["windows"]:
            assert window["differences"] == [], window
    finally:
        for terminal in (first, second, third):
            terminal.close()


def requests(box: Sandbox, words: str) -> list[Request]:
    return [one for one in box.client.model.requests if one.body.get("tools") and words in one.text]

"""In the interactive client something breaks off: an answer, a batch, the terminal. Then the work goes on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from interrupted import (
    API,
    DOC,
    FOLDERS,
    LIB,
    OPS,
    RULES,
    SLOW,
    WEB,
    Moody,
    Person,
    asked,
    judge,
    project,
    resumed,
    transcript,
    until,
)
from sandbox import COMPACTION, STANDARDS, assert_once
from terminal import PAUSE

from conftest import Make

pytestmark = pytest.mark.long


@pytest.fixture
def person(make: Make, version: str) -> Iterator[Person]:
    made = Person(make(version))
    made.model = made.box.client.model.script = Moody(made.box)
    yield made
    made.close()


def test_escape(person: Person) -> None:
    box, oracle = project(person.box)
    person.start()
    person.begin(f"one DO: read web/f.py; {SLOW}", WEB)  # in the middle of an answer
    person.escape()
    person.say("two DO: bash true; read web/f.py")
    person.begin("three DO: read api/f.py; wait", API)  # before the answer to a batch
    person.escape()
    person.say("four DO: bash true; read api/f.py")
    person.begin(
        "five DO: read doc/f.py + bash touch began && sleep 25", when=(box.project / "began").exists
    )  # a batch
    person.escape()
    person.say("six DO: bash true; bash true")
    assert_once(person.last, *STANDARDS, WEB, API, DOC)
    person.model.delay = 3.0
    person.begin("seven DO: only words", "seven DO")
    person.say("eight @ops/f.py DO: bash true; bash true")  # it waits in the queue, and gets a turn of its own
    person.model.delay = PAUSE
    assert_once(person.last, *STANDARDS, WEB, API, DOC, OPS)
    judge(box, oracle, asked(box))
    person.exit()
    resumed(box, oracle, box.bash(), box.read("doc/f.py"), box.read("ops/f.py"), box.bash())


def test_a_prompt_that_is_taken_back(person: Person) -> None:
    """Esc before the first word takes the prompt back; what came with it comes again, also if the session is resumed."""
    box, oracle = project(person.box)
    person.start()
    person.say("one DO: read web/f.py")
    person.compact()
    person.begin("two DO: wait", STANDARDS[0])
    person.escape()
    person.say("two again DO: read web/f.py; bash true")
    assert_once(person.last, *STANDARDS, WEB)
    person.begin("three @lib/f.py DO: wait", LIB)
    person.escape()
    sent_again = person.say("three again @lib/f.py DO: bash true; bash true").last
    person.begin("four @ops/f.py DO: wait", OPS)
    person.escape()
    person.exit()
    run = resumed(box, oracle, box.bash(), box.read("lib/f.py"), box.read("ops/f.py"), box.bash())
    assert_once(run.of()[-1], *STANDARDS, WEB, LIB, OPS)
    assert_once(sent_again, *STANDARDS, WEB, LIB)


def test_the_terminal_or_the_client_goes_away(person: Person) -> None:
    box, oracle = project(person.box)
    arguments: tuple[str, ...] = ()
    for number, how in enumerate(("C-c", "closed", "TERM", "KILL")):
        person.start(*arguments)
        person.begin(f"turn {number} DO: read {FOLDERS[number]}/f.py; {SLOW}", RULES[number])
        assert_once(person.last, *STANDARDS, *RULES[: number + 1])
        pid = person.tmux("display-message", "-p", "-t", "c", "#{pane_pid}").strip()
        if how in ("C-c", "closed"):
            person.keys(*["C-c"] * 3, pause=0.3) if how == "C-c" else person.tmux("kill-session")
        else:
            os.kill(int(pid), signal.Signals[f"SIG{how}"])
        until(lambda pid=pid: not Path(f"/proc/{pid}").exists())  # type: ignore[misc]
        person.close()
        arguments = ("--resume", transcript(box).stem)
    resumed(box, oracle, box.bash(), *(box.read(f"{folder}/f.py") for folder in FOLDERS), box.bash())


def test_a_subagent_that_is_approved_late(person: Person) -> None:
    box, _ = project(person.box)
    person.start("--settings", '{"permissions": {"ask": ["Agent", "Task"]}}', skip_permissions=False)
    person.begin("one DO: agent read web/f.py , read api/f.py", when=lambda: "❯ 1. Yes" in person.screen())
    time.sleep(12)
    assert not [r for r in box.client.model.requests if r.agent]
    person.say("")
    marks, requests = (WEB, API, "# Invariants\n"), [r for r in box.client.model.requests if r.agent]
    assert {tuple(request.text.count(mark) for mark in marks) for request in requests} == {(1, 1, 1)}


def test_compactions_of_both_kinds_in_one_process(person: Person) -> None:
    """By hand, then by itself, then by hand as the last action before the session is resumed."""
    box, oracle = project(person.box)
    box.write("lead.md", "MARK-LEAD\n")
    box.write(".handbill.toml", '[roles.lead]\ntargets = ["lead.md"]\n')
    box.engine("install", "--project", str(box.project))
    box.client.extra.update(COMPACTION)
    person.start()
    person.say(f"one DO: bash {box.client.extra['PATH'].partition(':')[0]}/engine role set lead; read web/f.py")
    person.compact()
    person.say("two DO: read web/f.py; read api/f.py; bash true")
    assert_once(person.last, *STANDARDS, "MARK-LEAD", WEB, API)
    before = len(asked(box))
    person.say("three DO: bash true; bash echo full")
    after = [request for request in asked(box)[before:] if "three DO:" not in request.text]
    assert_once(after[-1], *STANDARDS, "MARK-LEAD", WEB)
    person.compact()
    person.exit()
    run = resumed(box, oracle, box.bash(), box.read("web/f.py"), box.read("lib/f.py"), box.bash())
    assert_once(run.of()[-1], *STANDARDS, "MARK-LEAD", WEB, LIB)
    assert_once(after[0], *STANDARDS, "MARK-LEAD")  # at once

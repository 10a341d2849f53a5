"""A person goes back in the conversation, in the client's own screen: what left the window comes again, once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from sandbox import STANDARDS, Sandbox, assert_absent, assert_once
from terminal import FROM_HERE, UP_TO_HERE, Terminal

WEB, API = "RULES-OF-WEB", "RULES-OF-API"


pytestmark = pytest.mark.long


@pytest.fixture
def terminal(make: Callable[..., Sandbox], version: str) -> Iterator[Terminal]:
    box = make(version)
    box.write("web/.directives/AGENTS.md", f"{WEB}\n")
    box.write("api/.directives/AGENTS.md", f"{API}\n")
    box.write("web/a.js", "x\n")
    box.write("api/b.py", "x\n")
    made = Terminal(box)
    yield made
    made.close()


def resumed(terminal: Terminal) -> None:
    """A new process goes on with the session: nothing twice, nothing missing."""
    box = terminal.box
    session = box.windows()[0].stem
    run = box.run(box.read("web/a.js"), box.read("api/b.py"), box.bash(), "done", args=("--resume", session))
    assert_once(run.of()[-1], *STANDARDS, WEB, API)


def test_restore_the_conversation(terminal: Terminal) -> None:
    terminal.start()
    terminal.say("one DO: read web/a.js")
    terminal.say("two DO: read api/b.py")
    assert_once(terminal.last, *STANDARDS, WEB, API)
    terminal.rewind(up=1)
    terminal.say("three DO: bash true")
    assert_once(terminal.last, *STANDARDS, WEB)
    assert_absent(terminal.last, API)
    terminal.say("four DO: read api/b.py")
    assert_once(terminal.last, *STANDARDS, WEB, API)
    # a write where the rules are gone is held, with the rules
    terminal.rewind(up=1)
    terminal.say("five DO: write api/new.py")
    assert not (terminal.box.project / "api/new.py").exists()
    assert_once(terminal.last, *STANDARDS, WEB, API)
    terminal.say("six DO: write api/new.py")
    assert (terminal.box.project / "api/new.py").exists()
    # back to the very beginning, with a prompt that makes no calls between
    terminal.rewind(up=4)
    terminal.say("seven, only words")
    assert_once(terminal.last, *STANDARDS)
    assert_absent(terminal.last, WEB, API)
    terminal.say("eight DO: read web/a.js + read api/b.py; bash true")
    assert_once(terminal.last, *STANDARDS, WEB, API)
    terminal.exit()
    resumed(terminal)


@pytest.mark.parametrize("choice", [FROM_HERE, UP_TO_HERE])
def test_summarize(terminal: Terminal, choice: str) -> None:
    terminal.start()
    terminal.say("one DO: read web/a.js")
    terminal.say("two DO: read api/b.py + read web/a.js")
    terminal.rewind(up=1, choice=choice)
    terminal.say("three DO: bash true; bash true")
    assert_once(terminal.last, *STANDARDS, WEB)  # of the second prompt, its call is kept and its rules are not
    assert terminal.last.text.count(API) == (choice == UP_TO_HERE)
    terminal.say("four DO: read web/a.js + read api/b.py; bash true")
    assert_once(terminal.last, *STANDARDS, WEB, API)
    terminal.compact()
    terminal.say("five DO: read web/a.js; bash true")
    assert_once(terminal.last, *STANDARDS, WEB)
    terminal.exit()
    resumed(terminal)


def test_a_typed_skill_that_is_taken_back_or_restored(terminal: Terminal) -> None:
    """Taken back, it is not at work. Restored by the client after a compaction, it is not delivered again."""
    box = terminal.box
    box.skill("other", ("0", ("CMD_ALT",)))
    box.skill("ship", ("0", ("CMD_ONE",)))
    terminal.start()
    terminal.say("k0 DO: bash true")
    terminal.say("/other it DO: bash true ;")
    assert_once(terminal.last, "BODY-other", "PAGE-CMD_ALT")
    terminal.rewind()
    terminal.say("k1 DO: bash true; bash true")
    assert_absent(terminal.last, "BODY-other", "PAGE-CMD_ALT")
    terminal.say("/ship it DO: bash true ;")
    terminal.compact()
    terminal.say("k2 DO: bash true; bash true")
    assert_once(terminal.last, "BODY-ship", "PAGE-CMD_ONE", *STANDARDS)
    terminal.rewind()
    terminal.say("k3 DO: bash true; bash true; bash true")
    assert_once(terminal.last, "BODY-ship", "PAGE-CMD_ONE", *STANDARDS)


def test_a_branch_that_is_compacted_at_once(terminal: Terminal) -> None:
    """The new session's first event is the compaction: nothing else says which skill it works by."""
    box = terminal.box
    box.skill("ship", ("0", ("CMD_ONE",)))
    box.write("lead.md", "MARK-LEAD\n")
    box.write(".handbill.toml", '[roles.lead]\nskills = ["ship"]\ntargets = ["lead.md"]\n')
    box.engine("install", "--project", str(box.project))
    terminal.start()
    terminal.say("/ship it DO: read web/a.js; bash true")
    terminal.say("/branch")
    terminal.compact()
    terminal.say("go on DO: bash true; bash true; read web/a.js; bash true")
    assert_once(terminal.last, "PAGE-CMD_ONE", "MARK-LEAD", WEB, *STANDARDS)

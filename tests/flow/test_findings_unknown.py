"""Windows without a ledger: a subagent that is woken, and a compaction that is the first event."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from builders import window
from handbill.event import COMPACTING, PROMPT_SUBMITTED, RUNS, SUBAGENT_STARTED, TOOL_BATCH_FINISHED, Event, Tool
from handbill.flow import findings
from handbill.ledger import epochs
from handbill.ledger.content import Content
from handbill.ledger.host_files import FOUND
from handbill.ledger.window import READ_ITSELF, Window
from looking import Host, batch, look, start

UNSTARTED = Window("s", "main", "claude-code", 1.0)
AGENT = Event(SUBAGENT_STARTED, "s", agent_id="a1", transcript="/t")
COMPACTION = Event(COMPACTING, "s", transcript="/t", trigger="auto")
UNKNOWN, PLAIN = {"unknown": True}, {"unknown": False}


@pytest.mark.parametrize(
    "event, before, survive, reads, chapter",
    [
        (AGENT, None, True, [UNKNOWN], epochs.ADOPT),
        (AGENT, UNSTARTED, True, [UNKNOWN], epochs.ADOPT),
        (AGENT, None, False, [], epochs.FRESH),  # such a client gives it a new window
        (AGENT, window(created=99.0), True, [], epochs.GO_ON),
        (start("startup"), None, True, [], epochs.FRESH),
        (COMPACTION, None, True, [PLAIN], epochs.ADOPT),
        (COMPACTION, UNSTARTED, True, [PLAIN], epochs.ADOPT),
        (COMPACTION, window(), True, [], epochs.GO_ON),
    ],
)
def test_which_windows_are_rebuilt_before_they_begin(
    event: Event, before: Window | None, survive: bool, reads: list[dict[str, bool]], chapter: str
) -> None:
    host = Host(Content(), agents_survive=survive)
    facts = look(event, before, host)
    is_rebuilt = chapter == epochs.ADOPT
    assert (host.reads, facts.chapter, facts.whole_content) == (reads, chapter, is_rebuilt)
    assert facts.scanned == (100 if is_rebuilt else 0)


@pytest.mark.parametrize("event, chapter", [(AGENT, epochs.FRESH), (COMPACTION, epochs.GO_ON)])
def test_without_a_record_there_is_nothing_to_rebuild(event: Event, chapter: str) -> None:
    facts = look(event, None, Host(None))
    assert facts.chapter == chapter and not facts.whole_content


@pytest.mark.parametrize(
    "event, missed, chapter",
    [
        (batch(), True, epochs.ADOPT),  # the batch before it waited in vain
        (batch(), False, epochs.WAIT),
        (start("resume"), True, epochs.WAIT),
    ],
)
def test_only_the_second_batch_does_without_the_newest_rows(event: Event, missed: bool, chapter: str) -> None:
    assert look(event, None, Host(None), missed=missed).chapter == chapter


@pytest.mark.parametrize("keeps, trigger", [(True, epochs.MANUAL), (False, "auto")])
def test_a_compaction_that_may_keep_any_part_of_the_window(keeps: bool, trigger: str) -> None:
    facts = look(COMPACTION, window(), Host(Content(), keeps_several_turns=keeps))
    after, _ = apply(facts, COMPACTION, window())
    assert after is not None and after.flags["compacting"] == trigger


# --- what follows ----------------------------------------------------------------------------------


def facts(chapter: str, **values: Any) -> findings.Findings:
    made = findings.Findings(chapter)
    for name, value in values.items():
        setattr(made, name, value)
    return made


def apply(known: findings.Findings, about: Event, before: Window | None) -> tuple[Window | None, list[tuple[str, str]]]:
    host = SimpleNamespace(agents_survive=lambda _: True, records_injections=lambda _: True)
    after, outcomes = findings.apply(known, about, before, host, 100.0)  # type: ignore[arg-type]
    return after, [(one.path, one.result) for one in outcomes]


@pytest.mark.parametrize("about", [batch(), AGENT, COMPACTION], ids=lambda about: about.kind)
@pytest.mark.parametrize("before", [None, UNSTARTED], ids=["unknown", "noted before it began"])
def test_a_window_that_is_rebuilt(about: Event, before: Window | None) -> None:
    found = Content()
    found.blocks[("/a", "0" * 16, 1, 1)] = 5
    found.boundary = 7
    after, _ = apply(facts(epochs.ADOPT, content=found, size=9), about, before)
    assert after is not None and after.started and after.files["/a"]["reason"] == FOUND
    assert epochs.is_known_compaction(after, 7) and not epochs.is_known_compaction(after, 8)


@pytest.mark.parametrize("armed", ["auto", epochs.MANUAL])
def test_a_compaction_of_a_window_that_is_known_only_from_its_announcement(armed: str) -> None:
    announced, _ = apply(facts(epochs.GO_ON, trigger=armed, size=5), COMPACTION, None)
    assert announced is not None and not announced.started and announced.flags["compacting"] == armed
    after, _ = apply(facts(epochs.COMPACT, content=Content(), size=9), start("compact"), announced)
    assert after is not None and after.epoch == 1
    assert after.flags.get("kept_unknown", False) is (armed == epochs.MANUAL)


def test_a_file_that_the_host_shows_no_longer_is_reported() -> None:
    rule = "/p/.directives/AGENTS.md"
    shown = {
        "inode": "", "hash": "", "chars": 1, "reason": READ_ITSELF, "at": 1.0, "via": "host", "batch": "", "parts": "h",
    }  # fmt: skip
    about = Event(TOOL_BATCH_FINISHED, "s", tools=[Tool(RUNS, "t9")], transcript="/t")
    after, outcomes = apply(
        facts(epochs.GO_ON, content=Content(), whole_content=True), about, window(files={rule: shown})
    )
    assert outcomes == [(rule, "lost")] and after is not None and rule not in after.files


def test_a_prompt_waits_for_the_first_batch() -> None:
    assert look(Event(PROMPT_SUBMITTED, "s", transcript="/t"), None, Host(Content())).silent

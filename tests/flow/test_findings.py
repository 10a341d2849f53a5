"""What the transcript must say before a claim is lost or a suspicion is gone."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from builders import DictWorld, window
from handbill.event import PROMPT_SUBMITTED, SESSION_STARTED, Event
from handbill.flow import findings
from handbill.hosts.claude_code.record import compactions_since
from handbill.ledger import epochs
from handbill.ledger.content import Content


@pytest.mark.parametrize("now, passed", [(11.0, set()), (13.0, {1})])
def test_a_claim_is_lost_only_after_the_client_had_time_to_write(now: float, passed: set[int]) -> None:
    content = Content()
    content.prompts, content.answered = {"p2": 100}, {"p2"}
    claim = {"id": 1, "batch": "prompt_submitted::p1", "offset": 50, "at": 10.0, "items": []}
    assert findings.proof_in(content, window(claims=[claim]), now, records=True).passed == passed


ROW = '{"type":"system","subtype":"compact_boundary"}\n'


@pytest.mark.parametrize(
    "suspect, flags, transcript, expected",
    [
        (0, {}, f"{ROW}two\n", 0),
        (4, {}, "one\ntwo\n", 8),  # not recorded yet: behind what is there now
        (4, {}, f"one\n{ROW}two\n", 4),  # the hook was slow
        (4, {}, f"one\n{ROW}{ROW}", 4 + len(ROW)),
        (-1, {}, f"one\n{ROW}two\n", 4),  # never announced
        (-1, {"boundary": 4}, f"one\n{ROW}two\n", 8 + len(ROW)),  # that is the one before
        (-1, {"scanned": 4 + len(ROW)}, f"one\n{ROW}two\n", 8 + len(ROW)),  # known already
        (8, {"boundary_due": 4}, f"one\n{ROW}two\n", 8 + len(ROW)),  # that is the one before
        (8, {"boundary_due": 4}, f"one\n{ROW}two\n{ROW}", 8 + len(ROW)),
        (8, {"boundary_due": 4}, f"one\n{ROW}two\n{ROW}more\n", 8 + len(ROW)),
    ],
)
def test_where_a_compaction_is_recorded(suspect: int, flags: dict[str, int], transcript: str, expected: int) -> None:
    event = Event(SESSION_STARTED, "s", source="compact", project="/p", cwd="/p", transcript="/t")
    host = SimpleNamespace(
        names_compacted_agent=lambda _: True, agents_survive=lambda _: True, compactions_since=compactions_since
    )
    before = window(maybe_compacted_from=suspect, flags=flags)
    asked = SimpleNamespace(missed=False, scanned=0)
    facts = findings.look(event, before, host, DictWorld({"/t": transcript}), 100.0, asked)  # type: ignore[arg-type]
    after, _ = findings.apply(facts, event, before, host, 100.0)  # type: ignore[arg-type]
    assert after is not None and after.compacted_at_offset == expected
    assert after.flags["boundary_due"] == flags.get("boundary_due", expected)


@pytest.mark.parametrize("boundary, settled", [(49, False), (50, True)])
def test_a_record_of_the_time_before_the_compaction_proves_nothing(boundary: int, settled: bool) -> None:
    """It shows the same text, delivered before."""
    title = ("/a", "0" * 16, 1, 1)
    record = {
        "hash": title[1],
        "parts": "s",
        "reason": "why",
        "via": "session_started",
        "batch": "session_started:compact:1",
    }
    claim = {"id": 1, "batch": record["batch"], "offset": 50, "at": 1.0, "items": [["/a", 1, title[1], 1]]}
    before = window(files={"/a": record}, claims=[claim], compacted_at_offset=50, flags={"boundary_due": 50})
    facts = findings.Findings(epochs.GO_ON)
    facts.content = Content()
    facts.content.blocks, facts.content.boundary = {title: 5}, boundary
    event = Event(PROMPT_SUBMITTED, "s", project="/p", cwd="/p")
    host = SimpleNamespace(records_injections=lambda _: True)
    after, _ = findings._go_on(facts, event, before, host, 9.0)  # type: ignore[arg-type]
    assert (after.files["/a"]["parts"] == "k") is settled

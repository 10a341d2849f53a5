"""Which window belongs to which of several clients on one session, and what each is told about the others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from handbill.errors import HandbillError
from handbill.event import PROMPT_SUBMITTED, READS, SESSION_STARTED, TOOL_BATCH_FINISHED, Event, Tool
from handbill.flow.terminals import _joined, note_own_rows, own_window
from handbill.ledger.content import Content
from handbill.ledger.window import JOINED, OWN_ROWS, Window
from handbill.plan import Plan
from handbill.store.memory import MemoryStore

SIZE = 500


class World:
    def __init__(self, running: set[int]) -> None:
        self.running = running

    def is_running(self, process: int) -> bool:
        return process in self.running

    def size(self, path: str) -> int:
        return SIZE


def turn(event: Event, running: set[int], **windows: Window) -> Any:
    """`windows`: by the process that their name ends with, `first` for the session's own."""
    store = MemoryStore()
    for name, one in windows.items():
        store.update(("s" if name == "first" else f"s~{name[1:]}", "main"), lambda _, one=one: (one, None))
    traces: list[str] = []
    return SimpleNamespace(
        event=event, store=store, world=World(running), facts=None, plan=Plan(), traces=traces, trace=traces.append
    )


def of(client: int, **flags: Any) -> Window:
    made = Window("s", "main")
    made.started, made.client, made.flags = True, client, flags
    return made


def event(client: int, source: str = "", kind: str = PROMPT_SUBMITTED) -> Event:
    return Event(kind, "s", source=source, client=client, transcript="/t")


def told(one: Any, name: str) -> list[int]:
    window = one.store.read((name, "main"))
    return list(window.flags.get(JOINED, ())) if window is not None else []


@pytest.mark.parametrize(
    "client, source, running, terminal, first_told",
    [
        (1, "", {1}, "", []),  # its own
        (2, "resume", {2}, "", []),  # the first one has ended
        (2, "resume", {1, 2}, "~2", [SIZE]),  # both run
        (1, "resume", {1}, "", []),
    ],
)
def test_whose_window_it_is(client: int, source: str, running: set[int], terminal: str, first_told: list[int]) -> None:
    first = of(1)
    one = turn(event(client, source), running, first=first)
    found = own_window(one, first)
    assert one.event.terminal == terminal and (found is first) is not bool(terminal)
    assert told(one, "s") == first_told


@pytest.mark.parametrize(
    "client, source, second_told, third_told",
    [(2, "resume", [], [SIZE]), (2, "", [], []), (4, "resume", [SIZE], [SIZE])],
)
def test_a_resume_is_told_to_all_others_that_run(
    client: int, source: str, second_told: list[int], third_told: list[int]
) -> None:
    first = of(1, **{JOINED: [7]})
    one = turn(event(client, source), {1, 2, 3, 4}, first=first, p2=of(2), p3=of(3), p5=of(5))
    one.store.update(("s~3", "agent"), lambda _: (of(3), None))
    own_window(one, first)
    assert told(one, "s~2") == second_told and told(one, "s~3") == third_told
    assert told(one, "s~5") == [] and told(one, "s") == ([7, SIZE] if source else [7])
    agent = one.store.read(("s~3", "agent"))
    assert agent is not None and JOINED not in agent.flags


@pytest.mark.parametrize("flags, first_told", [({}, [SIZE]), ({JOINED: [7]}, [7])])
def test_the_ledger_of_the_first_one_was_lost_and_rebuilt(flags: dict[str, Any], first_told: list[int]) -> None:
    first = of(1, **flags)
    one = turn(event(2), {1, 2}, first=first, p2=of(2))
    found = own_window(one, first)
    assert found is not None and found.client == 2 and told(one, "s") == first_told


def test_a_place_is_noted_once() -> None:
    first = of(1, **{JOINED: [SIZE]})
    one = turn(event(2, "resume"), {1, 2}, first=first)
    own_window(one, first)
    assert told(one, "s") == [SIZE]


def test_a_window_that_cannot_be_told_is_traced() -> None:
    first = of(1)
    one = turn(event(2, "resume"), {1, 2}, first=first)

    def fail(*_: Any) -> None:
        raise HandbillError("busy")

    one.store.update = fail
    own_window(one, first)
    assert len(one.traces) == 1 and "s" in one.traces[0] and "busy" in one.traces[0]


@pytest.mark.parametrize(
    "known, mark, boundary, noted",
    [
        ([], "t1", "", ["t1"]),
        (["t0"], "t1", "", ["t1", "t0"]),
        (["t1"], "t1", "", None),
        (["t0"], "t1", "b", ["t1", "b", "t0"]),
        (["t1"], "t1", "b", ["b", "t1"]),
        ([f"m{n}" for n in range(8)], "t1", "", ["t1", *(f"m{n}" for n in range(7))]),
    ],
)
def test_rows_of_its_own(known: list[str], mark: str, boundary: str, noted: list[str] | None) -> None:
    one = turn(Event(TOOL_BATCH_FINISHED, "s", tools=[Tool(READS, mark)], transcript="/t"), set())
    if boundary:
        one.facts = SimpleNamespace(content=Content())
        one.facts.content.boundary_row = boundary
    note_own_rows(one, of(1, **{JOINED: [3], OWN_ROWS: known}))
    assert one.plan.flags == ({OWN_ROWS: noted} if noted else {})


@pytest.mark.parametrize("leaf", ["row", ""])
def test_the_second_one_notes_where_it_joined(leaf: str) -> None:
    one = turn(event(2, "resume", SESSION_STARTED), set())
    one.facts = SimpleNamespace(content=Content())
    one.facts.content.leaf = leaf
    note_own_rows(one, of(2))
    assert one.plan.flags == {JOINED: [SIZE], **({OWN_ROWS: [leaf]} if leaf else {})}


def test_the_second_one_without_a_record() -> None:
    one = turn(event(2, "resume", SESSION_STARTED), set())
    note_own_rows(one, of(2))
    assert one.plan.flags == {JOINED: [SIZE]}


def test_a_client_whose_start_was_missed_is_told_to_the_others() -> None:
    """It goes on with the first window, whose process has ended; another terminal still runs."""
    first = of(1)
    one = turn(event(4), {2, 4}, first=first, p2=of(2))
    assert own_window(one, first) is first and told(one, "s~2") == [SIZE]


def test_a_window_that_is_gone_is_not_marked() -> None:
    assert _joined(None, SIZE) is None

"""What counts as a second copy."""

from __future__ import annotations

import pytest

from handbill.reports.duplicates import Duplicate, duplicates


@pytest.mark.parametrize(
    "events, copies",
    [
        (["claim-deliver", "claim-deliver"], 2), (["claim-deliver", "lost", "claim-deliver"], None),
        (["claim-deliver", "new-epoch", "claim-deliver"], None), (["claim-deliver", "skip-dedup"], None),
        (["direct-deliver", "lost", "claim-deliver", "claim-deliver"], 2),
        (["claim-deliver", "lost", "lost", "claim-deliver", "claim-deliver"], 2),
        (["claim-deliver", "updated", "updated"], None), (["claim-deliver", "updated", "claim-deliver"], 2),
    ],
)  # fmt: skip
def test_what_counts_as_a_duplicate(events: list[str], copies: int | None) -> None:
    found = duplicates([{"window": "w", "file": "" if e == "new-epoch" else "/a", "event": e} for e in events])
    assert [one.copies for one in found] == ([copies] if copies else [])


def test_a_duplicate_names_the_event_of_each_copy() -> None:
    lines = [
        {"window": "w.main", "file": "/a", "event": "claim-deliver", "handler": handler, "source": "rules (part 1/2)"}
        for handler in ("tool_called", "tool_batch_finished")
    ]
    assert duplicates(lines) == [Duplicate("w.main", "/a", "1/2)", 2, ["tool_called", "tool_batch_finished"])]


def test_another_files_loss_excuses_no_duplicate() -> None:
    events = (("/a", "claim-deliver"), ("/b", "claim-deliver"), ("/b", "lost"), ("/a", "claim-deliver"))
    found = duplicates([{"window": "w", "file": file, "event": event} for file, event in events])
    assert [one.file for one in found] == ["/a"]


@pytest.mark.parametrize(
    "lost, sent_again, twice",
    [
        ("1/2", ("1/2",), []), ("1/2", ("2/2",), ["2/2)"]), ("1/2", ("1/2", "2/2"), ["2/2)"]),
        ("", ("1/2", "2/2"), []),  # the whole file
    ],
)  # fmt: skip
def test_a_lost_part_makes_room_for_that_part_only(lost: str, sent_again: tuple[str, ...], twice: list[str]) -> None:
    events = [
        ("1/2", "claim-deliver"),
        ("2/2", "claim-deliver"),
        (lost, "lost"),
        *((p, "claim-deliver") for p in sent_again),
    ]
    lines = [
        {"window": "w", "file": "/a", "event": event, "source": f"rules (part {part})" if part else "rules"}
        for part, event in events
    ]
    assert [one.part for one in duplicates(lines)] == twice

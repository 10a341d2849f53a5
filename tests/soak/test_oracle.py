"""The judge of random sessions: text that a resuming client puts back is not our duplicate.

e2e/test_soak tests the rest.
"""

from __future__ import annotations

from typing import Any

import pytest

from handbill.lab.live_client import Request
from soak.oracle import Oracle

RULE = "THE-RULE\n"


def request(*texts: str) -> Request:
    """Return a request with alternating messages of the user and the model."""
    messages: list[dict[str, Any]] = [
        {"role": "assistant" if number % 2 else "user", "content": text} for number, text in enumerate(texts)
    ]
    return Request(body={"messages": messages}, agent="", received=0.0)


@pytest.mark.parametrize(
    "before, first, returned",
    [
        ((RULE, "yes"), (RULE, "yes", RULE, "yes", "go"), {RULE: 2}),
        ((RULE, "yes"), (RULE, "yes", f"go {RULE}"), {}),  # ours, because it is with the new prompt
        ((RULE, "yes", RULE), (RULE, "yes", RULE, "yes", "go"), {}),  # it was there twice before
        ((RULE, "yes"), (RULE, "yes", "go"), {}),
        (("go",), (f"{RULE} {RULE}",), {}),  # the model has not answered
        (("go", "yes"), (RULE, "yes", RULE, "yes", "go"), {}),  # the former process did not have it
    ],
)
def test_what_a_resuming_client_put_back(
    before: tuple[str, ...], first: tuple[str, ...], returned: dict[str, int]
) -> None:
    oracle = Oracle("/p", (RULE,))
    assert oracle.returned(request(*first), request(*before)) == returned


@pytest.mark.parametrize(
    "before, after, most",
    [
        (("summary",), (RULE, "yes", f"go {RULE}"), {RULE: 2}),
        (("summary",), (RULE, "yes", RULE, "yes", "go"), {RULE: 3}),
        # It was there: the second copy is ours.
        ((f"summary {RULE}",), (RULE, "yes", f"go {RULE}"), {}),
        (("summary",), ("go", "yes", f"go {RULE} {RULE}"), {}),  # both arrived with the prompt
        (("summary",), (f"{RULE} {RULE}",), {}),  # the model has not answered
    ],
)
def test_what_a_rewind_to_before_a_compaction_brought_back(
    before: tuple[str, ...], after: tuple[str, ...], most: dict[str, int]
) -> None:
    assert Oracle("/p", (RULE,)).brought_back(request(*after), request(*before)) == most


def test_what_it_put_back_may_be_there_so_often_and_not_more() -> None:
    oracle = Oracle("/p", (RULE,))
    assert oracle.twice(request(RULE, "yes", RULE), {RULE: 2}) == []
    assert oracle.twice(request(RULE, "yes", RULE)) == ["'THE-RULE\\n' 2 times"]
    assert oracle.twice(request(RULE, "yes", RULE, "yes", RULE), {RULE: 2}) == ["'THE-RULE\\n' 3 times"]


BODY, PAGE = "BODY-ship", "PAGE-ONE"
TYPED = f"<command-name>/ship</command-name> {BODY}"


@pytest.mark.parametrize(
    "before, after, known, undone",
    [
        ("go", f"summary, {BODY}", set(), {BODY}),  # the client lists it again
        ("go", f"<command-name>/compact</command-name> {BODY}", set(), {BODY}),
        (TYPED, f"summary, {BODY}", set(), set()),  # it was active when the window was compacted
        (f"summary, {BODY}", f"summary, {BODY}", {BODY}, {BODY}),
        (f"summary, {BODY}", f"{TYPED} again", {BODY}, set()),
        (f"summary, {BODY}", "a new session", {BODY}, set()),
    ],
)
def test_a_skill_that_a_rewind_took_back(before: str, after: str, known: set[str], undone: set[str]) -> None:
    oracle = Oracle("/p", (), skills={BODY: [PAGE]})
    assert oracle.undone(request(after), request(before), known) == undone
    missing = oracle.missing(request(after), undone)
    assert bool(missing) is (BODY in after and not undone)

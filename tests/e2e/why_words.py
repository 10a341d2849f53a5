"""From recorded requests to the words of docs/why.md."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from why_rules import PROJECTS, Rule

from handbill.lab.live_client import Request

Found = dict[str, str]  # "row.moment": word


def counts_of(rule: Rule, requests: Sequence[Request]) -> list[int]:
    return [rule.copies(request) for request in requests]


def arrival(rule: Rule, counts: Sequence[int], later: int, called: int, word: str = "with the result") -> str:
    """When a rule arrived. `counts` begins with the requests before and after the moment.

    `later` and `called` are the copies in the request after these, and after the skill was called.
    """
    assert max(counts[0], counts[1], later) <= 1, "no word for that"
    if counts[0]:
        return "from the start"
    if counts[1]:
        return word
    if rule.is_skill:
        return "if called" if called else "no"
    return "one request late" if later else "no"


def stays(project: str, moment: str, before: Request, after: Sequence[Request], kept: str) -> Found:
    """What became of a rule that was there: in the next request, and after it is needed again."""
    return {
        f"{rule.key}.{moment}": _stay(rule, *counts_of(rule, (before, after[0], after[-1])), kept)
        for rule in PROJECTS[project]
    }


def _stay(rule: Rule, had: int, first: int, last: int, kept: str) -> str:
    if not had:
        return "no"
    if not first:
        return again(rule) if last else "lost"
    assert first <= had, "no word for that"
    return kept if last == first else f"{kept}, then another copy"


def again(rule: Rule) -> str:
    return f"with the next {'call' if rule.is_skill else 'read'}"


def size(rule: Rule, requests: Sequence[Request]) -> str:
    """What arrived of a large rule."""
    text, last = rule.body(large=True).rstrip(), requests[-1].text
    if rule.begin() not in last:
        return "no"
    if rule.end() not in last:
        pairs = zip(text, last[last.index(rule.begin()) :])
        arrived = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        return f"cut to {-(-arrived // 100) * 100:,} characters"  # the client cuts at the end of a line
    assert all(last.count(line) == 1 for line in text.split("\n"))
    parts = sum(rule.begin() in request.text and rule.end() not in request.text for request in requests) + 1
    return "whole" if parts == 1 else f"whole, in {parts} parts"

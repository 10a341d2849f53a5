"""What the model is told about files that cannot be delivered."""

from __future__ import annotations

import pytest

from handbill.core.sheet import Refusal
from handbill.handlers.undeliverable import report
from makers import sheet


def said(*refused: Refusal) -> str:
    return report({"/p/there.md": sheet("/p/there.md"), **{one.path: one for one in refused}}).text


@pytest.mark.parametrize("count, named, rest", [(20, 20, ""), (21, 20, "and 1 more"), (1300, 20, "and 1,280 more")])
def test_a_page_names_some_files_and_counts_the_others(count: int, named: int, rest: str) -> None:
    text = said(*(Refusal(f"/p/{number}.md", "is binary") for number in range(count)))
    assert text.count("is binary") == named and rest in text and ("more" in text) is bool(rest)


@pytest.mark.parametrize("name, shown", [("a\n- b", r"a\n- b"), ("a\\b\x1b", r"a\\b\x1b"), ("é b", "é b")])
def test_a_name_is_shown_on_one_line(name: str, shown: str) -> None:
    assert said(Refusal(f"/p/{name}", "is binary")).split("\n")[1:] == [f"- /p/{shown} is binary"]


def test_a_file_that_is_gone_or_empty_is_not_missing() -> None:
    text = said(Refusal("/p/gone.md", "is gone", quiet=True), Refusal("/p/bad.md", "is binary"))
    assert text.split("\n")[1:] == ["- /p/bad.md is binary"]

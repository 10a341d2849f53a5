from __future__ import annotations

import pytest

from handbill.reports.plain_text import count, moment_of, own_page, path_name, when


@pytest.mark.parametrize(
    "number, words, text",
    [(1, ("file",), "1 file"), (0, ("file",), "0 files"), (1234, ("file",), "1,234 files"), (2, ("delivery", "deliveries"), "2 deliveries")],
)  # fmt: skip
def test_a_number_with_its_noun(number: int, words: tuple[str, ...], text: str) -> None:
    assert count(number, *words) == text


@pytest.mark.parametrize(
    "written, moment",
    [("1970-01-01T00:01:00Z", 60.0), ("1970-01-01T01:00:00+01:00", 0.0), ("1970-01-01T00:01:00", 0.0), ("soon", 0.0), ("", 0.0)],
)  # fmt: skip
def test_the_moment_of_a_stamp(written: str, moment: float) -> None:
    assert moment_of(written) == moment


def test_a_moment_of_another_day_has_a_date() -> None:
    assert when(0.0) == "–" and when(86400.0 * 365).startswith("197")


PAGE = "/s/.engine/pages/context-0123abcd"


@pytest.mark.parametrize(
    "path, name",
    [
        ("/p/one/AGENTS.md", "one/AGENTS.md"), ("/p", "."), ("/pp/a.md", "/pp/a.md"), ("/home/u/a.md", "~/a.md"),
        ("/lib/handbill/data/directives/COMMANDS.md", "library:COMMANDS.md"), ("/lib/handbill/data/skills/x/SKILL.md", "library:skills/x/SKILL.md"),
        (PAGE, "page:context"), ("/p/we[b]/AGENTS.md", "we[b]/AGENTS.md"), ("/etc/x", "/etc/x"),
    ],
)  # fmt: skip
def test_a_path_as_people_say_it(path: str, name: str) -> None:
    assert path_name(path, "/p", "/home/u") == name


def test_the_page_of_a_gate() -> None:
    assert own_page(PAGE) == "page:context" and own_page("/p/pages/context-0123abcd") == ""

"""Where in a CLAUDE.md the client follows an import; measured on 2.1.197 and 2.1.325."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handbill.text.prose import prose


@pytest.mark.parametrize(
    "text, followed",
    [
        ("@x\n", True),
        ("para\n\n    @x\n\npara\n", False),
        ("para\n\n\t@x\n\npara\n", False),
        ("para\n    @x\n", True),  # the paragraph goes on
        ("    @x\n", False),
        ("    code\n    @x\n", False),
        ("    code\n@x\n", True),
        ("   @x\n", True),
        ("- item\n\n    @x\n", True),
        ("- item\n\n        @x\n", False),
        ("- item\n\n      @x\n", False),
        ("1. item\n\n   @x\n", True),
        ("- item\n  - inner\n\n    @x\n", True),
        ("- item\n  - inner\n\n        @x\n", False),
        ("- item\n\npara\n\n    @x\n", False),
        ("- @x\n", True),
        ("-     @x\n", False),
        ("```\n@x\n```\n", False),
        ("~~~\n@x\n~~~\n", False),
        ("- item\n  ```\n  @x\n  ```\n", False),
        ("x\n\n```\n@x\n", False),
        ("> @x\n", True),
        (">    @x\n", True),  # one space belongs to the mark, and three are not code
        (">     @x\n", False),
        (">> @x\n", True),
        ("para\n\n    > @x\n", False),  # code that shows a quote
        ("`@x`\n", False),
        ("<div>\n@x\n</div>\n", False),
        ("<div>\n</div>\n\n@x\n", True),
        ("<pre>\n\n@x\n</pre>\n", False),
        ("<pre>\n</pre>\n@x\n", True),
        ("<pre>one line</pre>\n\n@x\n", True),
        ("<pre>\n</PRE>\n@x\n", True),
        ("<!-- @x -->\n", False),
        ("<!-- note -->\n@x\n", True),
        ("<!-- never closed @x\n", False),
        ("a < b\n@x\n", True),
        ("<b>bold</b> and @x\n", True),
        ("<http://x.y> @x\n", True),
        ("text\n<b>\n@x\n", True),  # inside of a paragraph
        ("<b>\n@x\n", False),
        ("text\n<div>\n@x\n", False),
        ("</div>\n@x\n", False),
        ("</pre>\n@x\n", False),
        ("<pre>one line</pre>\n@x\n", True),
        ("<pre>one line</PRE>\n@x\n", True),
        ("<DIV class='a'>\n@x\n", False),
        ("<div\n@x\n", False),
        ("<?php\n@x\n", False),
        ("<!DOCTYPE html>\n@x\n", False),
        ("# @x\n", True),
        ("| a |\n|---|\n| @x |\n", True),
        ("", False),
        ("---\nkey: a\nother:  @x\n---\ntext\n", False),
        ("---\nkey: a\n---\n@x\n", True),
        ("\ufeff---\r\nkey:  @x\r\n---\r\ntext\n", False),
        ("[a]: @x\n", False),
        ("[a]:\n@x\n", False),
        ("[a\nb]: @x\n", False),
        ("[a]: b\n[c\nd]: @x\n", False),
        ('[a]: b "title\n @x "\n', False),
        ("[a]: b\n' @x '\n", False),
        ("[a]: b\n@x\n", True),
        ("[^1]: @x\n", False),
        ("> [a]: @x\n", False),
        ("- [a]: @x\n", False),
        ("![ @x ](y)\n", False),
        ("![ @x ][y]\n", False),
        ("![ [ @x ] ](y)\n", False),
        ('![a](b " @x ")\n', False),
        ("![a][ @x ]\n", False),
        ("![a] @x\n", True),
        ("[ @x ](y)\n", True),
        ("[a](b) @x\n", True),
        ('[a](b " @x ")\n', False),
        ("[a]( @x )\n", False),
        ("[a](b\n @x )\n", False),
        ("[a](b(c) @x )\n", False),
        ("[a][ @x ]\n", False),
        ("[a]( never closed\n@x\n", False),
        ("[a]( never closed\n\n@x\n", True),
        ('see <span title=" @x ">\n', False),
        ('see <span title="> @x ">\n', False),
        ("see <span\n @x >\n", False),
        ("see </span\n @x >\n", False),
        ("see <![CDATA[ > @x ]]>\n", False),
        ("see <? @x ?>\n", False),
        ("see \\<b @x\n", True),
        ("see \\[a]( @x\n", False),
        ("- see <b\n- @x\n", True),
        ("see <b\n# @x\n", True),
        (">" * 70_000 + " @x\n", True),
        ("![" * 30_000 + " @x\n", False),
        ("[\n" * 30_000 + "@x\n", True),
        ("a\n" * 30_000 + "@x\n", True),
    ],
)
def test_lines_in_which_imports_count(text: str, followed: bool) -> None:
    assert ("@x" in " ".join(prose(text)).split()) is followed


@given(st.text(alphabet="-> <pre/`~12.\t\n@x", max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert len(prose(text)) <= text.count("\n") + 1 + 2 * len(text)

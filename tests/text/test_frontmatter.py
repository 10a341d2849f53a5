from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from handbill.cli.needed_hooks import yaml_folder
from handbill.text.frontmatter import MOST, BadHead, parse

SOURCE = str(Path(__file__).parents[2] / "src")


@pytest.mark.parametrize(
    "text, fields, rest",
    [
        ("---\na: 1\n---\nbody", {"a": 1}, "body"),
        ("---\na: [x, y]\nb:\n  - z\n...\n\nbody\n", {"a": ["x", "y"], "b": ["z"]}, "body\n"),
        ("---  \na: 'a --- b'\n---", {"a": "a --- b"}, ""),
        ("---\nbase: &b {x: 1}\nother: *b\n---\n", {"base": {"x": 1}, "other": {"x": 1}}, ""),
        ("---\na: yes\nb: 2026-01-03 text\n---\n", {"a": True, "b": "2026-01-03 text"}, ""),
    ],
)
def test_heads(text: str, fields: dict[str, object], rest: str) -> None:
    assert parse(text) == (fields, rest)


@pytest.mark.parametrize(
    "text, why",
    [
        ("", "does not begin"), ("a: 1", "does not begin"), ("---\na: 1", "never closed"), ("---\n---\n", "not a list"),
        ("---\na: 1\na: 2\n---\n", "line 3, column 1: the field 'a' occurs twice"),
        ("---\nx: {a: 1, a: 2}\n---\n", "twice"), ("---\na: b: c\n---\n", "line 2"), ("---\n\ta: 1\n---\n", "line 2"),
        ("---\n&a [*a]\n---\n", "not a list"), ("---\na: *nobody\n---\n", "line 2"), ("---\na: \x01\n---\n", ""),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_why(text: str, why: str) -> None:
    with pytest.raises(BadHead) as caught:
        parse(text)
    assert why in str(caught.value) and "\n" not in str(caught.value)


def test_only_the_head_of_a_page_is_limited() -> None:
    body = "a line of the page\n" * MOST
    assert parse(f"---\na: 1\n---\n{body}") == ({"a": 1}, body)


def test_many_aliases_cost_nothing() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    assert len(parse("---\n" + "\n".join(lines) + "\n---\n")[0]) == 30


@pytest.mark.parametrize("kind", ["", "!!set ", "!!omap "])
def test_merges_are_refused_in_every_kind_of_mapping(kind: str) -> None:
    """A few lines of them would fill the memory."""
    lines = ["a0: &a0 {x: 1}"] + [f"a{n}: &a{n} {kind}{{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 9)]
    with pytest.raises(BadHead):
        parse("---\n" + "\n".join(lines) + "\n---\n")


@pytest.mark.parametrize("kind", ["!!map", "!!set", "!!int", "!!omap"])
def test_what_cannot_be_read_is_not_written_out(kind: str) -> None:
    """A list that holds lists that hold lists …: its text would fill the memory."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 20)]
    with pytest.raises(BadHead) as caught:
        parse("---\n" + "\n".join([*lines, f"z: {kind} [*a19]"]) + "\n---\n")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("packages, expected", [(True, "{'a': 1}"), (False, "engine install")])
def test_in_a_hooks_own_interpreter(packages: bool, expected: str) -> None:
    """-I -S: no site-packages; `engine install` says where PyYAML is."""
    code = (
        f"import sys;sys.path.insert(0,{SOURCE!r})\n"
        + (f"sys.path.append({yaml_folder()!r})\n" if packages else "")
        + "from handbill.text.frontmatter import parse\ntry: print(parse('---\\na: 1\\n---')[0])\nexcept ValueError as e: print(e)"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert expected in done.stdout


@pytest.mark.parametrize(
    "head",
    [
        "a: " + "[" * 30_000,
        "a: " + "{b: " * 7_000,
        "- " * 15_000 + "x",
        "a:\n" + "? " * 9000,
        "a: '" + "]" * 15_000 + "'\nb: " + "[" * 15_000,
    ],
)
def test_deep_nesting_does_not_end_the_process(head: str) -> None:
    with pytest.raises(BadHead, match=r"^its frontmatter is nested too deep$"):
        parse(f"---\n{head}\n---\n")

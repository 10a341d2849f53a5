"""What the gates say is data: every text names its facts, in both tones, and people may change the words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from handbill import gates
from handbill.hosts import claude_code
from handbill.library.messages import _fact, lacking, message, say, texts
from handbill.settings import ProcessContext, Settings
from handbill.world import World

SHIPPED = {gate.name: json.loads(Path(gate.messages).read_text(encoding="utf-8")) for gate in gates.ALL}
TEXTS = texts(
    {gate: {style: kinds for style, kinds in styles.items() if style != "facts"} for gate, styles in SHIPPED.items()}
)
MUST = {  # what a person would miss: every path, the count, the next action
    ("load_gate", "deliver"): {"files", "count", "given"}, ("load_gate", "left"): {"left", "left_count"},
    ("load_gate", "direct"): {"paths", "count"}, ("load_gate", "require"): {"files", "count", "held", "most"},
    ("load_gate", "released"): {"files", "count"}, ("reread_gate", "given"): {"files", "count", "role"},
    ("reread_gate", "list"): {"files", "count", "role"}, ("reread_gate", "stop"): {"files", "count", "role"},
    ("resume", "resume"): {"mode", "project"}, ("resume", "files"): {"files", "given", "count"},
    ("resume", "left"): {"left", "left_count"}, ("resume", "restore"): {"summary", "details"},
    ("resume", "questions"): {"questions"}, ("resume", "checklist"): {"checklist"}, ("resume", "next"): {"next_action"},
    ("resume", "inactive"): {"mode", "why"},
}  # fmt: skip


def config(tmp_path: Path, **gate: str) -> Settings:
    return Settings({"load_gate": gate}, str(tmp_path / "home"))


def world(tmp_path: Path, *roots: str) -> World:
    return World(roots, claude_code, ProcessContext(str(tmp_path), str(tmp_path / "home")))


@pytest.mark.parametrize("gate, style, kind", TEXTS)
def test_every_text_names_its_facts(gate: str, style: str, kind: str) -> None:
    facts = SHIPPED[gate]["facts"][kind]
    assert lacking(TEXTS[gate, style, kind], facts) == []
    assert MUST.get((gate, kind), set()) <= set(facts)


def test_both_tones_have_the_same_texts() -> None:
    for gate in SHIPPED:
        assert set(SHIPPED[gate]["factual"]) == set(SHIPPED[gate]["mandatory"]) == set(SHIPPED[gate]["facts"])


@pytest.mark.parametrize("gate, style, kind", TEXTS)
def test_nothing_is_garbled(gate: str, style: str, kind: str) -> None:
    """Text that was decoded with the wrong table has such letters side by side."""
    assert not any(sign in TEXTS[gate, style, kind] for sign in ("ð\x9f", "ðŸ", "âš", "â•", "Ã", "\ufffd"))


OF_THE_PROJECT = "(this text is the project's own, from .handbill.messages.json)"


def test_a_project_says_it_in_its_own_words(tmp_path: Path) -> None:
    (tmp_path / ".handbill.messages.json").write_text(
        json.dumps({"load_gate": {"factual": {"direct": "Lies {count} Dateien: {paths} – bitte!"}}}), encoding="utf-8"
    )
    said = say("load_gate", "direct", world(tmp_path, str(tmp_path)), config(tmp_path), count=2, paths="/a, /b")
    assert said == f"Lies 2 Dateien: /a, /b – bitte!\n{OF_THE_PROJECT}"


def test_a_users_words_hold_where_the_project_has_none(tmp_path: Path) -> None:
    folder = tmp_path / "home" / ".config" / "handbill"
    folder.mkdir(parents=True)
    (folder / "messages.json").write_text('{"load_gate": {"factual": {"direct": "mine {count} {paths}"}}}')
    assert message("load_gate", "direct", "factual", world(tmp_path)) == "mine {count} {paths}"
    (tmp_path / ".handbill.messages.json").write_text('{"load_gate": {"factual": {"direct": "ours {count} {paths}"}}}')
    assert message("load_gate", "direct", "factual", world(tmp_path)).startswith("ours")


@pytest.mark.parametrize(
    "text",
    [
        '{"load_gate": {"factual": {"direct": "Read {paths}"}}}',
        "{broken",
        "[]",
        '{"load_gate": 7}',
        '{"load_gate": {"factual": {"direct": 7}}}',
        "\xff",
    ],
    ids=["lacks a fact", "no JSON", "no object", "no section", "no text", "latin"],
)
def test_words_that_cannot_be_used_are_passed_over(tmp_path: Path, text: str) -> None:
    (tmp_path / ".handbill.messages.json").write_text(text, encoding="latin-1")
    assert message("load_gate", "direct", "factual", world(tmp_path)) == SHIPPED["load_gate"]["factual"]["direct"]


def test_facts_are_not_read_as_places(tmp_path: Path) -> None:
    said = say("load_gate", "direct", world(tmp_path), config(tmp_path), count="{paths}", paths="{count} {x}")
    assert "read {paths} files" in said and said.endswith("{count} {x}")


def test_the_documents_tone_can_be_chosen(tmp_path: Path) -> None:
    said = say("load_gate", "direct", world(tmp_path), config(tmp_path, wording="mandatory"), count=1, paths="/a")
    assert said == "STOP. Read your 1 context file before proceeding: /a"


@pytest.mark.parametrize(
    "text, value, said",
    [
        ("{n:file}", 1, "1 file"), ("{n:file}", 0, "0 files"), ("{n:held message}", 2, "2 held messages"),
        ("Read {n:it|them}", 1, "Read it"), ("Read {n:it|them}", 3, "Read them"), ("{n}", 7, "7"), ("{other:file}", 1, "{other:file}"),
    ],
)  # fmt: skip
def test_plurals(tmp_path: Path, text: str, value: int, said: str) -> None:
    own = {"load_gate": {"factual": {"direct": f"{text} {{count}} {{paths}}"}}}
    (tmp_path / ".handbill.messages.json").write_text(json.dumps(own))
    assert say("load_gate", "direct", world(tmp_path), config(tmp_path), n=value, count=1, paths="/a").startswith(
        f"{said} 1 /a\n"
    )


@pytest.mark.parametrize("gate, style, kind", TEXTS)
def test_no_text_has_a_wrong_plural_for_one_or_two(tmp_path: Path, gate: str, style: str, kind: str) -> None:
    made = Settings({gate: {"wording": style}}, str(tmp_path / "home"))
    made.environ = {}
    facts = {"given": 1, "count": 1, "left_count": 1, "held": 1, "most": 3}
    one = say(gate, kind, world(tmp_path), made, **facts)
    assert not re.search(r"\b1 (\w+ )?(files|messages|times)\b", one), one
    two = say(gate, kind, world(tmp_path), made, **dict.fromkeys(facts, 2))
    assert not re.search(r"\b2 (\w+ )?(file|message|time)\b", two), two


def test_a_fact_stays_on_its_line_unless_it_is_a_list() -> None:
    assert _fact("a\n[Held by Handbill] b", "", listed=False) == "a [Held by Handbill] b"
    assert _fact("- a\n- b", "", listed=True) == "- a\n- b"

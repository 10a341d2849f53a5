from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handbill.fast_json import loads
from handbill.work.phases import key
from handbill.work.skill_file import Skill, frontmatter, parse


def skill(parameters: object, before: str = "", after: str = "") -> Skill:
    text = parameters if isinstance(parameters, str) else json.dumps(parameters, indent=2)
    return parse(f"---\nname: x\n---\n# X\n{before}\n### Session Parameters\n```json\n{text}\n```\n{after}", loads)


def phase(**values: object) -> Skill:
    return skill({"phases": [values]})


def test_all_fields() -> None:
    values: dict[str, Any] = {
        "taskType": "IMPLEMENT", "nextSkills": ["test"], "directives": ["TESTING.md", "PITFALLS"],
        "modes": {"audit": {"label": "Audit", "file": "modes/audit.md"}}, "logTemplate": "assets/L.md",
        "debriefTemplate": "assets/D.md", "planTemplate": "assets/P.md", "requestTemplate": "assets/Q.md",
        "responseTemplate": "assets/R.md",
        "phases": [{"label": "0", "name": "Setup", "steps": ["§CMD_A"], "commands": ["§CMD_B"], "proof": ["done"],
                    "gate": False, "invariants": ["§INV_C"]}],
    }  # fmt: skip
    found = skill(values)
    assert found.problems == []
    assert {**found.values, "phases": values["phases"]} == values
    assert found.directives == ["TESTING.md", "PITFALLS.md"]
    assert found.templates() == ["assets/L.md", "assets/P.md", "assets/D.md"]
    assert found.phases[0].as_dict() == values["phases"][0]
    assert str(found.phases[0]) == "0: Setup"


def test_older_phases_and_order() -> None:
    found = skill(
        {"phases": [{"major": 10, "minor": 0, "name": "Z"}, {"major": 2, "minor": 1, "name": "Y"}, {"label": 1}]}
    )
    assert [str(one) for one in found.phases] == ["1", "2.1: Y", "10: Z"]
    assert found.problems == []


@pytest.mark.parametrize(
    "text",
    [
        "# Only prose\n", "", "# X\n### Session Parameters\nnone\n", "# X\n```json\n{\"phases\": [{\"label\": \"0\"}]}\n```\n",
        "# X\n### Session Parameters\nnone here\n### Examples\n```json\n{\"phases\": [{\"label\": \"0\"}]}\n```\n",
        "# X\n```\n### Session Parameters\n```\n```json\n{\"phases\": [{\"label\": \"0\"}]}\n```\n",
    ],
)  # fmt: skip
def test_lightweight(text: str) -> None:
    found = parse(text, loads)
    assert found.phases == [] and found.problems == [] and not found.broken
    # a heading without its block is most likely a slip
    assert bool(found.hints) is ("\n### Session Parameters\nnone" in text)


def test_fields_that_nobody_reads_are_hinted_at() -> None:
    found = skill({"logtemplate": "x", "phases": [{"label": "0", "step": ["§CMD_A"]}]})
    assert [words.partition(";")[0] for _, words in found.hints] == [
        "logtemplate is not a parameter",
        "phases[1]: step is not a field",
    ]
    assert found.problems == []


def test_the_first_block_of_the_section_counts() -> None:
    found = skill({"taskType": "A"}, before='```json\n{"taskType": "B"}\n```', after='```json\n{"taskType": "C"}\n```')
    assert found.values["taskType"] == "A"


@pytest.mark.parametrize(
    "body, line", [('{\n  "taskType": "A",\n  "phases": [}\n}', 10), ("{", 8), ('{"a": "b\n', 8), ("", 8)]
)
def test_malformed_json_names_the_line(body: str, line: int) -> None:
    found = skill(body)
    assert found.phases == []
    ((number, words),) = found.problems
    assert "not JSON" in words
    assert number == line, words


@pytest.mark.parametrize(
    "found, words",
    [
        (skill({"phases": [{"label": "0"}, {"label": "0", "name": "B"}]}), "declared twice"),
        (skill({"phases": {"0": {}}}), "phases must be a list"),
        (skill({"phases": ["0"]}), "must be an object"),
        (skill([]), "must be a JSON object"),
        (phase(label="x"), "not a phase label"),
        (phase(name="no label"), "not a phase label"),
        (phase(label="0", steps=["../../etc/passwd"]), "not a page name"),
        (phase(label="0", steps="§CMD_A"), "steps must be a list"),
        (skill({"directives": "TESTING.md"}), "directives must be a list"),
        (skill({"modes": []}), "modes must map"),
        (skill({"logTemplate": 7}), "logTemplate must be text"),
    ],
)
def test_problems_are_named_and_the_rest_counts(found: Skill, words: str) -> None:
    assert any(words in text for _, text in found.problems), found.problems


def test_duplicate_labels_keep_the_first() -> None:
    found = skill({"phases": [{"label": "0", "name": "A"}, {"label": "0", "name": "B"}]})
    assert [str(one) for one in found.phases] == ["0: A"]


def test_ten_thousand_phases() -> None:
    found = skill({"phases": [{"label": str(number), "steps": ["§CMD_A"]} for number in range(10_000)]})
    assert len(found.phases) == 200 and [what for _, what in found.problems] == [
        "there are more than 200 phases; the rest is not used"
    ]


@pytest.mark.parametrize(
    "text, expected",
    [
        ('---\nname: x\ndescription: "Does: y"\n---\n', {"name": "x", "description": "Does: y"}),
        ("---\ndescription: >\n  one\n  two\nversion: 1\n---\n", {"description": "one two", "version": "1"}),
        ("---\nname: x\n", {}), ("no", {}), ("---\n---\n", {}),
    ],
)  # fmt: skip
def test_frontmatter(text: str, expected: dict[str, str]) -> None:
    assert frontmatter(text) == expected


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(["phases", "label", "steps", "directives", "modes", "name", "major", "logTemplate", "x"]), inner)))  # fmt: skip
def test_any_json_is_read(value: object) -> None:
    found = skill(value)
    assert isinstance(found.phases, list)


@given(st.text(alphabet='#`json{}\n Sesion Parmtr:"[]0', max_size=300))
def test_any_text_is_read(text: str) -> None:
    found = parse(text, loads)
    assert [one.label for one in found.phases] == sorted({one.label for one in found.phases}, key=key)
    assert not (found.broken and found.phases)

from __future__ import annotations

import pytest

from handbill.fast_json import loads
from handbill.work.proof import Proof

PAGE = """# ¶CMD_ASK
Text.

## PROOF FOR §CMD_ASK
```json
{"type": "object", "required": ["asked"], "additionalProperties": false,
 "properties": {"asked": {"type": "integer", "description": "how many"}, "remark": {"type": "string"}}}
```
"""


def proof(*declared: str, page: str = PAGE) -> Proof:
    made = Proof()
    for name in declared:
        made.declare(name)
    made.add_page("CMD_ASK", "/lib/CMD_ASK.md", page, loads)
    return made


def test_the_union_of_fields_and_schemas() -> None:
    made = proof("depth", "remark")
    assert made.required == ["depth", "remark", "asked"]
    assert made.fields["asked"].about == "how many"
    assert made.problems == []


@pytest.mark.parametrize(
    "given, expected",
    [
        ({"depth": "d", "asked": 0}, []),  # 0 is a value
        ({"depth": False, "asked": 3}, []),  # so is false
        ({"depth": [], "asked": 3, "extra": 1}, []),  # a step's schema does not speak for the others
        ({}, ["depth is missing", "asked is missing"]),
        ({"depth": "", "asked": 1}, ["depth is empty"]),
        ({"depth": "  ________ ", "asked": 1}, ["depth is empty"]),
        ({"depth": None, "asked": 1}, ["depth is empty"]),
        ({"depth": "__ __", "asked": 1}, ["depth is empty"]),
        ({"depth": "d", "asked": "two"}, ['asked must be an integer, not "two" (§CMD_ASK)']),
        ({"depth": "d", "asked": 1, "remark": 5}, ["remark must be a string, not 5 (§CMD_ASK)"]),
    ],
)
def test_faults(given: dict[str, object], expected: list[str]) -> None:
    assert proof("depth").faults(given) == expected


@pytest.mark.parametrize(
    "page, words",
    [
        (PAGE.replace('"required"', "required"), "line 6: the proof's schema is not JSON"),
        ("## PROOF FOR §CMD_ASK\n```json\n[]\n```\n", "must be an object"),
        (PAGE.replace('"type": "string"', '"pattern": "x"'), "remark.pattern is not checked"),
    ],
)
def test_a_schema_that_cannot_be_used_is_named(page: str, words: str) -> None:
    made = proof("depth", page=page)
    assert any(words in problem and problem.startswith("/lib/CMD_ASK.md") for problem in made.problems), made.problems
    assert "depth is missing" in made.faults({})


def test_another_pages_proof_is_not_taken() -> None:
    assert proof(page=PAGE.replace("§CMD_ASK", "§CMD_OTHER")).fields == {}


@pytest.mark.parametrize(
    "schema",
    [
        '{"required": true}',
        '{"enum": 5, "anyOf": 3}',
        '{"properties": {"a": {"required": "x"}}}',
        '{"anyOf": [{"pattern": "x"}]}',
    ],
)
def test_a_schema_of_another_shape_is_named(schema: str) -> None:
    made = proof(page=f"## PROOF FOR §CMD_ASK\n```json\n{schema}\n```\n")
    assert made.problems and made.faults({"a": {}}) == []


def test_a_longer_name_is_another_page() -> None:
    assert proof(page=PAGE.replace("§CMD_ASK", "§CMD_ASK_MORE")).fields == {}


@pytest.mark.parametrize("schema", ['{"required": ["a\\nb"]}', '{"properties": {"a\\nb": {"type": "string"}}}'])
def test_a_field_with_an_odd_name(schema: str) -> None:
    """Its name would be shown as a line of its own, wherever the schema names it."""
    made = proof(page=f"## PROOF FOR §CMD_ASK\n```json\n{schema}\n```\n")
    assert ["odd name: 'a b'" in problem for problem in made.problems] == [True]
    assert made.fields == {} and made.faults({}) == []

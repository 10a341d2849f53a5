from __future__ import annotations

from typing import Any

import pytest

from handbill.work.contradictions import conflict

STRING, NUMBER, INTEGER = {"type": "string"}, {"type": "number"}, {"type": "integer"}


@pytest.mark.parametrize(
    "schemas, why",
    [
        ([STRING, INTEGER], "string and integer"),
        ([STRING, NUMBER], "string and number"),
        ([NUMBER, INTEGER], ""),
        ([{"type": ["string", "null"]}, {"type": ["null", "integer"]}], ""),
        ([STRING, {}], ""),
        ([{"enum": ["a", "b"]}, {"enum": ["b", "c"]}], ""),
        ([{"enum": ["a"]}, {"enum": ["b"]}], "no value is allowed"),
        ([{"const": 1}, STRING], "no value is allowed"),
        ([{"const": "x"}, {"enum": ["x", "y"]}, STRING], ""),
        ([{"enum": ["a", "bbb"]}, {"type": "string", "minLength": 4}], "no value is allowed"),
        ([{"type": "string", "minLength": 5}, {"type": "string", "maxLength": 4}], "minLength 5 and maxLength 4"),
        ([{"type": "string", "minLength": 5}, {"type": "string", "maxLength": 5}], ""),
        ([{"type": "array", "minItems": 3, "maxItems": 2}], "minItems 3 and maxItems 2"),
        ([{"type": "integer", "minimum": 3}, {"type": "number", "maximum": 2}], "minimum 3 and maximum 2"),
        ([{"minLength": 5}, {"maxLength": 4}], ""),  # something that is not a string meets both
        (
            [
                {"type": "object", "required": ["x"], "properties": {"x": STRING}},
                {"type": "object", "properties": {"x": INTEGER}},
            ],
            "x: ",
        ),
        ([{"type": "object", "properties": {"x": STRING}}, {"type": "object", "properties": {"x": INTEGER}}], ""),
        ([{"type": 7}, {"enum": "x"}, {"required": "y", "type": "object"}], ""),  # not a schema: reported elsewhere
    ],
)
def test_what_no_value_can_meet(schemas: list[dict[str, Any]], why: str) -> None:
    found = conflict([(f"CMD_{number}", schema) for number, schema in enumerate(schemas)])
    assert why in found if why else found == ""

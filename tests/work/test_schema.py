from __future__ import annotations

import pytest

from handbill.work.schema import problems, unknown

PERSON = {
    "type": "object", "required": ["name"], "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "minLength": 1}, "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
        "mood": {"enum": ["good", None, 0]}, "kind": {"const": True}, "note": {"type": ["string", "null"]},
        "home": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        "id": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "map": {"type": "object", "additionalProperties": {"type": "number"}},
    },
}  # fmt: skip


@pytest.mark.parametrize(
    "value, expected",
    [
        ({"name": "a"}, []),
        ({"name": "a", "age": 3, "tags": ["x"], "mood": None, "kind": True, "note": None, "id": 1, "map": {"a": 1.5}}, []),
        ({}, ["name is missing"]),
        ({"name": ""}, ["name must have at least 1 character, but has 0"]),
        ({"name": 3}, ["name must be a string, not 3"]),
        ({"name": 10**9000}, ["name must be a string, not a number of hundreds of digits"]),
        ({"name": "a", "age": True}, ["age must be an integer, not true"]),
        ({"name": "a", "age": 3.0}, []),
        ({"name": "a", "age": -1}, ["age must be at least 0, not -1"]),
        ({"name": "a", "age": 151}, ["age must be at most 150, not 151"]),
        ({"name": "a", "age": -(10**9000)}, ["age must be at least 0, not a number of hundreds of digits"]),
        ({"name": "a", "age": 10**9000}, ["age must be at most 150, not a number of hundreds of digits"]),
        ({"name": "a", "tags": []}, ["tags must have at least 1 entry, but has 0"]),
        ({"name": "a", "tags": ["x", 1]}, ["tags[1] must be a string, not 1"]),
        ({"name": "a", "mood": "bad"}, ['mood must be one of "good", null, 0, not "bad"']),
        ({"name": "a", "mood": False}, ['mood must be one of "good", null, 0, not false']),  # false is not 0
        ({"name": "a", "kind": 1}, ["kind must be true, not 1"]),
        ({"name": "a", "note": []}, ["note must be a string or null, not an array"]),
        ({"name": "a", "home": {}}, ["home.city is missing"]),
        ({"name": "a", "home": {"city": 1}}, ["home.city must be a string, not 1"]),
        ({"name": "a", "id": []}, ["id must be a string, not an array"]),
        ({"name": "a", "map": {"b": "c"}}, ['map.b must be a number, not "c"']),
        ([], ["the value must be an object, not an array"]),
    ],
)  # fmt: skip
def test_problems(value: object, expected: list[str]) -> None:
    assert problems(value, PERSON) == expected


def test_an_unknown_field_is_named_with_those_there_are() -> None:
    (line,) = problems({"name": "a", "nmae": 1}, PERSON)
    assert line.startswith("nmae is unknown; the known fields are name, age")


def test_keywords_that_are_not_checked_are_reported() -> None:
    assert unknown({"type": "object", "properties": {"a": {"pattern": "^x"}, "b": {"items": {"not": {}}}}}) == [
        "a.pattern", "b.items.not",
    ]  # fmt: skip
    assert unknown(PERSON) == [] and unknown(True) == []

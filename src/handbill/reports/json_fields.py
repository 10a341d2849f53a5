"""The fields of a JSON schema as readable rows: name, type, whether required, and meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    from handbill.work.proof import Proof
    from handbill.work.schema import Schema


class FieldRow(NamedTuple):
    name: str
    kind: str
    required: bool
    about: str

    @property
    def described(self) -> str:
        return f"{self.kind}{', required' if self.required else ''}" + (f": {self.about}" if self.about else "")


def rows_of(schema: Schema) -> list[FieldRow]:
    required = schema.get("required", ())
    properties: dict[str, Any] = schema.get("properties", {})
    return [
        FieldRow(name, kind_of(inner), name in required, str(inner.get("description", "")))
        for name, inner in properties.items()
    ]


def proof_rows(proof: Proof) -> list[FieldRow]:
    """Return the fields of a proof. A declared field that no page describes may have any value."""
    # Anybody may have written the schemas.
    properties = [schema.get("properties") for _, schema in proof.schemas]
    kinds = {
        name: kind_of(inner)
        for fields in properties if isinstance(fields, dict)
        for name, inner in fields.items() if isinstance(inner, dict)
    }  # fmt: skip
    return [
        FieldRow(name, kinds.get(name, "any value"), field.required, field.about)
        for name, field in proof.fields.items()
    ]


def kind_of(schema: Schema) -> str:
    """Return a readable type, such as `string`, `list of strings` or `"a" or "b"`."""
    if isinstance(schema.get("enum"), list):
        return " or ".join(f'"{one}"' if isinstance(one, str) else str(one) for one in schema["enum"])
    kinds = schema.get("type")
    names = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) and kinds else ["any value"]
    names = [name for name in names if name != "integer" or "number" not in names]
    items = schema.get("items")
    if names == ["array"]:
        return f"list of {kind_of(items)}s" if isinstance(items, dict) and "type" in items else "list"
    return " or ".join(_WORDS.get(str(name), str(name)) for name in names)


_WORDS = {"array": "list", "boolean": "true or false", "integer": "whole number"}

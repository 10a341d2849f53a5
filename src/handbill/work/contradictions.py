"""Find schemas that exclude each other: pages of one phase ask for the same field differently."""

from __future__ import annotations

from handbill.work.schema import problems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Asked = Sequence[tuple[str, dict[str, Any]]]  # (page, its schema of the field)

_ALL = frozenset({"object", "array", "string", "boolean", "null", "integer", "number"})
_LIMITS = (("minLength", "maxLength", "string"), ("minItems", "maxItems", "array"), ("minimum", "maximum", "number"))


def conflict(asked: Asked) -> str:
    """Return why no value can satisfy all of these schemas; "" if one may."""
    pages = " and ".join(dict.fromkeys(f"§{page}" for page, _ in asked))
    kinds = _kinds([schema for _, schema in asked])
    if not kinds:
        wanted = " and ".join(dict.fromkeys(_written(schema) for _, schema in asked if "type" in schema))
        return f"{pages}: it cannot be {wanted} at the same time"
    values = next((_values(schema) for _, schema in asked if _values(schema) is not None), None)
    if values is not None:
        fits = any(not any(problems(value, schema) for _, schema in asked) for value in values)
        return "" if fits else f"{pages}: no value is allowed by all of them"
    for low, high, kind in _LIMITS:
        least = max((schema[low] for _, schema in asked if _is_number(schema.get(low))), default=None)
        most = min((schema[high] for _, schema in asked if _is_number(schema.get(high))), default=None)
        only = kinds <= {kind, "integer"} if kind == "number" else kinds == {kind}
        if only and least is not None and most is not None and least > most:
            return f"{pages}: {low} {least} and {high} {most} exclude each other"
    return _inside(asked) if kinds == {"object"} else ""


def _inside(asked: Asked) -> str:
    required = {name for _, schema in asked for name in _listed(schema.get("required")) if isinstance(name, str)}
    for name in sorted(required):
        inner = [(page, _property(schema, name)) for page, schema in asked]
        found = conflict([(page, schema) for page, schema in inner if schema])
        if found:
            return f"{name}: {found}"
    return ""


def _property(schema: dict[str, Any], name: str) -> dict[str, Any]:
    properties = schema.get("properties")
    found = properties.get(name) if isinstance(properties, dict) else None
    return found if isinstance(found, dict) else {}


def _kinds(schemas: list[dict[str, Any]]) -> set[str]:
    found = set(_ALL)
    for schema in schemas:
        named = schema.get("type")
        allowed = {named} if isinstance(named, str) else {one for one in _listed(named) if isinstance(one, str)}
        if allowed:
            found &= allowed | ({"integer"} if "number" in allowed else set())
    return found


def _values(schema: dict[str, Any]) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    return schema["enum"] if isinstance(schema.get("enum"), list) else None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _written(schema: dict[str, Any]) -> str:
    named = schema["type"]
    return " or ".join(map(str, named)) if isinstance(named, list) else str(named)

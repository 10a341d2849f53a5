"""The part of JSON Schema used for proofs and parameters. Other keywords are reported, not
ignored."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Schema = dict[str, Any]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,), "null": (type(None),),
    "integer": (int,), "number": (int, float),
}  # fmt: skip
_SAYS_NOTHING = {"$schema", "$id", "$comment", "title", "description", "default", "examples", "format"}
_KNOWN = _SAYS_NOTHING | {
    "type", "enum", "const", "required", "properties", "additionalProperties", "items", "minLength", "maxLength",
    "minItems", "maxItems", "minimum", "maximum", "anyOf",
}  # fmt: skip
_LIMITS = (
    ("minLength", str, len, "at least", ("character", "characters")),
    ("maxLength", str, len, "at most", ("character", "characters")),
    ("minItems", list, len, "at least", ("entry", "entries")),
    ("maxItems", list, len, "at most", ("entry", "entries")),
)  # fmt: skip


_MOST_NODES, _MOST_DEPTH = 500, 20


def unknown(schema: Any, where: str = "") -> list[str]:
    """Return the keywords that are not checked."""
    if not isinstance(schema, dict):
        return []
    found = [f"{where}{name}" for name in schema if name not in _KNOWN]
    found += [
        f"{where}{name} (not a list)"
        for name in ("required", "enum", "anyOf")
        if not isinstance(schema.get(name, []), list)
    ]
    for choice in _listed(schema, "anyOf"):
        found += unknown(choice, where)
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        found += unknown(inner, f"{where}{name}.")
    for name in ("items", "additionalProperties"):
        found += unknown(schema.get(name), f"{where}{name}.")
    return found


def malformed(schema: Any) -> str:
    """Return why an untrusted schema cannot be used; "" if it can."""
    waiting, nodes = [(schema, 0)], 0
    while waiting:
        node, depth = waiting.pop()
        nodes += 1
        if nodes > _MOST_NODES or depth > _MOST_DEPTH:
            return f"has more than {_MOST_NODES} parts, or is nested deeper than {_MOST_DEPTH}"
        if not isinstance(node, dict):
            continue
        for name in ("type", "required"):
            words = node.get(name, [])
            if not isinstance(words, str) and not all(isinstance(one, str) for one in _as_list(words)):
                return f"has a {name} that is not text"
        if len(_as_list(node.get("enum"))) > _MOST_NODES or len(_as_list(node.get("required"))) > _MOST_NODES:
            return f"lists more than {_MOST_NODES} values"
        inner = node.get("properties")
        waiting += [(one, depth + 1) for one in (inner.values() if isinstance(inner, dict) else ())]
        waiting += [(node[name], depth + 1) for name in ("items", "additionalProperties") if name in node]
        waiting += [(one, depth + 1) for one in _as_list(node.get("anyOf"))]
    return ""


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def problems(value: Any, schema: Any, where: str = "") -> list[str]:
    """Return every difference between a value and its schema; each names the field."""
    if not isinstance(schema, dict):
        return []
    name = where or "the value"
    wanted = schema.get("type")
    kinds = [wanted] if isinstance(wanted, str) else wanted if isinstance(wanted, list) else []
    if kinds and not any(_is(value, kind) for kind in kinds):
        return [f"{name} must be {' or '.join(_article(kind) for kind in kinds)}, not {_shown(value)}"]
    found = []
    if isinstance(schema.get("enum"), list) and not any(_same(value, one) for one in schema["enum"]):
        found.append(f"{name} must be one of {', '.join(map(_shown, schema['enum']))}, not {_shown(value)}")
    if "const" in schema and not _same(value, schema["const"]):
        found.append(f"{name} must be {_shown(schema['const'])}, not {_shown(value)}")
    found += _limits(value, schema, name)
    choices = [problems(value, one, where) for one in _listed(schema, "anyOf")]
    if choices and all(choices):
        found += choices[0]
    if isinstance(value, dict):
        found += _in_object(value, schema, where)
    if isinstance(value, list):
        for index, one in enumerate(value):
            found += problems(one, schema.get("items"), f"{where}[{index}]")
    return found


def _listed(schema: Schema, name: str) -> list[Any]:
    found = schema.get(name)
    return found if isinstance(found, list) else []


def _in_object(value: dict[str, Any], schema: Schema, where: str) -> list[str]:
    prefix = f"{where}." if where else ""
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    found = [f"{prefix}{name} is missing" for name in _listed(schema, "required") if name not in value]
    others = schema.get("additionalProperties", True)
    for name, inner in value.items():
        if name in properties:
            found += problems(inner, properties[name], f"{prefix}{name}")
        elif others is False:
            found.append(f"{prefix}{name} is unknown; the known fields are {', '.join(properties)}")
        else:
            found += problems(inner, others, f"{prefix}{name}")
    return found


def _limits(value: Any, schema: Schema, name: str) -> list[str]:
    found = []
    for keyword, kind, measure, words, (one, several) in _LIMITS:
        limit = schema.get(keyword)
        if isinstance(limit, int) and isinstance(value, kind):
            size = measure(value)
            if size < limit if words == "at least" else size > limit:
                found.append(f"{name} must have {words} {limit} {one if limit == 1 else several}, but has {size}")
    if _is(value, "number"):
        if isinstance(schema.get("minimum"), (int, float)) and value < schema["minimum"]:
            found.append(f"{name} must be at least {schema['minimum']}, not {_said(value)}")
        if isinstance(schema.get("maximum"), (int, float)) and value > schema["maximum"]:
            found.append(f"{name} must be at most {schema['maximum']}, not {_said(value)}")
    return found


def _said(number: float) -> str:
    """Return the number as text. Python refuses to write an integer of thousands of digits."""
    return str(number) if abs(number) < 1e300 else "a number of hundreds of digits"


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"  # Python counts booleans as numbers
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES.get(kind, ()))


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _article(kind: str) -> str:
    return kind if kind == "null" else f"an {kind}" if kind[:1] in "aeio" else f"a {kind}"


def _shown(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "an array"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    text = f'"{value}"' if isinstance(value, str) else _said(value) if isinstance(value, int) else str(value)
    return text if len(text) <= 60 else f'{text[:57]}…"'

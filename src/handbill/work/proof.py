"""Proof that a phase is done: its declared fields, and the fields that its steps' pages require."""

from __future__ import annotations

from handbill.text.blocks import one_line
from handbill.text.markdown import block_under
from handbill.work import schema as json_schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any

BLANK = "_"  # the blank that a form leaves for an answer


class Field:
    __slots__ = ("about", "name", "required")

    def __init__(self, name: str, about: str = "", required: bool = True) -> None:
        self.name = name
        self.about = about
        self.required = required


class Proof:
    """The fields and schemas that a phase requires before it ends."""

    __slots__ = ("fields", "problems", "schemas")

    def __init__(self) -> None:
        self.fields: dict[str, Field] = {}
        self.schemas: list[tuple[str, Any]] = []  # (page, its schema)
        self.problems: list[str] = []  # faults of pages whose schema cannot be used

    def declare(self, name: str) -> None:
        name = one_line(name)
        self.fields[name] = Field(name)

    def add_page(self, name: str, path: str, text: str, loads: Callable[[str], Any]) -> None:
        """Add a step's own proof: the JSON schema under `## PROOF FOR §CMD_X`."""
        block = block_under(text, f"PROOF FOR §{name}")
        if block is None:
            return
        try:
            schema = loads(block.text)
        except (ValueError, RecursionError) as error:
            line = block.line + block.text.count("\n", 0, getattr(error, "pos", 0))
            self.problems.append(
                f"{path}, line {line}: the proof's schema is {getattr(error, 'why', error)}; it is not checked"
            )
            return
        if not isinstance(schema, dict):
            self.problems.append(f"{path}, line {block.line}: the proof's schema must be an object; it is not checked")
            return
        wrong = json_schema.malformed(schema) or _odd_name(schema)
        if wrong:
            self.problems.append(f"{path}, line {block.line}: the proof's schema {wrong}; it is not checked")
            return
        self.problems += [f"{path}: {word} is not checked" for word in json_schema.unknown(schema)]
        self.schemas.append((name, {**schema, "additionalProperties": True}))
        properties = schema.get("properties")
        required = schema.get("required")
        required = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        for field, inner in properties.items() if isinstance(properties, dict) else ():
            about = one_line(inner.get("description", "")) if isinstance(inner, dict) else ""
            known = self.fields.get(field)
            must = field in required or (known is not None and known.required)
            self.fields[field] = Field(field, (known.about if known else "") or about, must)
        for field in required:
            self.fields.setdefault(field, Field(field))

    @property
    def required(self) -> list[str]:
        return [name for name, field in self.fields.items() if field.required]

    def missing(self, given: dict[str, Any]) -> list[str]:
        return [name for name in self.required if _is_empty(given.get(name))]

    def contradictions(self) -> dict[str, str]:
        """Map each required field that no value can satisfy to the contradiction between its
        pages."""
        from handbill.work.contradictions import conflict

        found: dict[str, str] = {}
        for name in self.required:
            asked = [(page, schema["properties"][name]) for page, schema in self.schemas if _defines(schema, name)]
            why = conflict(asked) if asked else ""
            if why:
                found[name] = f"{name} cannot be given: {why}"
        return found

    def faults(self, given: dict[str, Any], without: Collection[str] = ()) -> list[str]:
        """Return the faults of a proof, field by field; [] if it is valid. `without`: fields to
        ignore."""
        missing = [name for name in self.missing(given) if name not in without]
        given = {name: value for name, value in given.items() if name not in without}
        found = [f"{name} is missing" if name not in given else f"{name} is empty" for name in missing]
        for page, schema in self.schemas:
            for problem in json_schema.problems(given, schema):
                if _field_of(problem) not in (*missing, *without):
                    found.append(f"{problem} (§{page})")
        return found


def _odd_name(schema: dict[str, Any]) -> str:
    """Return the fault of a field name that could look like a line of ours.

    The agent sees these names among our own text.
    """
    listed = [schema.get(key) for key in ("properties", "required")]
    names = [name for names in listed if isinstance(names, (dict, list)) for name in names]
    odd = [name for name in names if isinstance(name, str) and (len(name) > 300 or not name.isprintable())]
    return f"has a field with an odd name: {one_line(odd[0], 60)!r}" if odd else ""


def _defines(schema: dict[str, Any], name: str) -> bool:
    properties = schema.get("properties")
    return isinstance(properties, dict) and isinstance(properties.get(name), dict)


def _field_of(problem: str) -> str:
    """Return the field that a problem begins with: `a`, `a.b` or `a[0]`."""
    return problem.partition(" ")[0].partition(".")[0].partition("[")[0]


def _is_empty(value: Any) -> bool:
    """Whether a value is missing: `false` and 0 are values; a form that was not filled in is
    not."""
    if isinstance(value, str):
        return not value.replace(BLANK, "").strip()
    return value is None

"""The YAML frontmatter of a page, read by PyYAML; imported only where it is needed.

Hooks run without site-packages: `engine install` records the folder that contains PyYAML.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 1 << 15  # characters: frontmatter is a few lines, and reading YAML is slow


_MERGE = "tag:yaml.org,2002:merge"


class BadHead(ValueError):
    """Why a page's frontmatter cannot be used. Names the line."""


def split(text: str) -> tuple[str, str]:
    """Return (frontmatter, rest) of a page that begins with `---`."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        raise BadHead("it does not begin with `---`, so it has no YAML frontmatter")
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            return "\n".join(lines[1:number]), "\n".join(lines[number + 1 :]).lstrip("\n")
    raise BadHead("its frontmatter is never closed: a second line `---` is missing")


_DEEPEST = 40  # PyYAML ends the whole process on deep nesting


def _refuse_deep(head: str, yaml: Any, loader: Any) -> None:
    """Reject deep nesting. Parser events need no stack, whatever the depth; their construction
    does."""
    depth = 0
    for event in yaml.parse(head, loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise BadHead("its frontmatter is nested too deep")


def parse(text: str) -> tuple[dict[str, Any], str]:
    """Return (fields, rest of the page)."""
    head, rest = split(text)
    if len(head) > MOST:
        raise BadHead(f"its frontmatter has {len(head):,} characters, more than the {MOST:,} allowed")
    try:
        import yaml
    except ImportError as error:
        raise BadHead("PyYAML, which reads frontmatter, is missing; run `engine install` again") from error
    try:
        loader = _loader(yaml)
        _refuse_deep(head, yaml, loader)
        found = yaml.load(head, loader)
    except BadHead:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 2}, column {mark.column + 1}: " if mark is not None else ""
        raise BadHead(f"{where}{error.problem or error.context}") from None
    except yaml.YAMLError:
        raise BadHead("its frontmatter contains a character that YAML does not allow") from None
    except RecursionError:
        raise BadHead("its frontmatter is nested too deep") from None
    except (ArithmeticError, ValueError):  # the scanner in Python raises these for "\UFFFFFFFF"
        raise BadHead("its frontmatter contains a number that YAML does not allow") from None
    if not isinstance(found, dict):
        raise BadHead("its frontmatter is not a list of `field: value` lines")
    return found, rest


def _loader(yaml: Any) -> Any:
    """Return the safe loader, in C if available, which also rejects duplicate keys."""
    fast = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Strict(fast):  # type: ignore[misc, valid-type]
        pass

    def refuse(why: str, node: Any) -> None:
        raise yaml.constructor.ConstructorError(None, None, why, node.start_mark)

    def refuse_merges(loader: Any, node: Any) -> None:
        """Reject merges in every kind of mapping: a few lines of them could fill the memory."""
        for key, _ in node.value:
            if key.tag == _MERGE:
                refuse("`<<` is not supported: write the fields out", key)

    def mapping(loader: Any, node: Any) -> Any:
        if not isinstance(node, yaml.MappingNode):
            refuse("expected `field: value` lines here", node)
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                refuse("a field's name must be a plain word", key)
            if key.value in seen:
                refuse(f"the field {key.value!r} occurs twice", key)
            seen.add(key.value)
        refuse_merges(loader, node)
        return dict(loader.construct_pairs(node, deep=True))

    def construct(loader: Any, node: Any, deep: bool = False) -> Any:
        try:
            return fast.construct_object(loader, node, deep)
        # `!!int ""`, 2026-13-40
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            if not isinstance(node.value, str):  # aliases can make its full text fill the memory
                refuse(f"this {node.id} cannot be read", node)
            refuse(f"the value {' '.join(node.value.split())[:40]!r} cannot be read", node)

    Strict.construct_object, Strict.flatten_mapping = construct, refuse_merges
    Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    return Strict

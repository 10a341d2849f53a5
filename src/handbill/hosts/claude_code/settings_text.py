"""Add and remove our hooks in the text of a settings file, without other changes; pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from handbill.hosts.claude_code.registration import MARK, loaded
from handbill.text import json_edit
from handbill.text.json_tree import BOM, GAP, Item, Value, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

Group = dict[str, Any]  # an entry of one event's array: a matcher, and its handlers


class _Ours(NamedTuple):
    event: str
    group: Item
    # the path to remove: the group, or our handler among others
    path: tuple[tuple[Value, int], ...]
    complete: bool  # the group has only our handlers, and the client reads it


def added(text: str | None, wanted: dict[str, Group]) -> str:
    """Return the text with these groups in place of our old ones. None: no file exists yet."""
    if text is None or not text.removeprefix(BOM).strip(GAP):
        made = json.dumps({"hooks": {event: [group] for event, group in wanted.items()}}, indent=2, ensure_ascii=False)
        return f"{made}\n" if text is None else text + made
    for event, group in wanted.items():
        text = _with_group(text, event, group)
    while (stale := next(_not_kept(text, wanted), None)) is not None:
        text = json_edit.remove(text, stale.path) or text
    return text


def removed(text: str) -> str | None:
    """Return the text without our hooks, or None if we made the file."""
    while (ours := next(_ours(parse(text), text), None)) is not None:
        rest = json_edit.remove(text, ours.path)
        if rest is None:
            before = text[: text.index("{")]
            return None if not before and text.endswith("\n") else before
        text = rest
    return text


def _with_group(text: str, event: str, group: Group) -> str:
    root = parse(text)
    style = json_edit.Style(text, root)
    for ours in _ours(root, text):
        if ours.event == event and ours.complete:
            same = loaded(text, ours.group.value) == group
            return text if same else json_edit.replace(text, ours.group, style, _value(group))
    hooks = root.member("hooks")
    if hooks is None:
        return json_edit.insert(text, root, style, _member("hooks", {event: [group]}))
    groups = hooks.member(event)
    if groups is None:
        return json_edit.insert(text, hooks, style, _member(event, [group]))
    return json_edit.insert(text, groups, style, _value(group))


def _not_kept(text: str, wanted: dict[str, Group]) -> Iterator[_Ours]:
    """Yield the remains of an earlier installation.

    These are other events, a second group, or one of our handlers among others.
    """
    kept: set[str] = set()
    for ours in _ours(parse(text), text):
        if ours.complete and ours.event in wanted and ours.event not in kept:
            kept.add(ours.event)
        else:
            yield ours


def _ours(root: Value, text: str) -> Iterator[_Ours]:
    """Yield our groups and handlers.

    They may also be below a duplicate key, of which the client uses only the last.
    """
    for place, member in enumerate(root.items):
        if member.key != "hooks" or member.value.kind != "{":
            continue
        for number, event in enumerate(member.value.items):
            counts = member.value is root.member("hooks") and event.value is member.value.member(event.key)
            path = ((root, place), (member.value, number))
            for index, group in enumerate(event.value.items if event.value.kind == "[" else ()):
                found = _in_group(event.key, group, (*path, (event.value, index)), text)
                if found is not None:
                    yield found._replace(complete=found.complete and counts)


def _in_group(event: str, group: Item, path: tuple[tuple[Value, int], ...], text: str) -> _Ours | None:
    handlers = group.value.member("hooks")
    if handlers is None or handlers.kind != "[":
        return None
    ours = [index for index, one in enumerate(handlers.items) if _is_ours(one.value, text)]
    if not ours:
        return None
    if len(ours) == len(handlers.items):
        return _Ours(event, group, path, True)
    inner = next(index for index, item in enumerate(group.value.items) if item.value is handlers)
    return _Ours(event, group, (*path, (group.value, inner), (handlers, ours[0])), False)


def _is_ours(handler: Value, text: str) -> bool:
    args = handler.member("args")
    words = [handler.member("command"), *(item.value for item in (args.items if args and args.kind == "[" else ()))]
    strings = [word for word in words if word is not None and text[word.start] == '"']
    return any(MARK in loaded(text, word) for word in strings)


def _member(key: str, value: object) -> json_edit.Render:
    return lambda indent, spaced: f"{_dumped(key, None, spaced)}:{' ' * spaced}{_dumped(value, indent, spaced)}"


def _value(value: object) -> json_edit.Render:
    return lambda indent, spaced: _dumped(value, indent, spaced)


def _dumped(value: object, indent: str | None, spaced: bool) -> str:
    gap = " " * spaced
    comma = "," if indent is not None else f",{gap}"
    return json.dumps(value, indent=indent, ensure_ascii=False, separators=(comma, f":{gap}"))

"""Locate each value of a JSON text, so that one can be changed without changing any other byte.

This parser is as strict as JSON.parse of a JavaScript client: it rejects the same texts, with the
position of the error.
"""

from __future__ import annotations

BOM = "\ufeff"
GAP = " \t\n\r"
_CLOSING = {"{": "}", "[": "]"}
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_HEX = frozenset("0123456789abcdefABCDEF")


class NotJson(ValueError):
    def __init__(self, why: str, text: str, at: int) -> None:
        self.why = why
        self.line = text.count("\n", 0, at) + 1
        self.column = at - text.rfind("\n", 0, at)
        super().__init__(f"line {self.line}, column {self.column}: {why}")


class Value:
    """A value. `kind` is "{", "[", or "" for a value without items. `end` is the position after
    it."""

    __slots__ = ("end", "items", "kind", "start")

    def __init__(self, kind: str, start: int, end: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.items: list[Item] = []

    def member(self, key: str) -> Value | None:
        """Return the value of a key; the last one if it occurs several times, as in every
        parser."""
        return next((item.value for item in reversed(self.items) if item.key == key), None)


class Item:
    """An element of an array, or a member of an object. `start` is the position of its key."""

    __slots__ = ("key", "start", "value")

    def __init__(self, key: str, start: int, value: Value) -> None:
        self.key = key
        self.start = start
        self.value = value


def parse(text: str) -> Value:
    root = value = _begin(text, after_gap(text, text.startswith(BOM)))
    boxes: list[Value] = []
    while boxes or not value.end:
        if value.end:  # it is complete, so its box continues or ends
            box = boxes[-1]
            at = after_gap(text, value.end)
            if text[at : at + 1] == ",":
                value = _next(text, after_gap(text, at + 1), box)
                continue
            if text[at : at + 1] != _CLOSING[box.kind]:
                raise NotJson(_unexpected(text, at, f"a comma or {_CLOSING[box.kind]}"), text, at)
            value = boxes.pop()
        else:
            at = after_gap(text, value.start + 1)
            if text[at : at + 1] != _CLOSING[value.kind]:
                boxes.append(value)
                value = _next(text, at, value)
                continue
        value.end = at + 1
    at = after_gap(text, root.end)
    if at < len(text):
        raise NotJson(_unexpected(text, at, "the end of the file"), text, at)
    return root


def after_gap(text: str, at: int) -> int:
    size = len(text)
    while at < size and text[at] in GAP:
        at += 1
    return at


def without_gaps(text: str) -> str:
    """Return a text that `parse` accepts without the white space between its values."""
    pieces, at = [], 0
    while (quote := text.find('"', at)) >= 0:
        end = _after_string(text, quote)
        pieces += ["".join(text[at:quote].split()), text[quote:end]]
        at = end
    return "".join([*pieces, *text[at:].split()]).removeprefix(BOM)


def _next(text: str, at: int, box: Value) -> Value:
    """Return the next item of a box, which begins at `at`."""
    start, key = at, ""
    if box.kind == "{":
        if text[at : at + 1] != '"':
            raise NotJson(_unexpected(text, at, "a key in double quotes"), text, at)
        end = _after_string(text, at)
        key = _plain(text[at + 1 : end - 1])
        at = after_gap(text, end)
        if text[at : at + 1] != ":":
            raise NotJson(_unexpected(text, at, "a colon"), text, at)
        at = after_gap(text, at + 1)
    value = _begin(text, at)
    box.items.append(Item(key, start, value))
    return value


def _begin(text: str, at: int) -> Value:
    """Return a value without items, or the beginning of one with items, which has no end yet."""
    char = text[at : at + 1]
    if char in _CLOSING:
        return Value(char, at, 0)
    if char == '"':
        return Value("", at, _after_string(text, at))
    for word in ("true", "false", "null"):
        if text.startswith(word, at):
            return Value("", at, at + len(word))
    if char and char in "-0123456789":
        return Value("", at, _after_number(text, at))
    raise NotJson(_unexpected(text, at, "a value"), text, at)


def _unexpected(text: str, at: int, wanted: str) -> str:
    if text[at : at + 2] in ("//", "/*"):
        return "a comment, which JSON does not have"
    if text[at : at + 1] in ("}", "]") and text[:at].rstrip(GAP).endswith(","):
        return f"a comma before {text[at]}, which JSON does not allow"
    return f"expected {wanted}" + ("" if at < len(text) else ", but the file ends")


def _after_string(text: str, start: int) -> int:
    """Return the place behind a string. Each part is found once: a file may be nothing but escapes."""
    at = start + 1
    while at < len(text):
        char = text[at]
        if char == '"':
            return at + 1
        if char == "\\":
            at = _after_escape(text, at)
        elif char < " ":
            raise NotJson("a line break or another control character in a string", text, at)
        else:
            at += 1
    raise NotJson("a string without an end", text, start)


def _after_escape(text: str, slash: int) -> int:
    letter = text[slash + 1 : slash + 2]
    digits = text[slash + 2 : slash + 6]
    if letter == "u" and len(digits) == 4 and set(digits) <= _HEX:
        return slash + 6
    if letter not in _ESCAPED:
        raise NotJson(f"an escape that JSON does not have (\\{letter})", text, slash)
    return slash + 2


def _after_number(text: str, start: int) -> int:
    at = start + (text[start] == "-")
    at = at + 1 if text[at : at + 1] == "0" else _after_digits(text, at)
    if text[at : at + 1] == ".":
        at = _after_digits(text, at + 1)
    if text[at : at + 1] in ("e", "E"):
        at += 1
        at = _after_digits(text, at + (text[at : at + 1] in ("+", "-")))
    return at


def _after_digits(text: str, start: int) -> int:
    at = start
    while "0" <= text[at : at + 1] <= "9":
        at += 1
    if at == start:
        raise NotJson(_unexpected(text, at, "a digit"), text, at)
    return at


def _plain(text: str) -> str:
    """Return the meaning of a string, from the text between its quotes."""
    if "\\" not in text:
        return text
    pieces, at = [], 0
    while (slash := text.find("\\", at)) >= 0:
        pieces.append(text[at:slash])
        if text[slash + 1] == "u":
            pieces.append(chr(int(text[slash + 2 : slash + 6], 16)))
            at = slash + 6
        else:
            pieces.append(_ESCAPED[text[slash + 1]])
            at = slash + 2
    # Two escapes may represent one character.
    return "".join([*pieces, text[at:]]).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

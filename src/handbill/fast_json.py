"""JSON without importing `json` (which drags in `re` and `enum`, more than the rest of a hook).

The C scanner and encoder behind `json` are used directly; where this interpreter's differ from
what we know, `json` itself answers. A property test holds both to the same results.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Context:
    """What the C scanner asks of `json.JSONDecoder`."""

    strict = False  # a raw control character in a host's string is no reason to lose an event
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}.__getitem__


def _unknown(value: object) -> Any:
    raise TypeError(f"not JSON: {type(value).__name__}")


def _build() -> tuple[Callable[[str], Any], Callable[[Any], str]]:
    from _json import encode_basestring, make_encoder, make_scanner

    scan: Any = make_scanner(_Context)  # type: ignore[arg-type]  # any object with these attributes will do
    # markers {}: a cycle raises instead of recursing for ever
    encode = make_encoder({}, _unknown, encode_basestring, None, ":", ",", False, False, True)
    if scan('{"a":[1]}', 0) != ({"a": [1]}, 9) or "".join(encode({"a": [1]}, 0)) != '{"a":[1]}':
        raise ImportError("unexpected _json")

    def loads(text: str) -> Any:
        start, size = 0, len(text)
        while start < size and text[start] in " \t\n\r":
            start += 1
        try:
            value, end = scan(text, start)
        except (StopIteration, SystemError, ValueError):  # SystemError: its error is in `json`, which is not imported
            return _explained(text)
        if text[end:].strip(" \t\n\r"):
            raise ValueError(f"extra text after the JSON value at character {end}")
        return value

    def dumps(value: Any) -> str:
        # the C encoder handles containers; a bare scalar must be wrapped and unwrapped
        if isinstance(value, (dict, list, tuple)):
            return "".join(encode(value, 0))
        return "".join(encode([value], 0))[1:-1]

    return loads, dumps


def _explained(text: str) -> Any:
    """What is wrong, and where."""
    import json

    try:
        return json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        failure = ValueError(f"not JSON: {error.msg}: line {error.lineno} column {error.colno}")
        failure.why = f"not JSON: {error.msg}"  # type: ignore[attr-defined]  # without the place
        failure.pos = error.pos  # type: ignore[attr-defined]  # callers that name the line in a larger file
        raise failure from None


def _fallback() -> tuple[Callable[[str], Any], Callable[[Any], str]]:
    import json

    def dumps(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    return _explained, dumps


try:
    loads, dumps = _build()
except (ImportError, TypeError, ValueError):
    loads, dumps = _fallback()

"""JSON without importing `json`, which imports `re` and `enum` and costs more than the rest of a
hook.

The C scanner and encoder behind `json` are used directly. Where this interpreter's differ from the
expected ones, `json` itself is used. A property test requires both to give the same results.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Context:
    """The attributes that the C scanner reads from a `json.JSONDecoder`."""

    strict = False  # an event with a raw control character in a string must not be lost
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}.__getitem__


def _unknown(value: object) -> Any:
    raise TypeError(f"not JSON: {type(value).__name__}")


def _build() -> tuple[Callable[[str], Any], Callable[[Any], str]]:
    from _json import encode_basestring, make_encoder, make_scanner

    # any object with these attributes works
    scan: Any = make_scanner(_Context)  # type: ignore[arg-type]
    # markers {}: a cycle raises an error instead of endless recursion
    encode = make_encoder({}, _unknown, encode_basestring, None, ":", ",", False, False, True)
    if scan('{"a":[1]}', 0) != ({"a": [1]}, 9) or "".join(encode({"a": [1]}, 0)) != '{"a":[1]}':
        raise ImportError("unexpected _json")

    def loads(text: str) -> Any:
        start, size = 0, len(text)
        while start < size and text[start] in " \t\n\r":
            start += 1
        try:
            value, end = scan(text, start)
        # SystemError: the scanner's error class is in `json`, which is not imported
        except (StopIteration, SystemError, ValueError):
            return _explained(text)
        if text[end:].strip(" \t\n\r"):
            raise ValueError(f"extra text after the JSON value at character {end}")
        return value

    def dumps(value: Any) -> str:
        # The C encoder needs a container, so a bare scalar is wrapped and unwrapped.
        if isinstance(value, (dict, list, tuple)):
            return "".join(encode(value, 0))
        return "".join(encode([value], 0))[1:-1]

    return loads, dumps


def _explained(text: str) -> Any:
    """Parse the text with `json`, whose error names the fault and its place."""
    import json

    try:
        return json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        failure = ValueError(f"not JSON: {error.msg}: line {error.lineno} column {error.colno}")
        failure.why = f"not JSON: {error.msg}"  # type: ignore[attr-defined]  # without the place
        # for callers that name the line in a larger file
        failure.pos = error.pos  # type: ignore[attr-defined]
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

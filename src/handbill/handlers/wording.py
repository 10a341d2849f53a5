"""What the gates say: texts are data, in `messages.json`, shipped and then the user's and the project's own."""

from __future__ import annotations

from handbill.hotjson import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from handbill.config import Config
    from handbill.world import World

_MOST = 1 << 18


def say(gate: str, kind: str, world: World, config: Config, **facts: object) -> str:
    """The message of that kind with its facts in it."""
    text = message(gate, kind, config.gate(gate)["wording"], world, config)
    pieces = text.split("{")
    found = [pieces[0]]
    for piece in pieces[1:]:  # one pass: what a fact holds is never taken for a place of the message
        name, brace, rest = piece.partition("}")
        found.append(f"{facts[name]}{rest}" if brace and name in facts else "{" + piece)
    return "".join(found)


def message(gate: str, kind: str, style: str, world: World, config: Config) -> str:
    """The nearest text that names every fact it must name."""
    shipped = read(config.message_files[0], world)
    chosen: str = shipped[gate][style][kind]
    for path in config.message_files[1:]:
        own = texts(read(path, world)).get((gate, style, kind), "")
        if own and not lacking(own, shipped[gate]["facts"][kind]):
            chosen = own
    return chosen


def read(path: str, world: World) -> dict[str, Any]:
    data = world.tail(path, 0, _MOST)
    try:
        found = loads(data.decode("utf-8").removeprefix("\ufeff")) if data else {}
    except (ValueError, RecursionError):
        return {}  # `engine doctor` says what is wrong with it
    return found if isinstance(found, dict) else {}


def texts(messages: dict[str, Any]) -> dict[tuple[str, str, str], str]:
    """(gate, style, kind) -> text, of whatever stands in a messages file."""
    return {
        (gate, style, kind): text
        for gate, styles in messages.items() if isinstance(styles, dict)
        for style, kinds in styles.items() if isinstance(kinds, dict)
        for kind, text in kinds.items() if isinstance(text, str)
    }  # fmt: skip


def lacking(text: str, facts: Iterable[str]) -> list[str]:
    return [name for name in facts if "{" + name + "}" not in text]


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines) or "- none"

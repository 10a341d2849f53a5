"""What the gates say: texts are data, in `data/messages/`, shipped and then the user's and the project's own."""

from __future__ import annotations

from handbill import gates
from handbill.fast_json import loads
from handbill.paths import under
from handbill.text.blocks import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from handbill.settings import Settings
    from handbill.world import World

MESSAGES_FILE = ".handbill.messages.json"  # a project's own messages
_MOST = 1 << 18
_LONGEST, _MOST_PLACES = 4000, 24
# Facts of several lines, made by us line by line; every other fact stays on its line.
_LISTS = ("files", "left", "unusable", "questions", "checklist", "summary", "details", "mode", "paths")
_WHOSE = "this text is the project's own, from .handbill.messages.json"  # a model must not take it for the user's word
OURS = ("restore", "unusable")  # what an agent left, and what is wrong: a project has no say in these


def own_files(world: World) -> tuple[str, str]:
    """The user's messages, and the project's. Each file is {gate: {style: {kind: text}}}; the project's come last."""
    user = world.process.user_folder("XDG_CONFIG_HOME", ".config")
    return f"{user}/handbill/messages.json", f"{world.project}/{MESSAGES_FILE}"


def shipped(gate: str, world: World) -> dict[str, Any]:
    """The messages that come with a gate, and the facts that each must name: {"facts": …, style: {kind: text}}."""
    return read(gates.gate(gate).messages, world)


def say(gate: str, kind: str, world: World, settings: Settings, **facts: object) -> str:
    """The message of that kind with its facts in it."""
    text = message(gate, kind, settings.gate(gate)["wording"], world)
    pieces = text.split("{")
    found = [pieces[0]]
    for piece in pieces[1:]:  # one pass: what a fact holds is never taken for a place of the message
        place, brace, rest = piece.partition("}")
        name, _, noun = place.partition(":")
        found.append(
            f"{_fact(facts[name], noun, listed=name in _LISTS)}{rest}" if brace and name in facts else "{" + piece
        )
    return "".join(found)


def _fact(value: object, noun: str, *, listed: bool) -> str:
    """`{count:file}` is "1 file" or "2 files"; `{count:it|them}` is one of the two words."""
    value = one_line(value) if isinstance(value, str) and not listed else value
    one, bar, several = noun.partition("|")
    if bar and isinstance(value, int):
        return one if value == 1 else several
    if bar:
        return str(value)
    return f"{value} {noun}{'' if value == 1 else 's'}" if noun else str(value)


def message(gate: str, kind: str, style: str, world: World) -> str:
    """The nearest text that names every fact it must name."""
    known = shipped(gate, world)
    chosen: str = known[style][kind]
    user, project = own_files(world)
    for path in (user, project):
        own = texts(read(path, world)).get((gate, style, kind), "")
        foreign = path == project
        if not own.strip() or (foreign and (kind in OURS or not is_inside(path, world))):
            continue
        if is_short(own) and not lacking(own, known["facts"][kind]):
            chosen = f"{own.rstrip()}\n({_WHOSE})" if foreign else own
    return chosen


def read(path: str, world: World) -> dict[str, Any]:
    data = world.tail(path, 0, _MOST)
    try:
        found = loads(data.decode("utf-8").removeprefix("\ufeff")) if data else {}
    except (ValueError, RecursionError):
        return {}  # `engine doctor` says what is wrong with it
    return found if isinstance(found, dict) else {}


def texts(messages: dict[str, Any]) -> dict[tuple[str, str, str], str]:
    """(gate, style, kind) -> text, for every text in a messages file."""
    renamed = {alias: gate.name for gate in gates.ALL for alias in gate.aliases}
    return {
        (renamed.get(gate, gate), style, kind): text
        for gate, styles in messages.items() if isinstance(styles, dict)
        for style, kinds in styles.items() if isinstance(kinds, dict)
        for kind, text in kinds.items() if isinstance(text, str)
    }  # fmt: skip


def lacking(text: str, facts: Iterable[str]) -> list[str]:
    """A choice between two words (`{count:it|them}`) does not say the number."""
    said = [piece.partition("}") for piece in text.split("{")[1:]]
    named = {place.partition(":")[0] for place, brace, _ in said if brace and "|" not in place}
    return [name for name in facts if name not in named]


def is_short(text: str) -> bool:
    """A text that repeats its facts could fill the memory."""
    return len(text) <= _LONGEST and text.count("{") <= _MOST_PLACES


def is_inside(path: str, world: World) -> bool:
    """Is it a file of the project's own, and not a link to one of the user's?"""
    return under(world.real(path), world.real(world.project))


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {' '.join(line.split())}" for line in lines) or "- none"

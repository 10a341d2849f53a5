"""The messages of the gates, from data files: shipped, the user's, and the project's.

The shipped ones are in `data/messages/`.
"""

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

MESSAGES_FILE = ".handbill.messages.json"  # the project's own messages
_MOST = 1 << 18
_LONGEST, _MOST_PLACES = 4000, 24
# Facts of several lines, which we build line by line. Every other fact is put on one line.
_LISTS = ("files", "left", "unusable", "questions", "checklist", "summary", "details", "mode", "paths")
# The model must not mistake it for the user's message.
_WHOSE = "this text is the project's own, from .handbill.messages.json"
# A project cannot change these: they report what an agent left and what is wrong.
OURS = ("restore", "unusable")


def own_files(world: World) -> tuple[str, str]:
    """Return the paths of the user's messages and of the project's.

    Each file is {gate: {style: {kind: text}}}. The project's messages override the user's.
    """
    user = world.process.user_folder("XDG_CONFIG_HOME", ".config")
    return f"{user}/handbill/messages.json", f"{world.project}/{MESSAGES_FILE}"


def shipped(gate: str, world: World) -> dict[str, Any]:
    """Return a gate's own messages and the facts that each must name.

    The form is {"facts": …, style: {kind: text}}.
    """
    return read(gates.gate(gate).messages, world)


def say(gate: str, kind: str, world: World, settings: Settings, **facts: object) -> str:
    """Return the message of that kind with its facts filled in."""
    text = message(gate, kind, settings.gate(gate)["wording"], world)
    pieces = text.split("{")
    found = [pieces[0]]
    # One pass, so that the text of a fact is never treated as a placeholder.
    for piece in pieces[1:]:
        place, brace, rest = piece.partition("}")
        name, _, noun = place.partition(":")
        found.append(
            f"{_fact(facts[name], noun, listed=name in _LISTS)}{rest}" if brace and name in facts else "{" + piece
        )
    return "".join(found)


def _fact(value: object, noun: str, *, listed: bool) -> str:
    """Format a fact as text.

    `{count:file}` is "1 file" or "2 files". `{count:it|them}` is one of the two words.
    """
    value = one_line(value) if isinstance(value, str) and not listed else value
    one, bar, several = noun.partition("|")
    if bar and isinstance(value, int):
        return one if value == 1 else several
    if bar:
        return str(value)
    return f"{value} {noun}{'' if value == 1 else 's'}" if noun else str(value)


def message(gate: str, kind: str, style: str, world: World) -> str:
    """Return the most specific text that names every required fact."""
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
        return {}  # `engine doctor` reports the error.
    return found if isinstance(found, dict) else {}


def texts(messages: dict[str, Any]) -> dict[tuple[str, str, str], str]:
    """Return (gate, style, kind) -> text for every text in a messages file."""
    renamed = {alias: gate.name for gate in gates.ALL for alias in gate.aliases}
    return {
        (renamed.get(gate, gate), style, kind): text
        for gate, styles in messages.items() if isinstance(styles, dict)
        for style, kinds in styles.items() if isinstance(kinds, dict)
        for kind, text in kinds.items() if isinstance(text, str)
    }  # fmt: skip


def lacking(text: str, facts: Iterable[str]) -> list[str]:
    """Return the required facts that a text does not name.

    A choice between two words (`{count:it|them}`) does not count, because it does not show the
    number.
    """
    said = [piece.partition("}") for piece in text.split("{")[1:]]
    named = {place.partition(":")[0] for place, brace, _ in said if brace and "|" not in place}
    return [name for name in facts if name not in named]


def is_short(text: str) -> bool:
    """Whether a text is within its limits. One that repeats its facts could fill the memory."""
    return len(text) <= _LONGEST and text.count("{") <= _MOST_PLACES


def is_inside(path: str, world: World) -> bool:
    """Whether this is the project's own file, not a link to a file of the user."""
    return under(world.real(path), world.real(world.project))


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {' '.join(line.split())}" for line in lines) or "- none"

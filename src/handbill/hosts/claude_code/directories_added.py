"""Find directories that the user added to a session: in settings, by option or by command.

No event and no variable names them. They are searched for only when a call leaves the project.
"""

from __future__ import annotations

from handbill.fast_json import loads
from handbill.hosts.claude_code.rows import attachment_of, records_with, typed_in
from handbill.paths import join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypedDict

    from handbill.event import Event
    from handbill.world import World

    class Known(TypedDict):
        to: int  # a byte of the transcript
        names: list[str]


_SETTINGS = (".claude/settings.local.json", ".claude/settings.json")
_COMMAND = "<command-name>/add-dir</command-name>"


def added(event: Event, world: World, home: str, known: Known) -> tuple[list[str], Known]:
    """Return the added directories, and the value of `known` for the next call.

    `known`: the directories found in the transcript so far, and how far it was read.
    """
    found: dict[str, None] = {}
    for path in (*(f"{event.project}/{name}" for name in _SETTINGS), f"{home}/{_SETTINGS[1]}"):
        found.update(dict.fromkeys(_in_settings(world.tail(path, 0, 1 << 20) or b"")))
    command = world.proc(f"/proc/{event.client}/cmdline") if event.client > 1 else b""
    found.update(dict.fromkeys(_on_command_line(command.split(b"\0"))))
    data = world.tail(event.transcript, known["to"]) or b""
    told = list(dict.fromkeys([*known["names"], *_in_transcript(data)]))
    found.update(dict.fromkeys(told))
    names = (join(home, name[2:]) if name.startswith("~/") else join(event.project, name) for name in found if name)
    return list(dict.fromkeys(names)), {"to": known["to"] + data.rfind(b"\n") + 1, "names": told}


def _in_settings(data: bytes) -> list[str]:
    try:
        settings = loads(data.decode("utf-8", "replace")) if data.strip() else {}
        names = settings["permissions"]["additionalDirectories"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _on_command_line(words: list[bytes]) -> Iterator[str]:
    """Yield the directories of `--add-dir A B --add-dir=C`."""
    taking = False
    for word in words:
        text = word.decode("utf-8", "replace")
        name, equals, value = text.partition("=")
        if name == "--add-dir":
            taking = not equals
            if equals:
                yield value
        elif text.startswith("-") or not text:
            taking = False
        elif taking:
            yield text


def _in_transcript(data: bytes) -> Iterator[str]:
    for row in records_with(data, b'"additionalWorkingDirectories"'):
        snapshot = attachment_of(row).get("snapshot")
        names = snapshot.get("additionalWorkingDirectories") if isinstance(snapshot, dict) else ()
        for name in names if isinstance(names, list) else ():
            if isinstance(name, str):
                yield name
    for row in records_with(data, b"/add-dir</command-name>"):
        for text in typed_in(row):
            if text.lstrip().startswith(_COMMAND):
                yield text.partition("<command-args>")[2].partition("</command-args>")[0].strip()

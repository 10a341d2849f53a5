"""Handle a directory whose rules this window has not checked: find its files, deliver each."""

from __future__ import annotations

from handbill.event import PROMPT_SUBMITTED
from handbill.ledger.window import HOST_ONCE, HOST_TOO, MENTIONED, READ_ITSELF, UNDELIVERABLE, is_shown
from handbill.library.directive_search import FOLDER, READ, root_of, wants_bare
from handbill.paths import level_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.event import Inbox
    from handbill.ledger.window import Record
    from handbill.library.directive_search import DirectiveSearch
    from handbill.settings import Settings
    from handbill.world import World

_READ_WHOLE, _READ_LINES = 32_000, 2000  # bytes, lines; a client shows only part of a larger file
# When the host may add a file, if it does not add it now.
LATER = "later"  # with the next touch of another kind
NEXT = "next"  # at the next event, unless the host has added it by then


def look_at(look: DirectiveSearch, level: str, stamp: str, new: dict[str, Record], how: str) -> bool:
    """Handle an unchecked directory, or one whose rules folder changed.

    False: the directory must be checked again later.
    """
    found, unripe = present(level, look.world, look.settings, look.types)
    if not found and not look.world.is_dir(level):
        return True  # It does not exist yet. Check again when it does.
    folder = f"{level}/{FOLDER}"
    later = look.world.is_closed(folder)
    is_told = folder in look.window.flags.get(UNDELIVERABLE, ())
    if later and not is_told:
        # The folder cannot be read. Requesting it reports that to the model.
        look.plan.want(folder, f"directives of {level}")
    elif is_told and not later:
        look.plan.solved.append(folder)
    for path, name in found:
        # Other types depend on the skill: record them, and deliver them when a skill requests them.
        if name not in look.types:
            continue
        if look.window.holds(path):
            look.compare(path)
        elif path in look.window.flags.get(UNDELIVERABLE, ()):
            later = ask_if_corrected(look, level, path, how) or later
        else:
            later = _ask(look, level, path, how) or later
    if not unripe and not later:
        new[level] = {"found": [name for _, name in found], "stamp": stamp}
    return not unripe and not later


def ask_if_corrected(look: DirectiveSearch, level: str, path: str, how: str) -> bool:
    """Request a rule that could not be delivered before, if it can be now.

    Return the same as `_ask`.
    """
    from handbill.library.changed_files import is_corrected

    return is_corrected(path, look.window, look.world) and _ask(look, level, path, how)


def _ask(look: DirectiveSearch, level: str, path: str, how: str) -> bool:
    """Put this rule into the window. True: the host may add it later, so check this level again."""
    if path in look.read and show_if_whole(look, path):
        return False
    once = path in look.window.flags.get(HOST_ONCE, ())
    brings = "" if once else _host_brings(look, level, path, how)
    if brings in (LATER, NEXT):
        look.waits = look.waits or brings == NEXT
        return True
    if brings:
        look.plan.seen.append((path, brings))
    else:
        look.plan.want(path, f"directive of {level}")
    return False


def note_copy_of_host(look: DirectiveSearch, level: str, path: str) -> None:
    """Record that a read adds a rule that we delivered before.

    A rewind removes both copies, and the host adds its own only once.
    """
    record, known = look.window.files.get(path), look.window.flags.get(HOST_TOO, ())
    is_ours = record is not None and record["via"] != "host"
    if is_ours and path not in known and _host_brings(look, level, path, READ):
        look.plan.flags[HOST_TOO] = [*look.plan.flags.get(HOST_TOO, known), path]  # type: ignore[misc]


def _host_brings(look: DirectiveSearch, level: str, path: str, how: str) -> str:
    reason: str = look.world.host.brings(level, path, how, look.event, look.world, look.settings)
    return reason


def show_if_whole(look: DirectiveSearch, path: str) -> bool:
    """Record a file that was just read or mentioned, if all of it is now in the window.

    Return whether it is. The host may still drop the prompt that mentions the file.
    """
    size = look.world.size(path)
    few = size <= _READ_LINES or (look.world.tail(path, 0, _READ_WHOLE) or b"").count(b"\n") < _READ_LINES
    if not 0 < size < _READ_WHOLE or not few:
        return False
    from handbill.library.changed_files import seen_by_agent

    look.plan.seen.append((path, READ_ITSELF))
    seen_by_agent(path, look.world.stamp(path), look.plan, look.world)
    record = look.window.files.get(path)
    by_host = record is not None and record["via"] == "host"
    if look.event.kind == PROMPT_SUBMITTED and (not by_host or is_shown(record)):
        at = max(look.world.size(look.event.transcript), 0)
        look.mentioned.append(path)
        before = [path for path in look.mentioned if is_shown(look.window.files.get(path))]
        mention = {"prompt": look.event.batch, "at": at, "files": look.mentioned, "before": before}
        look.plan.flags[MENTIONED] = mention
    return True


def present(
    level: str, world: World, settings: Settings, asked: tuple[str, ...] = ()
) -> tuple[list[tuple[str, str]], bool]:
    """Return the directives at one level as (path, name), and whether one of them is still empty.

    Core types come first, then the types for skills, then the requested ones.
    """
    types = dict.fromkeys(settings.core_types + settings.skill_types + asked)
    names = world.present(f"{level}/{FOLDER}", types)
    found = [(f"{level}/{FOLDER}/{name}", name) for name in types if name in names]
    bare = f"{level}/AGENTS.md"
    if wants_bare(level, world, settings) and "AGENTS.md" not in names and world.is_file(bare):
        found.insert(0, (bare, "AGENTS.md"))
    ripe = [(path, name) for path, name in found if not _is_empty(path, world)]
    return ripe, len(ripe) < len(found)


def is_rule_here(path: str, inbox: Inbox, world: World, settings: Settings) -> bool:
    """Whether touching its directory requests this file.

    The agent may read other files of that name.
    """
    level = level_of(path)
    known = [found for found, name in present(level, world, settings)[0] if name in settings.core_types]
    return path in known and bool(root_of(level, world, settings, inbox.added))


def _is_empty(path: str, world: World) -> bool:
    size = world.size(path)
    return size < 0 or (size == 0 and world.is_file(path))

"""Deny writing a new file in a directory whose rules are not in this window.

The reason for the denial contains the rules.
"""

from __future__ import annotations

from handbill.event import WRITES
from handbill.gates import WRITE
from handbill.library.directive_search import DirectiveSearch
from handbill.paths import is_rule_file, level_of, parent, under
from handbill.plan import BLOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.event import Event, Inbox
    from handbill.gates import State
    from handbill.ledger.window import Window
    from handbill.library.needs import Needs
    from handbill.plan import Plan
    from handbill.settings import Settings
    from handbill.world import World


_MOST_PLACES = 50
_MOST_TIMES = 3  # the most times that writing to one directory is held


def handle(event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan | None:
    mode = settings.gate(WRITE.name)["mode"]
    if mode == "off" or not window.started:
        return None
    for tool in event.tools:
        if tool.does != WRITES or not tool.files:
            continue
        new = tool.whole and not world.is_file(tool.files[0])
        if not new and mode != "edits":
            continue
        directory = parent(tool.files[0])
        before = WRITE.state_of(window).get("places", [])
        times = before.count(directory)
        look = DirectiveSearch(event, inbox, window, world, settings)
        # After the limit, the rest of very large rules follows with the results.
        if times < _MOST_TIMES:
            look.at(directory)
            _want_pending(look, directory)
        # Files that cannot be delivered are reported with the results.
        world.add_roots(look.plan.roots)
        if any(not want.text and world.can_deliver(want.path) for want in look.plan.wants):
            from handbill.library.messages import say
            from handbill.text.blocks import HELD, shown

            facts = {"file": shown(tool.files[0]), "folder": shown(directory)}
            look.plan.gate(BLOCK, f"{HELD} {say(WRITE.name, 'require', world, settings, **facts)}")
            look.plan.flags[WRITE.flag] = {"epoch": window.epoch, "places": [*before[-_MOST_PLACES:], directory]}
            return look.plan
    return None


def _want_pending(look: DirectiveSearch, directory: str) -> None:
    """Request the rules that have not arrived yet, or were lost."""
    wanted = {want.path for want in look.plan.wants}
    for path, reason in look.window.pending.items():
        if path not in wanted and is_rule_file(path) and under(directory, level_of(path)):
            look.plan.want(path, reason)


def needs(world: World, settings: Settings, *, exact: bool = False) -> Needs:
    from handbill.library.needs import CHANGES, Needs

    kinds: dict[str, tuple[str, ...]] = {"off": (), "new": (WRITES,), "edits": (WRITES, CHANGES)}
    return Needs(0, kinds[settings.gate(WRITE.name)["mode"]])


def status(state: State) -> str:
    folders = len(set(state.get("places", ())))
    return f"held writing in {folders} {'directory' if folders == 1 else 'directories'}" if folders else "held nothing"

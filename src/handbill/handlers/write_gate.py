"""Before a new file is written where this window does not have the rules: denied, with the rules as the reason."""

from __future__ import annotations

from handbill.handlers import EDITS
from handbill.library.directive_search import DirectiveSearch
from handbill.paths import is_rule_file, level_of, parent, under
from handbill.plan import BLOCK
from handbill.text.blocks import HELD, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.event import Event
    from handbill.ledger.window import Window
    from handbill.plan import Plan
    from handbill.settings import Settings
    from handbill.world import World


FLAG = "write_gate"
_MOST_PLACES = 50
_MOST_TIMES = 3  # that writing to one directory is held


def handle(event: Event, window: Window, world: World, settings: Settings) -> Plan | None:
    if settings.write_gate == "off" or not window.started:
        return None
    for tool in event.tools:
        if tool.name not in EDITS or not tool.files:
            continue
        new = tool.name == "Write" and not world.is_file(tool.files[0])
        if not new and settings.write_gate != "edits":
            continue
        directory = parent(tool.files[0])
        held = window.flags.get(FLAG, {})
        before = held.get("places", []) if held.get("epoch") == window.epoch else []
        times = before.count(directory)
        look = DirectiveSearch(event, window, world, settings)
        if times < _MOST_TIMES:  # of very large rules, the rest follows with the results
            look.at(directory)
            _want_pending(look, directory)
        world.add_roots(look.plan.roots)  # what cannot be delivered is reported with the results
        if any(not want.text and world.can_deliver(want.path) for want in look.plan.wants):
            file, folder = shown(tool.files[0]), shown(directory)
            look.plan.gate(
                BLOCK,
                f"{HELD} {file} was not written yet, because these pages for {folder} were not in this window. "
                "Take them into account, then make the call again.",
            )
            look.plan.flags[FLAG] = {"epoch": window.epoch, "places": [*before[-_MOST_PLACES:], directory]}
            return look.plan
    return None


def _want_pending(look: DirectiveSearch, directory: str) -> None:
    """Rules that have not come yet, or were lost."""
    wanted = {want.path for want in look.plan.wants}
    for path, reason in look.window.pending.items():
        if path not in wanted and is_rule_file(path) and under(directory, level_of(path)):
            look.plan.want(path, reason)

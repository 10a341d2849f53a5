"""Find calls and mentions that no hook handled: a hook failed or never ran, or its window was
unknown."""

from __future__ import annotations

from handbill.event import COMPACTING, TOOL_BATCH_FINISHED, TOOL_CALLED
from handbill.ledger import epochs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from handbill.event import Event
    from handbill.flow.event_context import Asked
    from handbill.flow.findings import Findings
    from handbill.ledger.content import Content
    from handbill.ledger.window import Window
    from handbill.world import World

_CALLS, _LAST_CALLS = 8 << 20, 256 << 10


def look_for_missed(
    facts: Findings, event: Event, window: Window | None, host: ModuleType, world: World, asked: Asked
) -> None:
    if facts.chapter not in (epochs.ADOPT, epochs.AUDIT, epochs.GO_ON) or event.kind in (TOOL_CALLED, COMPACTING):
        return
    since = window.flags.get("scanned", 0) if window is not None else 0
    if asked.failed or facts.chapter == epochs.ADOPT:  # no hook has checked an unknown window
        facts.failures = host.failures(event, world, since)
    late = window is not None and found_late(facts, window) >= 0
    kept = _shows_what_was_kept(window, facts.content)
    unknown = facts.chapter in (epochs.ADOPT, epochs.AUDIT)
    failed = bool(facts.failures) or facts.missed_mark or asked.unannounced
    # After a rewind, or if calls were kept, calls may be there without the rules that followed
    # them.
    again = unknown or late or failed or asked.moved or kept
    content = facts.content
    there = None
    # undone calls do not count, kept ones do
    if content is not None and (facts.whole_content or kept or late):
        there = {*content.calls, *content.prompts}
    if again:
        facts.missed = host.calls(event, world, _CALLS, there)
    elif event.kind == TOOL_BATCH_FINISHED and not host.records_injections(event):
        # There, a hook that died left no trace: check the last calls again.
        facts.missed = host.calls(event, world, _LAST_CALLS)
    if again or facts.boundary_from >= 0:
        found = host.mentions(event, world, _CALLS if again else _LAST_CALLS)
        facts.missed += [tool for tool in found if content is None or tool.id in content.typed]
    if there is not None:
        facts.missed = [tool for tool in facts.missed if tool.id in there]


def found_late(facts: Findings, window: Window) -> int:
    """Return the byte from which the transcript shows a compaction whose start we missed; -1:
    none."""
    boundary = facts.content.boundary if facts.content is not None else -1
    if 0 <= window.maybe_compacted_from <= boundary:
        return window.maybe_compacted_from
    unknown = 0 <= facts.boundary_from <= boundary and not epochs.is_known_compaction(window, boundary)
    return facts.boundary_from if unknown else -1


def _shows_what_was_kept(window: Window | None, content: Content | None) -> bool:
    """Whether the transcript now shows which part of the window a compaction kept."""
    if window is None or content is None:
        return False
    is_open = bool(window.from_last_epoch) or bool(window.flags.get("kept_unknown"))
    return is_open and content.boundary >= window.compacted_at_offset

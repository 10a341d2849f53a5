"""Put a project's working context (`.context/`) into each window once, before the agent acts.

`deliver` adds the files at the start of the window. `direct` lists them with the first tool
results. `require` holds tool calls until the agent has read the files, and releases them after a
few attempts.
"""

from __future__ import annotations

from handbill import gates
from handbill.event import MAIN, TOOL_BATCH_FINISHED, TOOL_CALLED
from handbill.gates import ARMED, DONE, LOAD, RELEASED
from handbill.ledger.window import has
from handbill.paths import join
from handbill.plan import BLOCK, Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.event import Event, Inbox
    from handbill.gates import State
    from handbill.ledger.window import Window
    from handbill.library.needs import Needs
    from handbill.settings import Settings
    from handbill.world import World


GATE = "context gate"
UNUSABLE = "cannot be delivered"  # the prefix of the reported state of such a file
_MOST_LINES, _MOST_SAID = 40, 1000
_MOST_LOOKS = 10  # the most messages that are searched for the agent's report of what it read
# Held calls are counted after each message. If counting fails, this limit releases the calls.
_MOST_UNCOUNTED = 64


def handle(event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan | None:
    state = LOAD.state_of(window)
    if event.kind == TOOL_CALLED:
        return _held(event, state, window, world, settings) if state.get("state") == ARMED else None
    plan = Plan()
    if not state:
        state = _opened(window, world, settings, plan)
    if event.kind == TOOL_BATCH_FINISHED and gates.is_open(state):
        state = _followed(event, state, window, world, settings, plan)
    if LOAD.state_of(window).get("awaits"):
        state = _heard(inbox, state)
    if state and state != LOAD.state_of(window):
        plan.flags[LOAD.flag] = state
    return plan or None


def compliance(window: Window) -> list[tuple[str, str]]:
    """Return (file, how the agent got it) for every context file; empty if the agent did not."""
    state = LOAD.state_of(window)
    found = []
    for path in state.get("files", ()):
        how = "in the window" if has(window, path) else ""
        unusable = state.get("unusable", {}).get(path, "")
        how = how or ("read" if path in state["read"] else f"{UNUSABLE}: it {unusable}" if unusable else "")
        how = how or ("could not be read" if path in state["tried"] else "")
        found.append((path, how))
    return found


def context_files(world: World, settings: Settings) -> list[str]:
    gate = settings.gate("load_gate")
    folder = join(world.project, gate["folder"])
    return [path for path in (f"{folder}/{name}" for name in gate["files"]) if world.is_file(path)]


def _opened(window: Window, world: World, settings: Settings, plan: Plan) -> State:
    gate = settings.gate("load_gate")
    mode = gate["mode"] if window.agent == MAIN else gate["subagents"]
    files = context_files(world, settings) if mode != "off" else []
    if not files:
        return {}
    from handbill.library.bundle import Bundle
    from handbill.library.messages import bullets, say

    bundle = Bundle(files, world, gate["budget"] if mode == "deliver" else 0)
    more = {"mode": mode, "files": files, "held": 0, "calls": 0}
    plan.notes += [f"context file {line}" for line in bundle.refusals()]
    if bundle.unusable:
        more["unusable"] = bundle.unusable
    if mode != "deliver":
        if bundle.unusable:
            plan.say(
                "context", say("load_gate", "unusable", world, settings, unusable=bullets(bundle.refusals())), GATE
            )
        state = gates.armed(window, [path for path in bundle.sizes if not has(window, path)], **more)
        plan.awaited += state["left"]
        return state
    facts = {"folder": join(world.project, gate["folder"]), "count": bundle.count, "given": len(bundle.given)}
    text = [say("load_gate", "deliver", world, settings, files=bundle.names(world), **facts)] if bundle.given else []
    text += bundle.leftovers("load_gate", world, settings)
    plan.say("context", "\n\n".join(text), GATE)
    bundle.want(plan, "context")
    state = gates.armed(window, bundle.left, **more)
    return gates.told(state, "at the start of the window") if bundle.left else state


def _followed(event: Event, state: State, window: Window, world: World, settings: Settings, plan: Plan) -> State:
    """Update the state after a message: record what was read, then remind or release if needed."""
    from handbill.library.messages import bullets, say
    from handbill.library.reading import unheld
    from handbill.text.blocks import shown

    state = gates.followed(state, state["files"], event, window, world)
    new = state["calls"] > state.get("counted", 0)
    if new:
        state = {**state, "held": state["held"] + 1, "counted": state["calls"]}
    if not state["left"]:
        return {**state, "state": DONE}
    if state["state"] != ARMED:
        return state
    facts = {"count": len(state["left"]), "files": bullets(map(shown, state["left"]))}
    if state["mode"] == "require" and state["held"] >= settings.gate("load_gate")["denials"]:
        plan.say("context-released", say("load_gate", "released", world, settings, held=state["held"], **facts), GATE)
        plan.notes.append(
            f"the context gate no longer holds calls; held messages: {state['held']}, "
            f"unread files: {len(state['left'])}"
        )
        return {**state, "state": RELEASED}
    if state["mode"] == "require" and (new or not unheld(event, state["files"], world)):
        return state
    # Remind the agent with the first results. In `require` mode, this happens if calls cannot be
    # held because the hooks are registered for only a few tools.
    paths = ", ".join(map(shown, state["left"]))
    text = say("load_gate", "direct", world, settings, count=len(state["left"]), paths=paths)
    confirm = say("load_gate", "confirm", world, settings)
    if confirm:
        # The agent's reply will be recorded after this byte of the transcript.
        state["awaits"] = max(world.size(event.transcript), 1)
    plan.say("context", f"{text}\n\n{confirm}".rstrip(), GATE)
    return gates.told(state, "with the first results")


def _heard(inbox: Inbox, state: State) -> State:
    """Record the agent's own report of what it read and skipped, if it made one."""
    looks = int(state.get("looks", 0)) + 1
    found = [_confirmation(text) for text in inbox.notes.get("answers", ())]
    said = next((one for one in found if one is not None), None)
    if said is not None or looks >= _MOST_LOOKS:
        state = {**state, "awaits": 0}
    return {**state, "looks": looks, **({"reported": said} if said is not None else {})}


def _confirmation(text: str) -> dict[str, str] | None:
    """Return the lines below `Context Loaded` by their names, or None without such a block."""
    _, mark, rest = text.partition("Context Loaded")
    if not mark:
        return None
    found: dict[str, str] = {}
    name = ""
    for line in rest.split("\n")[1:_MOST_LINES]:
        word, colon, value = line.strip("-*• \t").partition(":")
        word = word.strip("* ").lower()
        if colon and word in ("read", "skipped"):
            name = word
            found[name] = value.strip("* \t")[:_MOST_SAID]
        elif name and line.strip():
            found[name] = f"{found[name]} {line.strip('-*• ')}".strip()[:_MOST_SAID]
        elif found and not line.strip():
            break
    return found


def _held(event: Event, state: State, window: Window, world: World, settings: Settings) -> Plan | None:
    if state["mode"] != "require":
        return None
    from handbill.library.messages import bullets, say
    from handbill.library.reading import reads_only
    from handbill.text.blocks import HELD, shown

    left = gates.left(state, window)
    most = settings.gate("load_gate")["denials"]
    passes = all(reads_only(tool, state["files"], world) for tool in event.tools)
    if not left or passes or state["calls"] - state.get("counted", 0) >= _MOST_UNCOUNTED:
        return None
    plan = Plan()
    text = say(
        "load_gate", "require", world, settings,
        count=len(left), files=bullets(map(shown, left)), held=state["held"] + 1, most=most,
    )  # fmt: skip
    plan.gate(BLOCK, f"{HELD} {text}")
    plan.flags[LOAD.flag] = {**state, "calls": state["calls"] + 1}
    return plan


def needs(world: World, settings: Settings, *, exact: bool = False) -> Needs:
    from handbill.library.bundle import within
    from handbill.library.needs import EVERY, Needs

    gate = settings.gate(LOAD.name)
    holds = (EVERY,) if "require" in (gate["mode"], gate["subagents"]) else ()
    files = context_files(world, settings) if gate["mode"] == "deliver" else []
    return Needs(within(gate["budget"], files, world), holds)

"""Checks of the gates: their texts and files, failed resumptions, and waiting handovers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from handbill import gates
from handbill.errors import HandbillError
from handbill.gates import STYLES
from handbill.handlers.load_gate import context_files
from handbill.library.messages import OURS, is_inside, is_short, lacking, own_files, read, shipped, texts
from handbill.library.resume_state import MODE
from handbill.paths import PACKAGE
from handbill.reports.findings import BAD, NOTE, OK, Finding
from handbill.reports.plain_text import count
from handbill.reports.store_files import errors_forgotten_at, newest_windows, waiting_handovers
from handbill.store.disk import read_regular
from handbill.work.detect_project import quoted

if TYPE_CHECKING:
    from handbill.project import Project
    from handbill.world import World

_WINDOWS = 20


def _names() -> list[str]:
    return [gate.name for gate in gates.ALL]


def wording(project: Project) -> Iterator[Finding]:
    world = project.world()
    files = own_files(world)
    for path in files:
        if not os.path.exists(path):
            continue
        theirs = path == files[-1]
        if theirs and not is_inside(path, world):
            yield Finding("wording", BAD, f"{path} leads out of the project, so it is not used", "replace the link")
            continue
        problems = list(_wrong_words(path, world, theirs=theirs))
        for problem in problems:
            yield Finding("wording", BAD, f"{path}: {problem}", f"correct it; shipped texts: {PACKAGE}/data/messages")
        if not problems:
            yield Finding("wording", OK, f"the gates use the texts in {path}")
        if theirs:
            yield from _overridden(path, world)


def _overridden(path: str, world: World) -> Iterator[Finding]:
    """Report texts with the project's own words, so that the person knows who wrote them."""
    for (gate, style, kind), text in texts(read(path, world)).items():
        if gate not in _names() or style not in STYLES or kind not in shipped(gate, world)["facts"] or kind in OURS:
            continue  # another check reports it
        words = " ".join(text.split())
        said = f"the project's own text for {gate}.{style}.{kind}: {words[:100]}{'…' if len(words) > 100 else ''}"
        yield Finding("wording", NOTE, said)


def _wrong_words(path: str, world: World, *, theirs: bool) -> Iterator[str]:
    """Yield faults in a file of gate texts.

    `theirs`: the file belongs to the project, which may not change every text.
    """
    try:
        found = json.loads(read_regular(path, 1 << 18).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        yield str(error)
        return
    if not isinstance(found, dict):
        yield "it must be one JSON object: {gate: {style: {kind: text}}}"
        return
    for name, styles in found.items():
        gate = next((one.name for one in gates.ALL if name == one.name or name in one.aliases), "")
        if not gate or not isinstance(styles, dict):
            yield f"{name!r} must be one of {', '.join(_names())}, with a section for each style"
            continue
        for style, kinds in styles.items():
            if style not in STYLES or not isinstance(kinds, dict):
                yield f"{gate}.{style} must be one of {', '.join(STYLES)}, with a text for each kind"
                continue
            for kind, text in kinds.items():
                if theirs and kind in OURS:
                    yield f"{gate}.{style}.{kind} cannot be changed by a project: the shipped text is used"
                    continue
                yield from _wrong_text(f"{gate}.{style}.{kind}", text, shipped(gate, world)["facts"], kind)


def _wrong_text(name: str, text: object, facts: dict[str, list[str]], kind: str) -> Iterator[str]:
    if kind not in facts:
        yield f"{name} is unknown; the known kinds are {', '.join(facts)}"
    elif not isinstance(text, str):
        yield f"{name} must be text"
    else:
        if not is_short(text):
            yield f"{name} is too long, or names too many facts: the shipped text is used"
        missing = lacking(text, facts[kind])
        if missing:
            yield f"{name} does not name {', '.join('{' + fact + '}' for fact in missing)}: the shipped text is used"
        strange = [word for word in re.findall(r"\{(\w+)(?::[^{}]*)?\}", text) if word not in facts[kind]]
        if strange:
            known = ", ".join(facts[kind]) or "none"
            yield f"{name} has {{{strange[0]}}}, which is unknown; the known facts are: {known}"


def context(project: Project) -> Iterator[Finding]:
    """Report a folder without any of the gate's files, because that is probably a mistake."""
    gate = project.settings.gate("load_gate")
    folder = os.path.join(project.root, gate["folder"])
    if gate["mode"] != "off" and os.path.isdir(folder) and not context_files(project.world(), project.settings):
        text = f"{folder} contains none of {', '.join(gate['files'])}: the context gate does nothing"
        yield Finding("context", NOTE, text, "name the files in [load_gate] of .handbill.toml")


def resumption(project: Project) -> Iterator[Finding]:
    """Report what the newest windows resumed or did not resume, and why, until it is dismissed."""
    dealt_with = errors_forgotten_at(project.store)
    for key in newest_windows(project.store, _WINDOWS):
        try:
            window = project.store.read(key)
        except HandbillError:
            continue  # the check of the state reports it
        mode = window.flags.get(MODE) if window is not None else None
        if window is not None and isinstance(mode, dict) and window.flags.get("compacted", 0.0) > dealt_with:
            yield _resumed(key[0], mode)


def _resumed(session: str, mode: dict[str, Any]) -> Finding:
    if mode.get("active"):
        problems, project = mode.get("problems", ()), mode.get("project_id")
        text = f"{session[:8]}: {project} was resumed"
        if not problems:
            return Finding("resume", OK, text)
        fix = f"engine resume check {quoted(str(project))}"
        return Finding("resume", BAD, f"{text}, but {'; '.join(problems)}", fix)
    if not mode.get("error"):
        return Finding("resume", NOTE, f"{session[:8]}: not resumed: {mode.get('reason')}")
    fix = str(mode.get("suggestion") or "engine resume check; once it is fixed: engine doctor --forget")
    return Finding("resume", BAD, f"{session[:8]}: not resumed: {mode['error']}", fix)


def handovers(project: Project) -> Iterator[Finding]:
    try:
        waiting = waiting_handovers(project.store)
    except HandbillError as error:
        yield Finding("handovers", BAD, str(error), error.hint)
        return
    if waiting:
        names = ", ".join(str(one.get("session")) for one in waiting)
        text = f"{count(len(waiting), 'handover')} for the next agent that starts here: {names}"
        yield Finding("handovers", NOTE, text)

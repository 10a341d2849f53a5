"""What `engine doctor` says of the gates: their words and files, what was not resumed, what waits to be taken up."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from handbill.cli.checks.finding import BAD, NOTE, OK, Finding
from handbill.cli.project import Project, waiting_handovers, window_file
from handbill.cli.screen import count
from handbill.errors import HandbillError
from handbill.handlers.load_gate import context_files
from handbill.library.messages import OURS, is_inside, is_short, lacking, read, texts
from handbill.library.resume_state import MODE
from handbill.store.disk import read_regular
from handbill.work.detect_project import quoted

_RECENT = 20
_STYLES = ("factual", "mandatory")


def wording(project: Project) -> Iterator[Finding]:
    shipped_path, *own = project.settings.message_files
    with open(shipped_path, encoding="utf-8") as file:
        shipped: dict[str, Any] = json.load(file)
    for path in own:
        if not os.path.exists(path):
            continue
        if path == own[-1] and not is_inside(path, project.world(), project.settings):
            yield Finding("wording", BAD, f"{path} leads out of the project: it is not used", "replace the link")
            continue
        problems = list(_wrong_words(path, shipped, theirs=path == own[-1]))
        for problem in problems:
            yield Finding("wording", BAD, f"{path}: {problem}", f"correct it; the shipped texts: {shipped_path}")
        if not problems:
            yield Finding("wording", OK, f"the gates use the texts in {path}")
        if path == own[-1]:
            yield from _overridden(path, project, shipped)


def _overridden(path: str, project: Project, shipped: dict[str, Any]) -> Iterator[Finding]:
    """What a model is told here in the project's own words: the person should know whose they are."""
    for (gate, style, kind), text in texts(read(path, project.world())).items():
        if gate not in shipped or style not in _STYLES or kind not in shipped[gate]["facts"] or kind in OURS:
            continue  # reported above
        words = " ".join(text.split())
        said = f"the project's own text for {gate}.{style}.{kind}: {words[:100]}{'…' if len(words) > 100 else ''}"
        yield Finding("wording", NOTE, said)


def _wrong_words(path: str, shipped: dict[str, Any], *, theirs: bool) -> Iterator[str]:
    """`theirs`: the file is the project's, which may not change every text."""
    try:
        found = json.loads(read_regular(path, 1 << 18).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        yield str(error)
        return
    if not isinstance(found, dict):
        yield "it must be one JSON object: {gate: {style: {kind: text}}}"
        return
    for gate, styles in found.items():
        if gate not in shipped or not isinstance(styles, dict):
            yield f"{gate!r} must be one of {', '.join(shipped)}, with a section for each style"
            continue
        for style, kinds in styles.items():
            if style not in _STYLES or not isinstance(kinds, dict):
                yield f"{gate}.{style} must be one of {', '.join(_STYLES)}, with a text for each kind"
                continue
            for kind, text in kinds.items():
                if theirs and kind in OURS:
                    yield f"{gate}.{style}.{kind} cannot be changed by a project: the shipped text is used"
                    continue
                yield from _wrong_text(f"{gate}.{style}.{kind}", text, shipped[gate]["facts"], kind)


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
    """A folder without any of the files is more likely a slip of the pen than meant."""
    gate = project.settings.gate("load_gate")
    folder = os.path.join(project.root, gate["folder"])
    if gate["mode"] != "off" and os.path.isdir(folder) and not context_files(project.world(), project.settings):
        text = f"{folder} contains none of {', '.join(gate['files'])}: the context gate does nothing"
        yield Finding("context", NOTE, text, "name the files in [load_gate] of .handbill.toml")


def resumption(project: Project) -> Iterator[Finding]:
    """Of the windows written last: what was resumed, and what was not, and why; until it is forgotten."""
    dealt_with = _moment(f"{project.store.root}/.engine/errors.seen.jsonl")
    keys = sorted(project.store.known(), key=lambda key: -os.path.getmtime(window_file(project.store, key)))[:_RECENT]
    for key in keys:
        try:
            window = project.store.read(key)
        except HandbillError:
            continue  # reported by the check of the state
        mode = window.flags.get(MODE) if window is not None else None
        if window is not None and isinstance(mode, dict) and window.flags.get("compacted", 0.0) > dealt_with:
            yield _resumed(key[0], mode)


def _moment(path: str) -> float:
    return os.stat(path).st_mtime if os.path.exists(path) else 0.0


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
        waiting = waiting_handovers(project)
    except HandbillError as error:
        yield Finding("handovers", BAD, str(error), error.hint)
        return
    if waiting:
        names = ", ".join(str(one.get("session")) for one in waiting)
        text = f"{count(len(waiting), 'handover')} for the next agent that starts here: {names}"
        yield Finding("handovers", NOTE, text)


ALL = (wording, context, resumption, handovers)

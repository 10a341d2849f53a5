"""What `engine doctor` says of the gates: their words, what was not resumed, what waits to be taken up."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from handbill.cli.checks import BAD, NOTE, OK, Finding
from handbill.cli.place import Place, window_file
from handbill.cli.screen import count
from handbill.errors import HandbillError
from handbill.handlers.resume import MODE
from handbill.handlers.wording import lacking, texts

_RECENT = 20


def wording(place: Place) -> Iterator[Finding]:
    shipped_path, *own = place.config.message_files
    with open(shipped_path, encoding="utf-8") as file:
        shipped: dict[str, Any] = json.load(file)
    for path in own:
        if not os.path.exists(path):
            continue
        problems = list(_wrong_words(path, shipped))
        for problem in problems:
            yield Finding("wording", BAD, f"{path}: {problem}", "correct it; until then the shipped text is used")
        if not problems:
            yield Finding("wording", OK, f"the gates speak by {path}")


def _wrong_words(path: str, shipped: dict[str, Any]) -> Iterator[str]:
    try:
        with open(path, encoding="utf-8-sig") as file:
            found = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        yield str(error)
        return
    if not isinstance(found, dict):
        yield "it must be one JSON object: {gate: {style: {kind: text}}}"
        return
    known = texts(
        {gate: {style: styles[style] for style in ("factual", "mandatory")} for gate, styles in shipped.items()}
    )
    for (gate, style, kind), text in texts(found).items():
        if (gate, style, kind) not in known:
            yield f"{gate}.{style}.{kind} is no text of ours"
        else:
            missing = lacking(text, shipped[gate]["facts"][kind])
            if missing:
                yield f"{gate}.{style}.{kind} does not name {', '.join('{' + name + '}' for name in missing)}"


def resumption(place: Place) -> Iterator[Finding]:
    """Of the windows written last: what was resumed, and what was not, and why."""
    layout = place.config.gate("resume")["layout"]
    if "{project}" not in layout:
        yield Finding(
            "resume", BAD, f"resume.layout is {layout!r}: it does not say where {{project}} stands", "correct it"
        )
    keys = sorted(place.store.known(), key=lambda key: -os.path.getmtime(window_file(place.store, key)))[:_RECENT]
    for key in keys:
        try:
            window = place.store.read(key)
        except HandbillError:
            continue  # reported by the check of the state
        mode = window.flags.get(MODE) if window is not None else None
        if isinstance(mode, dict):
            yield _resumed(key[0], mode)


def _resumed(session: str, mode: dict[str, Any]) -> Finding:
    if mode.get("active"):
        problems = mode.get("problems", ())
        text = f"{session[:8]}: {mode.get('project_id')} was resumed"
        if not problems:
            return Finding("resume", OK, text)
        return Finding(
            "resume", BAD, f"{text}, but {'; '.join(problems)}", f"engine resume check {mode.get('project_id')}"
        )
    why = str(mode.get("error") or mode.get("reason"))
    fix = str(mode.get("suggestion") or "engine resume check")
    return Finding("resume", BAD if mode.get("error") else NOTE, f"{session[:8]}: not resumed: {why}", fix)


def handovers(place: Place) -> Iterator[Finding]:
    path = f"{place.store.root}/.engine/handovers.json"
    try:
        with open(path, encoding="utf-8") as file:
            waiting = [one for one in json.load(file)["waiting"] if not one.get("taker")]
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        yield Finding("handovers", BAD, f"{path}: {error}", "move it away")
        return
    if waiting:
        names = ", ".join(str(one.get("session")) for one in waiting)
        yield Finding("handovers", NOTE, f"{count(len(waiting), 'session')} set down, for the next start here: {names}")


ALL = (wording, resumption, handovers)

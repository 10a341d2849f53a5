"""Dispatch files: a worker's contract in Markdown, with its status, progress and result.

# Title
Status: in-progress

## Task
what is to be done

## Progress
- 2026-01-31 10:00 what was reached

## Result
what came of it, once it is done
"""

from __future__ import annotations

from handbill.text.markdown import heading, scan

PENDING, WORKING, BLOCKED, DONE, FAILED, CANCELLED = "pending", "in-progress", "blocked", "done", "failed", "cancelled"
STATUSES = (PENDING, WORKING, BLOCKED, DONE, FAILED, CANCELLED)
FINISHED = (DONE, FAILED, CANCELLED)


class Dispatch:
    """The parsed content of a dispatch file."""

    __slots__ = ("line", "progress", "sections", "status", "title")

    def __init__(self, text: str) -> None:
        text = text.removeprefix("\ufeff")
        self.title = ""
        self.status = ""
        self.line = -1  # line of the status, counted from 0
        self.sections: dict[str, list[str]] = {}
        section = ""
        for number, line, fence in scan(text):
            level, title = heading(line) if fence is None else (0, "")
            if level == 1 and not self.title:
                self.title = title
            elif level == 2:
                section = title.lower()
                self.sections.setdefault(section, [])
            elif section:
                self.sections[section] += fence.lines if fence is not None else [line]
            elif self.line < 0 and _is_status(line):
                self.status, self.line = _status(line), number - 1
        self.progress = [line.strip() for line in self.sections.get("progress", ()) if line.strip()]

    def text_of(self, section: str) -> str:
        return "\n".join(self.sections.get(section, ())).strip()


def _is_status(line: str) -> bool:
    return line.strip("*-> \t").lower().startswith("status")


def _status(line: str) -> str:
    return line.partition(":")[2].strip(" *`\t").lower().replace(" ", "-").replace("_", "-")


def problems(text: str, before: str | None = None) -> list[str]:
    """Return the faults of a dispatch file. `before`: its former text, whose progress must
    remain."""
    found = Dispatch(text)
    wrong = []
    if not found.title:
        wrong.append("it has no title: its first heading must be `# …`")
    if found.line < 0:
        wrong.append(f"it has no status: a line `Status: {WORKING}` before the first section")
    elif found.status not in STATUSES:
        wrong.append(f"its status is {found.status!r}; use one of {', '.join(STATUSES)}")
    if not any(found.text_of(name) for name in ("task", "contract")):
        wrong.append("it has no `## Task` (or `## Contract`)")
    if "progress" not in found.sections:
        wrong.append("it has no section `## Progress`")
    if found.status in (DONE, FAILED) and not found.text_of("result"):
        wrong.append(f"its status is {found.status}, but there is no `## Result`")
    lost = missing_progress(before, text) if before is not None else []
    wrong += [f"progress was removed: {line!r}" for line in lost]
    return wrong


def missing_progress(before: str, after: str) -> list[str]:
    """Return progress lines of `before` that are missing from `after` or out of order."""
    places: dict[str, list[int]] = {}
    for number, line in reversed(list(enumerate(Dispatch(after).progress))):
        places.setdefault(line, []).append(number)  # the first occurrence last
    at, lost = -1, []
    for line in Dispatch(before).progress:
        own = places.get(line, [])
        while own and own[-1] <= at:
            own.pop()
        if own:
            at = own.pop()
        else:
            lost.append(line)
    return lost


def with_progress(text: str, entry: str) -> str:
    """Return the text with one more line at the end of its progress; other lines stay unchanged."""
    lines = text.split("\n")
    start, following = _span(text, "progress")
    end = following
    while end > start and not lines[end - 1].strip():
        end -= 1
    gap = [""] if end == following < len(lines) else []
    return "\n".join([*lines[:end], f"- {entry}", *gap, *lines[end:]])


def with_status(text: str, status: str) -> str:
    found = Dispatch(text)
    lines = text.split("\n")
    before = lines[found.line].partition(":")[0]
    lines[found.line] = f"{before}:{'** ' if before.startswith('**') else ' '}{status}"
    return "\n".join(lines)


def with_result(text: str, result: str) -> str:
    if "result" not in Dispatch(text).sections:
        return f"{text.rstrip()}\n\n## Result\n{result}\n"
    lines = text.split("\n")
    start, following = _span(text, "result")
    return "\n".join([*lines[:start], result, "", *lines[following:]])


def _span(text: str, name: str) -> tuple[int, int]:
    """Return where a section's lines begin and where the next section does; (0, …) if it is
    missing."""
    start = 0
    for number, line, fence in scan(text):
        level, title = heading(line) if fence is None else (0, "")
        if start and 1 <= level <= 2:
            return start, number - 1
        if not start and level == 2 and title.lower() == name:
            start = number
    return start, text.count("\n") + 1

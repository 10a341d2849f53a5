"""Detect the project that an agent works on from its calls, and check a stored state of it.
Pure."""

from __future__ import annotations

from handbill.event import LOADS_SKILL, READS, WRITES
from handbill.paths import under
from handbill.work import schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    from handbill.event import Tool

HIGH, MEDIUM, LOW, UNKNOWN = "high", "medium", "low", "unknown"
TRANSCRIPT, CACHE, FILES = "transcript", "cache", "filesystem"
RECENT = 50  # newest calls that show the current work
_KEPT = 10
_AHEAD = 300.0  # seconds that two clocks may differ

STATE: dict[str, Any] = {
    "type": "object",
    "required": ["active_project_id", "confidence", "project_root", "created"],
    "properties": {
        "active_project_id": {"type": ["string", "null"]},
        "confidence": {"enum": [HIGH, MEDIUM, LOW, UNKNOWN]},
        "detection_method": {"type": "string"}, "last_tool_calls": {"type": "array"},
        "fallback_chain": {"type": "array"}, "created_at": {"type": "string"}, "created": {"type": "number"},
        "project_root": {"type": "string"},
    },
}  # fmt: skip
# Texts are limited because YAML aliases can expand a few lines to a lot of text.
_TEXTS = {"type": "array", "maxItems": 100, "items": {"type": "string", "minLength": 1, "maxLength": 500}}
_MOST = 10**30  # people write times as numbers, but none has thousands of digits
_WORD = {"type": ["string", "integer", "number", "null"], "maxLength": 500, "minimum": -_MOST, "maximum": _MOST}
HEAD: dict[str, Any] = {
    "type": "object",
    "required": ["files_to_load"],
    "properties": {
        "files_to_load": {**_TEXTS, "description": "files to hand over, from the project's folder"},
        "next_action": {"type": "string", "maxLength": 500, "description": "what to do next: a skill, or a sentence"},
        "project_id": {**_WORD, "description": "the name of the project's folder"},
        "current_phase": {**_WORD, "description": "the phase that the work is in"},
        "current_task": {**_WORD, "description": "the task that the work is at"},
        "current_section": {**_WORD, "description": "the section of the plan that the work is at"},
        "progress": {**_WORD, "description": "how much is done"},
        "validation_questions": {**_TEXTS, "description": "questions that the agent must answer first"},
        "checklist": {**_TEXTS, "description": "points that the agent must check first"},
    },
}  # fmt: skip

MOST_FILES = 8
_LINES = {"type": "string", "maxLength": 10_000}
# The fields that an agent leaves when it puts a session aside.
CONTEXT: dict[str, Any] = {
    "type": "object",
    "required": ["summary", "nextSteps"],
    "additionalProperties": False,
    "properties": {
        "summary": {**_LINES, "minLength": 1, "description": "what was done so far"},
        "lastAction": {**_LINES, "description": "what was done last"},
        "nextSteps": {**_TEXTS, "minItems": 1, "maxItems": 50, "description": "what is to be done next, in order"},
        "handoverInstructions": {**_LINES, "description": "what the next agent must know or avoid"},
        "userHistory": {**_LINES, "description": "what the user said and decided"},
        "requiredFiles": {**_TEXTS, "maxItems": MOST_FILES, "description": "files that the next agent needs"},
    },
}  # fmt: skip


class Layout:
    """Where projects are, and each one's resume file:
    `02-projects/{project}/01-planning/_resume.md`."""

    __slots__ = ("file", "folder", "root")

    def __init__(self, root: str, pattern: str) -> None:
        before, _, after = pattern.partition("{project}")
        self.root = root
        self.folder = f"{root}/{before.strip('/')}".rstrip("/")
        self.file = after.strip("/")

    def home(self, project: str) -> str:
        return f"{self.folder}/{project}"

    def resume_file(self, project: str) -> str:
        return f"{self.home(project)}/{self.file}"

    def project_of(self, path: str) -> str:
        """Return the project that contains a path; "" if none does."""
        if not under(path, self.folder) or path == self.folder:
            return ""
        name, slash, _ = path[len(self.folder) + 1 :].partition("/")
        return name if slash or "." not in name else ""


def is_name(project: str) -> bool:
    """Whether this can be one folder's name that leads nowhere else and has no meaning for a
    shell."""
    plain = all(c.isalnum() or c in " ._-+@,=" for c in project[:_LONGEST_NAME])
    return plain and 0 < len(project) <= _LONGEST_NAME and project[0] not in ".- "


def quoted(project: str) -> str:
    """Return the name as an argument of a command that we suggest."""
    return f"'{project}'" if " " in project else project


_LONGEST_NAME = 80
_MOST_NAMES = 200  # names that are searched for in a transcript


class Found:
    __slots__ = ("calls", "confidence", "project")

    def __init__(self, project: str = "", confidence: str = UNKNOWN, calls: list[dict[str, str]] | None = None) -> None:
        self.project = project
        self.confidence = confidence
        self.calls = calls or []


def by_calls(calls: Iterable[Tool], layout: Layout, projects: Collection[str], skills: Collection[str]) -> Found:
    """Return the project of recent calls.

    High confidence: several calls read or changed its files. Medium: one call did, or a call refers
    to it.
    """
    recent = list(calls)[-RECENT:][::-1]
    worked: dict[str, list[dict[str, str]]] = {}
    referred: list[str] = []
    for tool in recent:
        for path in tool.files:
            project = layout.project_of(path)
            if project in projects and tool.does in (READS, WRITES):
                worked.setdefault(project, []).append({"tool": tool.name, "file": path, "timestamp": tool.at})
        if tool.does == LOADS_SKILL and tool.skill in skills:
            referred += [word for word in tool.arguments.split() if word in projects]
        referred += [project for project in map(layout.project_of, tool.paths) if project in projects]
    for project, found in worked.items():
        if len(found) > 1:
            return Found(project, HIGH, found[:_KEPT][::-1])
    for project, found in worked.items():
        return Found(project, MEDIUM, found[::-1])
    return Found(referred[0], MEDIUM) if referred else Found()


def by_words(text: str, projects: Iterable[str]) -> Found:
    """Return the last project that the text mentions, with low confidence."""
    names = [project for project in projects if is_name(project)][:_MOST_NAMES]
    places = {project: text.rfind(project) for project in names}
    named = [project for project, at in places.items() if at >= 0]
    return Found(max(named, key=lambda project: places[project]), LOW) if named else Found()


def unusable(state: dict[str, Any], root: str, now: float) -> str:
    """Return why a stored state cannot be used; "" if it can."""
    wrong = schema.problems(state, STATE)
    if wrong:
        return f"invalid resume state: {wrong[0]}"
    if state["project_root"] != root:
        return f"the resume state belongs to another project ({state['project_root']})"
    if state["created"] > now + _AHEAD:
        return "the resume state is from the future: a clock was changed, or somebody else wrote it"
    project = state["active_project_id"] or ""
    if project and not is_name(project):
        return "the resume state names a project that cannot be the name of a folder"
    return ""

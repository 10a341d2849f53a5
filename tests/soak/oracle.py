"""Judges a window only by the requests that the model received.

Every rule file contains unique marks: one for each state of the file, and one for each section of a
large file. A mark therefore shows which text is in a request, and how often.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from handbill.lab.live_client import Request


@dataclass
class Rule:
    """A file with rules for a directory, in each of its states."""

    directory: str
    states: list[list[str]] = field(default_factory=list)  # marks of each state, the newest last

    @property
    def marks(self) -> list[str]:
        return self.states[-1]


@dataclass
class Oracle:
    project: str
    standards: tuple[str, ...]
    rules: dict[str, Rule] = field(default_factory=dict)  # path of the file -> rule
    # Mark of a skill -> marks of its pages.
    skills: dict[str, list[str]] = field(default_factory=dict)

    def twice(self, request: Request, returned: dict[str, int] | None = None) -> list[str]:
        """Return the marks that this window contains too often.

        The limit is one copy, or the copies that the client put back. It holds for every request.
        """
        text, most = request.text, returned or {}
        return [f"{mark!r} {count} times" for mark in self.marks if (count := text.count(mark)) > most.get(mark, 1)]

    def returned(self, first: Request, before: Request) -> dict[str, int]:
        """Return mark -> copies, for marks that a resuming client put back after a rewind.

        `before` is the last request of the former process, which had them once. All copies are
        older than the messages since then.
        """
        counts = self._older_than_the_last_answer(first)
        return {mark: count for mark, count in counts.items() if count > 1 and before.text.count(mark) == 1}

    def brought_back(self, request: Request, before: Request) -> dict[str, int]:
        """Return marks that a rewind to before a compaction put back.

        The request before did not have them, but messages older than the last answer do. The prompt
        may have delivered one more copy.
        """
        counts = self._older_than_the_last_answer(request)
        return {mark: count + 1 for mark, count in counts.items() if count and mark not in before.text}

    def _older_than_the_last_answer(self, request: Request) -> dict[str, int]:
        answers = [number for number, message in enumerate(request.messages) if message["role"] == "assistant"]
        old = json.dumps(request.messages[: answers[-1] + 1], ensure_ascii=False) if answers else ""
        return {mark: old.count(json.dumps(mark, ensure_ascii=False)[1:-1]) for mark in self.marks}

    @property
    def marks(self) -> list[str]:
        found = [*self.standards, *(mark for rule in self.rules.values() for state in rule.states for mark in state)]
        return found + [mark for pages in self.skills.values() for mark in pages]

    def undone(self, request: Request, before: Request, known: set[str]) -> set[str]:
        """Return skills that a rewind removed and that the client lists again after a compaction.

        They are not active.
        """
        found = set()
        for skill in self.skills:
            blocks = [block for message in request.messages for block in _blocks(message)]
            called = any(_calls(block, skill.removeprefix("BODY-")) for block in blocks)
            listed = skill in request.text and not called
            if listed and (skill in known or skill not in before.text):
                found.add(skill)
        return found

    def missing(self, request: Request, undone: Collection[str] = (), *, standards: bool = True) -> list[str]:
        """Return what this window lacks. Call it when everything had time to arrive."""
        text = request.text
        wanted = list(self.standards) if standards else []
        for directory in touched(request, self.project):
            wanted += [mark for rule in self._applying(directory) for mark in rule.marks]
        for skill, pages in self.skills.items():
            wanted += pages if skill in text and skill not in undone and not request.agent else []
        return [f"{mark!r} is missing" for mark in dict.fromkeys(wanted) if mark not in text]

    def _applying(self, directory: str) -> list[Rule]:
        place = PurePosixPath(directory)
        levels = {str(place), *map(str, place.parents)}
        return [rule for rule in self.rules.values() if rule.directory in levels]


def touched(request: Request, project: str) -> set[str]:
    """Return the directories of completed calls and of files that a prompt mentions.

    Their rules belong in the window.
    """
    results = {
        block["tool_use_id"]
        for message in request.messages
        for block in _blocks(message)
        if block.get("type") == "tool_result" and not _was_interrupted(block)
    }
    found = set()
    for message in request.messages:
        for block in _blocks(message):
            if block.get("type") == "tool_use" and block["id"] in results:
                path = _path(block["input"], project)
                if path.startswith(project + "/"):
                    found.add(str(PurePosixPath(path).parent))
            found.update(f"{project}/{folder}" for folder in _mentioned(message, block))
    return found


def _calls(block: dict[str, Any], skill: str) -> bool:
    typed = f"<command-name>/{skill}<" in str(block.get("text", ""))
    return typed or (block.get("type") == "tool_use" and block.get("name") == "Skill")


def _path(values: dict[str, Any], project: str) -> str:
    """Return the file that a call reads or writes."""
    command = str(values.get("command", ""))
    return str(values.get("file_path") or (f"{project}/{command[4:]}" if command.startswith("cat ") else ""))


def _mentioned(message: dict[str, Any], block: dict[str, Any]) -> list[str]:
    text = block.get("text", "") if message["role"] == "user" and block.get("type") == "text" else ""
    return re.findall(r"@([\w/]+)/f\.py", text) if not text.lstrip().startswith("<system-reminder>") else []


def _was_interrupted(block: dict[str, Any]) -> bool:
    return "[Request interrupted" in json.dumps(block) or "interrupted: the session ended" in json.dumps(block)


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content}]

"""What `engine check` finds in the files of a project, without an agent, hooks or state.

Anybody may have written these files, so the checks limit the number and size of the files they
read, and the time they take.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from typing import NamedTuple

from handbill.handlers.load_gate import context_files
from handbill.handlers.standards import find, standard_names
from handbill.hosts.claude_code import CAP
from handbill.library.directive_search import FOLDER, MOST_DEPTH, root_of, wants_bare
from handbill.library.messages import own_files
from handbill.library.pages import page
from handbill.project import Project
from handbill.reports.findings import BAD
from handbill.reports.findings.gates import wording
from handbill.reports.skills import described
from handbill.settings import PROJECT_FILE
from handbill.settings.toml_files import used
from handbill.text.blocks import units
from handbill.text.document import Document
from handbill.text.markdown import scan
from handbill.text.references import FOLDERS, references

ERROR, WARNING = "error", "warning"
_MOST_FOLDERS, _MOST_FILES, _MOST_BYTES, _MOST_SECONDS = 50_000, 5_000, 64 << 20, 30.0
_MOST_NAMES = 1_000  # in one folder, and references in one file
_MOST_STANDARDS = 200
_MOST_SKILLS = 500


class Problem(NamedTuple):
    level: str
    file: str
    line: int  # 0 if it is not known
    text: str
    fix: str


class Checked:
    """The problems that were found. `counts` maps each kind of file to the number examined."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.problems: list[Problem] = []
        self.counts = {"directive": 0, "page": 0, "skill": 0}
        self._world = project.world()
        self._resolved: dict[tuple[str, str], str] = {}
        self._bytes = self._files = 0
        self._deadline = time.monotonic() + _MOST_SECONDS
        self._parts = (self._rules, self._skills, self._standards, self._context, self._settings, self._wording)

    def run(self) -> Checked:
        for part in self._parts:
            try:
                part()
            except _TooMuch as limit:
                self._add(ERROR, self.project.root, f"not everything was checked: {limit}", "check a smaller folder")
                break
        self.problems = sorted(dict.fromkeys(self.problems), key=lambda one: (one.file, one.line, one.level))
        return self

    def _add(self, level: str, file: str, text: str, fix: str, line: int = 0) -> None:
        self.problems.append(Problem(level, file, line, text, fix))

    def _spend(self, size: int = 0) -> None:
        self._files += 1
        self._bytes += max(size, 0)
        if self._files > _MOST_FILES:
            raise _TooMuch(f"there are more than {_MOST_FILES:,} files to look at")
        if self._bytes > _MOST_BYTES:
            raise _TooMuch(f"the files have more than {_MOST_BYTES >> 20} MiB")
        self._in_time()

    def _in_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise _TooMuch(f"it takes more than {_MOST_SECONDS:.0f} seconds")

    # --- directives and pages ----------------------------------------------------------------------

    def _rules(self) -> None:
        for level in self._levels():
            if not root_of(level, self._world, self.project.settings):
                continue
            folder = f"{level}/{FOLDER}"
            for name in self._names(folder):
                if name.endswith(".md"):
                    self._look_at(f"{folder}/{name}", "directive")
            for kind in FOLDERS.values():
                for name in self._names(f"{folder}/{kind}"):
                    if name.endswith(".md"):
                        self._look_at(f"{folder}/{kind}/{name}", "page")
            bare = f"{level}/AGENTS.md"
            if wants_bare(level, self._world, self.project.settings) and os.path.lexists(bare):
                self._look_at(bare, "directive")

    def _levels(self) -> Iterator[str]:
        """Yield the project's folders, except excluded ones. Links are not followed."""
        waiting, left = [(self.project.root, 0)], _MOST_FOLDERS
        while waiting:
            level, depth = waiting.pop()
            yield level
            self._in_time()
            left -= 1
            try:
                entries = sorted(os.scandir(level), key=lambda entry: entry.name, reverse=True)
            except OSError:
                continue  # unreadable or deleted
            if left < 0:
                raise _TooMuch(f"there are more than {_MOST_FOLDERS:,} folders")
            for entry in entries:
                skipped = entry.name in self.project.settings.excluded or entry.name == FOLDER
                if not skipped and depth < MOST_DEPTH and entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, depth + 1))

    def _names(self, folder: str) -> list[str]:
        names = self._world.names(folder)
        if len(names) > _MOST_NAMES:
            self._add(ERROR, folder, f"has {len(names):,} files; only {_MOST_NAMES:,} were checked", "use fewer files")
        return names[:_MOST_NAMES]

    def _cut(self, path: str, number: int, what: str, most: int = _MOST_NAMES) -> None:
        """What was not checked must not pass for what is in order."""
        if number > most:
            self._add(ERROR, path, f"{number:,} {what}; only {most:,} were checked", "use fewer of them")

    def _look_at(self, path: str, kind: str) -> None:
        self._spend(self._world.size(path))
        document = self.project.world().load(path)  # loaded, but not kept
        if not isinstance(document, Document):
            self._refused(path, document.why, is_quiet=document.quiet)
            return
        self.counts[kind] += 1
        size = units(document.text)
        if size > CAP:
            text = f"has {size:,} characters (UTF-16 units): it is delivered in {-(-size // CAP)} parts"
            self._add(WARNING, path, text, f"split it: one delivery has room for {CAP:,}")
        self._references(path, document.text)

    def _refused(self, path: str, why: str, *, is_quiet: bool) -> None:
        if is_quiet and not os.path.islink(path):
            self._add(WARNING, path, why, "write something in it, or remove it")
        else:
            why = "is a link that leads nowhere" if is_quiet else f"{why}, so it cannot be delivered"
            self._add(ERROR, path, why, "replace it with a text file (UTF-8) inside the project")

    def _references(self, path: str, text: str, *, skill: bool = False) -> None:
        names = references(text)
        self._cut(path, len(names), "pages that it names")
        missing = [name for name in names[:_MOST_NAMES] if not self._page(name, path)]
        lines = _lines_of(missing, text) if missing else {}
        first = _blank_lines_before(self._world.tail(path, 0, 1 << 16) or b"") if missing else 0
        for name in missing:
            file = f"{FOLDER}/{FOLDERS[name.partition('_')[0]]}/{name}.md"
            # A step does not need its own page.
            level = WARNING if skill and name.startswith("CMD_") else ERROR
            line = lines[name] + first if name in lines else 0
            self._add(level, path, f"§{name} has no page", f"write {file}, or correct the name", line)

    def _page(self, name: str, path: str) -> str:
        asked = (os.path.dirname(path), name)
        if asked not in self._resolved:
            self._in_time()
            self._resolved[asked] = page(name, path, self._world)
        return self._resolved[asked]

    # --- the rest ----------------------------------------------------------------------------------

    def _skills(self) -> None:
        folder = f"{self.project.root}/.claude/skills"
        names = self._world.names(folder)
        if len(names) > _MOST_SKILLS:
            self._add(
                ERROR, folder, f"has {len(names):,} skills; only {_MOST_SKILLS:,} were checked", "use fewer skills"
            )
        for name in names[:_MOST_SKILLS]:
            path = f"{folder}/{name}/SKILL.md"
            if not os.path.lexists(path):
                continue
            self._spend(self._world.size(path))
            self.counts["skill"] += 1
            row = described(name, self.project, self._world, most=100, path=path)
            fix = f"correct the file; engine skills {name} shows how Handbill reads it"
            for level, texts in ((ERROR, row["problems"]), (WARNING, row["hints"])):
                for text in texts:
                    file, line, said = _located(text, path)
                    if not said.startswith("uses §"):  # reported below, with its line
                        self._add(level, file, said, fix, line)
            for phase in row["phases"]:
                for without in phase["without"]:
                    text = f"phase {phase['label']} names §{without}, which has no page: the agent sees its name only"
                    self._add(WARNING, path, text, f"write {FOLDER}/commands/{without}.md, if the step needs a page")
            document = self._world.load(path)
            if isinstance(document, Document):
                self._references(path, document.text, skill=True)

    def _standards(self) -> None:
        settings = self.project.settings
        standards = standard_names(self._world, settings, subagent=False)
        self._cut(self.project.root, len(standards), "standards", _MOST_STANDARDS)
        for name in standards[:_MOST_STANDARDS]:
            self._spend(1 << 14)
            path = find(name, self._world, settings)
            why = getattr(self._world.load(path), "why", "") if path else "was not found in the project or a library"
            if why:
                self._add(ERROR, path or name, f"{why}, but standards.files names it", "correct standards.files")

    def _context(self) -> None:
        for path in context_files(self._world, self.project.settings)[:_MOST_NAMES]:
            self._spend(self._world.size(path))
            document = self._world.load(path)
            if not isinstance(document, Document):
                self._refused(path, document.why, is_quiet=document.quiet)

    def _settings(self) -> None:
        path = os.path.join(self.project.root, PROJECT_FILE)
        if os.path.lexists(path):
            for problem in used(path)[1]:
                file, line, said = _located(problem, path)
                self._add(ERROR, file, f"{said} (not used)", "correct it; engine config shows what applies", line)

    def _wording(self) -> None:
        path = own_files(self._world)[-1]
        for finding in wording(self.project):
            if finding.state == BAD and finding.text.startswith(path):
                file, line, said = _located(finding.text, path)
                self._add(ERROR, file, said, finding.fix, line)


class _TooMuch(Exception):
    """Raised when a check reaches its limit."""


def _located(text: str, path: str) -> tuple[str, int, str]:
    """Return (file, line, problem) of a problem text.

    The text has the form `FILE, line N: what`, `FILE: what` or `FILE is …`. Most are about `path`.
    """
    named = path if text.startswith(path) else re.split(r", | |: ", text, maxsplit=1)[0]
    if not named.startswith("/") or not os.path.lexists(named):
        return path, 0, text
    # This pattern matches any text.
    line, said = _AFTER_FILE.fullmatch(text, len(named)).groups("")  # type: ignore[union-attr]
    in_toml = _LINE_OF_TOML.search(said)
    return named, int(line or (in_toml[1] if in_toml else 0)), said


_AFTER_FILE = re.compile(r"(?:, line (\d+))?:? ?(.*)", re.DOTALL)
_LINE_OF_TOML = re.compile(r"\(at line (\d+), column \d+\)")


def _lines_of(names: list[str], text: str) -> dict[str, int]:
    """Return the first line that uses each name."""
    found: dict[str, int] = {}
    for number, line, fence in scan(text):
        if fence is None and "§" in line:
            for name in references(line):
                found.setdefault(name, number)
    return {name: number for name, number in found.items() if name in names}


def _blank_lines_before(data: bytes) -> int:
    """Count the leading blank lines, which are removed when a document is delivered."""
    start = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    return len(start) - len(start.lstrip(b"\n"))

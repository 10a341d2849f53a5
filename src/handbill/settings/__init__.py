"""Settings: the shipped ones, overridden by the user's, then by the project's.

People write TOML (`~/.config/handbill/config.toml`, `<project>/.handbill.toml`). Parsing it takes
longer than a whole hook, so the result is kept as JSON beside the state, and hooks read that file.
It is written again when the time or size of a source changes.
"""

from __future__ import annotations

import posix

from handbill.fast_json import loads
from handbill.paths import normal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PROJECT_FILE = ".handbill.toml"

CORE_TYPES = ("AGENTS.md", "INVARIANTS.md", "ARCHITECTURE.md")
_MOST_TYPES = 50  # types that settings may add
SKILL_TYPES = ("TESTING.md", "PITFALLS.md", "CONTRIBUTING.md", "COMMANDS.md", "CHECKLIST.md", "TEMPLATE.md")
EXCLUDED = (
    "node_modules", ".git", ".hg", ".svn", "sessions", "tmp", "dist", "build", "target", "vendor",
    "__pycache__", ".venv", "venv", ".tox", ".mypy_cache", ".pytest_cache",
)  # fmt: skip


class Settings:
    """The values of the settings files, with shipped defaults. `home`: replaces `~/` in paths."""

    def __init__(self, values: Mapping[str, Any] | None = None, home: str = "") -> None:
        values = values or {}
        directives = values.get("directives", {})
        self.core_types: tuple[str, ...] = (*CORE_TYPES, *directives.get("always", ())[:_MOST_TYPES])
        self.own_types: tuple[str, ...] = CORE_TYPES  # types of the user's rules for all projects
        self.skill_types: tuple[str, ...] = SKILL_TYPES
        self.excluded = frozenset((*EXCLUDED, *directives.get("exclude", ())))
        self.bare_agents_md: bool = directives.get("bare_agents_md", True)
        self.standards: list[str] | None = values.get("standards", {}).get("files")
        self.subagent_standards: list[str] | None = values.get("standards", {}).get("subagents")
        self.allowed: tuple[str, ...] = tuple(
            normal(path.replace("~", home, 1) if path.startswith("~/") else path)
            for path in values.get("files", {}).get("allow", ())
        )
        self._values = values
        self.problems: list[str] = list(values.get("problems", ()))

    def gate(self, name: str) -> dict[str, Any]:
        """Return the settings of one gate."""
        from handbill.gates import gate

        return {**gate(name).defaults, **self._values.get(name, {})}

    def resume_folder(self, project: str) -> str:
        """Return the folder of the work that can be resumed; empty if resuming is off."""
        gate = self.gate("resume")
        folder = gate["layout"].partition("{project}")[0].strip("/")
        return f"{project}/{folder}".rstrip("/") if gate["mode"] != "off" else ""

    @property
    def own_roles(self) -> dict[str, dict[str, Any]]:
        """Roles that the settings add to the shipped ones, or change."""
        found: dict[str, dict[str, Any]] = self._values.get("roles", {})
        return found


class ProcessContext:
    """The context of this process: project, home folder, environment, and our state folders."""

    __slots__ = ("environ", "home", "project", "spare", "state")

    def __init__(
        self, project: str, home: str, environ: Mapping[str, str] | None = None, state: str = "", spare: str = ""
    ) -> None:
        self.project = project
        self.home = home
        self.environ = environ or {}
        self.state = state  # the state folder of this project
        self.spare = spare  # the folder that is used if `state` cannot be written

    @property
    def page_folders(self) -> tuple[str, ...]:
        """Folders of pages that Handbill wrote, which it delivers like any other file."""
        return tuple(f"{root}/.engine/pages" for root in (self.state, self.spare) if root)

    def user_folder(self, variable: str, usual: str) -> str:
        return folder_of(variable, usual, self.environ, self.home)


def process_context(project: str, environ: Mapping[str, str]) -> ProcessContext:
    return ProcessContext(project, home_of(environ), environ, *state_roots(project, environ))


def home_of(environ: Mapping[str, str]) -> str:
    home = environ.get("HOME", "")
    if home.startswith("/"):
        return normal(home)
    import pwd

    try:
        return pwd.getpwuid(posix.getuid()).pw_dir
    # The user does not exist, so they have no files, and no folder to write to but the project.
    except KeyError:
        return "/nonexistent"


def folder_of(variable: str, usual: str, environ: Mapping[str, str], home: str = "") -> str:
    """Return one of the user's folders: from the variable, else at the usual place in the home."""
    told = environ.get(variable, "")
    return told if told.startswith("/") else f"{home or home_of(environ)}/{usual}"


def state_roots(project: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return (this project's state folder, the folder used if it cannot be written, or "").

    Neither is ever inside the project, because files of a repository must not pass for our own.
    """
    label = f"handbill/{_folder_name(project)}"
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    state = folder_of("XDG_STATE_HOME", ".local/state", environ)
    return f"{state}/{label}", f"{runtime}/{label}" if runtime.startswith("/") else ""


def _folder_name(project: str) -> str:
    """Return a folder name for a path: the path itself where possible, else a digest."""
    plain = project[1:].replace("/", "+")
    if plain and plain.isascii() and plain.isprintable() and len(plain) <= 200 and not {"+", "%"} & set(project):
        return plain
    from handbill.digest import digest_of

    return f"%{digest_of(project)}"


def project_around(start: str, environ: Mapping[str, str], host_marks: tuple[str, ...]) -> str:
    """Return the project of a folder: the folder itself if marked, else the repository around it.

    Without such a repository, it is the folder itself. A client may be started anywhere in a
    repository. The host's own folder further up (`host_marks`) proves nothing: a folder unpacked
    below somebody's project is not a part of it.
    """
    level, home = start, home_of(environ)
    marks: tuple[str, ...] = (*host_marks, PROJECT_FILE, ".git")
    while level not in ("", "/", home):
        for mark in marks:
            try:
                posix.stat(f"{level}/{mark}")
                return level
            except (OSError, ValueError):
                continue
        level, marks = level[: level.rfind("/")], marks[len(host_marks) :] if level == start else marks
    return start


def sources(project: str, environ: Mapping[str, str]) -> list[list[Any]]:
    """Return [path, mtime, size] of the settings files that exist, the user's first."""
    user = folder_of("XDG_CONFIG_HOME", ".config", environ)
    found: list[list[Any]] = []
    for path in (f"{user}/handbill/config.toml", f"{project}/{PROJECT_FILE}"):
        try:
            status = posix.stat(path)
        except (OSError, ValueError):
            continue
        # rules out /dev/zero behind a link
        if status.st_mode & 0o170000 == 0o100000 and status.st_size <= 1 << 20:
            found.append([path, status.st_mtime_ns, status.st_size])
    return found


def load(process: ProcessContext) -> Settings:
    stamps = sources(process.project, process.environ)
    if not stamps:
        return Settings(None, process.home)
    compiled = f"{process.state}/.engine/config.json"
    try:
        handle = posix.open(compiled, posix.O_RDONLY | posix.O_CLOEXEC)
        try:
            kept = loads(posix.read(handle, 1 << 20).decode())
        finally:
            posix.close(handle)
        if kept["sources"] == stamps:
            return Settings(kept["values"], process.home)
    except (OSError, ValueError, KeyError, TypeError):
        pass  # It is not compiled yet, or cannot be used. It is written again below.
    from handbill.settings.toml_files import compiled_values

    return Settings(compiled_values(stamps, compiled), process.home)

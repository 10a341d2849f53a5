"""Small values for tests: sheets, events, and worlds made from a dict."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

from handbill.digest import digest_of
from handbill.event import READS, TOOL_BATCH_FINISHED, Event, Tool
from handbill.hosts import claude_code
from handbill.ledger.records import Records
from handbill.ledger.window import Window
from handbill.paths import PACKAGE, SHIPPED
from handbill.settings import ProcessContext, Settings
from handbill.text.document import Document, Refusal
from handbill.world import World


def document(path: str, text: str = "", inode: str = "") -> Document:
    text = text or f"text of {path}"
    digest = digest_of(text)
    return Document(path, inode or f"1:{zlib.crc32(path.encode())}", digest, text, f"{digest}:1")


def batch(id: str = "t1", *files: str, session: str = "s", **more: object) -> Event:
    tools = [Tool(READS, id, tuple(files))]
    return Event(TOOL_BATCH_FINISHED, session, tools=tools, project="/p", cwd="/p", **more)  # type: ignore[arg-type]


def window(**values: object) -> Window:
    made = Window("s", "main", "claude-code", 1.0)
    made.started = True
    for name, value in values.items():
        if name == "files" and isinstance(value, dict):
            value = Records.of("path", value)
        if name == "touched" and isinstance(value, dict):
            value = Records.of("dir", {path: {"found": names} for path, names in value.items()})
        setattr(made, name, value)
    return made


class DictWorld:
    """A world whose files are in a dict: path -> text."""

    def __init__(self, files: dict[str, str], links: dict[str, str] | None = None) -> None:
        self.files = files
        self.links = links or {}
        self.looked: list[str] = []
        self.paused = 0.0
        self.host = claude_code
        self.process = ProcessContext("/p", "/home/u")
        self.project, self.home = "/p", "/home/u"
        self.environ: dict[str, str] = {}
        self.user_library = "/home/u/.claude"
        self.libraries = ("/home/u/.claude/.directives", SHIPPED)

    def now(self) -> float:
        return 1000.0

    def spent(self) -> float:
        return 0.0

    def pause(self, seconds: float) -> None:
        self.paused += seconds

    def once(self, question: str, ask: Callable[[], bool]) -> bool:
        return ask()

    def real(self, path: str) -> str:
        return self.links.get(path, path)

    def names(self, directory: str) -> list[str]:
        self.looked.append(directory)
        depth = len(directory) + 1
        return sorted({path[depth:].split("/")[0] for path in self.files if path.startswith(directory + "/")})

    def present(self, directory: str, names: object) -> list[str]:
        return self.names(directory)

    inside = World.inside

    def add_roots(self, roots: object) -> None:
        """Do nothing: every file may be delivered."""

    def is_closed(self, directory: str) -> bool:
        return False

    def can_deliver(self, path: str, *, permitted: bool = False) -> bool:
        return path in self.files

    def is_file(self, path: str) -> bool:
        return path in self.files

    def is_dir(self, path: str) -> bool:
        return any(file.startswith(path + "/") for file in self.files)

    def inode(self, path: str) -> str:
        return f"1:{zlib.crc32(path.encode())}" if path in self.files else ""

    def stamp(self, path: str) -> str:
        if path in self.files:
            return f"{zlib.crc32(self.files[path].encode())}:1"
        names = [file for file in self.files if file.startswith(path + "/")]
        return f"{zlib.crc32(repr(names).encode())}:2" if names else ""

    def load(self, path: str) -> Document | Refusal:
        return document(path, self.files[path]) if path in self.files else Refusal(path, "does not exist", quiet=True)

    def tail(self, path: str, offset: int, most: int = 0) -> bytes | None:
        if path.startswith(f"{PACKAGE}/data/") and path not in self.files:
            return Path(path).read_bytes()  # the files that ship with the program always exist
        return self.files[path].encode()[offset:] if path in self.files else None

    def size(self, path: str) -> int:
        return len(self.files[path]) if path in self.files else -1


def config(**values: object) -> Settings:
    return Settings(values, "/home/u")

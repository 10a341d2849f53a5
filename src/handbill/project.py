"""A project as commands and reports see it: its folder, its state, its settings and its host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handbill.errors import CorruptState
from handbill.hosts import HOSTS, host
from handbill.store.files import REBUILT, FileStore
from handbill.world import World, deliverable_roots

if TYPE_CHECKING:
    from handbill.ledger.window import Window
    from handbill.settings import ProcessContext, Settings
    from handbill.store.api import Key


HOST = host(next(iter(HOSTS)))  # commands know one host so far


class CheckedStore(FileStore):
    """A hook parses a ledger's lines when it needs them. A person wants to know at once if one of them is broken."""

    def read(self, key: Key) -> Window | None:
        window = super().read(key)
        try:
            if window is not None:
                window.files.items()
                window.touched.items()
        except CorruptState as error:
            raise CorruptState(f"{self._path(key)}: {error}", REBUILT) from None
        return window


class Project:
    def __init__(self, process: ProcessContext, store: FileStore, settings: Settings) -> None:
        self.process = process
        self.root = process.project
        self.store = store
        self.settings = settings
        self.host = HOST

    def world(self) -> World:
        return World(deliverable_roots(self.process, self.host, self.settings.allowed), self.host, self.process)


def session_of(key: Key) -> str:
    """The host's session. The window of a second terminal is named after its session and its process."""
    return key[0].partition("~")[0]
